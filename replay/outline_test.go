package replay_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fairdice/replay"
	"fairdice/rules"
)

// TestFurtherFaults breaks a game twice: what is found after the first fault must not follow from it.
func TestFurtherFaults(t *testing.T) {
	short, err := rules.Lookup("short")
	if err != nil {
		t.Fatal(err)
	}
	const begin = "opening 3 1\nmove A 8/5 6/5\n"
	for _, c := range []struct {
		name, options, lines string
		want                 []string // "line code"
	}{
		{"a fault alone", "raise=cube stake=win series=single crawford=off",
			begin + "roll B 4 2\nmove B 8/4 6/3\nroll A 6 6\nmove A 24/18(2) 13/7(2)\nresign B 1\nend A 1\n", []string{"4 dice-mismatch"}},
		{"cube of the other side", "raise=cube stake=win series=single crawford=off",
			begin + "roll B 4 2\nmove B 8/4 6/3\ndouble A\ntake B\nroll A 6 6\nmove A 24/18(2) 13/7(2)\nroll B 1 1\nmove B -\ndouble A\ndrop B\nend A 2\n", []string{"4 dice-mismatch", "11 double"}},
		{"take without a double", "raise=cube stake=win series=single crawford=off", begin + "roll B 4 2\nmove B 8/4 6/3\ntake A\n", []string{"4 dice-mismatch", "5 answer-without-double"}},
		{"turn left out", "raise=cube stake=win series=single crawford=off", begin + "roll B 4 2\nmove B 8/4 6/3\nroll B 4 2\nmove B 8/4 6/4\nroll A 3 3\nmove A -\n", []string{"4 dice-mismatch", "5 wrong-seat"}},
		{"no throw", "raise=cube stake=win series=single crawford=off", begin + "roll B 4 2\nmove B 8/4 6/3\nmove A 6/5\n", []string{"4 dice-mismatch", "5 not-due"}},
		{"points of a drop", "raise=cube stake=win series=single crawford=off", begin + "roll B 4 2\nmove B 8/4 6/3\ndouble A\ndrop B\nend A 2\n", []string{"4 dice-mismatch", "7 result-points"}},
		{"winner of a resignation", "raise=cube stake=win series=single crawford=off", begin + "roll B 4 2\nmove B 8/4 6/3\nresign A 1\nend A 1\n", []string{"4 dice-mismatch", "6 result-winner"}},
		{"points no game is worth", "raise=mars stake=win series=single crawford=off", begin + "roll B 4 2\nmove B 8/4 6/3\nend A 4\n", []string{"4 dice-mismatch", "5 result-points"}},
		{"after the end", "raise=mars stake=win series=single crawford=off", begin + "roll B 4 2\nmove B 8/4 6/3\nend A 1\nroll A 1 2\n", []string{"4 dice-mismatch", "6 after-end"}},
		{"a game without cube", "raise=mars stake=win series=single crawford=off", begin + "roll B 4 2\nmove B 8/4 6/3\ndouble A\n", []string{"4 dice-mismatch", "5 double"}},
		{"more given up than there is", "raise=none stake=win series=single crawford=off", begin + "roll B 4 2\nresign A 2\nend B 1\n", []string{"4 resign-points"}},
		{"more given up than jacoby has", "raise=jacoby stake=win series=single crawford=off", begin + "roll B 4 2\nresign A 2\nend B 1\n", []string{"4 resign-points"}},
		{"more given up and paid", "raise=none stake=win series=single crawford=off", begin + "roll B 4 2\nresign A 2\nend B 2\n", []string{"4 resign-points", "5 result-points"}},
		{"more given up later", "raise=none stake=win series=single crawford=off", begin + "roll B 4 2\nmove B 8/4 6/3\nresign A 2\nend B 1\n", []string{"4 dice-mismatch", "5 resign-points"}},
		{"a beaver taken", "raise=beaver stake=win series=single crawford=off", begin + "roll B 4 2\nmove B 8/4 6/3\ndouble A\nbeaver B\ntake A\nroll A 1 2\nmove A -\ndouble B\ndrop A\nend B 4\n", []string{"4 dice-mismatch"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := replay.ParseOptions(c.options)
			if err != nil {
				t.Fatal(err)
			}
			out := replay.Run(replay.Setting{Variant: short, Options: o, Game: 1}, strings.Split(strings.TrimSuffix(c.lines, "\n"), "\n"))
			var got []string
			if out.Fault != nil {
				got = append(got, fmt.Sprintf("%d %s", out.Fault.Line, out.Fault.Refusal.Code))
			}
			for _, f := range out.Further {
				got = append(got, fmt.Sprintf("%d %s", f.Line, f.Refusal.Code))
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("found %q, want %q", got, c.want)
			}
		})
	}
}

// TestOutlineOfLegalGames: a legal game seen without its checkers has no fault, wherever the looking away begins.
func TestOutlineOfLegalGames(t *testing.T) {
	var all []gameVector
	for _, v := range rules.Variants() {
		var file struct{ Games []gameVector }
		load(t, "rules/games-"+v.ID+".json", &file)
		for _, g := range file.Games {
			g.Variant = v.ID
			all = append(all, g)
		}
	}
	var file struct{ Records []gameVector }
	load(t, "rules/results.json.gz", &file)
	all = append(all, file.Records...)
	for _, g := range all {
		st, err := replay.Start(g.setting(t))
		if err != nil {
			t.Fatal(err)
		}
		var outlines []replay.Outline
		for i, line := range g.Lines {
			e := parse(t, line)
			for j := range outlines {
				if r := outlines[j].Next(e); r != nil {
					t.Fatalf("%s: %q: line %d %q, looking away from line %d on: %s", g.Variant, g.Options, i+1, line, j+1, r.Message)
				}
			}
			if st, err = replay.Apply(st, e); err != nil {
				t.Fatal(err)
			}
			outlines = append(outlines, st.Outline())
		}
	}
	t.Logf("%d games", len(all))
}
