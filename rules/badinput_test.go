package rules_test

import (
	"errors"
	"strings"
	"testing"

	"fairdice/rules"
)

// TestBadSetups breaks one thing at a time in the start position.
func TestBadSetups(t *testing.T) {
	tests := []struct {
		name, variant string
		edit          func(*rules.Setup)
		want          string
	}{
		{"sixteen checkers", "short", func(s *rules.Setup) { s.Points[0][18]++ }, "white has 16 checkers, want 15"},
		{"fourteen checkers", "long-classic", func(s *rules.Setup) { s.Points[1][0]-- }, "black has 14 checkers, want 15"},
		{"both colours on one point", "long-classic", func(s *rules.Setup) { s.Points[0][0]--; s.Points[0][12]++ }, "point 13 holds checkers of both colours"},
		{"both colours, short", "short", func(s *rules.Setup) { s.Points[0][0]--; s.Points[0][5]++ }, "point 19 holds checkers of both colours"},
		{"bar in a long game", "gyulbar", func(s *rules.Setup) { s.Points[0][0]--; s.Bar[0]++ }, "nothing is ever hit in this game"},
		{"bar in plakoto", "plakoto", func(s *rules.Setup) { s.Points[0][0]--; s.Bar[0]++ }, "nothing is ever hit in this game"},
		{"negative count", "short", func(s *rules.Setup) { s.Points[0][3] = -1 }, "white has -1 checkers on point 21, want 0 to 15"},
		{"absurd count", "short", func(s *rules.Setup) { s.Off[1] = 1 << 40 }, "black has 1099511627776 checkers borne off, want 0 to 15"},
		{"negative bar", "short", func(s *rules.Setup) { s.Bar[1] = -2 }, "black has -2 checkers on the bar"},
		{"shared and nobody pinned", "plakoto", func(s *rules.Setup) { s.Points[0][0]--; s.Points[0][23]++ }, "exactly one side must be pinned"},
		{"a pinned stack", "plakoto", func(s *rules.Setup) { s.Points[0][0]--; s.Points[0][23]++; s.Pinned[1][0] = true }, "black is marked pinned on his point 24 without one black checker held"},
		{"pinned by nobody", "plakoto", func(s *rules.Setup) { s.Pinned[0][4] = true }, "white is marked pinned on his point 20 without one white checker held"},
		{"pinned where nothing is", "short", func(s *rules.Setup) { s.Pinned[0][0] = true }, "white is marked pinned on his point 24"},
		{"everybody off", "hyper", func(s *rules.Setup) { *s = rules.Setup{Off: [2]int{3, 3}} }, "both sides have borne off all"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := lookup(t, tt.variant)
			s := r.Start().Setup()
			tt.edit(&s)
			if _, err := r.Position(s); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			} else if strings.Count(err.Error(), "\n") != 0 {
				t.Errorf("one fault, several reasons: %v", err)
			}
		})
	}
}

func TestBadStages(t *testing.T) {
	good := middle(rules.White, rules.Dice{A: 2, B: 2})
	tests := []struct {
		name, variant string
		edit          func(*rules.Stage)
		want          string
	}{
		{"die 7", "short", func(s *rules.Stage) { s.Dice = [4]uint8{7, 1} }, "die 1 shows 7"},
		{"no dice", "short", func(s *rules.Stage) { s.Dice = [4]uint8{} }, "no dice"},
		{"a gap in the dice", "short", func(s *rules.Stage) { s.Dice = [4]uint8{2, 0, 2, 2} }, "die 3 follows a missing one"},
		{"three dice of a throw", "short", func(s *rules.Stage) { s.Dice[3] = 0 }, "dice [2 2 2] are not stage 1 of the throw 2 2"},
		{"throw of 0", "short", func(s *rules.Stage) { s.Thrown = rules.Dice{A: 0, B: 2} }, "throw 0 2, want two dice of 1 to 6"},
		{"other throw", "short", func(s *rules.Stage) { s.Thrown = rules.Dice{A: 3, B: 3} }, "are not stage 1 of the throw 3 3"},
		{"stage 0", "short", func(s *rules.Stage) { s.Index = 0 }, "stages count from 1"},
		{"stage 2 without a progression", "short", func(s *rules.Stage) { s.Index = 2 }, "has no stage 2"},
		{"stage 2 in a quiet roll", "long-crazy", func(s *rules.Stage) { s.Index, s.Roll, s.Dice = 2, 5, [4]uint8{3, 3, 3, 3} }, "roll 5 of 2 2 has no stage 2"},
		{"stage above six", "crazy-gyulbar", func(s *rules.Stage) { s.Index = 6 }, "has no stage 6"},
		{"bonus where there is none", "long-classic", func(s *rules.Stage) { s.Kind = rules.Bonus }, "there is no bonus roll"},
		{"handed where nothing is", "long-classic", func(s *rules.Stage) { s.Kind, s.Thrown = rules.Handed, rules.Dice{} }, "nothing is handed over"},
		{"handed with a throw", "gyulbar", func(s *rules.Stage) { s.Kind = rules.Handed }, "handed steps have no throw"},
		{"handed of two values", "gyulbar", func(s *rules.Stage) { s.Kind, s.Thrown, s.Dice = rules.Handed, rules.Dice{}, [4]uint8{2, 3} }, "not of one value"},
		{"first, but not the first", "short", func(s *rules.Stage) { s.First = true }, "a first own roll is roll 1"},
		{"no roll", "short", func(s *rules.Stage) { s.Roll = 0 }, "at least the mover's roll 1"},
		{"head55 elsewhere", "gyulbar", func(s *rules.Stage) { s.Head55 = rules.Head55General }, "head55 general means nothing"},
		{"absurd head55", "long-classic", func(s *rules.Stage) { s.Head55 = 9 }, "head55 has no value 9"},
		{"absurd kind", "short", func(s *rules.Stage) { s.Kind = 7 }, "kind has no value 7"},
		{"absurd mover", "short", func(s *rules.Stage) { s.Mover = 2 }, "mover 2 is no colour"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := lookup(t, tt.variant)
			if err := r.CheckStage(good); err != nil {
				t.Fatalf("the good stage: %v", err)
			}
			s := good
			tt.edit(&s)
			if err := r.CheckStage(s); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
}

func TestUnknownVariant(t *testing.T) {
	for _, id := range []string{"", "Short", "backgammon", "short "} {
		if _, err := rules.Lookup(id); !errors.Is(err, rules.ErrUnknownVariant) || !strings.Contains(err.Error(), `"`+id+`"`) {
			t.Errorf("Lookup(%q): %v", id, err)
		}
	}
}

func TestBadTurns(t *testing.T) {
	r := lookup(t, "short")
	var gen rules.Generator
	g := r.NewGame(rules.Terms{})
	wants := func(err error, want string) {
		t.Helper()
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %q", err, want)
		}
	}
	_, err := g.Roll(rules.Dice{A: 1, B: 2})
	wants(err, "opening is due, not a roll")
	_, err = g.Play(&gen, nil)
	wants(err, "opening is due, not a stage")
	_, err = g.Begin(3, 3)
	wants(err, "white is the side with the greater die")
	_, err = g.Begin(7, 3)
	wants(err, "want two dice of 1 to 6")
	g, err = g.Begin(6, 4)
	if err != nil {
		t.Fatal(err)
	}
	_, err = g.Begin(6, 4)
	wants(err, "stage is due, not the opening")
	_, err = g.Roll(rules.Dice{A: 1, B: 2})
	wants(err, "stage is due, not a roll")
	five := []rules.Step{{From: 0, To: 6}, {From: 0, To: 6}, {From: 0, To: 6}, {From: 0, To: 6}, {From: 0, To: 6}}
	_, err = g.Play(&gen, five)
	var illegal *rules.IllegalError
	if !errors.As(err, &illegal) {
		t.Errorf("five steps: %v", err)
	}
	for _, s := range []rules.Step{{From: -100, To: 3}, {From: 120, To: 126}, {From: 5, To: 5}, {From: 24, To: 24}, {From: 23, To: 127}, {From: -1, To: 3}, {From: 3, To: -1}} {
		if _, err := g.Play(&gen, []rules.Step{s, s}); !errors.As(err, &illegal) {
			t.Errorf("step %+v: %v", s, err)
		} else {
			checkIllegalStep(t, illegal)
		}
	}
	long, err := lookup(t, "long-classic").NewGame(rules.Terms{}).Begin(6, 4)
	if err != nil {
		t.Fatal(err)
	}
	_, err = long.Roll(rules.Dice{A: 0, B: 7})
	wants(err, "throw 0 7, want two dice of 1 to 6")
}

// checkIllegalStep asks only for a message: steps off the board have no good text.
func checkIllegalStep(t *testing.T, e *rules.IllegalError) {
	t.Helper()
	if !strings.Contains(e.Error(), string(e.Code)) {
		t.Errorf("error %q does not name %s", e, e.Code)
	}
}

func TestBadSteps(t *testing.T) {
	tests := []struct{ variant, text, want string }{
		{"short", "", "want from/to"},
		{"short", "13", "want from/to"},
		{"short", "13/", "to: \"\" is not a point"},
		{"short", "13-7", "want from/to"},
		{"short", "13/07", "\"07\" is not a point"},
		{"short", "+13/7", "\"+13\" is not a point"},
		{"short", "25/20", "\"25\" is not a point"},
		{"short", "7/13", "does not lead forward"},
		{"short", "7/7", "does not lead forward"},
		{"short", "off/7", "\"off\" is not a point"},
		{"short", "8/5**", "is not a point"},
		{"short", "7/bar", "\"bar\" is not a point"},
		{"long-classic", "bar/20", "there is no bar"},
		{"long-classic", "24/1", "does not lead forward"},
	}
	for _, tt := range tests {
		if _, err := lookup(t, tt.variant).ParseStep(rules.White, tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %q: %v, want %q", tt.variant, tt.text, err, tt.want)
		}
	}
}

func TestBadPositionTexts(t *testing.T) {
	tests := []struct{ variant, text, want string }{
		{"long-classic", "", "no |"},
		{"long-classic", "1:15", "no |"},
		{"long-classic", "1:15 | 13:15 | ", "want place:count"},
		{"long-classic", "1:15  | 13:15", "entry \"\""},
		{"long-classic", "1:15|13:15", "not canonical"},
		{"long-classic", "1:15 | 13:15 off:0", "not canonical"},
		{"long-classic", "1:14 2:01 | 13:15", "not canonical"},
		{"long-classic", "2:1 1:14 | 13:15", "not canonical"},
		{"long-classic", "1:8 1:7 | 13:15", "named twice"},
		{"long-classic", "1 | 13:15", "want place:count"},
		{"long-classic", "1:x | 13:15", "count is not a number"},
		{"long-classic", "25:15 | 13:15", "place is not a point"},
		{"long-classic", "1:15 | 13:14", "black has 14 checkers"},
		{"long-classic", "1:15 | 13:9999999999999999999999", "count is not a number"},
		{"short", "6:14 bar:1p | 6:15", "only a checker on a point is pinned"},
		{"short", strings.Repeat("6:1 ", 400) + "| 6:15", "bytes, want at most"},
	}
	for _, tt := range tests {
		if _, err := rules.ParsePosition(lookup(t, tt.variant), tt.text); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s %q: %v, want %q", tt.variant, tt.text, err, tt.want)
		}
	}
}
