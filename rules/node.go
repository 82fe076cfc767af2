package rules

// node is a position seen by the mover, with the masks that decide his steps. All masks are over his slots.
type node struct {
	own, opp side
	occ      uint32 // his checkers, bar included
	wall     uint32 // closed to him; fixed while he moves
	blot     uint32 // where a landing hits or pins
}

func (n *node) position(mover Color, route Route) Position {
	p := Position{route: route}
	p.sides[mover&1] = n.own
	p.sides[mover&1^1] = n.opp
	return p
}

// sources returns the slots from which a step by die d is legal under the step and head rules (RULES.md §3).
func (g *Generator) sources(n *node, d uint) uint32 {
	occ := n.occ
	from := occ &^ g.held
	if occ&(1<<barSlot) != 0 {
		from = 1 << barSlot
	}
	if g.headed && g.rules.Head.barred(g.limit, g.takenOff(n), n) {
		from &^= 1 << headSlot
	}
	if g.stay {
		from &^= g.rules.Contact.stays(&g.start, n)
	}
	inside := from & (pointSlots &^ n.wall >> d)
	if occ&outsideSlots != 0 {
		return inside
	}
	if g.tight {
		inside = 0
	}
	return inside | g.rules.BearOff.sources(occ, from, g.held, d)
}

// takenOff returns how many checkers have left the head under the running allowance.
func (g *Generator) takenOff(n *node) int {
	return g.taken + int(g.start.own.count(headSlot)) - int(n.own.count(headSlot))
}

// landing returns the slot where a step from f by die d ends.
func landing(f, d uint) uint { return min(f+d, offSlot) }

// move makes a legal step from slot f to slot t and reports whether it hit or pinned.
func (g *Generator) move(n *node, f, t uint) (contact bool) {
	from, to := &places[f&31], &places[t&31]
	n.own[0] += to[0] - from[0]
	n.own[1] += to[1] - from[1]
	if n.own[0]&(15*from[0])|n.own[1]&(15*from[1]) == 0 {
		n.occ &^= 1 << f
		if g.pins && n.opp[1]>>(pinShift+24-f)&1 != 0 {
			n.opp[1] &^= 1 << (pinShift + 24 - f) // the pinner leaves
			n.blot |= 1 << f
		}
	}
	if t == offSlot {
		return false
	}
	n.occ |= 1 << t
	if n.blot>>t&1 == 0 {
		return false
	}
	n.blot &^= 1 << t
	if g.pins {
		n.opp[1] |= 1 << (pinShift + 24 - t)
		return true
	}
	hit := &places[offSlot-t]
	n.opp[0] += places[barSlot][0] - hit[0]
	n.opp[1] -= hit[1]
	return true
}

// reach returns every slot the mover could occupy at some moment of the stage, each step by itself taken as legal
// wherever the landing is open.
func (n *node) reach(s Stage) uint32 {
	slots := n.occ
	for range s.Len() {
		next := slots
		for _, d := range s.Dice {
			if d != 0 {
				next |= slots << d &^ n.wall
			}
		}
		slots = next
	}
	return slots
}
