package audit

import (
	"cmp"
	"slices"

	"fairdice/commitment"
)

// entry is a statement at its place in the log. place is where it stands in
// the file, -1 for entries that come from a whole log.
type entry struct {
	index     uint64
	place     int
	statement commitment.Statement
}

// ledger sorts log entries by what they are about: commits by sequence, and
// per match its open, games, segments and finish. It holds the first statement
// of each kind; a second one is a duplicate. It is built without regard to
// order, so that a statement in the wrong place is one fault and not a dozen.
// A bundle and a whole log are read through the same ledger.
type ledger struct {
	entries    []entry // by log index
	commits    map[string]*filed[commitment.Commit]
	opens      map[string]*filed[commitment.Open]
	matches    map[string]*matchLog
	duplicates []duplicate
}

// filed is a statement with its entry.
type filed[S commitment.Statement] struct {
	entry
	S S
}

// duplicate is a statement that says again what may be said once.
type duplicate struct {
	entry
	twice  string // the format of what it says
	values []any
	game   int
}

// matchLog is what the log says about one match.
type matchLog struct {
	id     string
	games  map[int]*gameLog
	finish *filed[commitment.Finish]
}

// gameLog is what the log says about one game. segments are those assigned in
// an unbroken row from 1; loose are assigns and deals outside of it. At most
// one of close and abort is set.
type gameLog struct {
	number   int
	segments []*segmentLog
	loose    []entry
	close    *filed[commitment.Close]
	abort    *filed[commitment.Abort]

	assigns map[int]*filed[commitment.Assign]
	deals   map[int]*filed[commitment.Deal]
}

// segmentLog is one assigned sequence of a game; commit and deal are nil when
// the statements are missing.
type segmentLog struct {
	number int
	assign *filed[commitment.Assign]
	deal   *filed[commitment.Deal]
	commit *filed[commitment.Commit]
}

func newLedger(entries []entry) *ledger {
	slices.SortStableFunc(entries, func(a, b entry) int { return cmp.Compare(a.index, b.index) })
	l := &ledger{
		entries: entries,
		commits: map[string]*filed[commitment.Commit]{},
		opens:   map[string]*filed[commitment.Open]{},
		matches: map[string]*matchLog{},
	}
	for _, e := range entries {
		l.file(e)
	}
	for _, m := range l.matches {
		for _, g := range m.games {
			l.link(g)
		}
	}
	return l
}

func (l *ledger) file(e entry) {
	switch s := e.statement.(type) {
	case commitment.Commit:
		putFirst(l.commits, s.Sequence, e, s)
	case commitment.Open:
		putFirst(l.opens, s.Match, e, s)
	case commitment.Assign:
		g := l.match(s.Match).game(s.Game)
		put(l, g.assigns, s.Segment, e, s, "segment %d is assigned twice", s.Game)
	case commitment.Deal:
		g := l.match(s.Match).game(s.Game)
		put(l, g.deals, s.Segment, e, s, "segment %d is dealt twice", s.Game)
	case commitment.Close:
		g := l.match(s.Match).game(s.Game)
		if g.end() != nil {
			l.duplicates = append(l.duplicates, duplicate{e, "the game is ended twice", nil, s.Game})
			return
		}
		g.close = &filed[commitment.Close]{e, s}
	case commitment.Abort:
		g := l.match(s.Match).game(s.Game)
		if g.end() != nil {
			l.duplicates = append(l.duplicates, duplicate{e, "the game is ended twice", nil, s.Game})
			return
		}
		g.abort = &filed[commitment.Abort]{e, s}
	case commitment.Finish:
		m := l.match(s.Match)
		if m.finish != nil {
			l.duplicates = append(l.duplicates, duplicate{e, "the match is finished twice", nil, 0})
			return
		}
		m.finish = &filed[commitment.Finish]{e, s}
	}
}

func put[K comparable, S commitment.Statement](l *ledger, m map[K]*filed[S], key K, e entry, s S, twice string, game int) {
	if !putFirst(m, key, e, s) {
		l.duplicates = append(l.duplicates, duplicate{e, twice, []any{key}, game})
	}
}

func putFirst[K comparable, S commitment.Statement](m map[K]*filed[S], key K, e entry, s S) bool {
	if _, twice := m[key]; twice {
		return false
	}
	m[key] = &filed[S]{e, s}
	return true
}

func (l *ledger) match(id string) *matchLog {
	m := l.matches[id]
	if m == nil {
		m = &matchLog{id: id, games: map[int]*gameLog{}}
		l.matches[id] = m
	}
	return m
}

func (m *matchLog) game(n int) *gameLog {
	g := m.games[n]
	if g == nil {
		g = &gameLog{number: n, assigns: map[int]*filed[commitment.Assign]{}, deals: map[int]*filed[commitment.Deal]{}}
		m.games[n] = g
	}
	return g
}

// link puts the segments of a game in a row and finds their commits.
func (l *ledger) link(g *gameLog) {
	for k := 1; g.assigns[k] != nil; k++ {
		a := g.assigns[k]
		g.segments = append(g.segments, &segmentLog{number: k, assign: a, deal: g.deals[k], commit: l.commits[a.S.Sequence]})
	}
	for k, a := range g.assigns {
		if k > len(g.segments) {
			g.loose = append(g.loose, a.entry)
		}
	}
	for k, d := range g.deals {
		if k > len(g.segments) {
			g.loose = append(g.loose, d.entry)
		}
	}
	slices.SortFunc(g.loose, func(a, b entry) int { return cmp.Compare(a.index, b.index) })
}

// end returns the entry of the close or abort, nil if the game has none.
func (g *gameLog) end() *entry {
	switch {
	case g.close != nil:
		return &g.close.entry
	case g.abort != nil:
		return &g.abort.entry
	}
	return nil
}

// secrets returns what the close or abort publishes.
func (g *gameLog) secrets() []commitment.RevealedSecret {
	switch {
	case g.close != nil:
		return g.close.S.Secrets
	case g.abort != nil:
		return g.abort.S.Secrets
	}
	return nil
}

// undealt reports whether the last assigned segment has no deal.
func (g *gameLog) undealt() bool {
	n := len(g.segments)
	return n > 0 && g.segments[n-1].deal == nil
}

// numbers returns the numbers of the match's games in order.
func (m *matchLog) numbers() []int {
	out := make([]int, 0, len(m.games))
	for n := range m.games {
		out = append(out, n)
	}
	slices.Sort(out)
	return out
}
