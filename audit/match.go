package audit

import (
	"errors"
	"slices"
	"time"

	"fairdice/commitment"
	"fairdice/internal/phrase"
	"fairdice/replay"
)

// Entry is a statement at its place in a whole log.
type Entry struct {
	Index uint64
	Text  []byte
}

// MatchInput is one match of a whole log, with what the [Book] has found to
// belong to it.
type MatchInput struct {
	Match    string
	Entries  []Entry    // the statements of the match and the commits of its sequences
	File     *MatchFile // records and receipts; nil if they are not at hand
	Broken   error      // why the file, though it is there, could not be read
	LogOnly  bool       // no file is expected: the log alone is checked
	Archives map[Hash]*commitment.Archive
}

// Auditor verifies the matches of one log, each on its own, with the checks of
// [Verify] for all that is in the match's own statements and file. What
// matches have in common is for the [Book], whether the statements are in the
// log for whoever read them out of it. An Auditor is a value without state.
type Auditor struct {
	Trust      Trust
	Origin     string    // of the log
	Witnessed  Witnessed // when states of the log were witnessed
	Signatures bool      // verify every receipt's signature, not only their chain
}

// MatchReport is the report on one match of a log.
type MatchReport struct {
	Report
	Tenant string
	Key    string // receipt key
	Opened time.Time
	Played []Played // the games in order, for statistics
}

// Played is what a game's dice were. Served are the dice that were drawn, in
// the order of the receipts; Dealt, by segment from 1, the whole sequences
// that the published secrets give, unplayed dice included.
type Played struct {
	Game     int
	End      State // Closed, Aborted, or Assigned for a game in progress
	Ended    time.Time
	White    replay.Seat
	Begun    bool // White is known
	Served   []Throw
	Dealt    map[int]*commitment.Sequence
	Withheld *commitment.Sequence // what a deal that never came would have dealt, if anybody could know
	HasFile  bool
}

// Throw is one roll that was served.
type Throw struct {
	Segment int
	Stream  commitment.Stream
	Index   int
	Dice    commitment.Dice
}

// Match verifies one match. It never fails itself: what cannot be read is
// a finding of `format`.
func (a *Auditor) Match(in MatchInput) MatchReport {
	out := MatchReport{Report: Report{Match: in.Match, Games: []GameSummary{}, Overdue: []string{}, Says: []string{}, Faults: []Fault{}}}
	f := newFindings()
	e, err := a.readMatch(f, in)
	if err != nil {
		f.add(Check{ID: Format, Status: Fail, Kind: Broken, Detail: err.Error(), Why: err})
		out.Checks, out.Verdict = f.list(), Malformed
		return out
	}
	f.pass(Format)
	f.skip(AssignLowest, 0, errors.New("the whole log shows it"))
	e.checkMatchOrder(f)
	checkRefs(f, e.ledger)
	if e.open == nil {
		out.Checks, out.Verdict = f.list(), Failed
		return out
	}
	if in.LogOnly {
		e.checkDeals(f)
		out.Checks = f.list()
		return out
	}
	if len(a.Witnessed) > 0 {
		e.witnessed = e.roundsWitnessed(a.Witnessed)
	}
	e.checkMatch(f, a.Trust, &out.Report)
	e.conclude(f, a.Trust, &out.Report)
	out.Tenant, out.Key, out.Opened = e.open.Tenant, e.open.ReceiptKey, e.open.Time
	for _, g := range e.games {
		out.Played = append(out.Played, g.played(e.open, in.Archives))
	}
	return out
}

// readMatch reads the texts of a match and lays the games of the log and those
// of the file side by side.
func (a *Auditor) readMatch(f *findings, in MatchInput) (*evidence, error) {
	e := &evidence{origin: a.Origin, signatures: a.Signatures, lenient: in.LogOnly, archives: in.Archives}
	entries := make([]entry, len(in.Entries))
	for i, s := range in.Entries {
		st, err := commitment.Parse(s.Text)
		if err != nil {
			return nil, phrase.Errorf("log index %d: %w", s.Index, err)
		}
		entries[i] = entry{index: s.Index, place: i, statement: st}
		if o, ok := st.(commitment.Open); ok && e.open == nil {
			e.open = &o
		}
	}
	e.ledger = newLedger(entries)
	if err := e.readReceiptKey(); err != nil {
		return nil, err
	}
	m := e.ledger.match(in.Match)
	for _, n := range m.numbers() {
		e.games = append(e.games, &game{number: n, absent: true, log: m.games[n]})
	}
	if in.LogOnly {
		return e, nil
	}
	broken := in.Broken
	if in.File != nil {
		ghosts := slices.Clone(e.games)
		if broken = e.readFile(f, in); broken != nil {
			e.games = ghosts
		}
	}
	if broken != nil {
		f.fail(Format, 0, 0, broken)
		return e, nil
	}
	for _, g := range e.games {
		if g.absent && g.log.end() != nil {
			f.failAs(Dropped, RecordHead, g.number, 0, at(*g.log.end(), "the game has ended, but its record and receipts are not in the archive"))
		}
	}
	return e, nil
}

// readFile reads the games of the match's file.
func (e *evidence) readFile(f *findings, in MatchInput) error {
	if in.File.Match != in.Match {
		return phrase.Errorf("the file is that of match %s", clip(in.File.Match))
	}
	for i := range in.File.Games {
		b := &in.File.Games[i]
		at, known := slices.BinarySearchFunc(e.games, b.Game, func(g *game, n int) int { return g.number - n })
		if !known {
			f.fail(RecordHead, b.Game, 0, errors.New("the archive has a game that the log does not know"))
			continue
		}
		if !e.games[at].absent {
			return phrase.Errorf("games[%d]: game %d is there twice", i, b.Game)
		}
		g, err := e.readGame(b, b.Game)
		if err != nil {
			return phrase.Errorf("games[%d]: %w", i, err)
		}
		g.log = e.games[at].log
		e.games[at] = g
	}
	return nil
}

// played says what the dice of the game were.
func (g *game) played(o *commitment.Open, archives map[Hash]*commitment.Archive) Played {
	p := Played{Game: g.number, End: Assigned, Dealt: g.rebuilt, HasFile: !g.absent}
	switch {
	case g.log.close != nil:
		p.End, p.Ended = Closed, g.log.close.S.Time
	case g.log.abort != nil:
		p.End, p.Ended = Aborted, g.log.abort.S.Time
		p.Withheld = g.withheld(o, archives)
	}
	p.White, p.Begun = g.last.White()
	p.Served = make([]Throw, len(g.receipts))
	for i, r := range g.receipts {
		p.Served[i] = Throw{r.Segment, r.Stream, r.Index, r.Dice}
	}
	return p
}

// withheld rebuilds what the deal of an aborted game would have dealt: whoever
// held the secret and all inputs of the cut could look before he dropped the
// game. It is nil if the first segment was dealt, or if an input was missing,
// so that nobody could know.
func (g *game) withheld(o *commitment.Open, archives map[Hash]*commitment.Archive) *commitment.Sequence {
	if len(g.log.segments) != 1 || !g.log.undealt() {
		return nil
	}
	s := g.log.segments[0]
	a := g.log.abort.S
	if s.commit == nil || (o.AnchorA != nil) != (a.LinkA != nil) || (o.AnchorB != nil) != (a.LinkB != nil) || o.Beacon != (a.Signature != nil) {
		return nil
	}
	cut := commitment.NewCut(a.Match, a.Game, 1, a.LinkA, a.LinkB, a.Signature)
	for _, secret := range g.log.secrets() {
		if secret.Sequence != s.assign.S.Sequence {
			continue
		}
		c := s.commit.S
		var archive *commitment.Archive
		if c.Archive != nil {
			archive = archives[*c.Archive]
		}
		q, err := commitment.Build(secret.Secret, c.Sequence, c.Mode, c.Rolls, cut, archive)
		if err == nil {
			return q
		}
	}
	return nil
}
