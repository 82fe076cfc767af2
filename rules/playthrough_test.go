package rules_test

import (
	"bytes"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/rules"
)

var update = flag.Bool("update", false, "rewrite the golden files of this package")

// golden compares with a file of testdata, or rewrites it.
func golden(t *testing.T, path string, got []byte) {
	t.Helper()
	if *update {
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, got, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("no golden file: %v (-update writes it)", err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("%s changed (-want +got):\n%s", path, diff)
	}
}

// TestPlaythrough: one game per variant, with everything the turn machine says on the way. A variant without its
// file fails.
func TestPlaythrough(t *testing.T) {
	for i, v := range rules.Variants() {
		t.Run(v.ID, func(t *testing.T) {
			rng := rand.New(rand.NewPCG(uint64(i), 99))
			var gen rules.Generator
			var b bytes.Buffer
			for g := v.Rules.NewGame(rules.Terms{}); ; {
				switch g.Due() {
				case rules.DueStage:
					s := g.Stage()
					list := gen.List(v.Rules, g.Position(), s)
					k := gen.Plays(v.Rules, g.Position(), s).K
					play := list[rng.IntN(len(list))]
					fmt.Fprintf(&b, "%s %s %v stage %d head %d: K %d, %d ends: %s\n", s.Mover, s.Kind, s.Dice[:s.Len()], s.Index,
						v.Rules.HeadLimit(g.Position(), s), k, len(list), v.Rules.FormatSteps(s.Mover, play.Steps))
					next, err := g.Play(&gen, play.Steps)
					if err != nil {
						t.Fatal(err)
					}
					g = next
					fmt.Fprintf(&b, "  %s\n", g.Position())
				case rules.DueOver:
					fmt.Fprintf(&b, "%+v\n", g.Outcome())
					golden(t, "testdata/playthrough/"+v.ID+".txt", b.Bytes())
					return
				default:
					fmt.Fprintf(&b, "%s %s: ", g.Due(), g.OnTurn())
					g = advance(t, g, &gen, rng)
					fmt.Fprintf(&b, "%s\n", g.Stage().Thrown)
				}
			}
		})
	}
}

// TestPerft counts the games of every variant by the turn machine: depth is in rolls, so chains, hand-overs and
// bonus rolls count on the way. The counts of depth 1 are checked against the naive generator.
func TestPerft(t *testing.T) {
	var b bytes.Buffer
	fmt.Fprintln(&b, "variant\tdepth\tends")
	for _, v := range rules.Variants() {
		gens := make([]rules.Generator, 64)
		g, err := v.Rules.NewGame(rules.Terms{}).Begin(2, 1)
		if err != nil {
			t.Fatal(err)
		}
		if g.Due() == rules.DueStage {
			if g, err = g.Play(&gens[0], gens[0].List(v.Rules, g.Position(), g.Stage())[0].Steps); err != nil {
				t.Fatal(err)
			}
		}
		for depth := 1; depth <= 2; depth++ {
			naive := depth == 1
			fmt.Fprintf(&b, "%s\t%d\t%d\n", v.ID, depth, perft(t, g, depth, gens, naive))
		}
	}
	golden(t, "testdata/perft.tsv", b.Bytes())
}

// perft counts the distinct ends of each stage, summed over the tree of the 21 throws. Stages after the first of a
// turn are followed along one play, or the chains would swamp the count.
func perft(t *testing.T, g rules.Game, depth int, gens []rules.Generator, naive bool) (count int) {
	r := g.Rules()
	for a := uint8(1); a <= 6; a++ {
		for b := uint8(1); b <= a; b++ {
			rolled, err := g.Roll(rules.Dice{A: a, B: b})
			if err != nil {
				t.Fatal(err)
			}
			for _, play := range gens[0].List(r, rolled.Position(), rolled.Stage()) {
				next, err := rolled.Play(&gens[1], play.Steps)
				if err != nil {
					t.Fatal(err)
				}
				count++
				for next.Due() == rules.DueStage {
					list := gens[0].List(r, next.Position(), next.Stage())
					if naive {
						if _, ends := naivePlays(r, next.Position(), next.Stage()); len(ends) != len(list) {
							t.Errorf("%s: %d ends, the naive generator has %d", next.Position(), len(list), len(ends))
						}
					}
					count += len(list)
					if next, err = next.Play(&gens[1], list[len(list)-1].Steps); err != nil {
						t.Fatal(err)
					}
				}
				if depth > 1 && (next.Due() == rules.DueRoll || next.Due() == rules.DueBonus) {
					count += perft(t, next, depth-1, gens[2:], naive)
				}
			}
			if naive {
				if _, ends := naivePlays(r, rolled.Position(), rolled.Stage()); len(ends) != len(gens[0].Plays(r, rolled.Position(), rolled.Stage()).Ends) {
					t.Errorf("%s with %d %d: the naive generator has %d ends", rolled.Position(), a, b, len(ends))
				}
			}
		}
	}
	return count
}
