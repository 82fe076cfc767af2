package rules_test

import (
	"errors"
	"strings"
	"testing"

	"fairdice/rules"
)

// badCodes says which code a category of the bad vectors must be refused with, where that is one.
var badCodes = map[string][]rules.Code{
	"bar-first":               {rules.CodeBarFirst},
	"bearoff-while-pinned":    {rules.CodeBearOffPinned},
	"bearoff-with-larger-die": {rules.CodeBearOffHigher, rules.CodeBearOffExact},
	"block-c7":                {rules.CodeBlockEnd, rules.CodeBlockPassing},
	"block-in-passing":        {rules.CodeBlockPassing},
	"closed-entry":            {rules.CodeClosed},
	"closed-point":            {rules.CodeClosed},
	"early-bearoff":           {rules.CodeBearOffEarly},
	"exact-bearoff":           {rules.CodeBearOffExact},
	"fevga-runner":            {rules.CodeRunnerFirst},
	"head-rule":               {rules.CodeHeadLimit},
	"hit-and-run":             {rules.CodeHitAndRun},
	"inside-home":             {rules.CodeInsideHome},
	"larger-die":              {rules.CodeMustUseLarger},
	"no-checker":              {rules.CodeNoChecker},
	"not-maximal":             {rules.CodeMustUseMore},
	"pinned-checker":          {rules.CodePinned},
	"start-quarter":           {rules.CodeStartQuarter},
	"sum-as-one-step":         {rules.CodeDiceMismatch},
	"too-many-steps":          {rules.CodeTooManySteps},
	"wrong-die":               {rules.CodeDiceMismatch},
}

// TestBadGames plays games with one illegal event up to it. Cube events and results are not this package's.
func TestBadGames(t *testing.T) {
	for _, v := range rules.Variants() {
		t.Run(v.ID, func(t *testing.T) {
			var file struct {
				Games []struct {
					Category     string   `json:"category"`
					FirstIllegal int      `json:"first_illegal"`
					Lines        []string `json:"lines"`
				} `json:"games"`
			}
			readGzip(t, "testdata/vectors/bad-"+v.ID+".json.gz", &file)
			for _, game := range file.Games {
				p := &replayer{t: t, r: v.Rules, g: v.Rules.NewGame(rules.Terms{})}
				bad := game.FirstIllegal - 1
				for n, line := range game.Lines[:bad] {
					if err := p.line(line); err != nil {
						t.Fatalf("%s line %d %q: %v", game.Category, n+1, line, err)
					}
				}
				switch word, _, _ := strings.Cut(game.Lines[bad], " "); {
				case word != "opening" && word != "roll" && word != "move":
					continue
				case word == "opening" && p.g.Due() != rules.DueOpening:
					continue // equal dice again: the replayer of this test does not look
				}
				err := p.line(game.Lines[bad])
				if err == nil {
					t.Errorf("%s line %d %q was taken", game.Category, bad+1, game.Lines[bad])
					continue
				}
				want, ok := badCodes[game.Category]
				if !ok {
					continue
				}
				var illegal *rules.IllegalError
				if !errors.As(err, &illegal) {
					t.Errorf("%s %q: %v is no IllegalError", game.Category, game.Lines[bad], err)
					continue
				}
				found := false
				for _, code := range want {
					found = found || illegal.Code == code
				}
				if !found {
					t.Errorf("%s %q: %v, want one of %v", game.Category, game.Lines[bad], err, want)
				}
				checkIllegal(t, illegal)
			}
		})
	}
}

// checkIllegal asks that the error names rule, step and legal alternatives, and that those are legal.
func checkIllegal(t *testing.T, e *rules.IllegalError) {
	t.Helper()
	text := e.Error()
	legal := e.Alternatives(0)
	for _, want := range []string{string(e.Code), e.Rules.FormatSteps(e.Stage.Mover, e.Given), "legal: " + e.Rules.FormatSteps(e.Stage.Mover, legal[0].Steps)} {
		if !strings.Contains(text, want) {
			t.Errorf("error %q does not say %q", text, want)
		}
	}
	if e.Step >= 0 && !strings.Contains(text, e.Rules.FormatStep(e.Stage.Mover, e.Given[e.Step])) {
		t.Errorf("error %q does not name the step", text)
	}
	if e.Forced() != (e.Code == rules.CodeMustUseMore || e.Code == rules.CodeMustUseLarger) {
		t.Errorf("%s: Forced is %t", e.Code, e.Forced())
	}
	var gen rules.Generator
	for _, play := range legal {
		if _, _, err := gen.Play(e.Rules, e.Position, e.Stage, play.Steps); err != nil {
			t.Errorf("alternative is illegal: %v", err)
		}
	}
	if got := len(e.Alternatives(1)); got != 1 {
		t.Errorf("Alternatives(1) has %d plays", got)
	}
}

// TestIllegalCodes breaks each rule once.
func TestIllegalCodes(t *testing.T) {
	tests := []struct {
		name, variant, position string
		dice                    rules.Dice
		steps                   string
		code                    rules.Code
		step                    int
	}{
		{"no die", "short", "6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 24:2", rules.Dice{A: 3, B: 1}, "8/3 6/5", rules.CodeDiceMismatch, 0},
		{"second die is gone", "short", "6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 24:2", rules.Dice{A: 3, B: 1}, "8/5 6/3", rules.CodeDiceMismatch, 1},
		{"too many", "short", "6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 24:2", rules.Dice{A: 3, B: 1}, "8/5 6/5 6/3", rules.CodeTooManySteps, 2},
		{"after the end", "hyper", "1:1 off:2 | 3:3", rules.Dice{A: 3, B: 1}, "1/off 1/off", rules.CodeAfterEnd, 1},
		{"no checker", "short", "6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 24:2", rules.Dice{A: 3, B: 1}, "8/5 7/6", rules.CodeNoChecker, 1},
		{"closed", "short", "6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 24:2", rules.Dice{A: 5, B: 1}, "24/19 6/5", rules.CodeClosed, 0},
		{"pass", "short", "6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 24:2", rules.Dice{A: 3, B: 1}, "-", rules.CodeMustUseMore, -1},
		{"one of two", "short", "6:5 8:3 13:5 24:2 | 6:5 8:3 13:5 24:2", rules.Dice{A: 3, B: 1}, "8/5", rules.CodeMustUseMore, -1},
		{"contact missing", "short", "6:15 | 6:13 20:1 24:1", rules.Dice{A: 5, B: 1}, "6/1 6/5*", rules.CodeContactMissing, 0},
		{"contact superfluous", "short", "6:15 | 6:13 20:1 24:1", rules.Dice{A: 2, B: 1}, "6/4* 6/5*", rules.CodeContactSuperfluous, 0},
		{"higher checker", "short", "3:1 6:1 off:13 | 6:15", rules.Dice{A: 4, B: 1}, "3/off 6/5", rules.CodeBearOffHigher, 0},
		{"exact", "long-crazy", "20:1 22:14 | 13:15", rules.Dice{A: 6, B: 1}, "20/off", rules.CodeBearOffExact, 0},
		{"inside home", "long-crazy", "20:1 22:14 | 13:15", rules.Dice{A: 2, B: 1}, "20/22 22/23", rules.CodeInsideHome, 0},
		{"early", "long-classic", "18:1 22:14 | 13:15", rules.Dice{A: 3, B: 2}, "22/off 18/20", rules.CodeBearOffEarly, 0},
		{"head", "long-classic", "1:13 7:2 | 13:15", rules.Dice{A: 4, B: 2}, "1/5 1/3", rules.CodeHeadLimit, 1},
		{"runner", "fevga", "1:14 7:1 | 13:15", rules.Dice{A: 4, B: 2}, "1/5 7/9", rules.CodeRunnerFirst, 0},
		{"lock", "fevga", "2:1 4:2 5:1 6:1 7:1 8:9 | 3:15", rules.Dice{A: 5, B: 1}, "4/9 8/9", rules.CodeLock, 0},
		{"smaller die", "short", "2:5 9:1 off:9 | 1:2 3:1 4:1 9:1 13:1 19:2 20:2 21:1 24:4", rules.Dice{A: 1, B: 2}, "9/8", rules.CodeMustUseLarger, -1},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := lookup(t, tt.variant)
			p, err := rules.ParsePosition(r, tt.position)
			if err != nil {
				t.Fatal(err)
			}
			var steps []rules.Step
			for _, word := range strings.Fields(tt.steps) {
				if word == "-" {
					continue
				}
				st, err := r.ParseStep(rules.White, word)
				if err != nil {
					t.Fatal(err)
				}
				steps = append(steps, st)
			}
			var gen rules.Generator
			_, _, err = gen.Play(r, p, middle(rules.White, tt.dice), steps)
			var illegal *rules.IllegalError
			switch {
			case !errors.As(err, &illegal):
				t.Errorf("got %v, want an IllegalError", err)
			case illegal.Code != tt.code || illegal.Step != tt.step:
				t.Errorf("got %s at step %d, want %s at %d: %v", illegal.Code, illegal.Step, tt.code, tt.step, err)
			default:
				checkIllegal(t, illegal)
			}
		})
	}
}
