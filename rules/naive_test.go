package rules_test

import (
	"slices"

	"fairdice/rules"
)

// naive is a second generator, written after RULES.md sentence by sentence with no thought of speed. It shares no code
// with the package: it keeps plain counts, remembers what happened on the way, and lists L before it judges it.
type naive struct {
	r  rules.Rules
	s  rules.Stage
	me rules.Color
	// lengths of L by end, as met
	lines []naiveLine
	seen  map[naiveState]bool
}

const naiveOff, naiveBar = 24, 25

type naiveBoard struct {
	at   [2][26]int8 // by own-path index, then borne off, then bar
	held [2][24]bool
}

type naiveState struct {
	b     naiveBoard
	rest  [4]uint8 // dice left
	used  [4]uint8 // dice used, in order
	taken int      // off the head in this stage
	hit   [24]bool // own home points where this turn hit
	ended rules.Ending
}

type naiveLine struct {
	b      naiveBoard
	length int
	die    uint8 // of the first step
	ended  rules.Ending
}

// naivePlays returns K and the legal ends in text, each with how it ends the game.
func naivePlays(r rules.Rules, p rules.Position, s rules.Stage) (int, map[string]rules.Ending) {
	n := &naive{r: r, s: s, me: s.Mover, seen: map[naiveState]bool{}}
	var start naiveState
	setup := p.Setup()
	for c := range 2 {
		for i := range 24 {
			start.b.at[c][i] = int8(setup.Points[c][i])
			start.b.held[c][i] = setup.Pinned[c][i]
		}
		start.b.at[c][naiveOff], start.b.at[c][naiveBar] = int8(setup.Off[c]), int8(setup.Bar[c])
	}
	copy(start.rest[:], s.Dice[:])
	n.walk(start, 0)

	// "The position after the last step breaks no end-of-stage block rule."
	l := n.keep(n.lines, func(x naiveLine) bool { return !n.endForbidden(x.b) })
	// "If one stands on your turn you must open it: only sequences ending free of it are in L, unless there are none."
	if free := n.keep(l, func(x naiveLine) bool { return !n.lock15(x.b) }); len(free) > 0 || !n.lock15(start.b) {
		l = free
	}
	k := 0
	for _, x := range l {
		k = max(k, x.length)
	}
	larger := max(s.Dice[0], s.Dice[1])
	mustLarger := k == 1 && s.Dice[1] != 0 && s.Dice[0] != s.Dice[1] &&
		slices.ContainsFunc(l, func(x naiveLine) bool { return x.length == 1 && x.die == larger })
	ends := map[string]rules.Ending{}
	for _, x := range l {
		if x.ended != rules.NotEnded || x.length == k && (!mustLarger || x.die == larger) {
			ends[n.text(x.b)] = x.ended
		}
	}
	if k == 0 {
		ends[n.text(start.b)] = rules.NotEnded
	}
	return k, ends
}

func (n *naive) keep(in []naiveLine, ok func(naiveLine) bool) (out []naiveLine) {
	for _, x := range in {
		if ok(x) {
			out = append(out, x)
		}
	}
	return out
}

func (n *naive) walk(st naiveState, length int) {
	if n.seen[st] {
		return
	}
	n.seen[st] = true
	if length > 0 {
		n.lines = append(n.lines, naiveLine{st.b, length, st.used[0], st.ended})
	}
	if st.ended != rules.NotEnded {
		return
	}
	for i, die := range st.rest {
		if die == 0 || i > 0 && st.rest[i-1] == die {
			continue
		}
		for from := range 26 {
			if from == naiveOff {
				continue
			}
			next, ok := n.step(st, from, int(die))
			if !ok {
				continue
			}
			next.used[length] = die
			left := slices.Delete(slices.Clone(st.rest[:]), i, i+1)
			next.rest = [4]uint8{}
			copy(next.rest[:], left)
			n.walk(next, length+1)
		}
	}
}

// across is the opponent's own-path index of my index.
func (n *naive) across(idx int) int {
	if n.long() {
		return (idx + 12) % 24
	}
	return 23 - idx
}

func (n *naive) long() bool { return n.r.Route == rules.RouteParallel }

func (n *naive) outside(b *naiveBoard) int {
	sum := int(b.at[n.me][naiveBar])
	for i := range 18 {
		sum += int(b.at[n.me][i])
	}
	return sum
}

func (n *naive) step(st naiveState, from, die int) (naiveState, bool) {
	b, opp := &st.b, n.me.Other()
	mine, theirs := &b.at[n.me], &b.at[opp]
	if mine[from] == 0 {
		return st, false
	}
	if mine[naiveBar] > 0 && from != naiveBar {
		return st, false // checkers on the bar enter first
	}
	to := from + die
	if from == naiveBar {
		to = die - 1 // own point 25 - die
	} else if b.held[n.me][from] {
		return st, false // it cannot move until the pinner leaves
	}
	if from == 0 && !n.mayLeaveHead(st) {
		return st, false
	}
	if n.r.Head == rules.HeadRunner && from == 0 && mine[0] == 14 {
		for i := 1; i <= 12; i++ {
			if mine[i] > 0 {
				return st, false // F1: only the runner moves
			}
		}
	}
	if n.r.Contact == rules.ContactHitAndStay && from < 24 && st.hit[from] && mine[from] == 1 {
		return st, false // one checker must stay to the end of the turn
	}
	home := n.outside(b) == 0
	if to >= 24 {
		if !home {
			return st, false
		}
		for i := 18; i < 24; i++ {
			if n.r.Contact == rules.ContactPin && b.held[n.me][i] {
				return st, false
			}
			if to > 24 && i < from && mine[i] > 0 {
				return st, false // not the highest
			}
		}
		if to > 24 && n.r.BearOff == rules.BearOffExact {
			return st, false
		}
		to = naiveOff
	} else {
		enemy := theirs[n.across(to)]
		switch {
		case n.long() && enemy > 0, !n.long() && enemy > 1:
			return st, false
		case n.r.Contact == rules.ContactPin && b.held[n.me][to]:
			return st, false
		case home && n.r.HomeMoves == rules.HomeMovesWithOutside:
			return st, false
		}
	}
	lockBefore := n.lock15(*b)

	mine[from]--
	mine[to]++
	if from == 0 {
		st.taken++
	}
	if from < 24 && mine[from] == 0 {
		b.held[opp][n.across(from)] = false
	}
	if to < 24 && theirs[n.across(to)] == 1 && !n.long() {
		if n.r.Contact == rules.ContactPin {
			b.held[opp][n.across(to)] = true
		} else {
			theirs[n.across(to)]--
			theirs[naiveBar]++
			st.hit[to] = to >= 18
		}
	}
	if n.r.Barrier == rules.BarrierStep && n.forbiddenBlock(*b) {
		return st, false
	}
	if !lockBefore && n.lock15(*b) {
		return st, false
	}
	st.ended = n.ending(b)
	return st, true
}

func (n *naive) ending(b *naiveBoard) rules.Ending {
	opp := n.me.Other()
	if int(b.at[n.me][naiveOff]) == n.r.Checkers() {
		return rules.Finished
	}
	if n.r.Contact == rules.ContactPin {
		mine := b.at[n.me][0] == 1 && b.held[n.me][0]
		theirs := b.at[opp][0] == 1 && b.held[opp][0]
		if mine && theirs {
			return rules.Draw
		}
		if theirs && b.at[n.me][0] == 0 {
			return rules.Mother
		}
	}
	return rules.NotEnded
}

func (n *naive) mayLeaveHead(st naiveState) bool {
	limit := 1
	t, first := n.s.Thrown, n.s.First
	double := first && t.A == t.B
	black := n.me == rules.Black
	three := double && (t.A == 3 || t.A == 4 || t.A == 6)
	switch n.r.Head {
	case rules.HeadFree, rules.HeadRunner:
		return true
	case rules.HeadClassic:
		if three {
			limit = 2
		}
		if black && double {
			switch n.s.Head55 {
			case rules.Head55Literal:
				if t.A == 5 && n.s.WhiteFirst == (rules.Dice{A: 3, B: 3}) && n.whiteAtStart(3) > 0 {
					limit = 2
				}
			case rules.Head55General:
				// "any first-turn double that one checker cannot complete"
				for i := 1; i <= 4; i++ {
					to := i * int(t.A)
					if to > 23 || n.whiteAtStart((to+12)%24) > 0 {
						limit = 2
					}
				}
			}
		}
	case rules.HeadSport:
		if three && black {
			limit = 2
		}
	case rules.HeadStage:
		if three {
			limit = 2
		}
	case rules.HeadRoll:
		if three || double && t.A == 1 {
			limit = 2
		}
	}
	return int(n.s.HeadTaken)+st.taken < limit
}

// whiteAtStart: White does not move in Black's stage, so any state tells.
func (n *naive) whiteAtStart(idx int) int8 {
	for st := range n.seen {
		return st.b.at[rules.White][idx]
	}
	return 0
}

// forbiddenBlock is C7: six consecutive points on the opponent's path, and nobody of his past them or borne off.
func (n *naive) forbiddenBlock(b naiveBoard) bool {
	for first := 0; first+5 < 24; first++ {
		if !n.sixFrom(b, first) {
			continue
		}
		past := b.at[n.me.Other()][naiveOff] > 0
		for i := first + 6; i < 24; i++ {
			past = past || b.at[n.me.Other()][i] > 0
		}
		if !past {
			return true
		}
	}
	return false
}

// sixFrom: I hold the six points from this index of the opponent's path on.
func (n *naive) sixFrom(b naiveBoard, first int) bool {
	for i := first; i < first+6; i++ {
		if b.at[n.me][n.across(i)] == 0 {
			return false
		}
	}
	return true
}

func (n *naive) lock15(b naiveBoard) bool {
	if n.r.Barrier != rules.BarrierStart {
		return false
	}
	for i := 0; i+6 < 24; i++ {
		if int(b.at[n.me.Other()][i]) == n.r.Checkers() && n.sixFrom(b, i+1) {
			return true
		}
	}
	return false
}

func (n *naive) endForbidden(b naiveBoard) bool {
	switch n.r.Barrier {
	case rules.BarrierStage, rules.BarrierStep:
		return n.forbiddenBlock(b)
	case rules.BarrierStart:
		for i := range 6 {
			if b.at[n.me][i] == 0 {
				return false
			}
		}
		return true
	}
	return false
}

func (n *naive) text(b naiveBoard) string {
	var s rules.Setup
	for c := range 2 {
		for i := range 24 {
			s.Points[c][i], s.Pinned[c][i] = int(b.at[c][i]), b.held[c][i]
		}
		s.Off[c], s.Bar[c] = int(b.at[c][naiveOff]), int(b.at[c][naiveBar])
	}
	p, err := n.r.Position(s)
	if err != nil {
		return "impossible: " + err.Error()
	}
	return p.String()
}
