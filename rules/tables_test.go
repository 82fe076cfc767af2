package rules_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/rules"
)

// TestObligation: V1 to V3 of RULES.md §6, which tell "L, then maximise" from "maximise, then filter".
func TestObligation(t *testing.T) {
	tests := []struct {
		name, variant, position string
		die                     uint8
		k                       int
		ends                    []string // if told
	}{
		{"V1", "long-classic", "1:10 18:1 19:1 20:1 21:1 22:1 | 13:12 14:1 15:1 16:1", 5, 3, nil},
		{"V2", "long-classic", "1:9 18:1 20:1 21:2 22:1 23:1 | 13:12 14:1 15:1 16:1", 6, 1, []string{
			"1:8 7:1 18:1 20:1 21:2 22:1 23:1 | 13:12 14:1 15:1 16:1",
		}},
		{"V3 classic", "long-classic", "1:9 17:1 20:2 21:1 22:1 23:1 | 13:14 14:1", 4, 4, nil},
		{"V3 sport", "long-sport", "1:9 17:1 20:2 21:1 22:1 23:1 | 13:14 14:1", 4, 3, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := lookup(t, tt.variant)
			p, err := rules.ParsePosition(r, tt.position)
			if err != nil {
				t.Fatal(err)
			}
			var gen rules.Generator
			plays := gen.Plays(r, p, middle(rules.White, rules.Dice{A: tt.die, B: tt.die}))
			if plays.K != tt.k {
				t.Errorf("K = %d, want %d", plays.K, tt.k)
			}
			if tt.ends != nil {
				if diff := cmp.Diff(tt.ends, texts(plays.Ends)); diff != "" {
					t.Errorf("ends (-want +got):\n%s", diff)
				}
			}
		})
	}
}

func texts(ends []rules.Position) []string {
	out := make([]string, len(ends))
	for i, p := range ends {
		out[i] = p.String()
	}
	slices.Sort(out)
	return out
}

// first is the stage of a player's first own roll.
func first(mover rules.Color, d, whiteFirst rules.Dice) rules.Stage {
	s := rules.StageOf(mover, rules.Own, d)
	s.Roll, s.First, s.WhiteFirst = 1, true, whiteFirst
	return s
}

// TestFirstTurns: the first-turn truths of RULES.md §4.
func TestFirstTurns(t *testing.T) {
	double := func(d uint8) rules.Dice { return rules.Dice{A: d, B: d} }
	tests := []struct {
		name, variant string
		white         string // White's checkers; the start if empty
		stage         rules.Stage
		k             int
		ends          []string // the mover's side of every end
	}{
		{"1-1", "long-classic", "", first(rules.White, double(1), double(1)), 4, []string{"1:14 5:1"}},
		{"2-2", "long-classic", "", first(rules.White, double(2), double(2)), 4, []string{"1:14 9:1"}},
		{"3-3", "long-classic", "", first(rules.White, double(3), double(3)), 4, []string{"1:13 4:1 10:1", "1:13 7:2"}},
		{"4-4", "long-classic", "", first(rules.White, double(4), double(4)), 4, []string{"1:13 9:2"}},
		{"5-5", "long-classic", "", first(rules.White, double(5), double(5)), 4, []string{"1:14 21:1"}},
		{"6-6", "long-classic", "", first(rules.White, double(6), double(6)), 2, []string{"1:13 7:2"}},
		{"fevga 5-5", "fevga", "", first(rules.White, double(5), double(5)), 4, []string{"1:13 6:1 16:1", "1:14 21:1"}},
		{"fevga 6-6", "fevga", "", first(rules.White, double(6), double(6)), 1, []string{"1:14 7:1"}},
		{"black 5-5, white holds 4 after 3-3", "long-classic", "1:13 4:1 10:1", first(rules.Black, double(5), double(3)), 4, nil},
		{"black 5-5, white holds 4 after 2-1", "long-classic", "1:14 4:1", first(rules.Black, double(5), rules.Dice{A: 2, B: 1}), 2, nil},
		{"black 5-5, white left 4 after 3-3", "long-classic", "1:13 7:2", first(rules.Black, double(5), double(3)), 4, nil},
		{"black 5-5, white holds 9", "long-classic", "1:14 9:1", first(rules.Black, double(5), double(2)), 3, nil},
		{"black 4-4 after white's 5-5", "long-classic", "1:14 21:1", first(rules.Black, double(4), double(5)), 2, nil},
		{"sport: white never two", "long-sport", "", first(rules.White, double(4), double(4)), 2, []string{"1:14 9:1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := lookup(t, tt.variant)
			p := r.Start()
			if tt.white != "" {
				var err error
				if p, err = rules.ParsePosition(r, tt.white+" | 13:15"); err != nil {
					t.Fatal(err)
				}
			}
			var gen rules.Generator
			plays := gen.Plays(r, p, tt.stage)
			if plays.K != tt.k {
				t.Errorf("K = %d, want %d", plays.K, tt.k)
			}
			if tt.ends == nil {
				return
			}
			var want []string
			for _, side := range tt.ends {
				want = append(want, side+" | 13:15")
			}
			slices.Sort(want)
			if diff := cmp.Diff(want, texts(plays.Ends)); diff != "" {
				t.Errorf("ends (-want +got):\n%s", diff)
			}
		})
	}
}

// TestEarlyWin: a sequence that ends the game is legal whatever its length and whichever die it used (RULES.md §3).
func TestEarlyWin(t *testing.T) {
	tests := []struct {
		name, variant, position string
		ends                    []string
	}{
		{"at once, or hitting on the way", "hyper", "3:1 off:2 | 5:2 23:1", []string{"off:3 | 5:2 23:1", "off:3 | 5:2 bar:1"}},
		{"two checkers need both dice", "hyper", "1:1 3:1 off:1 | 5:2 23:1", []string{"1:1 off:2 | 5:2 bar:1", "off:3 | 5:2 23:1"}},
		{"the mother, or a longer way", "plakoto", "2:1 4:1 8:13 | 9:14 24:1", nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := lookup(t, tt.variant)
			p, err := rules.ParsePosition(r, tt.position)
			if err != nil {
				t.Fatal(err)
			}
			var gen rules.Generator
			plays := gen.Plays(r, p, middle(rules.White, rules.Dice{A: 3, B: 1}))
			if tt.ends != nil {
				if diff := cmp.Diff(tt.ends, texts(plays.Ends)); diff != "" {
					t.Errorf("ends (-want +got):\n%s", diff)
				}
				return
			}
			ended := 0
			for _, e := range plays.Final {
				if e == rules.Mother {
					ended++
				}
			}
			if ended == 0 || ended == len(plays.Final) {
				t.Errorf("%d of %d ends hold the mother", ended, len(plays.Final))
			}
		})
	}
}

// TestRunner: F1 holds the fourteen until the runner is past the enemy head, and no longer (RULES.md §4).
func TestRunner(t *testing.T) {
	tests := []struct {
		name, position string
		dice           rules.Dice
		ends           []string
	}{
		{"before the enemy head", "1:14 12:1 | 13:15", rules.Dice{A: 1, B: 2}, []string{"1:13 2:1 14:1 | 13:15", "1:14 15:1 | 13:15"}},
		{"on the enemy head, which was left", "1:14 13:1 | 15:7 18:8", rules.Dice{A: 2, B: 5}, []string{"1:14 13:1 | 15:7 18:8"}},
		{"past it within the turn", "1:14 12:1 | 13:15", rules.Dice{A: 2, B: 3}, []string{"1:13 3:1 15:1 | 13:15", "1:13 4:1 14:1 | 13:15", "1:14 17:1 | 13:15"}},
	}
	r := lookup(t, "fevga")
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			p, err := rules.ParsePosition(r, tt.position)
			if err != nil {
				t.Fatal(err)
			}
			var gen rules.Generator
			if diff := cmp.Diff(tt.ends, texts(gen.Plays(r, p, middle(rules.White, tt.dice)).Ends)); diff != "" {
				t.Errorf("ends (-want +got):\n%s", diff)
			}
		})
	}
}

// TestCrazyGyulbarFirstRolls: RULES.md §6, steps per stage and how many are handed over. One player makes as many
// steps as the whole chain allows, which every choice of ends is searched for.
func TestCrazyGyulbarFirstRolls(t *testing.T) {
	r := lookup(t, "crazy-gyulbar")
	tests := []struct {
		die    uint8
		stages []int
		handed int
	}{
		{1, []int{4, 4, 4, 4, 1}, 7},
		{2, []int{4, 4, 0}, 12},
		{3, []int{4, 4, 3}, 5},
		{4, []int{4, 4, 1}, 3},
		{5, []int{4, 0}, 4},
		{6, []int{2}, 2},
	}
	for _, tt := range tests {
		g, err := r.NewGame(rules.Terms{}).Begin(2, 1)
		if err != nil {
			t.Fatal(err)
		}
		if g, err = g.Roll(rules.Dice{A: tt.die, B: tt.die}); err != nil {
			t.Fatal(err)
		}
		made, last := longestChain(t, g, nil)
		if diff := cmp.Diff(tt.stages, made); diff != "" {
			t.Errorf("%d-%d: steps per stage (-want +got):\n%s", tt.die, tt.die, diff)
		}
		handed := 0
		for last.Due() == rules.DueStage { // Black plays what he was handed, all of it if he can
			handed += last.Stage().Len()
			before := last.Stage()
			var gen rules.Generator
			list := gen.List(r, last.Position(), before)
			next, err := last.Play(&gen, list[0].Steps)
			if err != nil {
				t.Fatal(err)
			}
			if len(list[0].Steps) < before.Len() {
				for v := before.Dice[0] + 1; v <= 6; v++ {
					handed += 4 // handed over as well, and not due once a stage is broken
				}
			}
			last = next
		}
		if handed != tt.handed {
			t.Errorf("%d-%d: %d steps handed over, want %d", tt.die, tt.die, handed, tt.handed)
		}
	}
}

// longestChain returns the steps per stage of a line with the most steps in all, and the game after it.
func longestChain(t *testing.T, g rules.Game, made []int) ([]int, rules.Game) {
	if g.Due() != rules.DueStage || g.OnTurn() != rules.White {
		return made, g
	}
	var best []int
	var last rules.Game
	sum := func(s []int) (n int) {
		for _, x := range s {
			n += x
		}
		return n
	}
	var gen rules.Generator
	for _, play := range gen.List(g.Rules(), g.Position(), g.Stage()) {
		next, err := g.Play(&gen, play.Steps)
		if err != nil {
			t.Fatal(err)
		}
		if line, end := longestChain(t, next, append(slices.Clone(made), len(play.Steps))); best == nil || sum(line) > sum(best) {
			best, last = line, end
		}
	}
	return best, last
}
