package replay

// Seat is a place at the table. Which colour a seat plays is decided by the opening draw of each game (PROTOCOL.md §5).
type Seat uint8

// The two seats of a match.
const (
	A Seat = iota
	B
)

// Other returns the opponent's seat.
func (s Seat) Other() Seat { return s ^ 1 }

// String returns "A" or "B".
func (s Seat) String() string {
	if s == A {
		return "A"
	}
	return "B"
}
