package player

import (
	"fmt"

	"fairdice/client"
	"fairdice/commitment"
)

// Outdated says that this file is an older copy of the chain: more of its
// links have left than the file knows of. To go on would release a link a
// second time, for dice that the house may have chosen knowing it. No link has
// left; the newest copy can go on, and without it only a new chain can, for a
// new match.
type Outdated struct {
	Released int // links that have left
	Known    int // links that the file knows of
}

// Error says what is wrong and the way out.
func (o *Outdated) Error() string {
	return fmt.Sprintf("release link: this is an old copy of the chain: it knows of %d released links, but %d have left: "+
		"use the newest copy, or make a new chain and have a new match opened with its anchor", o.Known, o.Released)
}

// used is a statement of the log with the links of both seats.
type used struct {
	game, segment int // segment 0: of an abort, which does not name it
	links         [2]*commitment.Hash
}

func (u used) String() string {
	if u.segment == 0 {
		return fmt.Sprintf("game %d was aborted with", u.game)
	}
	return fmt.Sprintf("game %d, segment %d was dealt with", u.game, u.segment)
}

// checkUsed compares the links that the log shows with those that the file says
// have left, and for what.
func (p *Player) checkUsed(next state, e evidence) error {
	seat, left := 0, len(next.Released)
	if e.seat(p.chain.Anchor()) == client.SeatB {
		seat = 1
	}
	for _, u := range e.used {
		link := u.links[seat]
		switch {
		case link == nil && u.segment == 0:
			continue // the game was aborted before the link had left
		case link == nil:
			return distrust("deal.links", "game %d, segment %d was dealt without this player's link", u.game, u.segment)
		}
		as, err := p.releasedFor(next, u, *link)
		if err != nil {
			return err
		}
		if as {
			continue
		}
		switch n := p.number(*link); {
		case n == 0:
			return distrust("deal.links", "%s a link that is not this player's", u)
		case n > len(next.Released):
			left = max(left, n)
		default:
			r := next.Released[n-1]
			return distrust("deal.links", "%s the link that was released for game %d, segment %d", u, r.Game, r.Segment)
		}
	}
	if left > len(next.Released) {
		return &Outdated{Released: left, Known: len(next.Released)}
	}
	return nil
}

// releasedFor reports whether the file says that the link has left for this.
func (p *Player) releasedFor(next state, u used, link commitment.Hash) (bool, error) {
	for i, r := range next.Released {
		if r.Game != u.game || r.Throw != 0 || u.segment != 0 && r.Segment != u.segment {
			continue
		}
		own, err := p.chain.Link(i + 1)
		if err != nil {
			return false, fmt.Errorf("release link: %w", err)
		}
		if own == link {
			return true, nil
		}
	}
	return false, nil
}

// number is that of a link in the player's chain, from 1; 0 if it is none of it.
func (p *Player) number(link commitment.Hash) int {
	anchor, v := p.chain.Anchor(), link
	for n := 1; n <= p.chain.Len(); n++ {
		if v = commitment.LinkHash(v); v == anchor {
			return n
		}
	}
	return 0
}

// checkTaken asks the service how many links of the player it has taken: those
// for a deal that is still to come, and those for throws, are not in the log.
// Its answer has no proof: a service that says too few could only have done so
// by hiding a link that it holds, and one that says too many gets none.
func (p *Player) checkTaken(m client.Match, next state, e evidence) error {
	if len(m.Links) != 2 {
		return fmt.Errorf("release link: the service does not say how many links it has")
	}
	taken := m.Links[0]
	if e.seat(p.chain.Anchor()) == client.SeatB {
		taken = m.Links[1]
	}
	if taken > len(next.Released) {
		return &Outdated{Released: taken, Known: len(next.Released)}
	}
	return nil
}
