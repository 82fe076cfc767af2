package rules

// levels holds the scratch of walkLevels: the distinct nodes after each number of steps, and a table to tell them
// apart.
type levels struct {
	nodes []levelNode
	table []uint32 // open addressing: index into nodes + 1, valid if the node lies in the level being filled
	from  int      // first node of the level being filled
}

type levelNode struct {
	node
	ending Ending
	rest   uint8 // dice that remain of two different ones: 1 a, 2 b, 3 both
}

// walkLevels lists the ends of any stage and returns K. It keeps the distinct positions after one step, two steps
// and so on. Everything the rules ask about the way to a position, the checkers off the head, the points hit, a
// standing lock, can be told from the position and the start, so equal positions have equal futures.
func (g *Generator) walkLevels(s Stage) int {
	for {
		k, ok := g.walkLevelsOnce(s)
		if ok || !g.wasLock || g.waived {
			return k
		}
		g.waived = true // F2 (b): no sequence opens the standing lock, so the condition falls
		g.ends, g.final = g.ends[:0], g.final[:0]
	}
}

func (g *Generator) walkLevelsOnce(s Stage) (k int, found bool) {
	l := &g.levels
	l.nodes = append(l.nodes[:0], levelNode{node: g.start, rest: 3})
	bounds := [6]int{0, 1}
	mixed, a, b, depth := s.mixed(), uint(s.Dice[0]), uint(s.Dice[1]), 0
	for n := s.Len(); depth < n; depth++ {
		l.open(len(l.nodes))
		for i := bounds[depth]; i < bounds[depth+1]; i++ {
			at := l.nodes[i]
			if at.ending != NotEnded {
				continue
			}
			switch {
			case !mixed:
				g.expand(&at, a, at.rest)
			default:
				if at.rest&1 != 0 {
					g.expand(&at, a, at.rest&^1)
				}
				if at.rest&2 != 0 {
					g.expand(&at, b, at.rest&^2)
				}
			}
		}
		bounds[depth+2] = len(l.nodes)
		if bounds[depth+2] == bounds[depth+1] {
			break
		}
	}
	for ; depth > 0 && k == 0; depth-- {
		for i := bounds[depth]; i < bounds[depth+1]; i++ {
			if g.mayEnd(&l.nodes[i].node) {
				k = depth
				break
			}
		}
	}
	if k == 0 {
		return 0, false
	}
	onlyRest := uint8(0)
	if mixed && k == 1 {
		onlyRest = g.restOfLarger(bounds, a, b)
	}
	for step := 1; step <= k; step++ {
		for i := bounds[step]; i < bounds[step+1]; i++ {
			at := &l.nodes[i]
			full := step == k && (onlyRest == 0 || at.rest == onlyRest)
			if (full || at.ending != NotEnded) && g.mayEnd(&at.node) {
				g.record(&at.node, at.ending)
			}
		}
	}
	return k, true
}

// restOfLarger returns the remaining die that marks a single step by the larger one, if there is such a step.
func (g *Generator) restOfLarger(bounds [6]int, a, b uint) uint8 {
	rest := uint8(2)
	if b > a {
		rest = 1
	}
	for i := bounds[1]; i < bounds[2]; i++ {
		at := &g.levels.nodes[i]
		if at.rest == rest && g.mayEnd(&at.node) {
			return rest
		}
	}
	return 0
}

// expand adds the successors of at by die d to the level being filled.
func (g *Generator) expand(at *levelNode, d uint, rest uint8) {
	locked := g.walls && g.barrier.locked(at.occ)
	for m := g.sources(&at.node, d); m != 0; m &= m - 1 {
		f := lowest(m)
		next := levelNode{node: at.node, rest: rest}
		g.move(&next.node, f, landing(f, d))
		if g.walls && g.barrier.stepBreaks(locked, next.occ) {
			continue
		}
		next.ending = next.node.ending(g.checkers, g.pins)
		g.levels.add(next)
	}
}

// record appends an end with its ending. One that ends the game may have been reached by fewer steps as well.
func (g *Generator) record(n *node, e Ending) {
	if e == NotEnded {
		g.emit(n)
		g.final = append(g.final, e)
		return
	}
	if before := len(g.ends); before == len(g.emitNew(n)) {
		return
	}
	g.final = append(g.final, e)
}

// open begins a new level at node index from.
func (l *levels) open(from int) {
	l.from = from
	if l.table == nil {
		l.table = make([]uint32, 256)
	}
	clear(l.table)
}

// add appends the node unless the level has it.
func (l *levels) add(n levelNode) {
	mask := uint64(len(l.table) - 1)
	i := n.hash() & mask
	for ; l.table[i] != 0; i = (i + 1) & mask {
		if at := &l.nodes[l.table[i]-1]; at.own == n.own && at.opp == n.opp && at.rest == n.rest {
			return
		}
	}
	l.nodes = append(l.nodes, n)
	l.table[i] = uint32(len(l.nodes))
	if 2*(len(l.nodes)-l.from) > len(l.table) {
		l.grow()
	}
}

// grow doubles the table and puts the nodes of the level back into it.
func (l *levels) grow() {
	l.table = make([]uint32, 2*len(l.table))
	mask := uint64(len(l.table) - 1)
	for k := l.from; k < len(l.nodes); k++ {
		i := l.nodes[k].hash() & mask
		for l.table[i] != 0 {
			i = (i + 1) & mask
		}
		l.table[i] = uint32(k + 1)
	}
}

func (n *levelNode) hash() uint64 {
	const odd = 0x9e3779b97f4a7c15
	h := n.own[0] * odd
	h = (h ^ h>>29 ^ n.own[1]) * odd
	h = (h ^ h>>31 ^ n.opp[0]) * odd
	h = (h ^ h>>29 ^ n.opp[1] ^ uint64(n.rest)<<60) * odd
	return h ^ h>>32
}
