package rules

// Score says what a won game counts, before cube and stake (RULES.md §5, §7).
type Score uint8

const (
	ScoreMars  Score = iota + 1 // 1, or 2 if the loser has borne none off
	ScoreKoks                   // likewise, and 3 with a checker on the bar or in the winner's home
	ScorePlain                  // as mars, and no doubling cube is ever played with
)

var scoreNames = []string{"mars", "koks", "plain"}

func (s Score) String() string { return nameOf(scoreNames, uint8(s)) }

// Cube reports whether a doubling cube may be agreed on.
func (r Rules) Cube() bool { return r.Score != ScorePlain }

// MaxLevel returns the highest level a won game can have: 2, or 3 where koks counts.
func (r Rules) MaxLevel() uint8 {
	if r.Score == ScoreKoks {
		return 3
	}
	return 2
}

// Level returns what a game just borne off counts by its final position: 1 (oin, single), 2 (mars) or 3 (koks).
func (r Rules) Level(p Position, loser Color) uint8 {
	if p.Off(loser) > 0 {
		return 1
	}
	if r.Score != ScoreKoks {
		return 2
	}
	if p.Bar(loser) > 0 {
		return 3
	}
	for idx := 18; idx < 24; idx++ {
		if p.At(loser, r.Route.across(idx)) > 0 {
			return 3
		}
	}
	return 2
}
