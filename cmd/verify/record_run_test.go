//go:build !js

package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairdice/replay"
	"fairdice/replay/files"
)

// record runs "verify record" and returns its exit status and outputs.
func record(in string, args ...string) (exit int, stdout, stderr string) {
	var out, errs bytes.Buffer
	exit = run(append([]string{"record"}, args...), strings.NewReader(in), &out, &errs)
	return exit, out.String(), errs.String()
}

// TestRecordManyFiles wants the same output, in the order of the names, whatever the number of workers and however the files are packed.
func TestRecordManyFiles(t *testing.T) {
	members := map[string]string{}
	for i := range 300 {
		text := matchLines
		if i%7 == 3 {
			text = strings.Replace(matchLines, "8/4 6/4", "8/4 6/3", 1)
		}
		members[fmt.Sprintf("m/%03d.mat", i)] = text
	}
	t.Chdir(folder(t, members))
	f, err := os.Create("m.zip")
	if err != nil {
		t.Fatal(err)
	}
	w := zip.NewWriter(f)
	for i := range 300 {
		name := fmt.Sprintf("%03d.mat", i)
		member, err := w.Create(name)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprint(member, members["m/"+name])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	exit, want, stderr := record("", "--workers", "1", "m")
	if exit != 1 || stderr != "" || strings.Count(want, "\n") < 300 {
		t.Fatalf("exit %d, %s\n%s", exit, stderr, want)
	}
	for _, args := range [][]string{{"m"}, {"--workers", "8", "m"}, {"--workers", "3", "m.zip"}} {
		exit, got, _ := record("", args...)
		if got = strings.ReplaceAll(got, "m.zip/", "m/"); exit != 1 || got != want {
			t.Errorf("%v: exit %d, other output", args, exit)
		}
	}
}

func TestRecordBadInput(t *testing.T) {
	dir := folder(t, map[string]string{
		"binary.mat":  "\x7fELF\x02\x01\x01\x00\x00\x00",
		"utf16.mat":   "\xff\xfe5\x00 \x00p\x00o\x00i\x00n\x00t\x00",
		"line.mat":    " 5 point match\n Game 1\n A : 0      B : 0\n  1) " + strings.Repeat("x", 70_000),
		"latin.rec":   "opening 2 3\nmove B \xff\n",
		"broken.gz":   "\x1f\x8b\x08\x00\x00",
		"esc.mat":     strings.Replace(matchLines, "8/4 6/4", "8/4 \x1b[2Jx", 1),
		"picture.mat": "%PDF-1.7\n",
	})
	t.Chdir(dir)
	for name, want := range map[string]string{
		"binary.mat": "binary", "utf16.mat": "UTF-16", "line.mat": "line 4: format (malformed): the line is longer than 65536 bytes", "latin.rec": "UTF-8", "broken.gz": "gzip",
		"picture.mat": "PDF", "esc.mat": "line 4",
	} {
		exit, stdout, _ := record("", "--variant", "short", name)
		if exit == 0 || !strings.Contains(stdout, want) {
			t.Errorf("%s: exit %d: %s", name, exit, stdout)
		}
		if strings.ContainsRune(stdout, 0x1b) {
			t.Errorf("%s: an escape sequence of the file is printed: %q", name, stdout)
		}
	}
}

func TestRecordSteps(t *testing.T) {
	t.Chdir(folder(t, map[string]string{"good.record": eventLines, "bad.mat": strings.Replace(matchLines, "8/4 6/4", "8/4 6/3", 1)}))
	steps := func(out string) int { return strings.Count(out, ": game 1: ") }
	for _, c := range []struct {
		name, in string
		exit     int
		steps    int
	}{
		{"no input", "", 0, 6},
		{"one by one", "\n\n\n\n\n\n", 0, 6},
		{"left after two", "\nq\n", 2, 2},
		{"input ends after two", "\n\n", 0, 6},
	} {
		exit, out, _ := record(c.in, "--variant", "short", "--step", "good.record")
		if exit != c.exit || steps(out) != c.steps {
			t.Errorf("%s: exit %d, %d steps, want %d, %d:\n%s", c.name, exit, steps(out), c.exit, c.steps, out)
		}
	}
	if exit, out, _ := record("", "--step", "--board", "bad.mat"); exit != 1 || steps(out) != 1 || !strings.Contains(out, "rules.moves") {
		t.Errorf("exit %d:\n%s", exit, out)
	}
}

// TestBrowse presses keys.
func TestBrowse(t *testing.T) {
	var lines []stepLine
	report := files.Check("two.mat", strings.NewReader(matchLines+" Game 2\n Ann : 0                        Bob : 1\n  1) 31: 8/5 6/5                   42: 8/4 6/3\n"),
		files.Options{Observe: func(game, line int, what string, st replay.State) {
			lines = append(lines, stepLine{"two.mat", game, line, what, st})
		}})
	if len(lines) != 3 {
		t.Fatalf("%d lines", len(lines))
	}
	for _, c := range []struct {
		keys  string
		shown []string // lines in the heads of the pages
		left  bool
	}{
		{"  ", []string{"line 4 (1 of 3)", "line 4 (2 of 3)", "line 8 (3 of 3)"}, true},
		{"   ", []string{"line 4 (1 of 3)", "line 4 (2 of 3)", "line 8 (3 of 3)"}, false},
		{"\x1b[C\x1b[D\x1b[Dq", []string{"line 4 (1 of 3)", "line 4 (2 of 3)", "line 4 (1 of 3)", "line 4 (1 of 3)"}, true},
		{"npq", []string{"line 4 (1 of 3)", "line 8 (3 of 3)", "line 4 (1 of 3)"}, true},
		{"\x03", []string{"line 4 (1 of 3)"}, true},
	} {
		var out bytes.Buffer
		s := &stepper{in: bufio.NewReader(strings.NewReader(c.keys)), out: &out}
		err := s.browse(lines, report)
		if left := err == errLeft; left != c.left || !left && err != nil {
			t.Errorf("%q: %v", c.keys, err)
		}
		var shown []string
		for _, page := range strings.Split(out.String(), "\x1b[H\x1b[2J") {
			if head, _, ok := strings.Cut(page, "\r\n"); ok {
				_, at, _ := strings.Cut(head, ", ")
				shown = append(shown, at)
			}
		}
		if fmt.Sprint(shown) != fmt.Sprint(c.shown) {
			t.Errorf("%q: pages %q, want %q", c.keys, shown, c.shown)
		}
		if strings.Contains(c.keys, "n") && !strings.Contains(out.String(), "dice-mismatch") {
			t.Errorf("%q: the finding of the last game is not shown:\n%s", c.keys, out.String())
		}
	}
}

func TestRecordExport(t *testing.T) {
	head := "fairdice/v1/record\nmatch 01970000-0000-7000-8000-000000000101\ngame %d\nvariant short\noptions raise=mars stake=win series=points:5 crawford=on\nscore %s\ncrawford no\n\n"
	one, two := fmt.Sprintf(head, 1, "0 0")+eventLines, fmt.Sprintf(head, 2, "1 0")+eventLines
	t.Chdir(folder(t, map[string]string{
		"1.record": one, "2.record": two, "other.record": strings.Replace(two, "0101\n", "0102\n", 1), "bad.record": strings.Replace(one, "13/7 8/3", "13/7 8/2", 1),
		"good.mat": matchLines, "long.record": strings.NewReplacer("short", "long-classic", "raise=mars stake=win series=points:5 crawford=on", "raise=none stake=win series=single crawford=off").
				Replace(fmt.Sprintf(head, 1, "0 0")) + "opening 2 3\ntimeout A\nend B 1\n",
	}))
	for _, c := range []struct {
		name  string
		args  []string
		exit  int
		wants []string // on stderr
	}{
		{"two games as .mat", []string{"--export", "out.mat", "2.record", "1.record"}, 0, nil},
		{"two games as .sgf", []string{"--export", "out.sgf", "1.record", "2.record"}, 0, nil},
		{"one game as .record", []string{"--export", "out.record", "1.record"}, 0, nil},
		{"a match file as .sgf", []string{"--export", "match.sgf", "good.mat"}, 0, nil},
		{"nardi as .mat", []string{"--export", "long.mat", "long.record"}, 0, nil},
		{"nardi as .sgf", []string{"--export", "long.sgf", "long.record"}, 3, []string{"long-classic", "--export"}},
		{"two games as .record", []string{"--export", "x.record", "1.record", "2.record"}, 3, []string{"one game"}},
		{"two matches", []string{"--export", "x.mat", "1.record", "other.record"}, 3, []string{"not of one match"}},
		{"a game twice", []string{"--export", "x.mat", "1.record", "1.record"}, 3, []string{"twice"}},
		{"an illegal game", []string{"--export", "x.mat", "bad.record"}, 1, []string{"nothing is exported"}},
		{"unknown format", []string{"--export", "x.png", "1.record"}, 3, []string{".png"}},
		{"made-up draws", []string{"--export", "x.record", "good.mat"}, 3, []string{"does not say"}},
	} {
		exit, stdout, stderr := record("", c.args...)
		if exit != c.exit {
			t.Errorf("%s: exit %d, want %d: %s%s", c.name, exit, c.exit, stdout, stderr)
		}
		for _, want := range c.wants {
			if !strings.Contains(stderr, want) {
				t.Errorf("%s: no %q in %s", c.name, want, stderr)
			}
		}
	}
	for _, name := range []string{"out.mat", "out.sgf", "match.sgf", "long.mat"} {
		if exit, stdout, _ := record("", name); exit != 0 {
			t.Errorf("%s: exit %d: %s", name, exit, stdout)
		}
	}
	if text, err := os.ReadFile("out.record"); err != nil || string(text) != one {
		t.Errorf("%v: %s", err, text)
	}
	if left, _ := filepath.Glob("x.*"); left != nil {
		t.Errorf("written in spite of an error: %v", left)
	}
}

func TestRecordSaysWhatItUnderstood(t *testing.T) {
	t.Chdir(folder(t, map[string]string{"a.mat": "; [Site \"X\"]\n; [Clock \"none\"]\n" + matchLines}))
	exit, stdout, _ := record("", "-v", "a.mat")
	for _, want := range []string{"understood: written by X", `players "Ann" (A) and "Bob" (B)`, "5 point match", "ignored: line 2: the tag \"clock\"", "not checked: the dice"} {
		if exit != 0 || !strings.Contains(stdout, want) {
			t.Errorf("exit %d, no %q in\n%s", exit, want, stdout)
		}
	}
	_, stdout, _ = record("", "--json", "a.mat")
	for _, want := range []string{`"understood":["written by X"`, `"ignored":[{`, `"unchecked":[{`} {
		if !strings.Contains(stdout, want) {
			t.Errorf("no %s in %s", want, stdout)
		}
	}
}
