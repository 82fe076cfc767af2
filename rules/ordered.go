package rules

// The walks of this file need an order-free stage (Generator.orderFree). They find each distinct end once, by the
// structure of the steps, and so need no table of what was seen.

// walkEqual lists the ends of up to n steps of one value and returns K. Steps are taken rearmost first: the source
// slots never decrease. A set of steps of one value is determined by the checkers it displaces (the displacement of
// a source has it as its lowest term), so different sets have different ends, and equal sets are walked once.
func (g *Generator) walkEqual(d uint, n int) int {
	best := 0
	g.descend(&g.start, d, n, 0, &best, ^uint32(0))
	return best
}

// descend walks below at, which lies depth steps deep, and records at itself after its longer successors.
func (g *Generator) descend(at *node, d uint, n, depth int, best *int, allowed uint32) {
	if depth < n {
		m := g.sources(at, d) & allowed
		if depth == n-1 && g.plain && m != 0 {
			if *best < n {
				*best, g.ends = n, g.ends[:0]
			}
			g.emitSteps(at, m, d)
			return
		}
		for ; m != 0; m &= m - 1 {
			f := lowest(m)
			next := &g.stack[depth]
			*next = *at
			g.move(next, f, landing(f, d))
			g.descend(next, d, n, depth+1, best, ^uint32(0)<<f)
		}
	}
	if depth == 0 || depth < *best || !g.mayEnd(at) {
		return
	}
	if depth > *best {
		*best, g.ends = depth, g.ends[:0]
	}
	g.emit(at)
}

// walkMixed lists the ends of two different dice and returns K. Both orders are walked; an end that the other order,
// or another pair of steps, reaches as well is recognised by its steps instead of being looked up. Only around
// bearing off, where one die does another's work, are ends compared.
func (g *Generator) walkMixed(a, b uint) int {
	start := &g.start
	bar := start.own.count(barSlot)
	outside := start.occ & outsideSlots
	far := outside&(outside-1) != 0 // two points outside the home: no checker can be borne off in this stage
	firstA, firstB := g.sources(start, a), g.sources(start, b)
	mid := &g.stack[0]
	for m := firstA; m != 0; m &= m - 1 {
		f := lowest(m)
		*mid = *start
		g.move(mid, f, landing(f, a))
		seconds := g.sources(mid, b)
		if t := f - b; f > b && firstA>>t&1 != 0 && g.sameThrough(t+a) {
			// f by a, then t by b onto f, displace the same as t alone by a and then b.
			seconds &^= 1 << t
		}
		g.second(mid, seconds, b, !far)
	}
	for m := firstB; m != 0 && bar < 2; m &= m - 1 { // with two on the bar both dice enter, in either order
		t := lowest(m)
		if far && bar == 0 && g.foundOtherWay(firstA, t+b, t, a, b) {
			continue
		}
		*mid = *start
		g.move(mid, t, landing(t, b))
		seconds := g.sources(mid, a)
		if far && bar == 0 {
			seconds &= 1 << (t + b) // steps of two checkers were found with a first
		} else {
			for k := seconds; k != 0; k &= k - 1 {
				if f := lowest(k); f+a < offSlot && t+b < offSlot && g.foundOtherWay(firstA, f, t, a, b) {
					seconds &^= 1 << f
				}
			}
		}
		g.second(mid, seconds, a, !far)
	}
	if len(g.ends) > 0 {
		return 2
	}
	larger, smaller, firstLarger, firstSmaller := a, b, firstA, firstB
	if b > a {
		larger, smaller, firstLarger, firstSmaller = b, a, firstB, firstA
	}
	if g.walkOne(firstLarger, larger) || g.walkOne(firstSmaller, smaller) {
		return 1
	}
	return 0
}

// sameThrough reports that resting on slot leaves no trace: it is a point of the board and nobody is hit there. A
// checker that is only pinned in passing is free again.
func (g *Generator) sameThrough(slot uint) bool {
	return slot < offSlot && (g.start.blot>>slot&1 == 0 || g.pins)
}

// foundOtherWay reports whether the end of t by b, then f by a, neither of them off, was found with a first.
func (g *Generator) foundOtherWay(firstA uint32, f, t, a, b uint) bool {
	start := &g.start
	if f != t+b {
		// Two checkers, or one pair of steps through a point that held a checker: the order does not matter, except
		// that an entering checker must come first.
		return t != barSlot
	}
	if start.occ>>f&1 != 0 && firstA>>f&1 != 0 {
		return true
	}
	// One checker from t over f. The other way it rests on t+a, unless that is closed.
	return firstA>>t&1 != 0 && t+a < offSlot && g.sameThrough(t+a) && g.sameThrough(f)
}

// second makes the second step by die d from each of the sources and records the ends that are allowed.
func (g *Generator) second(mid *node, sources uint32, d uint, compare bool) {
	if g.plain && !compare {
		g.emitSteps(mid, sources, d)
		return
	}
	for m := sources; m != 0; m &= m - 1 {
		f := lowest(m)
		end := &g.stack[1]
		*end = *mid
		g.move(end, f, landing(f, d))
		switch {
		case !g.mayEnd(end):
		case compare:
			g.emitNew(end)
		default:
			g.emit(end)
		}
	}
}

// walkOne records the ends of single steps by die d and reports whether there is one.
func (g *Generator) walkOne(sources uint32, d uint) bool {
	for m := sources; m != 0; m &= m - 1 {
		f := lowest(m)
		next := g.start
		g.move(&next, f, landing(f, d))
		if g.mayEnd(&next) {
			g.emit(&next)
		}
	}
	return len(g.ends) > 0
}
