package mat_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"fairdice/replay/mat"
	"fairdice/rules"
)

// edit is one way to falsify a row with plays. It returns the rows it can make of one.
type edit struct {
	name  string
	codes []string // what may be found
	rows  func(row string) []string
}

var (
	twoSteps = regexp.MustCompile(`(\d+)/(\d+)\*? (\d+)/(\d+)`)
	barStep  = regexp.MustCompile(`(?:bar|25)/(\d+)`)
	oneStep  = regexp.MustCompile(`\b(\d+)/(\d+)`)
)

// every replaces each match of a pattern in turn; "" is no replacement.
func every(row string, pattern *regexp.Regexp, with func(groups []string) string) []string {
	var rows []string
	for _, at := range pattern.FindAllStringSubmatchIndex(row, -1) {
		var groups []string
		for i := 0; i < len(at); i += 2 {
			groups = append(groups, row[at[i]:at[i+1]])
		}
		if text := with(groups); text != "" {
			rows = append(rows, row[:at[0]]+text+row[at[1]:])
		}
	}
	return rows
}

func number(text string) int { n, _ := strconv.Atoi(text); return n }

var edits = []edit{
	{"one pip more", []string{"dice-mismatch", "step-closed", "bear-off-exact"}, func(row string) []string {
		return every(row, oneStep, func(g []string) string {
			if number(g[2]) < 2 {
				return ""
			}
			return fmt.Sprintf("%s/%d", g[1], number(g[2])-1)
		})
	}},
	{"the other die first, over a closed point", []string{"step-closed"}, func(row string) []string {
		return every(row, twoSteps, func(g []string) string {
			if g[2] != g[3] || number(g[1])-number(g[2]) == number(g[3])-number(g[4]) {
				return ""
			}
			over := number(g[1]) + number(g[4]) - number(g[2])
			return fmt.Sprintf("%s/%d %d/%s", g[1], over, over, g[4])
		})
	}},
	{"one die played alone", []string{"must-use-more", "must-use-larger"}, func(row string) []string {
		return every(row, twoSteps, func(g []string) string { return g[3] + "/" + g[4] })
	}},
	{"past a checker on the bar", []string{"bar-first"}, func(row string) []string {
		return every(row, barStep, func(g []string) string {
			die := 25 - number(g[1])
			return fmt.Sprintf("%d/%d", 6+die, 6)
		})
	}},
	{"borne off too early", []string{"bear-off-early"}, func(row string) []string {
		return every(row, oneStep, func(g []string) string { return fmt.Sprintf("%d/0", number(g[1])-number(g[2])) })
	}},
	{"a play dropped", []string{"must-use-more", "must-use-larger"}, func(row string) []string {
		cells := dicePattern.FindAllStringIndex(row, -1)
		if len(cells) < 2 {
			return nil
		}
		return []string{row[:cells[0][1]] + " " + strings.Repeat(" ", cells[1][0]-cells[0][1]-1) + row[cells[1][0]:]}
	}},
	{"a roll changed", []string{"dice-mismatch", "must-use-more", "step-closed", "too-many-steps"}, func(row string) []string {
		return every(row, dicePattern, func(g []string) string {
			return fmt.Sprintf("%d%c:", 7-int(g[0][0]-'0'), g[0][1])
		})
	}},
}

// TestNamedEdits falsifies real files in the ways that people think of: each edit is caught at its row, and the second reader agrees that
// it is a fault there.
func TestNamedEdits(t *testing.T) {
	short, err := rules.Lookup("short")
	if err != nil {
		t.Fatal(err)
	}
	second := brute{short: short.Rules}
	names := files(t, "mat/*.mat")
	for _, e := range edits {
		t.Run(e.name, func(t *testing.T) {
			caught := 0
			for _, name := range names[:min(len(names), 40)] {
				if caught == 3 {
					break
				}
				caught += catchEdit(t, &second, name, e)
			}
			if caught == 0 {
				t.Error("no row of the files can be edited so")
			}
		})
	}
}

// catchEdit edits the first row of a file where the edit makes a fault, and returns 1 if there is one.
func catchEdit(t *testing.T, second *brute, name string, e edit) int {
	t.Helper()
	lines := readLines(t, name)
	for i, row := range lines {
		if !dicePattern.MatchString(row) || !bruteRow.MatchString(row) {
			continue
		}
		for _, changed := range e.rows(row) {
			edited := slices.Clone(lines)
			edited[i] = changed
			text := strings.Join(edited, "\n")
			if !faultAt(second, text, i+1) {
				continue
			}
			report, err := mat.Check(strings.NewReader(text), mat.Options{})
			if err != nil || len(report.Findings) == 0 || report.Findings[0].Line != i+1 {
				t.Fatalf("%s: line %d %q became %q: %v %+v", filepath.Base(name), i+1, row, changed, err, report.Findings)
			}
			if slices.Contains(e.codes, report.Findings[0].Category) {
				return 1
			}
		}
	}
	return 0
}

func readLines(t *testing.T, name string) []string {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(strings.ReplaceAll(string(data), "\r", ""), "\n")
}

func faultAt(second *brute, text string, line int) bool {
	for _, g := range second.games(text) {
		if second.fault(g, noStars) == line {
			return true
		}
	}
	return false
}

// TestNamedEditsOfCubeAndResult falsifies the cube and the result in one real file.
func TestNamedEditsOfCubeAndResult(t *testing.T) {
	name := filepath.Join(corpus(t), "mat", "real-001.mat")
	lines := readLines(t, name)
	find := func(from int, pattern string) int {
		p := regexp.MustCompile(pattern)
		for i := from; i < len(lines); i++ {
			if p.MatchString(lines[i]) {
				return i
			}
		}
		t.Fatalf("no line matches %q after line %d", pattern, from)
		return 0
	}
	play := `^ *\d+\) +\d\d: .*\d\d: `
	takes := find(0, `^ *\d+\) +Takes`) // the left side has the cube now
	later := find(takes+1, play)
	score := find(0, `: 12 +.*: \d+ *$|: \d+ +.*: 12 *$`) // of a match to 13: the Crawford game
	wins := find(0, `Wins \d+ point`)
	second := find(0, `^ Game 2`)
	right := regexp.MustCompile(`\d\d: [^:]*$`)
	left := regexp.MustCompile(`\d\d: .*?(  +|$)`)
	for _, c := range []struct {
		name     string
		at       int // index of the edited line
		with     string
		line     int
		category string
	}{
		{"a double by the side without the cube", later, right.ReplaceAllString(lines[later], " Doubles => 4"), later + 1, "double"},
		{"a double in the Crawford game", find(score, play), left.ReplaceAllString(lines[find(score, play)], "Doubles => 2   "), find(score, play) + 1, "double"},
		{"a take without a double", later, left.ReplaceAllString(lines[later], "Takes   "), later + 1, "answer-without-double"},
		{"one point too many", wins, regexp.MustCompile(`Wins \d+`).ReplaceAllStringFunc(lines[wins], func(s string) string {
			return fmt.Sprintf("Wins %d", number(s[5:])+1)
		}), wins + 1, "result-points"},
		{"a move after the end", wins, lines[wins] + "\n 99) 31: 8/5 6/5", wins + 2, "after-end"},
		{"another score", second + 1, regexp.MustCompile(` : \d+ `).ReplaceAllString(lines[second+1], " : 7 "), second + 1, "score"},
	} {
		t.Run(c.name, func(t *testing.T) {
			edited := slices.Clone(lines)
			edited[c.at] = c.with
			report, err := mat.Check(strings.NewReader(strings.Join(edited, "\n")), mat.Options{})
			if err != nil || len(report.Findings) == 0 || report.Findings[0].Line != c.line || report.Findings[0].Category != c.category {
				t.Errorf("%q: %v, %+v, want %s in line %d", c.with, err, report.Findings, c.category, c.line)
			}
		})
	}
}
