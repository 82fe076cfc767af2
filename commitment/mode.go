package commitment

import (
	"fmt"

	"fairdice/internal/phrase"
)

// A Mode is the way a sequence turns its key into dice (PROTOCOL.md §2, RULES.md §8). The zero value is no mode.
type Mode uint8

// The eight modes.
const (
	Random   Mode = iota + 1 // independent uniform pairs
	Balanced                 // blocks of 36, each pair once
	Twofold                  // blocks of 72, each pair twice
	Triple                   // blocks of 108, each pair three times
	Equal                    // the same 12 throws for both players, each in his own order
	Levelled                 // per 6 throws the players' pips and doubles are close
	Real                     // recorded physical throws from an archive file
	Live                     // dice are fixed only when drawn, from fresh links of both players
)

var modeNames = [...]string{Random: "random", Balanced: "balanced", Twofold: "twofold", Triple: "triple",
	Equal: "equal", Levelled: "levelled", Real: "real", Live: "live"}

// Modes lists all modes in protocol order.
func Modes() []Mode { return []Mode{Random, Balanced, Twofold, Triple, Equal, Levelled, Real, Live} }

// Valid reports whether m is one of the eight modes.
func (m Mode) Valid() bool { return Random <= m && m <= Live }

// String returns the mode's id.
func (m Mode) String() string {
	if !m.Valid() {
		return fmt.Sprintf("mode(%d)", uint8(m))
	}
	return modeNames[m]
}

// ParseMode reads a mode's id.
func ParseMode(s string) (Mode, error) {
	for _, m := range Modes() {
		if modeNames[m] == s {
			return m, nil
		}
	}
	return 0, phrase.Errorf("parse mode: %q is none of the eight modes", clip(s))
}

// Deck returns how many times each pair occurs in a full block of the deck modes balanced (1), twofold (2) and
// triple (3), and 0 for the other modes.
func (m Mode) Deck() int {
	switch m {
	case Balanced:
		return 1
	case Twofold:
		return 2
	case Triple:
		return 3
	}
	return 0
}

// Blocks reports whether the mode deals in blocks, so that whoever counts knows something about the rest of a block.
// Every verdict has to say so (PROTOCOL.md §4).
func (m Mode) Blocks() bool { return m.Deck() > 0 || m == Equal || m == Levelled }
