package rules

// Contact says what enemy checkers do to a landing (RULES.md §3, §5).
type Contact uint8

const (
	ContactClosed     Contact = iota + 1 // one enemy checker closes a point; nothing is ever hit
	ContactHit                           // two close a point, a lone one is hit and goes to the bar
	ContactHitAndStay                    // as hit, but the hitter may not leave his home point bare in the same turn
	ContactPin                           // two close a point, a lone one is pinned where it stands
)

var contactNames = []string{"closed", "hit", "hit-and-stay", "pin"}

func (c Contact) String() string { return nameOf(contactNames, uint8(c)) }

// hits reports whether checkers go to the bar.
func (c Contact) hits() bool { return c == ContactHit || c == ContactHitAndStay }

// pins reports whether checkers are pinned, and a game can end with a pinned mother.
func (c Contact) pins() bool { return c == ContactPin }

// stay reports whether a hitter may have to keep his home point.
func (c Contact) stay() bool { return c == ContactHitAndStay }

// HasBar reports whether a checker can stand on the bar.
func (r Rules) HasBar() bool { return r.Contact.hits() }

// Pins reports whether checkers are pinned instead of hit; such a game can end with a pinned mother.
func (r Rules) Pins() bool { return r.Contact.pins() }

// landing sorts the mover's slots by what the enemy's checkers make of them: wall is closed, blot is hit or pinned.
// held are the mover's own pinned slots, pinned those where an enemy checker is already held.
func (c Contact) landing(any, two, held, pinned uint32) (wall, blot uint32) {
	switch c {
	case ContactClosed:
		return any, 0
	case ContactPin:
		return two | held, any &^ (two | held | pinned)
	default:
		return two, any &^ two
	}
}

// stays gives the slots whose lone checker must not leave: a home point hit in this turn keeps one checker to the
// end of it (RULES.md §5).
func (c Contact) stays(start, now *node) uint32 {
	if !c.stay() {
		return 0
	}
	hit := start.blot &^ now.blot & homeSlots
	for m := hit; m != 0; m &= m - 1 {
		if now.own.count(lowest(m)) > 1 {
			hit &^= m & -m
		}
	}
	return hit
}
