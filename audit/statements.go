package audit

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"fairdice/commitment"
)

// State is what has become of a committed sequence.
type State string

// The states of a sequence.
const (
	Free     State = "free"     // committed
	Assigned State = "assigned" // given to a game that has not ended
	Closed   State = "closed"   // its game was closed and its secret published
	Aborted  State = "aborted"  // its game was aborted and its secret published
	Retired  State = "retired"  // withdrawn and its secret published
)

// Deadlines of PROTOCOL.md §7. Exactly in time is in time (C19).
const (
	EndDeadline    = 72 * time.Hour      // from assign to close or abort
	AssignDeadline = 90 * 24 * time.Hour // from commit to assign or retire
)

// SequenceReport is what a whole log says of one sequence.
type SequenceReport struct {
	Sequence string `json:"sequence"`
	State    State  `json:"state"`
	Overdue  bool   `json:"overdue"` // a deadline was missed, even if the step was made up for later
}

// LogReport is what [CheckStatements] found: the checks that need all
// statements of a log, and every sequence in the order of its commit.
type LogReport struct {
	Checks    []Check          `json:"checks"`
	Sequences []SequenceReport `json:"sequences"`
}

// Failed lists the ids of the checks that failed.
func (r LogReport) Failed() []ID { return Report{Checks: r.Checks}.Failed() }

// CheckStatements carries out the checks that need nothing but all statements
// of a log, in order from index 0: log.order, statements.refs, assign.lowest,
// the published secrets with their roots, links, cuts and the beacon. now is
// when deadlines that nothing has met are judged. archives are found by hash;
// sequences of mode real without theirs are not rebuilt. The error names the
// first text that is no statement.
func CheckStatements(origin string, texts []string, archives map[Hash]*commitment.Archive, now time.Time) (LogReport, error) {
	entries := make([]entry, len(texts))
	for i, text := range texts {
		st, err := commitment.Parse([]byte(text))
		if err != nil {
			return LogReport{}, fmt.Errorf("read log: index %d: %w", i, err)
		}
		entries[i] = entry{index: uint64(i), place: i, statement: st}
	}
	l := newLedger(entries)
	f := newFindings()
	f.pass(Format)
	f.pass(LogOrder)
	f.pass(AssignLowest)
	checkTimes(f, l, true)
	checkRefs(f, l, origin)
	b := &rebuilder{findings: f, archives: archives, lenient: true, budget: math.MaxInt}
	for _, id := range l.matchIDs() {
		l.matches[id].checkWhole(f, l.opens[id], b)
	}
	for _, e := range l.entries {
		if r, ok := e.statement.(commitment.Retire); ok {
			if c := l.commits[r.Sequence]; c != nil {
				f.pass(SequenceSecret)
				b.sealed(c, r.Secret, 0)
			}
		}
	}
	return LogReport{Sequences: l.sequences(f, now), Checks: f.list()}, nil
}

// matchIDs lists the matches in the order of their ids, so that reports repeat.
func (l *ledger) matchIDs() []string {
	ids := make([]string, 0, len(l.matches))
	for id := range l.matches {
		ids = append(ids, id)
	}
	slices.SortFunc(ids, strings.Compare)
	return ids
}

// checkWhole carries out the checks of one match of a whole log. Records are
// not in the log, so any close may be the timeout that excuses a missing deal.
func (m *matchLog) checkWhole(f *findings, open *filed[commitment.Open], b *rebuilder) {
	m.checkOrder(f, open, func(int) bool { return true })
	var games []*gameLog
	for _, n := range m.numbers() {
		g := m.games[n]
		games = append(games, g)
		if g.end() != nil {
			b.check(g)
		}
		g.checkCuts(f)
	}
	if open == nil {
		return
	}
	checkLinks(f, &open.S, games, nil)
	rounds := math.MaxInt
	checkBeacon(f, &open.S, games, &rounds)
}

// numbering is what the numbers of sequences are counted by.
type numbering struct {
	tenant string
	mode   commitment.Mode
}

// place is a segment of a game of a match.
type place struct {
	match         string
	game, segment int
}

// life is a sequence on its way through the log.
type life struct {
	SequenceReport
	commit   commitment.Commit
	assigned time.Time
}

// bookkeeper follows the sequences through the log in order. A step that cannot
// be taken, such as the assign of a sequence that is not free, changes
// nothing; that it is a fault is for log.order or statements.refs to say.
type bookkeeper struct {
	*findings
	lives map[string]*life
	order []*life
	free  map[numbering][]*life // by number
	opens map[string]bool
	taken map[place]bool
}

// sequences carries out assign.lowest and reports what has become of every
// sequence.
func (l *ledger) sequences(f *findings, now time.Time) []SequenceReport {
	b := &bookkeeper{findings: f, lives: map[string]*life{}, free: map[numbering][]*life{}, opens: map[string]bool{}, taken: map[place]bool{}}
	for _, e := range l.entries {
		switch s := e.statement.(type) {
		case commitment.Commit:
			b.commit(s)
		case commitment.Open:
			b.opens[s.Match] = true
		case commitment.Assign:
			b.assign(e, s)
		case commitment.Close:
			b.end(s.Secrets, Closed, s.Time)
		case commitment.Abort:
			b.end(s.Secrets, Aborted, s.Time)
		case commitment.Retire:
			if q := b.lives[s.Sequence]; q != nil && q.State == Free {
				q.State = Retired
				q.Overdue = q.Overdue || s.Time.Sub(q.commit.Time) > AssignDeadline
				b.remove(q)
			}
		}
	}
	out := make([]SequenceReport, 0, len(b.order))
	for _, q := range b.order {
		q.Overdue = q.Overdue || q.State == Free && now.Sub(q.commit.Time) > AssignDeadline ||
			q.State == Assigned && now.Sub(q.assigned) > EndDeadline
		out = append(out, q.SequenceReport)
	}
	return out
}

func (b *bookkeeper) commit(c commitment.Commit) {
	if b.lives[c.Sequence] != nil {
		return
	}
	q := &life{SequenceReport: SequenceReport{Sequence: c.Sequence, State: Free}, commit: c}
	b.lives[c.Sequence] = q
	b.order = append(b.order, q)
	key := numbering{c.Tenant, c.Mode}
	list := b.free[key]
	i, _ := slices.BinarySearchFunc(list, c.Number, compareNumber)
	b.free[key] = slices.Insert(list, i, q)
}

func compareNumber(q *life, n uint64) int {
	switch {
	case q.commit.Number < n:
		return -1
	case q.commit.Number > n:
		return 1
	}
	return 0
}

func (b *bookkeeper) remove(q *life) {
	key := numbering{q.commit.Tenant, q.commit.Mode}
	if i := slices.Index(b.free[key], q); i >= 0 {
		b.free[key] = slices.Delete(b.free[key], i, i+1)
	}
}

func (b *bookkeeper) assign(e entry, a commitment.Assign) {
	q := b.lives[a.Sequence]
	at := place{a.Match, a.Game, a.Segment}
	if q == nil || q.State != Free || !b.opens[a.Match] || b.taken[at] {
		return
	}
	if lowest := b.free[numbering{q.commit.Tenant, q.commit.Mode}][0]; lowest != q {
		b.fail(AssignLowest, a.Game, 0, fmt.Sprintf("number %d is assigned while number %d is free: log index %d", q.commit.Number, lowest.commit.Number, e.index))
	}
	b.taken[at] = true
	q.State, q.assigned = Assigned, a.Time
	q.Overdue = a.Time.Sub(q.commit.Time) > AssignDeadline
	b.remove(q)
}

func (b *bookkeeper) end(secrets []commitment.RevealedSecret, state State, when time.Time) {
	for _, s := range secrets {
		if q := b.lives[s.Sequence]; q != nil && q.State == Assigned {
			q.State = state
			q.Overdue = q.Overdue || when.Sub(q.assigned) > EndDeadline
		}
	}
}
