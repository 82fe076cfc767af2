package audit

import (
	"bytes"
	"fmt"
	"math"
	"slices"
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

// SequenceReport is what a whole log says of one sequence. Match is the match
// it was given to, empty if none.
type SequenceReport struct {
	Sequence string `json:"sequence"`
	Tenant   string `json:"tenant"`
	Mode     string `json:"mode"`
	Number   uint64 `json:"number"`
	State    State  `json:"state"`
	Overdue  bool   `json:"overdue"` // a deadline was missed, even if the step was made up for later
	Match    string `json:"match,omitempty"`
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
// first text that is no statement. All of the log is held in memory; package
// audit/archive reads logs of any length.
func CheckStatements(origin string, texts []string, archives map[Hash]*commitment.Archive, now time.Time) (LogReport, error) {
	f := newFindings()
	book := NewBook(origin, f.add)
	for i, text := range texts {
		st, err := commitment.Parse([]byte(text))
		if err != nil {
			return LogReport{}, fmt.Errorf("read log: index %d: %w", i, err)
		}
		book.Add(uint64(i), st)
	}
	entry := func(i uint64) Entry { return Entry{i, []byte(texts[i])} }
	auditor := &Auditor{Origin: origin}
	for n, id := range book.Matches() {
		list, err := book.Collect(n, func(i uint64) ([]byte, error) { return []byte(texts[i]), nil })
		if err != nil {
			return LogReport{}, err
		}
		f.merge(auditor.Match(MatchInput{Match: id, Entries: list, LogOnly: true, Archives: archives}).Checks)
	}
	for commit, retire := range book.Retired() {
		_, _, checks := auditor.Retired(entry(commit), entry(retire), archives)
		f.merge(checks)
	}
	for _, id := range [...]ID{Format, LogOrder, StatementsRefs, AssignLowest} {
		f.pass(id)
	}
	return LogReport{Sequences: slices.Collect(book.Sequences(now)), Checks: f.list()}, nil
}

// Retired rebuilds a sequence from the secret that its retire published. It
// returns nil for the sequence if that cannot be done.
func (a *Auditor) Retired(commit, retire Entry, archives map[Hash]*commitment.Archive) (*commitment.Sequence, commitment.Commit, []Check) {
	f := newFindings()
	c, err := parseAs[commitment.Commit](commit)
	if err != nil {
		f.fail(Format, 0, 0, err)
		return nil, c.S, f.list()
	}
	r, err := parseAs[commitment.Retire](retire)
	if err != nil {
		f.fail(Format, 0, 0, err)
		return nil, c.S, f.list()
	}
	f.pass(SequenceSecret)
	b := &rebuilder{findings: f, archives: archives, lenient: true, budget: math.MaxInt}
	_, q := b.sealed(&c, r.S.Secret, 0)
	return q, c.S, f.list()
}

// parseAs reads an entry that must be a statement of type S.
func parseAs[S commitment.Statement](e Entry) (filed[S], error) {
	st, err := commitment.Parse(e.Text)
	if err != nil {
		return filed[S]{}, fmt.Errorf("log index %d: %w", e.Index, err)
	}
	s, ok := st.(S)
	if !ok {
		return filed[S]{}, fmt.Errorf("log index %d is a %s, not a %s", e.Index, st.Type(), s.Type())
	}
	return filed[S]{entry{e.Index, -1, st}, s}, nil
}

// Collect gathers the statements of match n and the commits of the sequences
// that they assign. read returns the text at a log index.
func (b *Book) Collect(n int, read func(index uint64) ([]byte, error)) ([]Entry, error) {
	indices := b.Entries(nil, n)
	list := make([]Entry, 0, len(indices)+2)
	for _, i := range indices {
		text, err := read(i)
		if err != nil {
			return nil, err
		}
		list = append(list, Entry{i, text})
		id, ok := assigned(text)
		if !ok {
			continue
		}
		at, ok := b.Commit(id)
		if !ok || slices.ContainsFunc(list, func(e Entry) bool { return e.Index == at }) {
			continue
		}
		commit, err := read(at)
		if err != nil {
			return nil, err
		}
		list = append(list, Entry{at, commit})
	}
	return list, nil
}

// assigned reads the sequence of an assign. The text has been parsed before.
func assigned(text []byte) (id string, ok bool) {
	const first = "fairdice/v1/assign\n"
	if !bytes.HasPrefix(text, []byte(first)) {
		return "", false
	}
	_, rest, ok := bytes.Cut(text, []byte("\nsequence "))
	if !ok {
		return "", false
	}
	value, _, ok := bytes.Cut(rest, []byte("\n"))
	return string(value), ok
}
