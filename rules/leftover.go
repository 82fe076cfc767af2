package rules

// Leftover says what becomes of the steps of a double that cannot be made (RULES.md §4, §6).
type Leftover uint8

const (
	LeftoverLost          Leftover = iota + 1 // they are lost
	LeftoverHanded                            // the opponent plays them
	LeftoverHandedStarted                     // the opponent plays them if at least one step of the rolled double was made
)

var leftoverNames = []string{"lost", "handed", "handed-started"}

func (l Leftover) String() string { return nameOf(leftoverNames, uint8(l)) }

// hands reports whether steps are ever handed over.
func (l Leftover) hands() bool { return l != LeftoverLost }

// passesOn reports whether what is left after a stage goes to the opponent. started: the rolled double itself had
// at least one step.
func (l Leftover) passesOn(started bool) bool {
	return l == LeftoverHanded || l == LeftoverHandedStarted && started
}
