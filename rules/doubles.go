package rules

// Doubles says what a double is worth (RULES.md §4, §6).
type Doubles uint8

const (
	DoublesFour            Doubles = iota + 1 // four steps
	DoublesBonus                              // four steps; all four made on an ordinary roll: one bonus roll
	DoublesBonusVoid                          // as bonus; the bonus is void when the double bears the last checker off, and the game ends there without a reply turn
	DoublesProgression                        // four steps of every value from the double's own up to six
	DoublesLateProgression                    // four steps in the first five personal rolls, a progression from the sixth
)

var doublesNames = []string{"four", "bonus", "bonus-void", "progression", "late-progression"}

func (d Doubles) String() string { return nameOf(doublesNames, uint8(d)) }

// quietRolls is how many personal rolls pass before a late progression.
const quietRolls = 5

func (d Doubles) progressive() bool { return d == DoublesProgression || d == DoublesLateProgression }

// chains reports whether a double thrown as this personal roll begins a progression.
func (d Doubles) chains(roll uint16) bool {
	return d == DoublesProgression || d == DoublesLateProgression && roll > quietRolls
}

// quiet reports a roll whose double is plain four steps, with nothing handed over, in a game of progressions.
func (d Doubles) quiet(roll uint16) bool { return d == DoublesLateProgression && roll <= quietRolls }

func (d Doubles) bonus() bool { return d == DoublesBonus || d == DoublesBonusVoid }

// voidsReply reports whether finishing with a stage of this kind on a double leaves no reply turn.
func (d Doubles) voidsReply(s Stage) bool {
	return d == DoublesBonusVoid && s.Kind == Own && s.Thrown.IsDouble()
}
