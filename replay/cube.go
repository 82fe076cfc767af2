package replay

import (
	"errors"

	"fairdice/internal/phrase"
)

// MayDouble reports whether the seat whose roll is due may double before it: the cube is in play, centred or his, and an
// ordinary own roll is due (RULES.md §7, cube).
func (st State) MayDouble() bool { return st.doubleBar(st.OnTurn()) == nil }

// doubleBar returns why a seat may not double now, or nil.
func (st State) doubleBar(s Seat) error {
	switch {
	case !st.setting.Options.Raise.HasCube():
		return errors.New("the game is played without a cube")
	case st.setting.Crawford:
		return errors.New("there is no cube in the Crawford game")
	case st.phase != phasePlay || st.offer != offerNone || !st.game.CubeWindow():
		return errors.New("a double is offered only before an ordinary own roll")
	case st.OnTurn() != s:
		return phrase.Errorf("it is not %s's roll", s)
	case st.owned && st.owner != s:
		return phrase.Errorf("the cube is %s's", st.owner)
	case st.cube > MaxCube/8:
		return errors.New("the cube is at its limit")
	default:
		return nil
	}
}

// turnCube applies the cube events. cube is always what the side that must answer would lose by dropping: a beaver or raccoon first
// accepts the double before it, then offers the next one.
func (st *State) turnCube(e Event) *Refusal {
	if e.Kind == Double {
		if reason := st.doubleBar(e.Seat); reason != nil {
			if st.offer != offerNone || st.phase != phasePlay {
				return st.refuseOrder(e)
			}
			return st.refuse(e, CheckCube, "double", "%w", reason)
		}
		st.offer, st.answerer = offerDouble, e.Seat.Other()
		return nil
	}
	switch {
	case st.phase != phasePlay:
		return st.refuseOrder(e)
	case st.offer == offerNone:
		return st.refuse(e, CheckCube, "answer-without-double", "no double waits for an answer")
	case e.Seat != st.answerer:
		return st.refuse(e, CheckCube, "answer-wrong-seat", "%s must answer the %s", st.answerer, st.offer)
	}
	switch e.Kind {
	case Take:
		// After a raccoon, too, the cube stays with the side that beavered: it takes its own cube back.
		if st.offer != offerBeaver {
			st.owner = e.Seat
		}
		st.accept()
		st.offer = offerNone
	case Drop:
		return st.give(e, st.lost(e.Seat, 1, WhyDrop))
	case Beaver:
		if st.setting.Options.Raise != RaiseBeaver {
			return st.refuse(e, CheckCube, "beaver-not-agreed", "beavers were not agreed on")
		}
		if st.offer != offerDouble {
			return st.refuse(e, CheckCube, "beaver-again", "only a double can be beavered, not a %s", st.offer)
		}
		st.owner = e.Seat
		st.accept()
		st.offer, st.answerer = offerBeaver, e.Seat.Other()
	case Raccoon:
		if st.offer != offerBeaver {
			return st.refuse(e, CheckCube, "raccoon-without-beaver", "only a beaver can be answered with a raccoon")
		}
		st.accept()
		st.offer, st.answerer = offerRaccoon, e.Seat.Other()
	}
	return nil
}

// accept doubles the cube that was on offer.
func (st *State) accept() {
	st.cube *= 2
	st.owned, st.accepted = true, true
}
