package rules

import (
	"math/bits"
	"slices"
)

// Generator lists and judges the plays of a stage. The zero value is ready; it keeps its buffers, so a warm one
// allocates nothing. It is not for concurrent use.
type Generator struct {
	rules    Rules
	checkers uint
	mover    Color
	start    node
	held     uint32 // the mover's pinned slots; his own moves never free them
	limit    int    // of the head, see Rules.HeadLimit
	taken    int    // off the head before this stage
	headed   bool   // the head can be barred at all
	pins     bool   // checkers are pinned
	stay     bool   // a hitter may have to stay
	tight    bool   // no moves inside the home once all are there
	barrier  barrier
	walls    bool // some rule about blocks can bite in this stage
	wasLock  bool // a lock-15 stands at the start
	waived   bool // no sequence opens it
	finish   bool // the last checker can leave in this stage
	plain    bool // any last step ends the stage legally, and pins nobody: ends need no second look
	stack    [4]node

	ends   []Position
	final  []Ending
	none   []Ending // zeros, for the common case that nothing ends
	levels levels
}

// Plays is the set of legal results of one stage.
type Plays struct {
	K     int        // how many steps must be played; 0 is a pass
	Ends  []Position // the distinct legal ends; the position itself for a pass
	Final []Ending   // whether Ends[i] ends the game
}

// Plays lists the distinct legal ends of the stage (RULES.md §3). The slices are valid until the next call. The
// stage must be one that CheckStage accepts, and the position one of these rules.
func (g *Generator) Plays(r Rules, p Position, s Stage) Plays {
	g.begin(r, p, s)
	g.ends, g.final = g.ends[:0], g.final[:0]
	k := 0
	switch {
	case !g.orderFree(s):
		k = g.walkLevels(s)
	case s.mixed():
		k = g.walkMixed(uint(s.Dice[0]), uint(s.Dice[1]))
	default:
		k = g.walkEqual(uint(s.Dice[0]), s.Len())
	}
	if k == 0 {
		g.ends, g.final = append(g.ends[:0], p), g.final[:0]
	}
	final := g.final
	if len(final) == 0 {
		final = g.judgeEnds()
	}
	return Plays{K: k, Ends: g.ends, Final: final}
}

// begin makes the stage ready: everything that stays fixed while one side moves is worked out once.
func (g *Generator) begin(r Rules, p Position, s Stage) {
	g.rules, g.mover = r, s.Mover
	g.checkers = uint(r.Array.checkers())
	n := &g.start
	n.own, n.opp = p.sides[s.Mover], p.sides[s.Mover.Other()]
	n.occ = n.own.occupied()
	g.held = n.own.pinned() << 1
	enemy, two := r.Route.slots(n.opp.occupied()), r.Route.slots(n.opp.stacked())
	g.pins, g.stay = r.Contact.pins(), r.Contact.stay()
	n.wall, n.blot = r.Contact.landing(enemy, two, g.held, r.Route.slots(n.opp.pinned()<<1))
	g.limit, g.taken = r.HeadLimit(p, s), int(s.HeadTaken)
	g.headed = r.Head.limits()
	g.tight = r.HomeMoves.restricted()
	g.walls, g.barrier = false, barrier{}
	if r.Barrier.restricts() {
		g.barrier = r.Barrier.ready(n, r.Array.checkers())
		g.walls = !g.barrier.quiet(n.occ, n.reach(s), s.Len())
	}
	g.plain = !g.walls && !g.pins
	g.wasLock = g.walls && g.barrier.locked(n.occ)
	g.waived = false
	g.finish = n.own.count(offSlot)+uint(s.Len()) >= g.checkers
}

// orderFree reports that every set of steps that is legal in some order is legal rearmost checker first, and that no
// sequence ends the game before its last step. Then the walks below find each end once by its structure. Whatever
// looks at the positions between the steps spoils that: a block rule after every step, a lock-15, the runner, a
// mother that may be pinned, a lone last checker, the last inside move before all are home. A hitter that must stay
// does not: rearmost first, all who come to his point come before the first who leaves it.
func (g *Generator) orderFree(s Stage) bool {
	n := &g.start
	switch {
	case g.walls && (g.barrier.every || g.barrier.lock != 0),
		g.rules.Head.running(n),
		g.pins && n.opp.count(headSlot) == 1,
		s.mixed() && n.own.count(offSlot)+1 >= g.checkers:
		return false
	}
	if g.tight {
		outside := uint(0)
		for m := n.occ & outsideSlots; m != 0; m &= m - 1 {
			outside += n.own.count(lowest(m))
		}
		return outside == 0 || outside >= uint(s.Len())
	}
	return true
}

// judgeEnds judges the ends that the ordered walks found; only a last checker can end the game there.
func (g *Generator) judgeEnds() []Ending {
	if !g.finish {
		for len(g.none) < len(g.ends) {
			g.none = append(g.none, NotEnded)
		}
		return g.none[:len(g.ends)]
	}
	for i := range g.ends {
		e := NotEnded
		if g.ends[i].sides[g.mover].count(offSlot) == g.checkers {
			e = Finished
		}
		g.final = append(g.final, e)
	}
	return g.final
}

// emit appends an end.
func (g *Generator) emit(n *node) {
	g.ends = append(g.ends, n.position(g.mover, g.rules.Route))
}

// emitSteps appends the ends of plain last steps by die d from each of the sources, without making them on a node.
func (g *Generator) emitSteps(n *node, sources uint32, d uint) {
	count, more := len(g.ends), bits.OnesCount32(sources)
	g.ends = slices.Grow(g.ends, more)[:count+more]
	ends := g.ends[count:]
	me, route := g.mover&1, g.rules.Route
	own0, own1, opp0, opp1 := n.own[0], n.own[1], n.opp[0], n.opp[1]
	for i := range ends {
		f := lowest(sources)
		sources &= sources - 1
		t := landing(f, d)
		from, to := &places[f&31], &places[t&31]
		p := &ends[i]
		p.route = route
		p.sides[me] = side{own0 - from[0] + to[0], own1 - from[1] + to[1]}
		if n.blot>>t&1 == 0 {
			p.sides[me^1] = side{opp0, opp1}
		} else {
			hit := &places[(offSlot-t)&31]
			p.sides[me^1] = side{opp0 - hit[0] + places[barSlot][0], opp1 - hit[1]}
		}
	}
}

// emitNew appends an end unless it is there already, and returns all ends.
func (g *Generator) emitNew(n *node) []Position {
	p := n.position(g.mover, g.rules.Route)
	for i := range g.ends {
		if g.ends[i] == p {
			return g.ends
		}
	}
	g.ends = append(g.ends, p)
	return g.ends
}

// mayEnd reports whether the stage may end in this node.
func (g *Generator) mayEnd(n *node) bool {
	return !g.walls || !g.barrier.endBreaks(g.waived, n.occ)
}
