package rules_test

import (
	"math/rand/v2"
	"testing"

	"fairdice/rules"
)

// dice throws from a seeded source, as tests need them repeatable.
func throw(rng *rand.Rand) rules.Dice {
	return rules.Dice{A: uint8(1 + rng.IntN(6)), B: uint8(1 + rng.IntN(6))}
}

// advance makes one random transition of a game that is not over. A stage is played to a random legal end.
func advance(t testing.TB, g rules.Game, gen *rules.Generator, rng *rand.Rand) rules.Game {
	t.Helper()
	var err error
	switch g.Due() {
	case rules.DueOpening:
		d := throw(rng)
		for d.A == d.B {
			d = throw(rng)
		}
		g, err = g.Begin(max(d.A, d.B), min(d.A, d.B))
	case rules.DueRoll, rules.DueBonus:
		g, err = g.Roll(throw(rng))
	case rules.DueStage:
		list := gen.List(g.Rules(), g.Position(), g.Stage())
		g, err = g.Play(gen, list[rng.IntN(len(list))].Steps)
	}
	if err != nil {
		t.Fatal(err)
	}
	return g
}

// playedCases are the stages met in random games.
func playedCases(t testing.TB, r rules.Rules, n int) []benchCase {
	rng := rand.New(rand.NewPCG(1, 2))
	var gen rules.Generator
	var cases []benchCase
	for len(cases) < n {
		g := r.NewGame(rules.Terms{})
		for g.Due() != rules.DueOver {
			if g.Due() == rules.DueStage {
				cases = append(cases, benchCase{g.Position(), g.Stage()})
			}
			g = advance(t, g, &gen, rng)
		}
	}
	return cases[:n]
}
