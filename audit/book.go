package audit

import (
	"encoding/hex"
	"strings"
	"time"

	"fairdice/commitment"
)

// Book keeps the books of a log: statement after statement, in log order, it
// follows every sequence from its commit to the end and looks for what no
// single match can show: a time that runs backwards, a number left out, a
// sequence, secret, archive, anchor or link used twice, an assign that passed
// over a lower number (log.order, statements.refs, assign.lowest). A bundle is
// read through the same book as a whole log.
//
// It keeps about half a kilobyte for a game and none of the texts, so a log of
// a hundred thousand games fits into a small machine. Ids are kept as their 16
// bytes, hashes as their first 16: who could make two of them meet could only
// accuse himself.
type Book struct {
	origin string
	whole  bool
	report func(Check)

	count     int
	lastType  string
	firstTime time.Time
	lastTime  time.Time
	series    map[numbering]*series
	known     map[uid]uint32 // into sequences
	sequences []sequence
	met       map[uid]uint32 // into matches
	matches   []bookMatch
	next      []uint32 // by log index: the next statement of the same match, 0 for none
	places    map[place]bool
	secrets   map[uid]uint32 // first half of a secret hash: its sequence
	archives  map[uid]uint32
	values    map[uid]owner // first half of an anchor or link
}

// NewBook returns the empty book of a whole log. report is called with every
// fault, in the order in which they are found.
func NewBook(origin string, report func(Check)) *Book { return newBook(origin, true, report) }

func newBook(origin string, whole bool, report func(Check)) *Book {
	return &Book{
		origin: origin, whole: whole, report: report, series: map[numbering]*series{}, known: map[uid]uint32{}, met: map[uid]uint32{},
		places: map[place]bool{}, secrets: map[uid]uint32{}, archives: map[uid]uint32{}, values: map[uid]owner{},
	}
}

// uid is an id, or half a hash.
type uid [16]byte

// parseUID reads an id that the statement's parser has found canonical.
func parseUID(s string) (id uid) {
	var digits [32]byte
	n := 0
	for i := 0; i < len(s) && n < len(digits); i++ {
		if s[i] != '-' {
			digits[n] = s[i]
			n++
		}
	}
	hex.Decode(id[:], digits[:n])
	return id
}

func (id uid) String() string {
	s := hex.EncodeToString(id[:])
	return s[:8] + "-" + s[8:12] + "-" + s[12:16] + "-" + s[16:20] + "-" + s[20:]
}

func half(h commitment.Hash) uid { return uid(h[:16]) }

// place is a segment of a game of a match.
type place struct {
	match   uint32
	segment uint16
	game    uint64
}

// owner is whose anchor or link a value is.
type owner struct {
	match uint32
	seat  byte
}

type bookMatch struct {
	id          uid
	opened      bool
	finished    bool
	statements  uint32
	first, last uint32 // log indices
}

// fault reports what is wrong with the statement at index.
func (b *Book) fault(id ID, kind Kind, c Check, index uint64, format string, args ...any) {
	c.ID, c.Status, c.Kind = id, Fail, kind
	c.Why = at(entry{index: index}, format, args...)
	c.Detail = c.Why.Error()
	b.report(c)
}

// Add books the next statement. A bundle's statements come in the order of
// their indices, with gaps; those of a whole log are counted from 0.
func (b *Book) Add(index uint64, s commitment.Statement) {
	when := s.When()
	if b.count > 0 && when.Before(b.lastTime) {
		b.fault(LogOrder, Reordered, Check{}, index, "the %s is dated before the %s that precedes it", s.Type(), b.lastType)
	}
	if b.count == 0 {
		b.firstTime = when
	}
	b.count, b.lastType, b.lastTime = b.count+1, s.Type(), when
	if b.whole {
		b.next = append(b.next, 0)
	}
	switch s := s.(type) {
	case commitment.Commit:
		b.commit(index, s)
	case commitment.Retire:
		b.retire(index, s)
	case commitment.Open:
		b.open(index, s)
	case commitment.Assign:
		b.assign(index, s)
	case commitment.Deal:
		m := b.match(s.Match, index)
		b.use(s.LinkA, owner{m, 'A'}, index)
		b.use(s.LinkB, owner{m, 'B'}, index)
	case commitment.Close:
		b.match(s.Match, index)
		b.end(s.Secrets, Closed, s.Time)
	case commitment.Abort:
		m := b.match(s.Match, index)
		b.use(s.LinkA, owner{m, 'A'}, index)
		b.use(s.LinkB, owner{m, 'B'}, index)
		b.end(s.Secrets, Aborted, s.Time)
	case commitment.Finish:
		b.matches[b.match(s.Match, index)].finished = true
	}
}

// Skip leaves out the next entry of a whole log, which is no statement.
func (b *Book) Skip() { b.next = append(b.next, 0) }

// match finds a match, entered at its first statement.
func (b *Book) match(id string, index uint64) uint32 {
	key := parseUID(id)
	i, ok := b.met[key]
	if !ok {
		i = uint32(len(b.matches))
		b.met[key] = i
		b.matches = append(b.matches, bookMatch{id: key, first: uint32(index)})
	}
	m := &b.matches[i]
	if b.whole {
		if m.statements > 0 {
			b.next[m.last] = uint32(index)
		}
		m.last = uint32(index)
	}
	m.statements++
	return i
}

func (b *Book) open(index uint64, o commitment.Open) {
	i := b.match(o.Match, index)
	about := Check{Match: o.Match, Tenant: o.Tenant, Mode: o.Mode.String()}
	if b.matches[i].opened {
		b.fault(StatementsRefs, Reused, about, index, "match %s is opened twice", o.Match)
	}
	b.matches[i].opened = true
	if o.Log != b.origin {
		b.fault(StatementsRefs, Altered, about, index, "the match was opened for log %s", o.Log)
	}
	for n, anchor := range [...]*commitment.Anchor{o.AnchorA, o.AnchorB} {
		if anchor == nil {
			continue
		}
		seat := "AB"[n]
		me := owner{i, seat}
		if first, used := b.values[half(anchor.Hash)]; used && first == me {
			b.fault(StatementsRefs, Reused, about, index, "the anchor of seat %c was used before", seat)
		}
		b.use(&anchor.Hash, me, index)
	}
}

// use demands that no value serves two owners as anchor or link: a player
// whose "link" is another's anchor gave nothing of his own. The same value
// twice in one player's own chain is a matter of deal.links.
func (b *Book) use(v *commitment.Hash, o owner, index uint64) {
	if v == nil {
		return
	}
	if first, used := b.values[half(*v)]; used && first != o {
		b.fault(StatementsRefs, Reused, Check{Match: b.matches[o.match].id.String()}, index, "the value %s of seat %c was already used as an anchor or link", short(*v), o.seat)
		return
	}
	b.values[half(*v)] = o
}

// assign gives a sequence to a game. A step that cannot be taken, such as the
// assign of a sequence that is not free, changes nothing.
func (b *Book) assign(index uint64, a commitment.Assign) {
	i := b.match(a.Match, index)
	q := b.sequence(a.Sequence)
	about := Check{Match: a.Match, Game: a.Game}
	if q.series != nil {
		about.Tenant, about.Mode = q.series.tenant, q.series.mode.String()
	}
	at := place{i, uint16(a.Segment), uint64(a.Game)}
	taken, again := b.places[at]
	if !again {
		if q.used {
			b.fault(StatementsRefs, Reused, about, index, "sequence %s is assigned twice", a.Sequence)
		}
		q.used = true
		b.places[at] = false
	}
	if q.retire > 0 {
		b.fault(StatementsRefs, Reused, about, index, "sequence %s was retired before it was assigned", a.Sequence)
	}
	if q.state != Free || !b.matches[i].opened || taken {
		return
	}
	if lowest := b.lowest(q.series); b.whole && lowest.number < q.number {
		b.fault(AssignLowest, Skipped, about, index, "number %d is assigned while number %d is free", q.number, lowest.number)
	}
	if row := q.series; !b.whole {
		// A bundle has too few numbers to say that the lowest was taken, but what
		// it shows being taken later was free, once committed.
		if row.taken > q.commit && row.highest > q.number {
			b.fault(AssignLowest, Skipped, about, index, "number %d is assigned after number %d, though it was free when that was assigned", q.number, row.highest)
		} else if row.highest <= q.number {
			row.highest, row.taken = q.number, index
		}
	}
	b.places[at] = true
	q.overdue = a.Time.Sub(time.Unix(q.since, 0)) > AssignDeadline
	q.state, q.since, q.match = Assigned, a.Time.Unix(), i
}

// First returns the time of the first statement, the zero time if there is none.
func (b *Book) First() time.Time { return b.firstTime }

// Last returns the time of the last statement, the zero time if there is none.
func (b *Book) Last() time.Time { return b.lastTime }

// Len returns the number of statements.
func (b *Book) Len() int { return b.count }

// Matches yields the matches in the order of their first statements.
func (b *Book) Matches() func(yield func(n int, id string) bool) {
	return func(yield func(int, string) bool) {
		for i := range b.matches {
			if !yield(i, b.matches[i].id.String()) {
				return
			}
		}
	}
}

// Match finds a match by its id.
func (b *Book) Match(id string) (n int, ok bool) {
	if len(id) != 36 {
		return 0, false
	}
	i, ok := b.met[parseUID(strings.ToLower(id))]
	return int(i), ok
}

// Entries appends the log indices of the statements of match n, in log order.
func (b *Book) Entries(list []uint64, n int) []uint64 {
	m := b.matches[n]
	at := m.first
	for range m.statements {
		list = append(list, uint64(at))
		at = b.next[at]
	}
	return list
}
