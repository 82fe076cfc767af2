package mat_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"fairdice/internal/phrase"
	"fairdice/replay"
	"fairdice/replay/mat"
	"fairdice/rules"
)

// match wraps rows of one game into a file.
func match(length string, rows ...string) string {
	return " " + length + " point match\n\n Game 1\n Ann : 0                        Bob : 0\n" + strings.Join(rows, "\n") + "\n"
}

// firstRow is the line of the first row in a file made by match.
const firstRow = 5

func TestNamedFaults(t *testing.T) {
	const (
		open  = "  1) 31: 8/5 6/5                   42: 8/4 6/4"
		right = "                                  "
	)
	for _, c := range []struct {
		name     string
		text     string
		line     int // 0: no finding
		category string
	}{
		{"legal", match("5", open, "  2) 64: 24/14", right+"Wins 1 point"), 0, ""},
		{"one pip more", match("5", open, "  2) 64: 24/13"), 6, "dice-mismatch"},
		{"closed point", match("5", open, "  2) 52: 24/22 6/1*                 51: bar/20 6/5"), 6, "step-closed"},
		{"no checker", match("5", "  1) 31: 7/4 6/5"), 5, "step-no-checker"},
		{"smaller die alone", match("5", "  1) 31: 6/5                       42: 8/4 6/4"), 5, "must-use-more"},
		{"bar first", match("5", "  1) 62: 24/18 13/11                31: 8/7*/4", "  2) 31: 8/5 6/5"), 6, "bar-first"},
		{"three steps", match("5", "  1) 31: 8/5 6/5 6/5"), 5, "too-many-steps"},
		{"bearing off early", match("5", open, "  2) 65: 6/off 24/19"), 6, "bear-off-early"},
		{"double in the opening", match("5", "  1) 33: 8/5(2) 6/3(2)"), 5, "not-due"},
		{"wrong seat", match("5", open, "  2)                               64: 24/14"), 6, "wrong-seat"},
		{"could move", match("5", open, "  2) 64: Cannot Move               31: 8/5"), 6, "must-use-more"},
		{"no play, and the game goes on", match("5", open, "  2) 64:                           31: 13/9"), 6, "must-use-more"},
		{"no dice, and the game goes on", match("5", open, "  2) 00:                           31: 13/9"), 6, "no-dice"},
		{"take without double", match("5", open, "  2)  Takes"), 6, "answer-without-double"},
		{"double not answered", match("5", open, "  2)  Doubles => 2                31: 8/5 6/5"), 6, "answer-missing"},
		{"double after the roll", match("5", open, "  2) 64: 24/14                      Doubles => 2", "  3)  Takes                         Doubles => 4"), 7, "double"},
		{"cube value", match("5", open, "  2)  Doubles => 4"), 6, "cube-value"},
		{"beaver in a match", match("5", open, "  2)  Doubles => 2                   Doubles => 4"), 6, "beaver-not-agreed"},
		{"after the end", match("5", open, "  2)  Doubles => 2                   Drops", "  3) 64: 24/14"), 7, "end-missing"},
		{"after the result", match("5", open, "  2)  Doubles => 2                   Drops", "      Wins 1 point", "  3) 64: 24/14"), 8, "after-end"},
		{"winner of a drop", match("5", open, "  2)  Doubles => 2                   Drops", right+"Wins 1 point"), 7, "result-winner"},
		{"points of a drop", match("5", open, "  2)  Doubles => 2                   Drops", "      Wins 2 points"), 7, "result-points"},
		{"points of a resignation", match("9", open, "  2) 64: 24/14", right+"Wins 4 points"), 7, "result-points"},
		{"two results", match("5", open, "  2) 64: 24/14", right+"Wins 1 point", "      Wins 1 point"), 8, "result-twice"},
		{"no end before the next game", match("5", open, " Game 2", " Ann : 0          Bob : 0", open, right+"Wins 1 point"), 5, "end-missing"},
		{"score of the next game", match("5", open, right+"Wins 1 point", " Game 2", " Ann : 1          Bob : 0", open, right+"Wins 1 point"), 7, "score"},
		{"rubbish", match("5", open, "  2) 64: 24/14 hello"), 6, "unreadable"},
		{"three columns", match("5", "  1) 31: 8/5 6/5    42: 8/4 6/4   31: 8/5 6/5"), 5, "unreadable"},
		{"die of seven", match("5", "  1) 71: 8/1 6/5"), 5, "unreadable"},
		{"a step backwards", match("5", "  1) 31: 5/8 6/5"), 5, "unreadable"},
		{"a step from nowhere", match("5", "  1) 31: 26/23 6/5"), 5, "unreadable"},
		{"cube in the Crawford game", match("2", open, "  2)                               Wins 1 point", " Game 2", " Ann : 0        Bob : 1", open, "  2)  Doubles => 2"), 10, "double"},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, err := mat.Check(strings.NewReader(c.text), mat.Options{})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case c.line == 0 && len(report.Findings) == 0:
			case c.line > 0 && len(report.Findings) == 1 && report.Findings[0].Line == c.line && report.Findings[0].Category == c.category:
			default:
				t.Errorf("found %+v, want %q in line %d of\n%s", report.Findings, c.category, c.line, c.text)
			}
		})
	}
}

func TestOddities(t *testing.T) {
	const open = "  1) 31: 8/5 6/5                   42: 8/4 6/4"
	for _, c := range []struct {
		name, text string
		note       string
	}{
		{"byte-order mark", "\xef\xbb\xbf" + match("5", open, "  2) 64: 24/14"), ""},
		{"CRLF", strings.ReplaceAll(match("5", open, "  2) 64: 24/14"), "\n", "\r\n"), ""},
		{"Latin-1 names", strings.ReplaceAll(match("5", open, "  2) 64: 24/14"), "Ann", "Bj\xf6rn"), ""},
		{"empty names", strings.NewReplacer("Ann", "", "Bob", "").Replace(match("5", open, "  2) 64: 24/14")), ""},
		{"names with colons and numbers", strings.NewReplacer("Ann", "a: 7 b", "Bob", "12) 31: x").Replace(match("5", open, "  2) 64: 24/14")), ""},
		{"a missing star", match("5", "  1) 62: 24/18 13/11                31: 8/7 6/3", "  2) 31: bar/24 8/5"), ""},
		{"a superfluous star", match("5", "  1) 31: 8/5* 6/5"), ""},
		{"merged stars", match("5", "  1) 62: 24/18 13/11                31: 8/4*", "  2) 31: bar/24 6/3"), ""},
		{"steps in any order", match("5", "  1) 31: 6/5 8/5                   42: 6/4 8/4", "  2) 64: 24/14"), ""},
		{"groups", match("5", open, "  2) 66: 24/18(2) 13/7(2)"), ""},
		{"sums of groups", match("5", open, "  2) 33: 13/7(2)"), ""},
		{"thrown, then resigned", match("5", open, "  2) 64:", "                                  Wins 1 point"), ""},
		{"question marks", match("5", open, "  2) 64: ????                         Wins 2 point", "  3)   "), ""},
		{"concedes", match("5", open, "  2) Concedes                         Wins 1 point"), ""},
		{"thrown, then concedes", match("5", open, "  2) 64: Concedes", "                                  Wins 1 point"), ""},
		{"no throw, then the result", match("5", open, "  2) 00:                              Wins 1 point"), ""},
		{"losses and wins", match("5", open, "  2)  Losses 1 point                  Wins 1 point"), ""},
		{"losses at the left margin", match("5", open, " Losses 1 point", "", "      Wins 1 point"), ""},
		{"a code instead of points", match("5", open, "  2) 64: ????                         Wins 1004 point", " Game 2", " Ann : 0       Bob : 5", open), "code"},
		{"the whole match given up", match("25", open, "  2)                                  Wins 25 points and the match"), "25 points"},
		{"session with a beaver", match("0", open, "  2)  Doubles => 2                    Doubles => 4", "  3)  Takes", "  4) 64: 24/14", "                                  Wins 4 points"), ""},
		{"session without length", strings.Replace(match("0", open, "  2)                                  Wins 2 points"), " 0 point match\n", "", 1), ""},
		{"a match to more than 25", match("31", open, "  2)                                  Wins 2 points"), ""},
		{"no line with players", strings.Replace(match("5", open, "  2) 64: 24/14"), " Ann : 0                        Bob : 0\n", "", 1), ""},
		{"words before the first game", "Exported by a program\nAnn against Bob\n" + match("5", open, "  2) 64: 24/14"), ""},
		{"words after the result", match("5", open, "                                  Wins 1 point", "Time played: 10 minutes"), "cannot read"},
		{"Crawford off", "; [Crawford \"Off\"]\n" + strings.ReplaceAll(match("5", open, "  2)  Doubles => 2                   Takes"), "Ann : 0", "Ann : 4"), ""},
		{"nackgammon", "; [Variation \"NackGammon\"]\n" + match("5", "  1) 21: 13/11 6/5                  31: 13/10 24/23"), ""},
		{"hypergammon", "; [Variation \"HyperGammon\"]\n" + match("5", "  1) 21: 24/22 23/22                31: 24/21 22/21"), ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, err := mat.Check(strings.NewReader(c.text), mat.Options{})
			if err != nil {
				t.Fatal(err)
			}
			if len(report.Findings) > 0 {
				t.Errorf("false alarm: %+v in\n%s", report.Findings, c.text)
			}
			notes := ""
			for _, n := range report.Notes {
				notes += n.Text + "\n"
			}
			if !strings.Contains(notes, c.note) || c.note == "" && notes != "" {
				t.Errorf("notes %q, want one about %q", notes, c.note)
			}
		})
	}
}

// english is a language without texts of its own: it says the values in the
// English formats.
type english struct{}

func (english) Phrase(string) (string, bool) { return "", false }

// What is wrong with a row is said in another language after the whole file has
// been read, and still shows what stands in that row.
func TestFaultsOfLongFiles(t *testing.T) {
	rows := []string{"  1) 97: 8/5 6/5"}
	for range 3 * mat.MaxLine / 40 {
		rows = append(rows, "; a remark, and 11 bytes more than 30")
	}
	report, err := mat.Check(strings.NewReader(match("7", rows...)), mat.Options{})
	if err != nil || len(report.Findings) == 0 {
		t.Fatalf("%d findings, error %v", len(report.Findings), err)
	}
	for _, f := range report.Findings {
		if got := phrase.In(f.Why, english{}); got != f.Message {
			t.Errorf("said again: %s; want %s", got, f.Message)
		}
	}
}

func TestMalformed(t *testing.T) {
	for _, c := range []struct {
		name, text string
		line       int
	}{
		{"empty", "", 0},
		{"no game", "5 point match\n", 0},
		{"rows before a game", "5 point match\n  1) 31: 8/5 6/5\n", 2},
		{"length twice", "5 point match\n7 point match\n", 2},
		{"unknown variation", "; [Variation \"Chess\"]\n", 1},
		{"UTF-16", "\xff\xfe5\x00 \x00p\x00", 1},
		{"long line", match("5", strings.Repeat("x", mat.MaxLine+1)), firstRow},
		{"long game", match("5", strings.Repeat(strings.Repeat(" ", 1000)+"\n", 1100)), 1052},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := mat.Check(strings.NewReader(c.text), mat.Options{})
			var line int
			if at, ok := asLine(err); ok {
				line = at
			}
			if err == nil || line != c.line {
				t.Errorf("error %v in line %d, want line %d", err, line, c.line)
			}
		})
	}
}

func TestUnfinishedGame(t *testing.T) {
	report, err := mat.Check(strings.NewReader(match("5", "  1) 31: 8/5 6/5                   42: 8/4 6/4")), mat.Options{})
	if err != nil || len(report.Findings) > 0 || !report.Unfinished {
		t.Errorf("%v, %+v", err, report)
	}
}

func TestVariantGiven(t *testing.T) {
	hyper, err := rules.Lookup("hyper")
	if err != nil {
		t.Fatal(err)
	}
	text := match("5", "  1) 21: 24/22 23/22                31: 24/21 22/21")
	if report, err := mat.Check(strings.NewReader(text), mat.Options{Variant: &hyper}); err != nil || len(report.Findings) > 0 || report.Variant.ID != "hyper" {
		t.Errorf("%v, %+v", err, report)
	}
	if report, err := mat.Check(strings.NewReader(text), mat.Options{}); err != nil || len(report.Findings) == 0 {
		t.Errorf("hyper passes as short: %v, %+v", err, report)
	}
}

func FuzzCheck(f *testing.F) {
	f.Add([]byte(match("5", "  1) 31: 8/5 6/5                   42: 8/4 6/4", "  2)  Doubles => 2                   Takes")))
	f.Add([]byte(match("0", "  1) 62: 24/18 13/11                31: 8/4*", "  2) 00:                             Wins 2 points")))
	f.Add([]byte("; [Variation \"NackGammon\"]\n Game 1\n : 1 : 2\n 1) 61: 13/7 8/7 54: bar/20*(2) ????\n Losses 2 point\n"))
	f.Add([]byte("; [Variant \"gyulbar\"]\n; [Options \"raise=auto stake=unborne series=single crawford=off\"]\n; [Opening \"33 61\"]\n; [Ending \"timeout A\"]\n 0 point match\n" +
		" Game 1\n A : 0      B : 0\n  1) 66: 1/7 1/7             06: 13/19\n      Draw\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		report, err := mat.Check(bytes.NewReader(text), mat.Options{})
		if err != nil {
			return
		}
		last := bytes.Count(text, []byte("\n")) + 1
		for _, finding := range report.Findings {
			if finding.Line < 1 || finding.Line > last || finding.Check == "" || finding.Category == "" || finding.Message == "" {
				t.Errorf("finding %+v in a text of %d lines", finding, last)
			}
		}
	})
}

func asLine(err error) (int, bool) {
	at, ok := errors.AsType[*replay.LineError](err)
	if !ok {
		return 0, false
	}
	return at.Line, true
}

func TestTags(t *testing.T) {
	long := func(tags, rows string) string { return tags + " 0 point match\n Game 1\n A : 0        B : 0\n" + rows }
	const first = "  1) 63: 1/7 1/4                   64: 13/19 19/23\n"
	for _, c := range []struct {
		name, text string
		line       int // of an error or a finding, 0: none
		variant    string
	}{
		{"nardi", long("; [Variant \"long-classic\"]\n", "  1) 63: 1/7 7/10                  64: 13/19 19/23\n"), 0, "long-classic"},
		{"nardi, both from the head", long("; [Variant \"long-classic\"]\n", first), 5, "long-classic"},
		{"nardi as a sum", long("; [Variant \"long-classic\"]\n", "  1) 63: 1/10                      64: 13/23\n"), 0, "long-classic"},
		{"nardi, backwards", long("; [Variant \"long-classic\"]\n", "  1) 63: 7/1 1/4\n"), 5, "long-classic"},
		{"plakoto with a pin", long("; [variant \"plakoto\"]\n", "  1) 63: 24/18 24/21               61: 24/18 18/17\n  2) 21: 18/16 24/23               52: 17/12 24/22\n"), 0, "plakoto"},
		{"progression", long("; [Variant \"crazy-gyulbar\"]\n", "  1) 66: 1/7 1/7\n"), 0, "crazy-gyulbar"},
		{"handed over", long("; [Variant \"gyulbar\"]\n", "  1) 66: 1/7 1/7                   06: 13/19\n  2)                               31: 19/22 22/23\n"), 0, "gyulbar"},
		{"handed steps left out", long("; [Variant \"gyulbar\"]\n", "  1) 66: 1/7 1/7                   31: 13/16 16/17\n"), 5, "gyulbar"},
		{"handed steps that are not due", long("; [Variant \"gyulbar\"]\n", "  1) 63: 1/7 7/10                  03: 13/16\n"), 5, "gyulbar"},
		{"gnubg's hypergammon", "; [Variation \"HyperGammon (3)\"]\n" + match("5", "  1) 21: 24/22 23/22                31: 24/21 22/21"), 0, "hyper"},
		{"one checker hypergammon", "; [Variation \"HyperGammon (1)\"]\n" + match("5"), 1, ""},
		{"options", long("; [Options \"raise=none stake=win series=single crawford=off\"]\n", "  1) 31: 8/5 6/5                    42: 8/4 6/4\n  2)  Doubles => 2\n"), 6, "short"},
		{"options of another length", long("; [Options \"raise=cube stake=win series=points:5 crawford=off\"]\n", first), 4, ""},
		{"options that do not go together", long("; [Variant \"tavla\"]\n; [Options \"raise=cube stake=win series=single crawford=off\"]\n", first), 5, ""},
		{"no options", long("; [Options \"x\"]\n", first), 1, ""},
		{"opening draws", long("; [Opening \"33 31\"]\n", "  1) 31: 8/5 6/5\n"), 0, "short"},
		{"opening draws of another roll", long("; [Opening \"33 42\"]\n", "  1) 31: 8/5 6/5\n"), 5, "short"},
		{"no opening draws", long("; [Opening \"3\"]\n", "  1) 31: 8/5 6/5\n"), 1, ""},
		{"no ending", long("; [Ending \"drop A\"]\n", "  1) 31: 8/5 6/5\n"), 1, ""},
		{"ending against the result", long("; [Ending \"timeout A\"]\n", "  1) 31: 8/5 6/5\n      Wins 1 point\n"), 6, "short"},
		{"an automatic double", long("", "  1) 31: 8/5 6/5                    42: 8/4 6/4\n  2)  Doubles => 4                 Drops\n      Wins 2 points\n"), 0, "short"},
		{"two automatic doubles", long("", "  1) 31: 8/5 6/5                    42: 8/4 6/4\n  2)  Doubles => 8                 Drops\n"), 5, "short"},
		{"no automatic double", long("", "  1) 31: 8/5 6/5                    42: 8/4 6/4\n  2)  Doubles => 2                 Drops\n      Wins 2 points\n"), 6, "short"},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, err := mat.Check(strings.NewReader(c.text), mat.Options{})
			line, _ := asLine(err)
			if len(report.Findings) > 0 {
				line = report.Findings[0].Line
			}
			if line != c.line || report.Variant.ID != c.variant {
				t.Errorf("%s, line %d, want %s, %d: %v %+v in\n%s", report.Variant.ID, line, c.variant, c.line, err, report.Findings, c.text)
			}
		})
	}
}
