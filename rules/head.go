package rules

// Head limits how many checkers may leave the first point of the path (RULES.md §4).
type Head uint8

const (
	HeadFree    Head = iota + 1 // no limit
	HeadClassic                 // one a turn; two on a first 6-6, 4-4, 3-3, and on Black's 5-5 under H1
	HeadSport                   // one a turn; two only on Black's first 6-6, 4-4, 3-3
	HeadStage                   // one a stage; two on a first 6-6, 4-4, 3-3
	HeadRoll                    // one for the whole roll, progression included; two on a first 6-6, 4-4, 3-3, 1-1
	HeadRunner                  // F1: one runner leaves and alone moves until it has passed the enemy head
)

var headNames = []string{"free", "classic", "sport", "stage", "roll", "runner"}

func (h Head) String() string { return nameOf(headNames, uint8(h)) }

// Head55 settles Black's second checker on a first 5-5 (H1, RULES.md §4). It matters only under HeadClassic.
type Head55 uint8

const (
	Head55Literal Head55 = iota // White's first roll was 3-3 and he still holds point 4
	Head55General               // any first double of Black that one checker cannot complete
	Head55Off                   // never
)

var head55Names = []string{"literal", "general", "off"}

func (h Head55) String() string { return nameOf(head55Names, uint8(h)+1) }

// ParseHead55 reads the value of the option head55.
func ParseHead55(text string) (Head55, bool) {
	for i, name := range head55Names {
		if name == text {
			return Head55(i), true
		}
	}
	return 0, false
}

// Head55Applies reports whether the option head55 has a meaning under these rules.
func (r Rules) Head55Applies() bool { return r.Head == HeadClassic }

// unlimited stands for no limit on the head.
const unlimited = -1

// HeadLimit returns how many checkers may leave the head under the allowance that is running in the stage, or -1
// where there is no such number: no limit, or F1.
func (r Rules) HeadLimit(p Position, s Stage) int {
	double := uint8(0)
	if s.First && s.Kind == Own && s.Thrown.IsDouble() {
		double = s.Thrown.A
	}
	big := double == 3 || double == 4 || double == 6
	switch r.Head {
	case HeadFree, HeadRunner:
		return unlimited
	case HeadClassic:
		if big || s.Mover == Black && double != 0 && r.head55(p, s) {
			return 2
		}
	case HeadSport:
		if big && s.Mover == Black {
			return 2
		}
	case HeadStage:
		if big {
			return 2
		}
	case HeadRoll:
		if big || double == 1 {
			return 2
		}
	}
	return 1
}

// head55 is H1: it asks about Black's own first double.
func (r Rules) head55(p Position, s Stage) bool {
	d := int(s.Thrown.A)
	switch s.Head55 {
	case Head55Literal:
		return d == 5 && s.WhiteFirst == Dice{3, 3} && p.At(White, 3) > 0
	case Head55General:
		for to := d; to <= 4*d; to += d {
			if to > 23 || p.At(White, r.Route.across(to)) > 0 {
				return true
			}
		}
	}
	return false
}

// limits reports whether the head can be barred at all.
func (h Head) limits() bool { return h != HeadFree }

// running reports that the runner may be on its way in this stage: what may move then depends on where it is.
func (h Head) running(n *node) bool { return h == HeadRunner && n.own.count(headSlot) >= 14 }

// carries reports whether checkers taken off the head in one stage of a roll count against the next.
func (h Head) carries() bool { return h != HeadStage }

// barred reports whether no checker may leave the head now: the allowance is used up, or the runner is on its way
// (F1: one checker has left the fifteen and stands at own index 12 or before).
func (h Head) barred(limit, taken int, now *node) bool {
	if h == HeadRunner {
		return now.own.count(headSlot) == 14 && now.occ&runnerSlots != 0
	}
	return limit != unlimited && taken >= limit
}
