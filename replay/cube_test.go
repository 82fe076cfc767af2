package replay_test

import (
	"fmt"
	"strings"
	"testing"

	"fairdice/replay"
)

// play folds lines of a game, the last of which may be refused.
func play(t *testing.T, variant, options string, lines ...string) (replay.State, error) {
	t.Helper()
	o, err := replay.ParseOptions(options)
	if err != nil {
		t.Fatal(err)
	}
	st, err := replay.Start(replay.Setting{Variant: lookup(t, variant), Options: o, Game: 1})
	if err != nil {
		t.Fatal(err)
	}
	for i, line := range lines {
		next, err := replay.Apply(st, parse(t, line))
		if err != nil && i < len(lines)-1 {
			t.Fatalf("line %d: %v", i+1, err)
		}
		if err != nil {
			return st, err
		}
		st = next
	}
	return st, nil
}

// TestCubeExchanges holds the values of RULES.md §7: what each side pays at each point of an exchange.
func TestCubeExchanges(t *testing.T) {
	start := []string{"opening 3 1", "move A 8/5 6/5"}
	for _, c := range []struct {
		lines, end string
		cube       replay.Cube
	}{
		{"double B|drop A", "end B 1", replay.Cube{Value: 1}},
		{"double B|take A", "", replay.Cube{Value: 2, Owned: true, Owner: replay.A}},
		{"double B|timeout A", "end B 2", replay.Cube{Value: 1}}, // a mars by the clock, and the double was not taken
		{"double B|resign A 3", "end B 3", replay.Cube{Value: 1}},
		{"double B|take A|resign B 2", "end A 4", replay.Cube{Value: 2, Owned: true, Owner: replay.A}},
		{"double B|beaver A|drop B", "end A 2", replay.Cube{Value: 2, Owned: true, Owner: replay.A}},
		{"double B|beaver A|take B", "", replay.Cube{Value: 4, Owned: true, Owner: replay.A}},
		{"double B|beaver A|raccoon B|drop A", "end B 4", replay.Cube{Value: 4, Owned: true, Owner: replay.A}},
		{"double B|beaver A|raccoon B|take A", "", replay.Cube{Value: 8, Owned: true, Owner: replay.A}},
	} {
		t.Run(c.lines, func(t *testing.T) {
			st, err := play(t, "short", "raise=beaver stake=win series=single crawford=off", append(start, strings.Split(c.lines, "|")...)...)
			if err != nil {
				t.Fatal(err)
			}
			end, decided := st.EndDue()
			if got := st.Cube(); got != c.cube || decided != (c.end != "") || decided && end.String() != c.end {
				t.Errorf("cube %+v, end %q; want %+v, %q", got, end, c.cube, c.end)
			}
			if !decided && st.Due().String() != "roll B" {
				t.Errorf("%s is due, not B's roll", st.Due())
			}
		})
	}
}

func TestCubeRefusals(t *testing.T) {
	for _, c := range []struct{ options, lines, code string }{
		{"raise=mars stake=win series=single crawford=off", "double B", "double"},
		{"raise=cube stake=win series=single crawford=off", "double A", "double"},
		{"raise=cube stake=win series=single crawford=off", "double B|beaver A", "beaver-not-agreed"},
		{"raise=cube stake=win series=single crawford=off", "double B|take A|double B", "double"},
		{"raise=cube stake=win series=single crawford=off", "double B|double A", "answer-missing"},
		{"raise=cube stake=win series=single crawford=off", "double B|roll B 3 1", "answer-missing"},
		{"raise=cube stake=win series=single crawford=off", "double B|take B", "answer-wrong-seat"},
		{"raise=cube stake=win series=single crawford=off", "take A", "answer-without-double"},
		{"raise=beaver stake=win series=single crawford=off", "double B|raccoon A", "raccoon-without-beaver"},
		{"raise=beaver stake=win series=single crawford=off", "double B|beaver A|beaver B", "beaver-again"},
		{"raise=beaver stake=win series=single crawford=off", "double B|beaver A|raccoon B|beaver A", "beaver-again"},
		{"raise=beaver stake=win series=single crawford=off", "double B|beaver A|raccoon B|raccoon A", "raccoon-without-beaver"},
		{"raise=cube stake=win series=single crawford=off", "double B|drop A|take A", "end-missing"},
		{"raise=jacoby stake=win series=single crawford=off", "resign B 2", "resign-points"},
		{"raise=none stake=win series=single crawford=off", "resign B 2", "resign-points"},
		{"raise=cube stake=unborne series=single crawford=off", "resign B 2", "resign-points"},
		{"raise=mars stake=win series=reverse crawford=off", "resign B 2", "resign-points"},
		{"raise=mars stake=win series=single crawford=off", "resign B 1|end A 2", "result-points"},
		{"raise=mars stake=win series=single crawford=off", "resign B 1|end B 1", "result-winner"},
		{"raise=mars stake=win series=single crawford=off", "resign B 1|end draw", "result-draw"},
		{"raise=mars stake=win series=single crawford=off", "resign B 1|end A 1|end A 1", "after-end"},
		{"raise=mars stake=win series=single crawford=off", "end A 1", "end-early"},
	} {
		t.Run(c.options+" "+c.lines, func(t *testing.T) {
			_, err := play(t, "short", c.options, append([]string{"opening 3 1", "move A 8/5 6/5"}, strings.Split(c.lines, "|")...)...)
			r, ok := err.(*replay.Refusal)
			if !ok || r.Code != c.code {
				t.Errorf("%v, want code %s", err, c.code)
			}
		})
	}
}

// TestGivingUp holds the values of resignations and flags (RULES.md §7).
func TestGivingUp(t *testing.T) {
	for _, c := range []struct{ variant, options, lines, end string }{
		{"short", "raise=none stake=win series=single crawford=off", "timeout A", "end B 1"},
		{"short", "raise=mars stake=win series=single crawford=off", "timeout A", "end B 2"}, // never a koks
		{"short", "raise=none stake=win series=points:3 crawford=off", "timeout A", "end B 2"},
		{"short", "raise=jacoby stake=win series=single crawford=off", "timeout A", "end B 1"},
		{"short", "raise=mars stake=unborne series=single crawford=off", "timeout A", "end B 15"},
		{"hyper", "raise=mars stake=unborne series=single crawford=off", "timeout A", "end B 3"},
		{"short", "raise=mars stake=win series=reverse crawford=off", "timeout A", "end B 1"},
		{"short", "raise=auto stake=win series=single crawford=off", "opening 2 2|opening 5 5|timeout B", "end A 4"},
		{"short", "raise=auto stake=unborne series=single crawford=off", "opening 2 2|timeout B", "end A 30"},
		{"short", "raise=mars stake=win series=single crawford=off", "opening 3 1|resign B 3", "end A 3"},
		{"tavla", "raise=mars stake=win series=single crawford=off", "opening 3 1|resign B 2", "end A 2"},
		{"short", "raise=cube stake=unborne series=single crawford=off", "opening 3 1|move A 8/5 6/5|double B|drop A", "end B 15"},
		{"short", "raise=cube stake=unborne series=single crawford=off", "opening 3 1|move A 8/5 6/5|double B|take A|resign B 1", "end A 30"},
		{"short", "raise=mars stake=win series=combined:3 crawford=off", "opening 3 1|resign B 3", "end A 3"},
	} {
		t.Run(fmt.Sprint(c.variant, " ", c.options, " ", c.lines), func(t *testing.T) {
			st, err := play(t, c.variant, c.options, strings.Split(c.lines, "|")...)
			if err != nil {
				t.Fatal(err)
			}
			if end, _ := st.EndDue(); end.String() != c.end {
				t.Errorf("%q is due, want %q", end, c.end)
			}
		})
	}
	for _, lines := range [][]string{{"timeout A"}, {"opening 3 3", "timeout A"}, {"opening 3 3", "timeout A", "end B 2"}} {
		st, err := play(t, "short", "raise=mars stake=win series=single crawford=off", lines...)
		if _, drawn := st.White(); err != nil || drawn {
			t.Errorf("%q: colours are drawn %v, %v", lines, drawn, err)
		}
	}
	if _, err := play(t, "short", "raise=mars stake=win series=single crawford=off", "resign A 1"); err == nil {
		t.Error("resigned before the opening draw")
	}
}
