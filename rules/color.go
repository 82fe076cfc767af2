package rules

// Color is a player. White is the winner of the opening draw (RULES.md §1).
type Color uint8

const (
	White Color = iota
	Black
)

// Other returns the opponent.
func (c Color) Other() Color { return c ^ 1 }

func (c Color) String() string {
	if c == White {
		return "white"
	}
	return "black"
}
