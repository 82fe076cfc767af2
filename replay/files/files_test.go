package files_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"fairdice/internal/phrase"
	"fairdice/replay"
	"fairdice/replay/files"
	"fairdice/rules"
)

const (
	header = "fairdice/v1/record\nmatch 01970000-0000-7000-8000-000000000101\ngame 1\nvariant short\noptions raise=none stake=win series=single crawford=off\nscore 0 0\ncrawford no\n\n"
	events = "opening 2 3\nmove B 13/10 6/4\nroll A 6 5\nmove A 13/7 8/3\nresign B 1\nend A 1\n"
	mat    = " 5 point match\n Game 1\n Ann : 0                        Bob : 0\n  1) 31: 8/5 6/5                   42: 8/4 6/4\n  2)                               Wins 1 point\n"
	sgf    = "(;FF[4]GM[6]MI[length:3][game:0][ws:0][bs:0]RU[Crawford]RE[W+1]\n;W[31hefe];B[62agln];W[double];B[drop])"
)

func TestCheck(t *testing.T) {
	short, err := rules.Lookup("short")
	if err != nil {
		t.Fatal(err)
	}
	cubeless, err := replay.ParseOptions("raise=none stake=win series=single crawford=off")
	if err != nil {
		t.Fatal(err)
	}
	given := files.Options{Variant: &short, Options: &cubeless}
	for _, c := range []struct {
		name, text string
		options    files.Options
		format     files.Format
		verdict    files.Verdict
		rolls      int
		line       int // of the finding
		check      string
	}{
		{"record", header + events, files.Options{}, files.Record, files.Verified, 2, 0, ""},
		{"events alone", events, given, files.Record, files.Verified, 2, 0, ""},
		{"events alone, nothing given", events, files.Options{}, files.Record, files.Malformed, 0, 0, "format"},
		{"default options", strings.Replace(events, "resign B 1\nend A 1", "timeout B\nend A 2", 1), files.Options{Variant: &short}, files.Record, files.Verified, 2, 0, ""},
		{"no end", header + strings.TrimSuffix(events, "end A 1\n"), files.Options{}, files.Record, files.Incomplete, 2, 0, ""},
		{"illegal move", header + strings.Replace(events, "13/7 8/3", "13/7 8/2", 1), files.Options{}, files.Record, files.Failed, 2, 12, "rules.moves"},
		{"short move", header + strings.Replace(events, "13/7 8/3", "13/7", 1), files.Options{}, files.Record, files.Failed, 2, 12, "rules.forced"},
		{"illegal move, no header", strings.Replace(events, "13/7 8/3", "13/7 8/2", 1), given, files.Record, files.Failed, 2, 4, "rules.moves"},
		{"wrong result", header + strings.Replace(events, "end A 1", "end A 2", 1), files.Options{}, files.Record, files.Failed, 2, 14, "result"},
		{"broken header", strings.Replace(header, "score 0 0", "score 0", 1) + events, files.Options{}, files.Record, files.Malformed, 0, 6, "format"},
		{"no events", header, files.Options{}, files.Record, files.Malformed, 0, 0, "format"},
		{"broken event", header + strings.Replace(events, "roll A 6 5", "roll A 65", 1), files.Options{}, files.Record, files.Malformed, 0, 11, "format"},
		{"unknown variant", strings.Replace(header, "variant short", "variant chess", 1) + events, files.Options{}, files.Record, files.Malformed, 0, 4, "format"},
		{"options that do not go together", strings.Replace(header, "raise=none stake=win series=single", "raise=cube stake=win series=reverse", 1) + events, files.Options{}, files.Record, files.Malformed, 0, 0, "format"},
		{"a score before a single game", strings.Replace(header, "score 0 0", "score 1 0", 1) + events, files.Options{}, files.Record, files.Failed, 2, 6, "result"},
		{"no Crawford game", strings.NewReplacer("raise=none stake=win series=single crawford=off", "raise=cube stake=win series=points:5 crawford=on", "crawford no", "crawford yes").Replace(header) + events,
			files.Options{}, files.Record, files.Failed, 2, 7, "cube"},
		{"too large", header + strings.Repeat("opening 1 1\n", replay.MaxRecord/12+1), files.Options{}, files.Record, files.Malformed, 0, 0, "format"},
		{"mat", mat, files.Options{}, files.Mat, files.Verified, 2, 0, ""},
		{"mat with mark", "\xef\xbb\xbf; [Site \"x\"]\r\n" + mat, files.Options{}, files.Mat, files.Verified, 2, 0, ""},
		{"mat, illegal", strings.Replace(mat, "8/4 6/4", "8/4 6/3", 1), files.Options{}, files.Mat, files.Failed, 2, 4, "rules.moves"},
		{"mat, unfinished", strings.Replace(mat, "Wins 1 point", "", 1), files.Options{}, files.Mat, files.Incomplete, 2, 0, ""},
		{"sgf", sgf, files.Options{}, files.SGF, files.Verified, 2, 0, ""},
		{"empty", "", files.Options{}, "", files.Malformed, 0, 0, "format"},
		{"blank", " \n\n", files.Options{}, "", files.Malformed, 0, 0, "format"},
		{"something else", "# Read me\n", files.Options{}, "", files.Malformed, 0, 0, "format"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := files.Check("name", strings.NewReader(c.text), c.options)
			if r.Format != c.format || r.Verdict != c.verdict || r.Rolls != c.rolls {
				t.Errorf("%s %s %d rolls, want %s %s %d: %+v", r.Format, r.Verdict, r.Rolls, c.format, c.verdict, c.rolls, r)
			}
			switch {
			case c.check == "" && len(r.Findings) > 0:
				t.Errorf("findings %+v", r.Findings)
			case c.check != "" && (len(r.Findings) != 1 || r.Findings[0].Line != c.line || r.Findings[0].Check != c.check):
				t.Errorf("findings %+v, want %s in line %d", r.Findings, c.check, c.line)
			}
		})
	}
}

func TestReportAsJSON(t *testing.T) {
	r := files.Check("a.mat", strings.NewReader(strings.Replace(mat, "8/4 6/4", "8/4 6/3", 1)), files.Options{})
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(text, &members); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"file", "format", "variant", "games", "rolls", "verdict", "findings"} {
		if _, ok := members[name]; !ok {
			t.Errorf("no member %q in %s", name, text)
		}
	}
	f := members["findings"].([]any)[0].(map[string]any)
	for _, name := range []string{"game", "line", "check", "category", "message", "legal"} {
		if _, ok := f[name]; !ok {
			t.Errorf("no member %q in a finding: %s", name, text)
		}
	}
}

func TestObserve(t *testing.T) {
	short, _ := rules.Lookup("short")
	for name, text := range map[string]string{"record": header + events, "mat": mat, "sgf": sgf} {
		lines := 0
		files.Check(name, strings.NewReader(text), files.Options{Variant: &short, Observe: func(_, line int, _ string, st replay.State) {
			if lines++; line < 1 || st == (replay.State{}) {
				t.Errorf("%s: line %d", name, line)
			}
		}})
		if lines == 0 {
			t.Errorf("%s: nothing observed", name)
		}
	}
}

// english is a language without texts of its own: it says the values in the
// English formats.
type english struct{}

func (english) Phrase(string) (string, bool) { return "", false }

func FuzzCheck(f *testing.F) {
	for _, text := range []string{header + events, events, mat, sgf} {
		f.Add(text)
	}
	short, err := rules.Lookup("short")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r := files.Check("name", strings.NewReader(text), files.Options{Variant: &short})
		lines := strings.Count(text, "\n") + 1
		for _, finding := range r.Findings {
			if finding.Line < 0 || finding.Line > lines || finding.Message == "" {
				t.Errorf("finding %+v in a text of %d lines", finding, lines)
			}
			if finding.Why == nil || phrase.In(finding.Why, english{}) != finding.Message {
				t.Errorf("finding %+v is said as %v", finding, finding.Why)
			}
		}
		if (r.Verdict == files.Verified || r.Verdict == files.Incomplete) != (len(r.Findings) == 0) {
			t.Errorf("%s with findings %+v", r.Verdict, r.Findings)
		}
	})
}

func TestFurtherFindings(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		lines []int
	}{
		"record": {header + strings.NewReplacer("13/7 8/3", "13/7 8/2", "resign B 1\nend A 1", "resign B 1\nend A 2").Replace(events), []int{12, 14}},
		"mat": {strings.NewReplacer("8/4 6/4", "8/4 6/3", "Wins 1", "Wins 4").Replace(mat) +
			" Game 2\n Ann : 0                        Bob : 0\n  1) 31: 8/5 6/5                   42: 8/4 6/3\n  2) 31: 8/5 6/5                   Doubles => 2\n  3) Drops\n      Wins 1 points\n", []int{4, 5, 8, 11}},
		"score": {strings.Replace(mat, "8/4 6/4", "8/4 6/3", 1) + " Game 2\n Ann : 0                        Bob : 0\n", []int{4, 6}},
	} {
		t.Run(name, func(t *testing.T) {
			r := files.Check(name, strings.NewReader(c.text), files.Options{})
			var lines []int
			for _, f := range r.Findings {
				lines = append(lines, f.Line)
			}
			if !slices.Equal(lines, c.lines) {
				t.Errorf("findings in lines %v, want %v: %+v\n%s", lines, c.lines, r.Findings, c.text)
			}
			if len(r.Unchecked) < 2 {
				t.Errorf("what was not checked: %+v", r.Unchecked)
			}
		})
	}
}

func TestUnknownFormats(t *testing.T) {
	for start, want := range map[string]string{"PK\x03\x04x": "zip", "\x1f\x8b\x08": "gzip", "\xff\xfeG\x00": "UTF-16", "\x7fELF\x00": "binary", strings.Repeat("x", 257) + "ustar\x00": "tar",
		"RGMH\x00": "eXtreme Gammon", "hello": "neither"} {
		r := files.Check("x", strings.NewReader(start), files.Options{})
		if r.Verdict != files.Malformed || !strings.Contains(r.Findings[0].Message, want) {
			t.Errorf("%q: %s %+v", start, r.Verdict, r.Findings)
		}
	}
}
