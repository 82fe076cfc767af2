package rules

// BearOff says which die bears off which checker (RULES.md §3 B1, §5).
type BearOff uint8

const (
	BearOffHighest  BearOff = iota + 1 // B1: the exact die, or a greater one from the highest occupied point
	BearOffExact                       // a die bears off from its own point only
	BearOffUnpinned                    // B1, but not while an own checker is pinned in the own home
)

var bearOffNames = []string{"highest", "exact", "unpinned"}

func (b BearOff) String() string { return nameOf(bearOffNames, uint8(b)) }

// exact reports whether only a checker's own die bears it off.
func (b BearOff) exact() bool { return b == BearOffExact }

// sources gives the slots from which die d bears off, for a mover whose checkers are all home. from are the slots
// whose checkers may move at all, held his pinned ones.
func (b BearOff) sources(occ, from, held uint32, d uint) uint32 {
	exact := uint32(1) << (offSlot - d)
	if b == BearOffUnpinned && held != 0 {
		return 0
	}
	if !b.exact() && occ&(exact-1) == 0 {
		return from & (occ & -occ) // nobody behind the die's point: from it, or from the highest below
	}
	return from & exact
}
