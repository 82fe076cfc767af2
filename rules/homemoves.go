package rules

// HomeMoves says whether checkers may move inside the home (RULES.md §4).
type HomeMoves uint8

const (
	HomeMovesFree        HomeMoves = iota + 1 // yes
	HomeMovesWithOutside                      // not while no own checker is outside the home
)

var homeMovesNames = []string{"free", "with-outside"}

func (h HomeMoves) String() string { return nameOf(homeMovesNames, uint8(h)) }

// restricted reports whether moves inside the home stop once all checkers are there.
func (h HomeMoves) restricted() bool { return h == HomeMovesWithOutside }
