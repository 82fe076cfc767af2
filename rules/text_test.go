package rules_test

import (
	"math/rand/v2"
	"testing"

	"fairdice/rules"
)

// TestTextForms: what is printed parses back to itself, for positions reached and arranged.
func TestTextForms(t *testing.T) {
	eachVariant(t, func(t *testing.T, v rules.Variant, rng *rand.Rand) {
		r := v.Rules
		for range 500 {
			p, ok := arranged(r, rng)
			if !ok {
				continue
			}
			if again, err := rules.ParsePosition(r, p.String()); err != nil || again != p {
				t.Fatalf("%s parses to %s, %v", p, again, err)
			}
			if again, err := r.Position(p.Setup()); err != nil || again != p {
				t.Fatalf("setup of %s gives %s, %v", p, again, err)
			}
			for _, c := range []rules.Color{rules.White, rules.Black} {
				id, err := r.PositionID(p, c)
				if !r.HasBar() {
					if err == nil {
						t.Fatal("a Position ID without a bar")
					}
					continue
				}
				if again, err2 := r.ParsePositionID(id, c); err != nil || err2 != nil || again != p {
					t.Fatalf("position id %s of %s parses to %s, %v %v", id, p, again, err, err2)
				}
			}
		}
		for c := rules.White; c <= rules.Black; c++ {
			for number := 1; number <= 24; number++ {
				if got := r.PointNumber(c, r.PointIndex(c, number)); got != number {
					t.Fatalf("point %d of %s comes back as %d", number, c, got)
				}
				if idx := r.PointIndex(c, number); r.Across(r.Across(idx)) != idx {
					t.Fatalf("across twice from %d", idx)
				}
			}
		}
	})
}

func FuzzParsePosition(f *testing.F) {
	variants := rules.Variants()
	rng := rand.New(rand.NewPCG(3, 4))
	for i, v := range variants {
		f.Add(uint8(i), v.Rules.Start().String())
		if p, ok := arranged(v.Rules, rng); ok {
			f.Add(uint8(i), p.String())
		}
	}
	f.Add(uint8(0), " | ")
	f.Add(uint8(13), "12:1p 24:14 | 13:1 24:14")
	f.Fuzz(func(t *testing.T, which uint8, text string) {
		r := variants[int(which)%len(variants)].Rules
		p, err := rules.ParsePosition(r, text)
		if err != nil {
			return
		}
		if p.String() != text {
			t.Fatalf("%q is written back as %q", text, p)
		}
	})
}

func FuzzParseStep(f *testing.F) {
	variants := rules.Variants()
	for i := range variants {
		for _, text := range []string{"13/7", "bar/20", "6/off", "8/5*", "23/4", "bar/off*", "24/01"} {
			f.Add(uint8(i), true, text)
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, black bool, text string) {
		r := variants[int(which)%len(variants)].Rules
		c := rules.White
		if black {
			c = rules.Black
		}
		s, err := r.ParseStep(c, text)
		if err != nil {
			return
		}
		if got := r.FormatStep(c, s); got != text {
			t.Fatalf("%q is written back as %q", text, got)
		}
		var gen rules.Generator
		stage := middle(c, rules.Dice{A: 3, B: 1})
		if _, _, err := gen.Play(r, r.Start(), stage, []rules.Step{s}); err != nil {
			_ = err.Error()
		}
	})
}

func FuzzParsePositionID(f *testing.F) {
	for _, id := range []string{"4HPwATDgc/ABMA", "4PPgASTgc/ABMA", "AAAAAAAAAAAAAA", "//////////////"} {
		f.Add(id)
	}
	r := lookup(f, "short")
	f.Fuzz(func(t *testing.T, id string) {
		p, err := r.ParsePositionID(id, rules.Black)
		if err != nil {
			return
		}
		if again, err := r.PositionID(p, rules.Black); err != nil || again != id {
			t.Fatalf("%q is written back as %q, %v", id, again, err)
		}
	})
}
