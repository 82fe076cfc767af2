package rules

// Ending says whether, and how, a position ends the game for the side that just moved.
type Ending uint8

const (
	NotEnded Ending = iota
	Finished        // the mover's last checker is off
	Mother          // the mover holds the enemy's mother and wins (RULES.md §5)
	Draw            // both mothers are pinned
)

var endingNames = []string{"", "finished", "mother", "draw"}

// String returns "finished", "mother", "draw", or the empty string.
func (e Ending) String() string { return nameOf(endingNames, uint8(e)+1) }

// ending judges the position after a step of the mover.
func (n *node) ending(checkers uint, pins bool) Ending {
	if n.own.count(offSlot) == checkers {
		return Finished
	}
	if !pins {
		return NotEnded
	}
	// A pinned checker is the only one on its point, so one pinned on the start point is the mother.
	mine, theirs := n.own.pinned()&1 != 0, n.opp.pinned()&1 != 0
	switch {
	case mine && theirs:
		return Draw
	case theirs && n.own.count(headSlot) == 0:
		return Mother
	}
	return NotEnded
}
