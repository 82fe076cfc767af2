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
func (st State) marsCounts() bool {
	o := st.setting.Options
	switch {
	case o.Stake == StakeUnborne || st.setting.Reversed():
		return false
	case o.Raise == RaiseJacoby:
		return st.accepted
	case o.Raise == RaiseNone:
		return o.Series.counted()
	default:
		return true
	}
}

// borneOff returns how many checkers a seat has borne off, 0 before colours are drawn.
func (st State) borneOff(s Seat) int {
	if !st.begun() {
		return 0
	}
	return st.Position().Off(st.Color(s))
}

// unborne returns how many checkers a seat still has to bear off.
func (st State) unborne(s Seat) int64 {
	return int64(st.setting.Variant.Rules.Checkers() - st.borneOff(s))
}

// lost returns the result of a game that loser loses for level times the cube.
func (st State) lost(loser Seat, level int64, why Why) Result {
	if st.setting.Options.Stake == StakeUnborne {
		level = st.unborne(loser)
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
	level := int64(1)
	if st.marsCounts() {
		level = int64(out.Level)
	}
	return st.lost(winner.Other(), level, why)
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
