package rules_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"fairdice/rules"
)

// eachVariant runs a law for every variant on its own random source.
func eachVariant(t *testing.T, law func(t *testing.T, v rules.Variant, rng *rand.Rand)) {
	for i, v := range rules.Variants() {
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			law(t, v, rand.New(rand.NewPCG(uint64(i), 4711)))
		})
	}
}

// TestRandomGamesEnd plays whole games and asks for what must hold at every moment of them.
func TestRandomGamesEnd(t *testing.T) {
	eachVariant(t, func(t *testing.T, v rules.Variant, rng *rand.Rand) {
		r := v.Rules
		var gen rules.Generator
		for range 6 {
			g := r.NewGame(rules.Terms{Reply: rng.IntN(2) == 0})
			for n := 0; g.Due() != rules.DueOver; n++ {
				if n > 20000 {
					t.Fatalf("no end after %d transitions: %s", n, g.Position())
				}
				before := g
				if g.Due() == rules.DueStage {
					if err := r.CheckStage(g.Stage()); err != nil {
						t.Fatal(err)
					}
				}
				g = advance(t, g, &gen, rng)
				p := g.Position()
				// Checkers are conserved, and what is reached can be proved possible.
				if again, err := r.Position(p.Setup()); err != nil || again != p {
					t.Fatalf("reached an impossible position %s: %v", p, err)
				}
				// A legal block never becomes illegal by itself: neither side stands in a forbidden one between stages.
				for c := rules.White; c <= rules.Black; c++ {
					if forbiddenNow(r, p, c) {
						t.Fatalf("%s stands in a forbidden block: %s", c, p)
					}
				}
				if before.Due() == rules.DueStage && before.OnTurn() != g.OnTurn() && g.Due() == rules.DueBonus {
					t.Fatal("a bonus roll for the player who did not earn it")
				}
				if g.CubeWindow() != (g.Due() == rules.DueRoll && !g.Reply()) {
					t.Fatal("cube window")
				}
			}
			checkEnd(t, r, g)
		}
	})
}

func checkEnd(t *testing.T, r rules.Rules, g rules.Game) {
	t.Helper()
	o, p := g.Outcome(), g.Position()
	full := func(c rules.Color) bool { return p.Off(c) == r.Checkers() }
	switch {
	case o.Ending == rules.Finished && (!full(o.Winner) || o.Draw || o.Level < 1 || o.Level > r.MaxLevel()):
		t.Errorf("finished with %+v: %s", o, p)
	case o.Ending == rules.Mother && (!p.Held(o.Winner.Other(), 0) || p.At(o.Winner, 0) != 0 || o.Level != 2):
		t.Errorf("mother with %+v: %s", o, p)
	case o.Ending == rules.Draw && !o.Draw, o.Ending == rules.NotEnded:
		t.Errorf("ended with %+v: %s", o, p)
	}
}

// forbiddenNow asks the naive generator's reading of the block rules.
func forbiddenNow(r rules.Rules, p rules.Position, c rules.Color) bool {
	n := &naive{r: r, me: c}
	var b naiveBoard
	s := p.Setup()
	for side := range 2 {
		for i := range 24 {
			b.at[side][i] = int8(s.Points[side][i])
		}
		b.at[side][naiveOff] = int8(s.Off[side])
	}
	return n.endForbidden(b)
}

// TestBlocksNeverBite: with eleven checkers at home no forbidden block can arise (RULES.md §4, khachapuri and
// tbilisi): the rule switched off gives the same ends.
func TestBlocksNeverBite(t *testing.T) {
	eachVariant(t, func(t *testing.T, v rules.Variant, rng *rand.Rand) {
		if v.Rules.Array != rules.ArrayElevenFour {
			return
		}
		without := v.Rules
		without.Barrier = rules.BarrierNone
		var gen, other, player rules.Generator
		for range 20 {
			g := v.Rules.NewGame(rules.Terms{})
			for g.Due() != rules.DueOver {
				if g.Due() == rules.DueStage {
					a := gen.Plays(v.Rules, g.Position(), g.Stage())
					b := other.Plays(without, g.Position(), g.Stage())
					if a.K != b.K || !slices.Equal(texts(a.Ends), texts(b.Ends)) {
						t.Fatalf("the block rule bites: %s", g.Position())
					}
				}
				g = advance(t, g, &player, rng)
			}
		}
	})
}

// TestLegalIffGenerated tries every sequence of steps that could be written down for one die less, as many and one
// more, and asks that Play takes exactly those that the naive L allows.
func TestLegalIffGenerated(t *testing.T) {
	eachVariant(t, func(t *testing.T, v rules.Variant, rng *rand.Rand) {
		r := v.Rules
		var gen rules.Generator
		for tried := 0; tried < 60; {
			p, ok := arranged(r, rng)
			if !ok {
				continue
			}
			s := anyStage(r, rng)
			tried++
			list := gen.List(r, p, s)
			ends := map[rules.Position]bool{}
			for _, play := range list {
				ends[play.End] = true
			}
			k := gen.Plays(r, p, s).K
			for range 40 {
				steps := scribble(r, p, s, list, rng)
				end, ending, err := gen.Play(r, p, s, steps)
				if err == nil && (!ends[end] || len(steps) != k && ending == rules.NotEnded) {
					t.Fatalf("%s\nstage %+v: Play takes %s to %s, which is not listed", p, s, r.FormatSteps(s.Mover, steps), end)
				}
				if err != nil {
					illegal := err.(*rules.IllegalError)
					if illegal.K != k || illegal.Code == "" {
						t.Fatalf("%s: error %+v, K is %d", p, illegal, k)
					}
				}
			}
			// Maximality and the larger die: what leaves a step out is refused as forced, or ended the game.
			for _, play := range list {
				if len(play.Steps) < k && play.Ending == rules.NotEnded {
					t.Fatalf("%s: listed %d steps of %d", p, len(play.Steps), k)
				}
			}
		}
	})
}

// scribble writes a play that is nearly legal: a listed one with a step changed, lost, doubled or swapped.
func scribble(r rules.Rules, p rules.Position, s rules.Stage, list []rules.Play, rng *rand.Rand) []rules.Step {
	steps := slices.Clone(list[rng.IntN(len(list))].Steps)
	random := func() rules.Step {
		from := int8(rng.IntN(25) - 1)
		return rules.Step{From: from, To: min(from+int8(s.Dice[rng.IntN(s.Len())]), 24), Contact: rng.IntN(6) == 0}
	}
	if len(steps) == 0 {
		return []rules.Step{random()}
	}
	i := rng.IntN(len(steps))
	switch rng.IntN(6) {
	case 0:
		steps = slices.Delete(steps, i, i+1)
	case 1:
		steps = append(steps, random())
	case 2:
		steps[i] = random()
	case 3:
		steps[i].Contact = !steps[i].Contact
	case 4:
		j := rng.IntN(len(steps))
		steps[i], steps[j] = steps[j], steps[i]
	}
	return steps
}

// TestColoursAreSymmetric: the same arrangement seen by the other colour has the same ends, where the rules treat
// both sides alike.
func TestColoursAreSymmetric(t *testing.T) {
	swap := func(r rules.Rules, p rules.Position) rules.Position {
		s := p.Setup()
		s.Points[0], s.Points[1] = s.Points[1], s.Points[0]
		s.Bar[0], s.Bar[1] = s.Bar[1], s.Bar[0]
		s.Off[0], s.Off[1] = s.Off[1], s.Off[0]
		s.Pinned[0], s.Pinned[1] = s.Pinned[1], s.Pinned[0]
		out, err := r.Position(s)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	eachVariant(t, func(t *testing.T, v rules.Variant, rng *rand.Rand) {
		r := v.Rules
		var gen rules.Generator
		for tried := 0; tried < 150; {
			p, ok := arranged(r, rng)
			if !ok {
				continue
			}
			tried++
			s := anyStage(r, rng)
			if s.First {
				continue // the exceptions for Black's head
			}
			var mine []rules.Position
			for _, end := range gen.Plays(r, p, s).Ends {
				mine = append(mine, swap(r, end))
			}
			other := s
			other.Mover = s.Mover.Other()
			theirs := gen.Plays(r, swap(r, p), other).Ends
			if !slices.Equal(texts(mine), texts(theirs)) {
				t.Fatalf("%s: the colours differ", p)
			}
		}
	})
}

// TestDiceOrder: the two dice of a stage may be named in either order.
func TestDiceOrder(t *testing.T) {
	eachVariant(t, func(t *testing.T, v rules.Variant, rng *rand.Rand) {
		var gen rules.Generator
		for tried := 0; tried < 150; {
			p, ok := arranged(v.Rules, rng)
			s := anyStage(v.Rules, rng)
			if !ok || s.Dice[1] == 0 || s.Dice[0] == s.Dice[1] {
				continue
			}
			tried++
			a := gen.Plays(v.Rules, p, s)
			k, ends := a.K, texts(a.Ends)
			s.Dice[0], s.Dice[1] = s.Dice[1], s.Dice[0]
			s.Thrown.A, s.Thrown.B = s.Thrown.B, s.Thrown.A
			b := gen.Plays(v.Rules, p, s)
			if k != b.K || !slices.Equal(ends, texts(b.Ends)) {
				t.Fatalf("%s with %v: the order of the dice matters", p, s.Dice)
			}
		}
	})
}

// TestPlaysDoesNotAllocate once it is warm.
func TestPlaysDoesNotAllocate(t *testing.T) {
	for _, v := range rules.Variants() {
		cases := playedCases(t, v.Rules, 300)
		var gen rules.Generator
		run := func() {
			for _, c := range cases {
				gen.Plays(v.Rules, c.p, c.s)
			}
		}
		run()
		if n := testing.AllocsPerRun(1, run); n != 0 {
			t.Errorf("%s: %v allocations over 300 stages", v.ID, n)
		}
	}
}

// TestPips ties Pips to what steps take away.
func TestPips(t *testing.T) {
	for id, want := range map[string]int{"short": 167, "nackgammon": 194, "hyper": 69, "plakoto": 360, "long-classic": 360, "tbilisi": 162} {
		if got := lookup(t, id).Start().Pips(rules.White); got != want {
			t.Errorf("%s: %d pips at the start, want %d", id, got, want)
		}
	}
}

// TestGeneratorForgets: a generator that served one variant judges the next as a new one does, errors included.
func TestGeneratorForgets(t *testing.T) {
	rng := rand.New(rand.NewPCG(8, 8))
	variants := rules.Variants()
	var used rules.Generator
	for range 3000 {
		r := variants[rng.IntN(len(variants))].Rules
		p, ok := arranged(r, rng)
		if !ok {
			continue
		}
		s := anyStage(r, rng)
		var fresh rules.Generator
		list := fresh.List(r, p, s)
		steps := scribble(r, p, s, list, rng)
		end, ending, err := used.Play(r, p, s, steps)
		wantEnd, wantEnding, wantErr := fresh.Play(r, p, s, steps)
		if end != wantEnd || ending != wantEnding || (err == nil) != (wantErr == nil) {
			t.Fatalf("%s %s: %s %v, want %s %v", p, r.FormatSteps(s.Mover, steps), end, err, wantEnd, wantErr)
		}
		if err != nil && err.Error() != wantErr.Error() {
			t.Fatalf("%v, want %v", err, wantErr)
		}
	}
}
