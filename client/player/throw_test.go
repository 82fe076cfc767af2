package player_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
)

// liveDealer is a dealer that also says what is due.
type liveDealer struct {
	*dealer
	game client.Game
	none bool // says that there is no game
}

func (d *liveDealer) Match(ctx context.Context, id string) (client.Match, error) {
	m, err := d.dealer.Match(ctx, id)
	if !d.none {
		m.Games = []client.Game{d.game}
	}
	return m, err
}

var otherLink = commitment.Sum([]byte("the other player's link"))

// live makes every statement one of a live match.
func live(s commitment.Statement) commitment.Statement {
	switch s := s.(type) {
	case commitment.Commit:
		s.Mode = commitment.Live
		return s
	case commitment.Open:
		s.Mode = commitment.Live
		return s
	}
	return s
}

func dealt(link commitment.Hash) commitment.Deal {
	return commitment.Deal{Match: match, Game: 1, Segment: 1, Sequence: seqOne, LinkA: &link, LinkB: &otherLink,
		Cut: commitment.NewCut(match, 1, 1, &link, &otherLink, nil), Root: commitment.Sum([]byte("root")), Time: start}
}

// seated is a player of a live match who has cut its first segment; the deal
// is the caller's business.
func seated(t *testing.T, change func(*commitment.Open)) (p *twin, d *liveDealer, link commitment.Hash) {
	t.Helper()
	d = &liveDealer{dealer: newDealer(t)}
	p, file := newPlayerOn(t, d.vkey, player.Terms{Match: match})
	o := live(open(p.Anchor())).(commitment.Open)
	if change != nil {
		change(&o)
	}
	d.log(live(commit(0, seqOne)), o, assign(1, 1, 0, seqOne))
	l, err := p.Release(t.Context(), d, 1, 1)
	must(t, err)
	p = loadTwin(t, file)
	d.game = client.Game{Game: 1, State: client.GameStatePlaying, Segments: 1, Links: []bool{false, false},
		Draw: client.DrawDue{Segment: 1, Stream: client.StreamOpening, Throw: 1}}
	return p, d, l.Link
}

// Each throw gets one link, the next of the chain, in the order of the throws.
func TestReleaseThrows(t *testing.T) {
	p, d, last := seated(t, nil)
	d.log(dealt(last))
	for throw := 1; throw <= 4; throw++ {
		d.game.Draw.Throw = throw
		l, err := p.ReleaseThrow(t.Context(), d, 1, 1, throw)
		must(t, err)
		if l.Seat != client.SeatA || commitment.LinkHash(l.Link) != last {
			t.Errorf("throw %d: seat %s, or the link does not continue the chain", throw, l.Seat)
		}
		again, err := p.ReleaseThrow(t.Context(), d, 1, 1, throw)
		must(t, err)
		if again != l {
			t.Errorf("throw %d got two links", throw)
		}
		last = l.Link
	}
	if n, _ := p.Spent(); n != 5 {
		t.Errorf("%d links spent", n)
	}
}

// Not yet is no distrust, and nothing leaves.
func TestThrowNotDue(t *testing.T) {
	for name, c := range map[string]struct {
		throw  int
		change func(d *liveDealer)
	}{
		"a later throw":                  {2, func(*liveDealer) {}},
		"a throw left out":               {2, func(d *liveDealer) { d.game.Draw.Throw = 2 }},
		"no throw is due":                {1, func(d *liveDealer) { d.game.Draw = client.DrawDue{} }},
		"another throw is due":           {1, func(d *liveDealer) { d.game.Draw.Throw = 7 }},
		"another segment":                {1, func(d *liveDealer) { d.game.Draw.Segment = 2 }},
		"no such game":                   {1, func(d *liveDealer) { d.none = true }},
		"the opponent is first":          {1, func(d *liveDealer) { d.game.Draw.Stream = client.StreamB }},
		"only his own link is said here": {1, func(d *liveDealer) { d.game.Draw.Stream, d.game.Links = client.StreamB, []bool{true, false} }},
		"the service does not say":       {1, func(d *liveDealer) { d.game.Draw.Stream, d.game.Links = client.StreamB, nil }},
	} {
		t.Run(name, func(t *testing.T) {
			p, d, link := seated(t, nil)
			d.log(dealt(link))
			c.change(d)
			if l, err := p.ReleaseThrow(t.Context(), d, 1, 1, c.throw); !errors.Is(err, player.ErrNotDue) {
				t.Errorf("released %v, %v", l, err)
			}
			if n, _ := p.Spent(); n != 1 {
				t.Errorf("%d links are spent", n)
			}
		})
	}
	p, d, link := seated(t, nil)
	d.log(dealt(link))
	d.game.Draw.Stream, d.game.Links = client.StreamB, []bool{false, true}
	if _, err := p.ReleaseThrow(t.Context(), d, 1, 1, 1); err != nil {
		t.Errorf("after the seat on roll: %v", err)
	}
	if _, err := p.ReleaseThrow(t.Context(), d, 1, 1, 0); err == nil {
		t.Error("a throw 0")
	}
	if _, err := p.ReleaseThrow(t.Context(), d, 2, 1, 1); err == nil {
		t.Error("a throw of a game that no link was released for")
	}
	d.log(commitment.Abort{Match: match, Game: 1, By: "platform", Reason: "crash", RecordHead: commitment.Sum(nil), Time: start,
		Secrets: []commitment.RevealedSecret{{Sequence: seqOne}}})
	d.game.Draw.Throw = 2
	if _, err := p.ReleaseThrow(t.Context(), d, 1, 1, 2); err == nil {
		t.Error("a throw of an ended game")
	}
}

// Only mode live has links for throws.
func TestThrowOfAnotherMode(t *testing.T) {
	c := dealTo(t, commitment.Random)
	if _, err := c.p.ReleaseThrow(t.Context(), c.d, 1, 1, 1); err == nil || errors.Is(err, player.ErrNotDue) {
		t.Errorf("released a link for a throw of mode random: %v", err)
	}
	if n, _ := c.p.Spent(); n != 1 {
		t.Errorf("%d links are spent", n)
	}
}

// What a house may try between the deal and a throw.
func TestDishonestThrow(t *testing.T) {
	for _, c := range []struct {
		name, check string
		open        func(*commitment.Open)
		log         func(d *liveDealer, link commitment.Hash)
	}{
		{"no deal", "log.order", nil, func(*liveDealer, commitment.Hash) {}},
		{"two deals", "log.order", nil, func(d *liveDealer, link commitment.Hash) { d.log(dealt(link), dealt(link)) }},
		{"a deal without his link", "deal.links", nil, func(d *liveDealer, _ commitment.Hash) { d.log(dealt(commitment.Sum([]byte("house")))) }},
		{"a cut of its own", "deal.cut", nil, func(d *liveDealer, link commitment.Hash) {
			deal := dealt(link)
			deal.Cut = commitment.NewCut(match, 1, 2, &link, &otherLink, nil)
			d.log(deal)
		}},
		{"another sequence dealt", "statements.refs", nil, func(d *liveDealer, link commitment.Hash) {
			deal := dealt(link)
			deal.Sequence = seqTwo
			d.log(deal)
		}},
		{"the assign hidden", "log.order", nil, func(d *liveDealer, link commitment.Hash) {
			d.log(dealt(link))
			d.shown = []int{0, 1, 3}
		}},
		{"another assign of the segment shown", "statements.refs", nil, func(d *liveDealer, link commitment.Hash) {
			d.log(assign(1, 1, 1, seqTwo), dealt(link))
			d.shown = []int{0, 1, 3, 4}
		}},
		{"a beacon nobody agreed on", "deal.beacon", nil, func(d *liveDealer, link commitment.Hash) {
			deal := dealt(link)
			deal.Signature = make([]byte, 48)
			deal.Cut = commitment.NewCut(match, 1, 1, &link, &otherLink, deal.Signature)
			d.log(deal)
		}},
		{"another log", "log.consistency", nil, func(d *liveDealer, link commitment.Hash) {
			d.dealer = d.fork(2)
			d.log(assign(1, 1, 1, seqTwo), dealt(link))
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, d, link := seated(t, c.open)
			c.log(d, link)
			l, err := p.ReleaseThrow(t.Context(), d, 1, 1, 1)
			var distrust *player.Distrust
			if !errors.As(err, &distrust) || distrust.Check != c.check {
				t.Errorf("released %v, %v; want a refusal for %s", l, err, c.check)
			}
			if n, _ := p.Spent(); n != 1 {
				t.Errorf("%d links are spent", n)
			}
		})
	}
}

// A match that was agreed to have a beacon has one.
func TestBeaconAgreed(t *testing.T) {
	for _, agreed := range []string{"none", "quicknet", ""} {
		d := newDealer(t)
		p, _ := newPlayerOn(t, d.vkey, player.Terms{Match: match, Beacon: agreed})
		d.log(commit(0, seqOne), open(p.Anchor()), assign(1, 1, 0, seqOne))
		if _, err := p.Release(t.Context(), d, 1, 1); (err == nil) != (agreed != "quicknet") {
			t.Errorf("agreed %q, and the match has none: %v", agreed, err)
		}
	}
}

// A round of the beacon is named exactly in a match with one, and late enough.
func TestDishonestRound(t *testing.T) {
	const round = 34400000 // a few days after start
	for _, c := range []struct {
		name   string
		beacon bool
		assign func(*commitment.Assign)
		ok     bool
	}{
		{"in time", true, func(a *commitment.Assign) { a.Round = ptr(uint64(round)) }, true},
		{"none", true, func(*commitment.Assign) {}, false},
		{"one without a beacon", false, func(a *commitment.Assign) { a.Round = ptr(uint64(round)) }, false},
		{"one that was public", true, func(a *commitment.Assign) { a.Round = ptr(uint64(42)) }, false},
		{"one 14 seconds ahead", true, func(a *commitment.Assign) {
			a.Round = ptr(uint64(round))
			a.Time = time.Unix(1692803367+3*(round-1)-14, 0).UTC()
		}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDealer(t)
			p, _ := newPlayer(t, d.vkey)
			o, a := open(p.Anchor()), assign(1, 1, 0, seqOne)
			o.Beacon = c.beacon
			c.assign(&a)
			d.log(commit(0, seqOne), o, a)
			_, err := p.Release(t.Context(), d, 1, 1)
			var distrust *player.Distrust
			switch {
			case c.ok:
				must(t, err)
			case !errors.As(err, &distrust) || distrust.Check != "deal.beacon":
				t.Errorf("%v", err)
			}
		})
	}
}
