package rules

// Array is the arrangement at the start of a game (RULES.md §4, §5).
type Array uint8

const (
	ArrayHead       Array = iota + 1 // all fifteen on the first point of the path
	ArrayElevenFour                  // eleven on the first home point, four on the first point of the path
	ArrayStandard                    // 24×2 13×5 8×3 6×5
	ArraySplit                       // 24×2 23×2 13×4 8×3 6×4
	ArrayRunners                     // one each on 24, 23, 22
)

var arrayNames = []string{"head", "eleven-four", "standard", "split", "runners"}

func (a Array) String() string { return nameOf(arrayNames, uint8(a)) }

// points gives one side's checkers by own-path index.
func (a Array) points() (p [24]int) {
	switch a {
	case ArrayHead:
		p[0] = 15
	case ArrayElevenFour:
		p[0], p[18] = 4, 11
	case ArrayStandard:
		p[0], p[11], p[16], p[18] = 2, 5, 3, 5
	case ArraySplit:
		p[0], p[1], p[11], p[16], p[18] = 2, 2, 4, 3, 4
	case ArrayRunners:
		p[0], p[1], p[2] = 1, 1, 1
	}
	return p
}

// checkers is the number of checkers of each side.
func (a Array) checkers() int {
	if a == ArrayRunners {
		return 3
	}
	return 15
}

// Checkers returns how many checkers each side has.
func (r Rules) Checkers() int { return r.Array.checkers() }

// Start returns the position before the first roll. It panics on rules that Validate refuses.
func (r Rules) Start() Position {
	points := r.Array.points()
	p, err := r.Position(Setup{Points: [2][24]int{points, points}})
	if err != nil {
		panic("rules: start of an invalid variant: " + err.Error())
	}
	return p
}
