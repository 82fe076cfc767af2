package rules

import "math/bits"

// Route says how the two paths lie to each other, and with it how records number the points (RULES.md §1).
type Route uint8

const (
	RouteParallel Route = iota + 1 // both sides run the same way, half a board apart; absolute numbers
	RouteOpposed                   // the sides run against each other; everyone counts his own 24 to 1
)

var routeNames = []string{"parallel", "opposed"}

func (r Route) String() string { return nameOf(routeNames, uint8(r)) }

// across maps an own-path index to the same point on the opponent's path. It is its own inverse.
func (r Route) across(idx int) int {
	if r == RouteParallel {
		return (idx + 12) % 24
	}
	return 23 - idx
}

// number maps an own-path index to the number a record uses.
func (r Route) number(c Color, idx int) int {
	switch {
	case r == RouteOpposed:
		return 24 - idx
	case c == White:
		return idx + 1
	default:
		return (idx+12)%24 + 1
	}
}

// index is the inverse of number.
func (r Route) index(c Color, number int) int {
	switch {
	case r == RouteOpposed:
		return 24 - number
	case c == White:
		return number - 1
	default:
		return (number + 11) % 24
	}
}

// slots turns a mask of one player's slots into the same points as slots of the other. Bar and off have no
// counterpart and drop out.
func (r Route) slots(mask uint32) uint32 {
	if r == RouteParallel {
		idx := mask >> 1 & 0xffffff
		return (idx<<12 | idx>>12) & 0xffffff << 1
	}
	return bits.Reverse32(mask&pointSlots) >> 6
}

// PointNumber returns the number, 1 to 24, by which records call the point at c's own-path index 0 to 23.
func (r Rules) PointNumber(c Color, idx int) int { return r.Route.number(c, idx) }

// PointIndex returns c's own-path index, 0 to 23, of the point that records call number, 1 to 24.
func (r Rules) PointIndex(c Color, number int) int { return r.Route.index(c, number) }

// Across returns the opponent's own-path index of the point at own-path index idx.
func (r Rules) Across(idx int) int { return r.Route.across(idx) }

// ReplyTurn reports whether the series "draw", with its reply turn for Black, can be agreed on (RULES.md §7).
func (r Rules) ReplyTurn() bool { return r.Route == RouteParallel }
