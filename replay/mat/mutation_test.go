package mat_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"fairdice/replay"
	"fairdice/replay/mat"
	"fairdice/rules"
)

// mutation changes one row of a file that holds a play. It returns the row unchanged where it does not apply.
type mutation struct {
	name  string
	apply func(r *rand.Rand, row, next string) (newRow, newNext string)
}

var (
	dicePattern = regexp.MustCompile(`\d\d:`)
	toPattern   = regexp.MustCompile(`/\d+`)
	stepPattern = regexp.MustCompile(` (?:bar|\d+)(?:/(?:off|\d+)\*?)+(?:\(\d\))?`)
	starPattern = regexp.MustCompile(`\*`)
)

// pick replaces one random match.
func pick(r *rand.Rand, pattern *regexp.Regexp, row string, with func(string) string) string {
	all := pattern.FindAllStringIndex(row, -1)
	if len(all) == 0 {
		return row
	}
	at := all[r.IntN(len(all))]
	return row[:at[0]] + with(row[at[0]:at[1]]) + row[at[1]:]
}

var mutations = []mutation{
	{"one pip more", func(r *rand.Rand, row, next string) (string, string) {
		return pick(r, toPattern, row, func(s string) string {
			n, _ := strconv.Atoi(s[1:])
			return "/" + strconv.Itoa(max(0, n-1))
		}), next
	}},
	{"one pip less", func(r *rand.Rand, row, next string) (string, string) {
		return pick(r, toPattern, row, func(s string) string {
			n, _ := strconv.Atoi(s[1:])
			return "/" + strconv.Itoa(n+1)
		}), next
	}},
	{"rows swapped", func(_ *rand.Rand, row, next string) (string, string) { return next, row }},
	{"play dropped", func(r *rand.Rand, row, next string) (string, string) {
		cells := dicePattern.FindAllStringIndex(row, -1)
		at := cells[r.IntN(len(cells))]
		end := at[1]
		for end < len(row) && !strings.HasPrefix(row[end:], "  ") {
			end++
		}
		return row[:at[1]] + strings.Repeat(" ", end-at[1]) + row[end:], next
	}},
	{"roll changed", func(r *rand.Rand, row, next string) (string, string) {
		return pick(r, dicePattern, row, func(string) string { return fmt.Sprintf("%d%d:", 1+r.IntN(6), 1+r.IntN(6)) }), next
	}},
	{"one step alone", func(r *rand.Rand, row, next string) (string, string) {
		return pick(r, stepPattern, row, func(s string) string { return strings.Repeat(" ", len(s)) }), next
	}},
	{"step twice", func(r *rand.Rand, row, next string) (string, string) {
		return pick(r, stepPattern, row, func(s string) string { return s + s }), next
	}},
	{"another step", func(r *rand.Rand, row, next string) (string, string) {
		return pick(r, stepPattern, row, func(s string) string {
			from := 2 + r.IntN(23)
			return fmt.Sprintf(" %d/%d", from, max(0, from-1-r.IntN(6)))
		}), next
	}},
	{"row dropped", func(_ *rand.Rand, row, next string) (string, string) { return "", next }},
	{"dice turned", func(r *rand.Rand, row, next string) (string, string) {
		return pick(r, dicePattern, row, func(s string) string { return s[1:2] + s[:1] + ":" }), next
	}},
	{"star dropped", func(r *rand.Rand, row, next string) (string, string) {
		return pick(r, starPattern, row, func(string) string { return "" }), next
	}},
}

// noStars is no line: stars mean nothing anywhere.
const noStars = 1 << 30

// TestMutations changes real files at random places. A second reader, which knows nothing but the list of all legal ends, must find
// every surviving change legal, and every fault in the very row that is named.
func TestMutations(t *testing.T) {
	names := append(files(t, "mat/*.mat"), files(t, "selfplay/s*.mat")...)
	short, err := rules.Lookup("short")
	if err != nil {
		t.Fatal(err)
	}
	second := brute{short: short.Rules}
	r := rand.New(rand.NewPCG(1, 2))
	rounds := 25
	if testing.Short() {
		rounds = 8
	}
	for _, m := range mutations {
		t.Run(m.name, func(t *testing.T) {
			caught, survived := 0, 0
			for range rounds {
				name := names[r.IntN(len(names))]
				text, line := mutate(t, r, name, m)
				if line == 0 {
					continue
				}
				report, err := mat.Check(strings.NewReader(text), mat.Options{})
				if err != nil {
					t.Fatal(err)
				}
				first := map[int]int{} // game → line of the first finding about a move
				for _, f := range report.Findings {
					if f.Check == replay.CheckResult && f.Category != "after-end" && f.Category != "end-missing" || f.Category == "cube-value" {
						continue
					}
					if _, ok := first[f.Game]; !ok {
						first[f.Game] = f.Line
					}
				}
				for i, game := range second.games(text) {
					want, got := second.fault(game, noStars), first[i+1]
					switch {
					case want == 0 && got > 0:
						t.Errorf("%s: %s in line %d: line %d is called a fault, and is legal: %+v", filepath.Base(name), m.name, line, got, report.Findings)
					case want > 0 && got <= 0:
						t.Errorf("%s: %s in line %d: line %d is not called a fault (%d)\n%s", filepath.Base(name), m.name, line, want, got, lineOf(text, want))
					case want > 0 && got < want && second.fault(game, got-2) == got:
						// A legal game would go on to a later row only if a star just before were wrong: programs leave stars out, but an edit is
						// likelier, and the row is named where the stars are right.
						caught++
					case want > 0 && got != want:
						t.Errorf("%s: %s in line %d: line %d is called a fault, not line %d: %s", filepath.Base(name), m.name, line, got, want, lineOf(text, want))
					case want > 0:
						caught++
					}
				}
				if len(report.Findings) == 0 {
					survived++
				}
			}
			t.Logf("caught %d in their rows, survived %d", caught, survived)
		})
	}
}

func lineOf(text string, n int) string { return strings.Split(text, "\n")[n-1] }

// mutate applies a mutation to a random row of a file and returns its line, 0 if it changed nothing.
func mutate(t *testing.T, r *rand.Rand, name string, m mutation) (string, int) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(data), "\n")
	for range 100 {
		i := r.IntN(len(lines) - 1)
		if !dicePattern.MatchString(lines[i]) || !strings.Contains(lines[i], ")") || !dicePattern.MatchString(lines[i+1]) || !strings.Contains(lines[i+1], ")") || strings.HasPrefix(lines[i], ";") {
			continue
		}
		row, next := m.apply(r, lines[i], lines[i+1])
		if row == lines[i] {
			continue
		}
		lines[i], lines[i+1] = row, next
		return strings.Join(lines, "\n"), i + 1
	}
	return "", 0
}

// TestOtherWaysToWriteTheSame rewrites whole real files as other programs would: nothing may become a fault.
func TestOtherWaysToWriteTheSame(t *testing.T) {
	replaced := func(pattern, with string) func(string) string {
		p := regexp.MustCompile(pattern)
		return func(text string) string { return p.ReplaceAllString(text, with) }
	}
	for name, rewrite := range map[string]func(string) string{
		"no stars":       replaced(`(\d)\*`, "$1"),
		"stars anywhere": replaced(`/(\d+)( |$)`, "/$1*$2"),
		"numbers":        func(s string) string { return strings.NewReplacer("bar/", "25/", "/off", "/0").Replace(s) },
		"words":          func(s string) string { return replaced(` 25/`, " bar/")(replaced(`/0( |$|\r)`, "/off$1")(s)) },
		"CRLF":           func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		"mark":           func(s string) string { return "\xef\xbb\xbf" + s },
		"cannot move":    replaced(`(\d\d:)( {10,}\d\d:)`, "$1 Cannot Move$2"),
		"no words":       replaced(`Cannot Move`, ""),
		"no comments":    replaced(`(?m)^;.*$`, ""),
		"dice turned":    replaced(`\b([1-6])([1-6]):`, "$2$1:"),
		"blank lines":    replaced(`\n`, "\n\n"),
		"wide":           replaced(`(?m)^( *\d+\))`, " $1 "),
	} {
		t.Run(name, func(t *testing.T) {
			for _, file := range append(files(t, "mat/*.mat"), files(t, "selfplay/*.mat")...) {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				report, err := mat.Check(strings.NewReader(rewrite(string(data))), mat.Options{})
				if err != nil || len(report.Findings) > 0 {
					t.Errorf("%s: %v %+v", filepath.Base(file), err, report.Findings)
				}
			}
		})
	}
}
