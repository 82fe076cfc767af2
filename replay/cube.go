package replay

// MayDouble reports whether the seat whose roll is due may double before it: the cube is in play, centred or his, and an
// ordinary own roll is due (RULES.md §7, cube).
func (st State) MayDouble() bool { return st.doubleBar(st.OnTurn()) == "" }

// doubleBar returns why a seat may not double now, or "".
func (st State) doubleBar(s Seat) string {
	switch {
	case !st.setting.Options.Raise.HasCube():
		return "the game is played without a cube"
	case st.setting.Crawford:
		return "there is no cube in the Crawford game"
	case st.phase != phasePlay || st.offer != offerNone || !st.game.CubeWindow():
		return "a double is offered only before an ordinary own roll"
	case st.OnTurn() != s:
		return "it is not " + s.String() + "'s roll"
	case st.owned && st.owner != s:
		return "the cube is " + st.owner.String() + "'s"
	case st.cube > MaxCube/8:
		return "the cube is at its limit"
	default:
		return ""
	}
}

// turnCube applies the cube events. cube is always what the side that must answer would lose by dropping: a beaver or raccoon first
// accepts the double before it, then offers the next one.
func (st *State) turnCube(e Event) *Refusal {
	if e.Kind == Double {
		if reason := st.doubleBar(e.Seat); reason != "" {
			if st.offer != offerNone || st.phase != phasePlay {
				return st.refuseOrder(e)
			}
			return st.refuse(e, CheckCube, "double", "%s", reason)
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
