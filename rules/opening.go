package rules

// Opening says what White's first roll is (RULES.md §4, §5).
type Opening uint8

const (
	OpeningFresh Opening = iota + 1 // White rolls afresh
	OpeningDraw                     // White plays the two dice of the draw, never a double
)

var openingNames = []string{"fresh", "draw"}

func (o Opening) String() string { return nameOf(openingNames, uint8(o)) }

// playsDraw reports whether the draw dice are White's first roll.
func (o Opening) playsDraw() bool { return o == OpeningDraw }

// OpeningIsRoll reports whether the draw dice are White's first personal roll.
func (r Rules) OpeningIsRoll() bool { return r.Opening.playsDraw() }
