package rules_test

import (
	"math/rand/v2"
	"strings"
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

func FuzzParseXGID(f *testing.F) {
	f.Add("XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10")
	f.Add("XGID=-b----E-C---eE---c-e----B-:1:-1:-1:63:2:3:1:7:10")
	f.Add("XGID=aB----E-C---eE---c-d----A-:0:0:1:D:0:0:3:0:10")
	r := lookup(f, "short")
	f.Fuzz(func(t *testing.T, text string) {
		x, err := r.ParseXGID(text)
		if err != nil {
			return
		}
		if again := x.String(); again != text {
			t.Fatalf("%q is written back as %q", text, again)
		}
	})
}

func TestXGID(t *testing.T) {
	r := lookup(t, "short")
	const start = "XGID=-b----E-C---eE---c-e----B-:0:0:1:00:0:0:0:0:10"
	x, err := r.ParseXGID(start)
	if err != nil {
		t.Fatal(err)
	}
	if x.Position != r.Start() || x.OnRoll != rules.White || x.Dice != (rules.Dice{}) || x.MaxCube != 10 {
		t.Errorf("start: %+v", x)
	}
	x, err = r.ParseXGID("XGID=aA----E-C---eE---c-d----A-:2:-1:-1:63:2:3:1:7:10")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := x.Position.String(), "1:1 6:5 8:3 13:5 24:1 | 6:4 8:3 13:5 bar:1 off:2"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if x.Cube != 2 || x.Owner != -1 || x.OnRoll != rules.Black || x.Dice != (rules.Dice{A: 6, B: 3}) || x.Score != [2]int{2, 3} || x.Flags != 1 || x.Length != 7 {
		t.Errorf("got %+v", x)
	}
	bad := map[string]string{
		"":          "want XGID=",
		start[5:]:   "want XGID=",
		start + ":": "11 fields",
		"XGID=-b----E-C---eE---c-e----B:0:0:1:00:0:0:0:0:10":  "25 places",
		"XGID=-b----E-C---eE---c-e---?B-:0:0:1:00:0:0:0:0:10": "place 23",
		"XGID=-b----E-C---eE---c-e----C-:0:0:1:00:0:0:0:0:10": "white has 16 checkers",
		"XGID=Bb----E-C---eE---c-e------:0:0:1:00:0:0:0:0:10": "place 0",
		"XGID=-b----E-C---eE---c-e----B-:0:2:1:00:0:0:0:0:10": "cube owner",
		"XGID=-b----E-C---eE---c-e----B-:0:0:0:00:0:0:0:0:10": "turn",
		"XGID=-b----E-C---eE---c-e----B-:0:0:1:70:0:0:0:0:10": "dice",
		"XGID=-b----E-C---eE---c-e----B-:01:0:1:00:0:0:0:0:9": "cube",
		"XGID=-b----E-C---eE---c-e----B-:0:0:1:00:-1:0:0:0:9": "score",
	}
	for text, want := range bad {
		if _, err := r.ParseXGID(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	if _, err := lookup(t, "plakoto").ParseXGID(start); err == nil {
		t.Error("an XGID without a bar")
	}
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
