package audit

import (
	"slices"
	"time"

	"fairdice/commitment"
)

// numbering is what the numbers of sequences are counted by.
type numbering struct {
	tenant string
	mode   commitment.Mode
}

// series is the row of numbers of one tenant and mode. free lists sequences by
// number; those that are free no longer are dropped when they reach the front.
type series struct {
	numbering
	due  uint64
	free []uint32

	highest, taken uint64 // in a bundle: the highest number assigned so far, and the log index of its assign; 0 for none
}

// sequence is one sequence on its way through the log. What was never
// committed, but only mentioned, is kept too.
type sequence struct {
	id        uid
	series    *series
	number    uint64
	committed bool
	used      bool // some assign named it
	overdue   bool
	state     State
	since     int64  // seconds: when it was committed or, once assigned, assigned
	commit    uint64 // log index
	retire    uint64 // log index + 1
	match     uint32 // the match it was given to
}

// sequence finds a sequence, entered when it is first mentioned.
func (b *Book) sequence(id string) *sequence { return &b.sequences[b.sequenceIndex(id)] }

func (b *Book) sequenceIndex(id string) uint32 {
	key := parseUID(id)
	i, ok := b.known[key]
	if !ok {
		i = uint32(len(b.sequences))
		b.known[key] = i
		b.sequences = append(b.sequences, sequence{id: key})
	}
	return i
}

// of says of a finding whose numbers it is about.
func (n numbering) of() Check { return Check{Tenant: n.tenant, Mode: n.mode.String()} }

func (b *Book) commit(index uint64, c commitment.Commit) {
	key := numbering{c.Tenant, c.Mode}
	row := b.series[key]
	if row == nil {
		row = &series{numbering: key}
		b.series[key] = row
	}
	if c.Number < row.due || b.whole && c.Number != row.due {
		kind := Skipped
		if c.Number < row.due {
			kind = Reused
		}
		b.fault(LogOrder, kind, key.of(), index, "number %d of tenant %s and mode %s is committed where number %d is due", c.Number, c.Tenant, c.Mode, row.due)
	}
	row.due = max(row.due, c.Number+1)
	if c.Log != b.origin {
		b.fault(StatementsRefs, Altered, key.of(), index, "the commit of sequence %s was made for log %s", c.Sequence, c.Log)
	}
	i := b.sequenceIndex(c.Sequence)
	if first, used := b.secrets[half(c.SecretHash)]; used && first != i {
		b.fault(StatementsRefs, Reused, key.of(), index, "sequences %s and %s have the same secret", b.sequences[first].id, c.Sequence)
	}
	b.secrets[half(c.SecretHash)] = i
	if c.Archive != nil {
		if first, used := b.archives[half(*c.Archive)]; used && first != i {
			b.fault(StatementsRefs, Reused, key.of(), index, "sequences %s and %s have the same archive", b.sequences[first].id, c.Sequence)
		}
		b.archives[half(*c.Archive)] = i
	}
	q := &b.sequences[i]
	if q.committed {
		b.fault(StatementsRefs, Reused, key.of(), index, "sequence %s is committed twice", c.Sequence)
		return
	}
	q.committed, q.series, q.number, q.commit = true, row, c.Number, index
	q.state, q.since = Free, c.Time.Unix()
	at, _ := slices.BinarySearchFunc(row.free, c.Number, func(i uint32, n uint64) int {
		if b.sequences[i].number < n {
			return -1
		}
		return 1
	})
	row.free = slices.Insert(row.free, at, i)
}

// lowest returns the free sequence with the lowest number.
func (b *Book) lowest(row *series) *sequence {
	for len(row.free) > 0 {
		if q := &b.sequences[row.free[0]]; q.state == Free {
			return q
		}
		row.free = row.free[1:]
	}
	return nil
}

func (b *Book) retire(index uint64, r commitment.Retire) {
	q := b.sequence(r.Sequence)
	var about Check
	if q.series != nil {
		about = q.series.of()
	}
	switch {
	case q.retire > 0:
		b.fault(StatementsRefs, Reused, about, index, "sequence %s is retired twice", r.Sequence)
		return
	case !q.committed:
		b.fault(LogOrder, Reordered, about, index, "sequence %s is retired without having been committed", r.Sequence)
	case q.used:
		b.fault(StatementsRefs, Reused, about, index, "sequence %s is retired although it was assigned", r.Sequence)
	}
	q.retire = index + 1
	if q.state == Free {
		q.state = Retired
		q.overdue = r.Time.Sub(time.Unix(q.since, 0)) > AssignDeadline
	}
}

func (b *Book) end(secrets []commitment.RevealedSecret, state State, when time.Time) {
	for _, s := range secrets {
		i, ok := b.known[parseUID(s.Sequence)]
		if !ok || b.sequences[i].state != Assigned {
			continue
		}
		q := &b.sequences[i]
		q.overdue = q.overdue || when.Sub(time.Unix(q.since, 0)) > EndDeadline
		q.state = state
	}
}

// Sequences yields every committed sequence in the order of the commits.
// What has not happened yet is judged at now.
func (b *Book) Sequences(now time.Time) func(yield func(SequenceReport) bool) {
	return func(yield func(SequenceReport) bool) {
		for i := range b.sequences {
			q := &b.sequences[i]
			if !q.committed {
				continue
			}
			r := SequenceReport{Sequence: q.id.String(), Tenant: q.series.tenant, Mode: q.series.mode.String(), Number: q.number, State: q.state, Overdue: q.overdue}
			age := now.Sub(time.Unix(q.since, 0))
			r.Overdue = r.Overdue || q.state == Free && age > AssignDeadline || q.state == Assigned && age > EndDeadline
			if q.state == Assigned || q.state == Closed || q.state == Aborted {
				r.Match = b.matches[q.match].id.String()
			}
			if !yield(r) {
				return
			}
		}
	}
}

// Commit returns the log index of the first commit of a sequence.
func (b *Book) Commit(id string) (index uint64, ok bool) {
	i, ok := b.known[parseUID(id)]
	if !ok || !b.sequences[i].committed {
		return 0, false
	}
	return b.sequences[i].commit, true
}

// Retired yields the log indices of commit and retire of every sequence that
// was committed and retired.
func (b *Book) Retired() func(yield func(commit, retire uint64) bool) {
	return func(yield func(uint64, uint64) bool) {
		for i := range b.sequences {
			if q := &b.sequences[i]; q.committed && q.retire > 0 && !yield(q.commit, q.retire-1) {
				return
			}
		}
	}
}
