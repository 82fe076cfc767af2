package sheet

import (
	"slices"

	"fairdice/replay"
	"fairdice/rules"
)

// Match is what writers of such files are given.
type Match struct {
	ID       string // of the match, may be empty
	Variant  rules.Variant
	Options  *replay.Options // nil: as a file without a word about it is understood
	Length   int             // points the match is played to; 0: a session of single games
	Crawford bool
	Players  [2]string // of seats A and B
	Games    []Game
}

// Game is one game as events. The draw of the opening is in them, with a made-up one where the file does not show it; the end
// line is not.
type Game struct {
	Number   int // in the match, from 1
	Score    [2]int
	Crawford bool
	Drawn    bool // the opening draws are those of the game, not made up
	Events   []replay.Event
	Result   *Outcome // nil: the game has no end
}

// Outcome is who has won how much.
type Outcome struct {
	Winner replay.Seat
	Points int64
	Draw   bool
}

// Hints are what a file says of the next game before it begins.
type Hints struct {
	Number int           // in the match; 0: games are counted
	Shown  bool          // the file shows the opening draws
	Draws  []rules.Dice  // these, seat A's die first
	Ending *replay.Event // how the game was given up
	Cube   int64         // the value it begins with, after automatic doubles; 0: one
	Line   int           // where they stand
}

// Expect gives the hints for the next game.
func (s *Sheet) Expect(h Hints) { s.expected = h }

// trail is the way to a reading: readings share their past.
type trail struct {
	before *trail
	event  replay.Event
}

// trace adds events to a trail, if events are kept at all.
func (s *Sheet) trace(t *trail, events ...replay.Event) *trail {
	if s.opt.Keep == nil {
		return nil
	}
	for _, e := range events {
		t = &trail{before: t, event: e}
	}
	return t
}

func (t *trail) events() []replay.Event {
	var all []replay.Event
	for ; t != nil; t = t.before {
		all = append(all, t.event)
	}
	slices.Reverse(all)
	return all
}

// hand gives a finished game to the caller.
func (s *Sheet) hand(r reading, result *Outcome) {
	if s.opt.Keep == nil {
		return
	}
	s.opt.Keep(Game{Number: s.number, Score: s.before, Crawford: r.state.Setting().Crawford, Drawn: s.hints.Shown, Events: r.trail.events(), Result: result})
}
