package rules

// ChainEnd says when a progression stops before the sixes (RULES.md §4, §6).
type ChainEnd uint8

const (
	ChainNone        ChainEnd = iota + 1 // there is no progression
	ChainHome                            // when all checkers are home after a stage
	ChainHomeOneMore                     // likewise, but if the last one entered on the fourth step exactly one more stage is due
)

var chainEndNames = []string{"none", "home", "home-one-more"}

func (c ChainEnd) String() string { return nameOf(chainEndNames, uint8(c)) }

// stops reports whether the stages above the one just played are neither due nor handed over. before and after say
// whether all of the mover's checkers were home, made is the number of steps, off how many of them bore off. Under
// one-more the extra stage begins with all home, so it can only be one.
func (c ChainEnd) stops(before, after bool, made, off int) bool {
	if c == ChainHomeOneMore && !before && after && made == 4 && off == 0 {
		return false
	}
	return after
}
