package rules

import "strconv"

// Dice is one throw in the order in which the dice were read, 1 to 6 each. The zero value means no throw.
type Dice struct{ A, B uint8 }

// Valid reports whether both dice show 1 to 6.
func (d Dice) Valid() bool { return d.A >= 1 && d.A <= 6 && d.B >= 1 && d.B <= 6 }

// IsDouble reports whether both dice show the same value.
func (d Dice) IsDouble() bool { return d.A == d.B && d.A != 0 }

func (d Dice) String() string {
	return strconv.Itoa(int(d.A)) + " " + strconv.Itoa(int(d.B))
}
