package rules

import "slices"

// Play is one legal end with one way to reach it.
type Play struct {
	Steps  []Step
	End    Position
	Ending Ending
}

// Play judges one given play of the stage, the steps in the order in which they are made; none is a pass. It
// returns the position after it, or an [*IllegalError]. A play that uses every die is judged by its own steps alone;
// only a shorter one needs the longest to be known.
func (g *Generator) Play(r Rules, p Position, s Stage, steps []Step) (Position, Ending, error) {
	g.begin(r, p, s)
	end, ending, ok := g.follow(s, steps)
	if !ok {
		return p, NotEnded, g.explain(r, p, s, steps)
	}
	full := len(steps) == s.Len() || ending != NotEnded
	if full && !g.wasLock {
		return end.position(s.Mover, r.Route), ending, nil
	}
	after := end.position(s.Mover, r.Route)
	plays := g.Plays(r, p, s)
	if i := slices.Index(plays.Ends, after); i >= 0 && (len(steps) == plays.K || ending != NotEnded) {
		return after, plays.Final[i], nil
	}
	return p, NotEnded, g.explain(r, p, s, steps)
}

// follow makes the steps and reports whether they are in L (RULES.md §3), waivers of F2 aside.
func (g *Generator) follow(s Stage, steps []Step) (end node, ending Ending, ok bool) {
	end = g.start
	if len(steps) == 0 {
		return end, NotEnded, true
	}
	if len(steps) > s.Len() {
		return end, NotEnded, false
	}
	if !s.mixed() {
		for i, st := range steps {
			if i > 0 && ending != NotEnded {
				return end, NotEnded, false
			}
			if ending, ok = g.take(&end, st, uint(s.Dice[0])); !ok {
				return end, NotEnded, false
			}
		}
		return end, ending, g.wasLock || g.mayEnd(&end)
	}
	// A step to off does not name its die: either assignment will do.
	for _, dice := range [2][2]uint8{{s.Dice[0], s.Dice[1]}, {s.Dice[1], s.Dice[0]}} {
		end = g.start
		ending, ok = g.take(&end, steps[0], uint(dice[0]))
		if ok && len(steps) == 2 {
			if ok = ending == NotEnded; ok {
				ending, ok = g.take(&end, steps[1], uint(dice[1]))
			}
		}
		if ok && (g.wasLock || g.mayEnd(&end)) {
			return end, ending, true
		}
	}
	return end, NotEnded, false
}

// take makes one step by die d if it is legal by itself.
func (g *Generator) take(n *node, st Step, d uint) (Ending, bool) {
	f, t := uint(st.From+1), uint(st.To+1)
	if f > 24 || landing(f, d) != t || g.sources(n, d)>>f&1 == 0 {
		return NotEnded, false
	}
	locked := g.walls && g.barrier.locked(n.occ)
	if g.move(n, f, t) != st.Contact {
		return NotEnded, false
	}
	if g.walls && g.barrier.stepBreaks(locked, n.occ) {
		return NotEnded, false
	}
	if !g.finish && !g.pins {
		return NotEnded, true
	}
	return n.ending(g.checkers, g.pins), true
}

// List returns every distinct legal end with one legal way to play it, in a fixed order; a pass is one Play without
// steps. Unlike Plays it allocates, and what it returns is the caller's.
func (g *Generator) List(r Rules, p Position, s Stage) []Play {
	plays := g.Plays(r, p, s)
	list := make([]Play, len(plays.Ends))
	index := make(map[Position]int, len(plays.Ends))
	for i, end := range plays.Ends {
		list[i] = Play{End: end, Ending: plays.Final[i]}
		index[end] = i
	}
	if plays.K == 0 {
		return list
	}
	l := lister{g: g, k: plays.K, stage: s, list: list, index: index, seen: make(map[levelNode]bool)}
	l.walk(levelNode{node: g.start, rest: 3}, nil)
	return list
}

// lister finds a way to every end by walking sequences of steps.
type lister struct {
	g     *Generator
	k     int
	stage Stage
	list  []Play
	index map[Position]int
	seen  map[levelNode]bool
}

func (l *lister) walk(at levelNode, steps []Step) {
	if l.seen[at] {
		return
	}
	l.seen[at] = true
	if len(steps) == l.k || at.ending != NotEnded {
		if i, ok := l.index[at.position(l.stage.Mover, l.g.rules.Route)]; ok && l.list[i].Steps == nil && l.g.mayEnd(&at.node) {
			l.list[i].Steps = slices.Clone(steps)
		}
		return
	}
	locked := l.g.walls && l.g.barrier.locked(at.occ)
	for which, d := range l.stage.Dice[:2] {
		if !l.stage.mixed() && which == 1 {
			break
		}
		bit := uint8(1) << which
		if l.stage.mixed() && at.rest&bit == 0 {
			continue
		}
		for m := l.g.sources(&at.node, uint(d)); m != 0; m &= m - 1 {
			f := lowest(m)
			t := landing(f, uint(d))
			next := at
			contact := l.g.move(&next.node, f, t)
			if l.g.walls && l.g.barrier.stepBreaks(locked, next.occ) {
				continue
			}
			if l.stage.mixed() {
				next.rest &^= bit
			} else {
				next.rest = uint8(len(steps)) // equal positions of different depth are different here
			}
			next.ending = next.node.ending(l.g.checkers, l.g.pins)
			l.walk(next, append(steps[:len(steps):len(steps)], Step{int8(f) - 1, int8(t) - 1, contact}))
		}
	}
}
