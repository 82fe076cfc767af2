package rules_test

import (
	"testing"

	"fairdice/rules"
)

// TestLevels reads the levels off final positions whose points are level times cube.
func TestLevels(t *testing.T) {
	var file struct {
		Finals []struct {
			Variant string `json:"variant"`
			Options struct {
				Raise, Stake, Series string
			} `json:"options"`
			Cube     int          `json:"cube"`
			Accepted bool         `json:"double_accepted"`
			Ending   string       `json:"ending"`
			Winner   string       `json:"winner"`
			Position jsonPosition `json:"position"`
			Points   int          `json:"points"`
		} `json:"finals"`
	}
	readGzip(t, "testdata/vectors/results.json.gz", &file)
	checked := map[int]int{}
	for i, f := range file.Finals {
		o := f.Options
		counts := o.Raise == "mars" || o.Raise == "cube" || o.Raise == "beaver" || o.Raise == "auto" || o.Raise == "jacoby" && f.Accepted
		if f.Ending != "finished" || o.Stake != "win" || !counts || o.Series == "reverse" || len(o.Series) > 8 && o.Series[:8] == "combined" {
			continue
		}
		r := lookup(t, f.Variant)
		p, err := r.Position(f.Position.setup(r))
		if err != nil {
			t.Fatal(err)
		}
		loser := rules.Black
		if f.Winner == "black" {
			loser = rules.White
		}
		level := int(r.Level(p, loser))
		if level*f.Cube != f.Points {
			t.Errorf("final %d, %s %+v: level %d × cube %d, want %d points: %s", i, f.Variant, o, level, f.Cube, f.Points, p)
		}
		checked[level]++
	}
	if checked[1] == 0 || checked[2] == 0 { // koks is among the paths of TestTurnMachine
		t.Errorf("levels met: %v", checked)
	}
}

// TestKoks: none off, and a checker on the bar or in the winner's home (RULES.md §7).
func TestKoks(t *testing.T) {
	r := lookup(t, "short")
	for text, want := range map[string]uint8{
		"off:15 | 1:14 off:1":  1,
		"off:15 | 1:15":        2,
		"off:15 | 1:14 18:1":   2,
		"off:15 | 1:14 19:1":   3,
		"off:15 | 1:14 24:1":   3,
		"off:15 | 1:14 bar:1":  3,
		"off:15 | 24:14 off:1": 1,
	} {
		p, err := rules.ParsePosition(r, text)
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Level(p, rules.Black); got != want {
			t.Errorf("%s: level %d, want %d", text, got, want)
		}
	}
}

// TestOptionsOfRules: what a match may agree on is told by the rules, not by names.
func TestOptionsOfRules(t *testing.T) {
	for _, v := range rules.Variants() {
		r := v.Rules
		if want := v.ID != "tavla" && v.ID != "plakoto"; r.Cube() != want {
			t.Errorf("%s: cube %t", v.ID, r.Cube())
		}
		if want := v.ID == "long-classic"; r.Head55Applies() != want {
			t.Errorf("%s: head55 %t", v.ID, r.Head55Applies())
		}
		if want := r.Route == rules.RouteParallel; r.ReplyTurn() != want {
			t.Errorf("%s: reply turn %t", v.ID, r.ReplyTurn())
		}
	}
	for _, name := range []string{"literal", "general", "off"} {
		if h, ok := rules.ParseHead55(name); !ok || h.String() != name {
			t.Errorf("head55 %q parses to %q", name, h)
		}
	}
	if _, ok := rules.ParseHead55("Off"); ok {
		t.Error("head55 Off was taken")
	}
	terms := rules.Terms{Head55: rules.Head55General, Reply: true}
	if got := lookup(t, "long-classic").NewGame(terms).Terms(); got != terms {
		t.Errorf("terms %+v", got)
	}
}

// FuzzGame feeds the turn machine any events: it takes them or refuses them, and stays sound.
func FuzzGame(f *testing.F) {
	for i := range rules.Variants() {
		f.Add(uint8(i), true, []byte("\x05\x02\x03\x03legal\x00moves\x01\x02\x03\x04\x05\x06\x07\x08"))
	}
	variants := rules.Variants()
	f.Fuzz(func(t *testing.T, which uint8, reply bool, events []byte) {
		r := variants[int(which)%len(variants)].Rules
		g := r.NewGame(rules.Terms{Reply: reply})
		var gen rules.Generator
		next := func() (b byte) {
			if len(events) > 0 {
				b, events = events[0], events[1:]
			}
			return b
		}
		for n := 0; len(events) > 0 && n < 500; n++ {
			before := g
			var err error
			switch next() % 4 {
			case 0:
				g, err = g.Roll(rules.Dice{A: next() % 8, B: next() % 8})
			case 1:
				g, err = g.Begin(next()%8, next()%8)
			case 2: // any steps
				var steps []rules.Step
				for range next() % 6 {
					steps = append(steps, rules.Step{From: int8(next()), To: int8(next()), Contact: next()%2 == 0})
				}
				g, err = g.Play(&gen, steps)
			case 3: // a legal play
				if g.Due() == rules.DueStage {
					list := gen.List(r, g.Position(), g.Stage())
					if g, err = g.Play(&gen, list[int(next())%len(list)].Steps); err != nil {
						t.Fatal(err)
					}
				}
			}
			if err != nil {
				if err.Error() == "" || g != before {
					t.Fatalf("a refused event changed the game: %v", err)
				}
				continue
			}
			if again, err := r.Position(g.Position().Setup()); err != nil || again != g.Position() {
				t.Fatalf("impossible position %s: %v", g.Position(), err)
			}
			if g.Due() == rules.DueStage {
				if err := r.CheckStage(g.Stage()); err != nil {
					t.Fatal(err)
				}
			}
		}
	})
}
