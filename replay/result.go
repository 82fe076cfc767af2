package replay

import (
	"strconv"

	"fairdice/rules"
)

// Why says how a game was decided.
type Why uint8

// The ways a game is decided.
const (
	Undecided Why = iota
	WhyFinished
	WhyMother
	WhyDraw
	WhyDrop
	WhyResign
	WhyTimeout
)

var whyNames = [...]string{"undecided", "finished", "mother", "draw", "drop", "resign", "timeout"}

// String returns the word of the rules vectors, for example "finished".
func (w Why) String() string { return name(whyNames[:], uint8(w)) }

// Phrase says it in other languages.
func (w Why) Phrase() (string, []any) { return w.String(), nil }

// Result is what a game ended with.
type Result struct {
	Seat   Seat // the winner, unless Draw
	Points int64
	Draw   bool
	Why    Why
}

// String returns "A 2" or "draw 0", as the close statement has it.
func (r Result) String() string {
	if r.Draw {
		return "draw 0"
	}
	return r.Seat.String() + " " + strconv.FormatInt(r.Points, 10)
}

// marsCounts reports whether a mars pays more than an ordinary win, and so does a koks where the variant has it (RULES.md §7:
// none pays 1 in a single game but not in a series; jacoby needs an accepted double; unborne and reverse never add).
func (s Setting) marsCounts(doubled bool) bool {
	o := s.Options
	switch {
	case o.Stake == StakeUnborne || s.Reversed():
		return false
	case o.Raise == RaiseJacoby:
		return doubled
	case o.Raise == RaiseNone:
		return o.Series.counted()
	default:
		return true
	}
}

// Worth returns the points of a game that was played to its end: level is 1 oin or single, 2 mars, 3 koks by the position, unborne the
// checkers the loser has not borne off, doubled whether a double was accepted.
func (s Setting) Worth(level uint8, unborne int, cube int64, doubled bool) int64 {
	switch {
	case s.Options.Stake == StakeUnborne:
		return int64(unborne) * cube
	case s.marsCounts(doubled):
		return int64(level) * cube
	default:
		return cube
	}
}

func (st State) marsCounts() bool { return st.setting.marsCounts(st.accepted) }

// borneOff returns how many checkers a seat has borne off, 0 before colours are drawn.
func (st State) borneOff(s Seat) int {
	if !st.begun() {
		return 0
	}
	return st.Position().Off(st.Color(s))
}

// unborne returns how many checkers a seat still has to bear off.
func (st State) unborne(s Seat) int {
	return st.setting.Variant.Rules.Checkers() - st.borneOff(s)
}

// lost returns the result of a game that loser gives up for level times the cube.
func (st State) lost(loser Seat, level int64, why Why) Result {
	if st.setting.Options.Stake == StakeUnborne {
		level = int64(st.unborne(loser))
	}
	return Result{Seat: loser.Other(), Points: level * st.cube, Why: why}
}

// finished returns the result of a game that the turn machine has ended.
func (st State) finished() Result {
	out := st.game.Outcome()
	if out.Draw {
		return Result{Draw: true, Why: WhyDraw}
	}
	winner, why := st.seat(out.Winner), WhyFinished
	if out.Ending == rules.Mother {
		why = WhyMother
	}
	if st.setting.Reversed() {
		winner = winner.Other()
	}
	points := st.setting.Worth(out.Level, st.unborne(winner.Other()), st.cube, st.accepted)
	return Result{Seat: winner, Points: points, Why: why}
}

// resignLimit returns the most a seat may give up, times the cube (RULES.md §7).
func (st State) resignLimit() int64 {
	if !st.marsCounts() {
		return 1
	}
	return int64(st.setting.Variant.Rules.MaxLevel())
}

// flagLevel returns what a lost flag costs, times the cube: never a koks (RULES.md §7).
func (st State) flagLevel(loser Seat) int64 {
	if st.marsCounts() && st.borneOff(loser) == 0 {
		return 2
	}
	return 1
}
