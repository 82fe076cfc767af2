package player

import (
	"context"
	"errors"
	"fmt"

	"fairdice/client"
	"fairdice/commitment"
)

// ErrNotDue says that no link for this throw may leave yet: another throw is
// due, or the seat on roll has not released first. Ask again later.
var ErrNotDue = errors.New("not due")

// ReleaseThrow checks everything that Release checks, that the segment was
// dealt with this player's own link, and that it is his turn to release: the
// seat on roll is first, which is its refusal to double, and only then is the
// other one. In an opening draw the order is free. Throws of a game count from
// 1; each gets one link, the same one if it is asked for again.
func (p *Player) ReleaseThrow(ctx context.Context, from Source, game, segment, throw int) (Link, error) {
	if throw < 1 {
		return Link{}, fmt.Errorf("release link: throws count from 1, not %d", throw)
	}
	l, err := p.release(ctx, from, slot{game, segment, throw}, func(next state, e evidence) (state, error) {
		return p.admitThrow(ctx, from, next, e, slot{game, segment, throw})
	})
	return l, err
}

// PlayThrow releases the link of a throw to the service.
func (p *Player) PlayThrow(ctx context.Context, c *client.Client, game, segment, throw int) (client.ThrowTaken, error) {
	l, err := p.ReleaseThrow(ctx, c, game, segment, throw)
	if err != nil {
		return client.ThrowTaken{}, err
	}
	return c.PutThrow(ctx, p.state.Terms.Match, game, segment, throw, l.Seat, l.Link.String())
}

// admitThrow decides whether the next link may go to this throw.
func (p *Player) admitThrow(ctx context.Context, from Source, next state, e evidence, s slot) (state, error) {
	next, open, err := p.admitMatch(next, e)
	if err != nil {
		return next, err
	}
	if open.s.Mode != commitment.Live {
		return next, fmt.Errorf("release link: a throw of mode %s needs none", open.s.Mode)
	}
	number := next.find(slot{s.game, s.segment, 0})
	if number < 0 {
		return next, fmt.Errorf("release link: none was released for the cut of game %d, segment %d", s.game, s.segment)
	}
	mine := next.Released[number]
	assign, err := e.assign(s.game, s.segment)
	if err != nil {
		return next, err
	}
	if assign.hash != mine.Assign {
		return next, distrust("statements.refs", "the assign of game %d, segment %d is not the one a link was released for", s.game, s.segment)
	}
	deal, err := e.deal(s.game, s.segment)
	if err != nil {
		return next, err
	}
	if err := p.checkDeal(e, open.s, assign.s, deal, mine, number); err != nil {
		return next, err
	}
	if next.find(s) >= 0 {
		return next, nil // the same link again
	}
	if e.over || e.ended[s.game] {
		return next, fmt.Errorf("release link: game %d has ended", s.game)
	}
	m, err := from.Match(ctx, p.state.Terms.Match)
	if err != nil {
		return next, fmt.Errorf("release link: %w", err)
	}
	// Of throws the log shows nothing before the match is over.
	if err := p.checkTaken(m, next, e); err != nil {
		return next, err
	}
	// A link for a later throw would be known before the dice of this one are.
	if last := next.lastThrow(s.game); s.throw != last+1 {
		return next, fmt.Errorf("release link: throw %d of game %d: the next one is %d: %w", s.throw, s.game, last+1, ErrNotDue)
	}
	if err := p.myTurn(m, e, s); err != nil {
		return next, err
	}
	return p.spend(next, released{Game: s.game, Segment: s.segment, Throw: s.throw, Sequence: mine.Sequence, Assign: mine.Assign, Rolls: mine.Rolls})
}

// myTurn reads whether the throw is due, and whether the other seat had to be
// first and was.
func (p *Player) myTurn(m client.Match, e evidence, s slot) error {
	if s.game > len(m.Games) {
		return fmt.Errorf("release link: the service shows no game %d: %w", s.game, ErrNotDue)
	}
	g := m.Games[s.game-1]
	if g.Draw.Throw != s.throw || g.Draw.Segment != s.segment {
		return fmt.Errorf("release link: throw %d of game %d, segment %d; %q: %w", s.throw, s.game, s.segment, g.Due, ErrNotDue)
	}
	own := e.seat(p.chain.Anchor())
	if g.Draw.Stream == client.StreamOpening || string(g.Draw.Stream) == string(own) {
		return nil
	}
	first := 0
	if g.Draw.Stream == client.StreamB {
		first = 1
	}
	if len(g.Links) != 2 || !g.Links[first] {
		return fmt.Errorf("release link: throw %d of game %d: seat %s is on roll and releases first: %w", s.throw, s.game, g.Draw.Stream, ErrNotDue)
	}
	return nil
}

// deal finds the one deal of a segment.
func (e evidence) deal(game, segment int) (commitment.Deal, error) {
	var found []commitment.Deal
	for _, d := range e.deals {
		if d.s.Game == game && d.s.Segment == segment {
			found = append(found, d.s)
		}
	}
	if len(found) != 1 {
		return commitment.Deal{}, distrust("log.order", "%d deals of game %d, segment %d, want one", len(found), game, segment)
	}
	return found[0], nil
}

// checkThrow finds the player's own link for a throw in its receipt, and his
// opponent's at the end of the opponent's chain.
func (p *Player) checkThrow(seat client.Seat, links [2]commitment.Hash, deal commitment.Deal, mine released) error {
	own, other, dealt := links[0], links[1], deal.LinkB
	if seat == client.SeatB {
		own, other, dealt = links[1], links[0], deal.LinkA
	}
	found := false
	for i, r := range p.state.Released {
		if r.Game != mine.Game || r.Segment != mine.Segment || r.Throw == 0 {
			continue
		}
		v, err := p.chain.Link(i + 1)
		if err != nil {
			return fmt.Errorf("check roll: %w", err)
		}
		found = found || v == own
	}
	if !found {
		return distrust("deal.links", "the roll is not made with a link that was released for a throw of game %d, segment %d", mine.Game, mine.Segment)
	}
	// The opponent spends a link for each throw and each segment in between.
	v := other
	for range mine.Rolls.Total() + commitment.MaxSegments {
		if v = commitment.LinkHash(v); dealt != nil && v == *dealt {
			return nil
		}
	}
	return distrust("deal.links", "the opponent's link for the throw does not continue the one he cut the deal with")
}
