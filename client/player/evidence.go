package player

import (
	"context"
	"fmt"
	"slices"

	"fairdice/client"
	"fairdice/commitment"
	"fairdice/internal/beacon"
	"fairdice/translog"
)

// Distrust says that the house has shown something that no honest house
// shows, and under which check of PROTOCOL.md §9.
type Distrust struct {
	Check  string
	Reason string
}

// Error names the check and the reason.
func (d *Distrust) Error() string { return "do not release a link: " + d.Check + ": " + d.Reason }

func distrust(check, format string, args ...any) error {
	return &Distrust{Check: check, Reason: fmt.Sprintf(format, args...)}
}

func hashes(hexes []client.Hex) ([]commitment.Hash, error) {
	list := make([]commitment.Hash, len(hexes))
	for i, s := range hexes {
		h, err := commitment.ParseHash(s)
		if err != nil {
			return nil, fmt.Errorf("proof: %w", err)
		}
		list[i] = h
	}
	return list, nil
}

// entry is a statement that the checkpoint was proved to contain.
type entry[S commitment.Statement] struct {
	index int64
	hash  string // of the text
	s     S
}

// evidence is what an answer proves, sorted by type.
type evidence struct {
	origin  string
	opens   []entry[commitment.Open]
	commits []entry[commitment.Commit]
	assigns []entry[commitment.Assign]
	deals   []entry[commitment.Deal]
	used    []used
	ended   map[int]bool // games closed or aborted
	over    bool         // the match is finished
}

// readEvidence proves every statement of the answer against the checkpoint.
func readEvidence(answer client.Published, head translog.Checkpoint) (evidence, error) {
	e := evidence{origin: head.Origin, ended: make(map[int]bool)}
	seen := make(map[int64]bool)
	for _, st := range answer.Statements {
		path, err := hashes(st.Path)
		if err != nil {
			return e, distrust("log.inclusion", "statement %d: %v", st.Index, err)
		}
		text := []byte(st.Text)
		if err := translog.VerifyInclusion(translog.LeafHash(text), st.Index, head.Size, path, head.Root); err != nil {
			return e, distrust("log.inclusion", "%v", err)
		}
		if seen[st.Index] {
			return e, distrust("format", "statement %d comes twice", st.Index)
		}
		seen[st.Index] = true
		s, err := commitment.Parse(text)
		if err != nil {
			return e, distrust("format", "statement %d: %v", st.Index, err)
		}
		hash := commitment.Sum(text).String()
		switch s := s.(type) {
		case commitment.Open:
			e.opens = append(e.opens, entry[commitment.Open]{st.Index, hash, s})
		case commitment.Commit:
			e.commits = append(e.commits, entry[commitment.Commit]{st.Index, hash, s})
		case commitment.Assign:
			e.assigns = append(e.assigns, entry[commitment.Assign]{st.Index, hash, s})
		case commitment.Deal:
			e.deals = append(e.deals, entry[commitment.Deal]{st.Index, hash, s})
			e.used = append(e.used, used{s.Game, s.Segment, [2]*commitment.Hash{s.LinkA, s.LinkB}})
		case commitment.Close:
			e.ended[s.Game] = true
		case commitment.Abort:
			e.ended[s.Game] = true
			e.used = append(e.used, used{s.Game, 0, [2]*commitment.Hash{s.LinkA, s.LinkB}})
		case commitment.Finish:
			e.over = true
		}
	}
	return e, nil
}

// seat is the seat whose anchor this is, "" for neither.
func (e evidence) seat(anchor commitment.Hash) client.Seat {
	for _, o := range e.opens {
		switch {
		case isSelf(o.s.AnchorA, anchor):
			return client.SeatA
		case isSelf(o.s.AnchorB, anchor):
			return client.SeatB
		}
	}
	return ""
}

func isSelf(a *commitment.Anchor, own commitment.Hash) bool {
	return a != nil && !a.Custodial && a.Hash == own
}

// admit decides whether the next link may go to this segment, and returns the
// state that says so.
func (p *Player) admit(ctx context.Context, from Source, next state, e evidence, game, segment int) (state, error) {
	next, open, err := p.admitMatch(next, e)
	if err != nil {
		return next, err
	}
	assign, err := e.assign(game, segment)
	if err != nil {
		return next, err
	}
	// What was relied on when earlier links left must still stand.
	for _, r := range next.Released {
		a, err := e.assign(r.Game, r.Segment)
		if err != nil {
			return next, err
		}
		if a.hash != r.Assign {
			return next, distrust("statements.refs", "the assign of game %d, segment %d is not the one a link was released for", r.Game, r.Segment)
		}
		if r.Sequence == assign.s.Sequence && (r.Game != game || r.Segment != segment) {
			return next, distrust("statements.refs", "sequence %s was used for game %d, segment %d already", r.Sequence, r.Game, r.Segment)
		}
	}
	commit, err := e.checkAssign(open, assign)
	if err != nil {
		return next, err
	}
	if next.find(slot{game, segment, 0}) >= 0 {
		return next, nil // the same link again
	}
	if e.over || e.ended[game] {
		return next, fmt.Errorf("release link: game %d has ended", game)
	}
	m, err := from.Match(ctx, p.state.Terms.Match)
	if err != nil {
		return next, fmt.Errorf("release link: %w", err)
	}
	if err := p.checkTaken(m, next, e); err != nil {
		return next, err
	}
	return p.spend(next, released{Game: game, Segment: segment, Sequence: assign.s.Sequence, Assign: assign.hash, Rolls: commit.Rolls})
}

// admitMatch checks the open, that it is still the one seen before, and that the
// links in the log are those that have left.
func (p *Player) admitMatch(next state, e evidence) (state, entry[commitment.Open], error) {
	open, err := p.checkOpen(e)
	if err != nil {
		return next, open, err
	}
	if next.Open != "" && next.Open != open.hash {
		return next, open, distrust("statements.refs", "the open is not the one seen before")
	}
	next.Open = open.hash
	return next, open, p.checkUsed(next, e)
}

// spend gives the next link of the chain to r.
func (p *Player) spend(next state, r released) (state, error) {
	if len(next.Released) >= p.chain.Len() {
		return next, fmt.Errorf("release link: %w", commitment.ErrSpent)
	}
	next.Released = append(slices.Clone(next.Released), r)
	return next, nil
}

// checkOpen finds the one open and compares it with the player's terms.
func (p *Player) checkOpen(e evidence) (entry[commitment.Open], error) {
	if len(e.opens) != 1 {
		return entry[commitment.Open]{}, distrust("log.order", "%d open statements, want one", len(e.opens))
	}
	open, t := e.opens[0], p.state.Terms
	o := open.s
	own, other := o.A, o.B
	switch anchor := p.chain.Anchor(); {
	case isSelf(o.AnchorA, anchor):
	case isSelf(o.AnchorB, anchor):
		own, other = o.B, o.A
	default:
		return open, distrust("level", "the open does not have this player's own anchor %s", anchor)
	}
	if o.Log != e.origin {
		return open, distrust("statements.refs", "the open is of log %s, the checkpoint of %s", o.Log, e.origin)
	}
	beaconUsed := "none"
	if o.Beacon {
		beaconUsed = "quicknet"
	}
	for _, c := range []struct{ name, agreed, stated string }{
		{"match", t.Match, o.Match}, {"own token", t.Token, own}, {"opponent", t.Opponent, other}, {"tenant", t.Tenant, o.Tenant},
		{"variant", t.Variant, o.Variant}, {"rules hash", t.Rules, o.RulesHash.String()}, {"mode", t.Mode, o.Mode.String()},
		{"profile", t.Profile, o.Profile.String()}, {"options", t.Options, o.Options},
		{"beacon", t.Beacon, beaconUsed},
	} {
		if c.agreed != "" && c.agreed != c.stated {
			return open, distrust("statements.refs", "the open says %s %q, agreed was %q", c.name, c.stated, c.agreed)
		}
	}
	return open, nil
}

// assign finds the one assign of a segment.
func (e evidence) assign(game, segment int) (entry[commitment.Assign], error) {
	var found []entry[commitment.Assign]
	for _, a := range e.assigns {
		if a.s.Game == game && a.s.Segment == segment {
			found = append(found, a)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		return entry[commitment.Assign]{}, distrust("log.order", "no signed checkpoint contains an assign of game %d, segment %d", game, segment)
	}
	return entry[commitment.Assign]{}, distrust("statements.refs", "game %d, segment %d is assigned %d times", game, segment, len(found))
}

// checkAssign demands commit < assign and open < assign, and that they speak
// of the same sequence and match.
func (e evidence) checkAssign(open entry[commitment.Open], assign entry[commitment.Assign]) (commitment.Commit, error) {
	if assign.s.Match != open.s.Match {
		return commitment.Commit{}, distrust("statements.refs", "the assign is of match %s", assign.s.Match)
	}
	if err := checkRound(open.s, assign.s); err != nil {
		return commitment.Commit{}, err
	}
	if assign.index <= open.index {
		return commitment.Commit{}, distrust("log.order", "the assign %d is not behind the open %d", assign.index, open.index)
	}
	for _, a := range e.assigns {
		if a.s.Sequence == assign.s.Sequence && a.index != assign.index {
			return commitment.Commit{}, distrust("statements.refs", "sequence %s is assigned twice", a.s.Sequence)
		}
	}
	var commits []entry[commitment.Commit]
	for _, c := range e.commits {
		if c.s.Sequence == assign.s.Sequence {
			commits = append(commits, c)
		}
	}
	if len(commits) != 1 {
		return commitment.Commit{}, distrust("log.order", "%d commits of sequence %s, want one", len(commits), assign.s.Sequence)
	}
	c := commits[0]
	switch {
	case c.index >= assign.index:
		return commitment.Commit{}, distrust("log.order", "sequence %s was committed at %d, after its assign at %d", c.s.Sequence, c.index, assign.index)
	case c.s.Log != open.s.Log || c.s.Tenant != open.s.Tenant || c.s.Mode != open.s.Mode || c.s.Number != assign.s.Number:
		return commitment.Commit{}, distrust("statements.refs", "commit, open and assign of sequence %s disagree on log, tenant, mode or number", c.s.Sequence)
	}
	return c.s, nil
}

// checkRound demands a round of the beacon exactly in a match with one, and
// late enough that nobody knew it when the sequence was assigned.
func checkRound(open commitment.Open, assign commitment.Assign) error {
	if (assign.Round != nil) != open.Beacon {
		return distrust("deal.beacon", "the open and the assign of game %d, segment %d do not agree on a beacon", assign.Game, assign.Segment)
	}
	if assign.Round == nil {
		return nil
	}
	if err := beacon.CheckAssign(*assign.Round, assign.Time); err != nil {
		return distrust("deal.beacon", "%v", err)
	}
	return nil
}
