package commitment

import "fmt"

// Dice is one throw, each die 1 to 6. In stream opening D1 is seat A's die and D2 seat B's. The zero value stands for
// dice that are not fixed yet, as in every leaf of a live sequence.
type Dice struct{ D1, D2 uint8 }

// Valid reports whether both dice show 1 to 6.
func (d Dice) Valid() bool { return 1 <= d.D1 && d.D1 <= 6 && 1 <= d.D2 && d.D2 <= 6 }

// IsDouble reports whether the dice are equal.
func (d Dice) IsDouble() bool { return d.D1 == d.D2 }

// Pips is what the throw is worth: a+b, 4a for a double (RULES.md §8).
func (d Dice) Pips() int {
	if d.IsDouble() {
		return 4 * int(d.D1)
	}
	return int(d.D1) + int(d.D2)
}

// String returns "6 1", the form of records and receipts.
func (d Dice) String() string { return fmt.Sprintf("%d %d", d.D1, d.D2) }

// pairs is the number of ordered pairs.
const pairs = 36

// pair(k) = (k div 6 + 1, k mod 6 + 1), PROTOCOL.md §1.
func pair(k int) Dice { return Dice{uint8(k/6 + 1), uint8(k%6 + 1)} }

// card is the inverse of pair for valid dice.
func (d Dice) card() int { return int(d.D1-1)*6 + int(d.D2-1) }
