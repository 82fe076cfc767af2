//go:build !js

package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const (
	eventLines = "opening 2 3\nmove B 13/10 6/4\nroll A 6 5\nmove A 13/7 8/3\nresign B 1\nend A 1\n"
	matchLines = " 5 point match\n Game 1\n Ann : 0                        Bob : 0\n  1) 31: 8/5 6/5                   42: 8/4 6/4\n  2)                               Wins 1 point\n"
)

// folder writes files into a fresh directory.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestRecordCommand(t *testing.T) {
	dir := folder(t, map[string]string{
		"good.record":      eventLines,
		"open.record":      strings.TrimSuffix(eventLines, "end A 1\n"),
		"bad.record":       strings.Replace(eventLines, "13/7 8/3", "13/7", 1),
		"broken.record":    "opening 2 3\nmove B\n",
		"empty.txt":        "",
		"good.mat":         matchLines,
		"all/deep/one.MAT": matchLines,
		"all/README.md":    "not a record",
		"nothing/notes":    "not a record",
	})
	for _, c := range []struct {
		name string
		args []string
		exit int
		want []string // in the output, or on stderr for wrong usage
	}{
		{"verified", []string{"--variant", "short", "good.record"}, 0, []string{"good.record: verified: short, 1 game, 2 rolls"}},
		{"failed", []string{"--variant", "short", "bad.record"}, 1, []string{"line 4", "rules.forced", "must-use-more", "legal: "}},
		{"incomplete", []string{"--variant", "short", "open.record"}, 2, []string{"incomplete", "end is due"}},
		{"malformed", []string{"--variant", "short", "broken.record"}, 3, []string{"malformed", "line 2"}},
		{"no variant", []string{"good.record"}, 3, []string{"variant must be given"}},
		{"empty", []string{"empty.txt"}, 3, []string{"empty"}},
		{"match file", []string{"good.mat"}, 0, []string{"verified"}},
		{"directory", []string{"all"}, 0, []string{"one.MAT: verified", "README.md: skipped"}},
		{"directory without records", []string{"nothing"}, 3, []string{"no record"}},
		{"worst of several", []string{"--variant", "short", "good.mat", "open.record", "broken.record", "bad.record"}, 1, []string{"verified", "incomplete", "malformed", "failed"}},
		{"options", []string{"--variant", "short", "--options", "raise=cube stake=win series=single crawford=off", "good.record"}, 0, []string{"verified"}},
		{"steps", []string{"--variant", "short", "--step", "good.record"}, 0, []string{"good.record:2: game 1: move B 13/10 6/4: "}},
		{"steps as JSON", []string{"--variant", "short", "--step", "--json", "good.record"}, 0, []string{`"steps":[{"game":1,"line":1,"what":"opening 2 3","position":"6:5 `}},
		{"board", []string{"--variant", "short", "--board", "good.record"}, 0, []string{"verified"}},
		{"no file", nil, 3, []string{"at least one FILE"}},
		{"missing file", []string{"gone.record"}, 3, []string{"gone.record"}},
		{"unknown variant", []string{"--variant", "chess", "good.record"}, 3, []string{"chess"}},
		{"bad options", []string{"--options", "raise=gold", "good.record"}, 3, []string{"--options"}},
		{"empty variant", []string{"--variant", "", "good.record"}, 3, []string{"--variant"}},
		{"unknown flag", []string{"--fast", "good.record"}, 3, []string{"--fast"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Chdir(dir)
			var stdout, stderr bytes.Buffer
			exit := run(append([]string{"record"}, c.args...), strings.NewReader(""), &stdout, &stderr)
			if exit != c.exit {
				t.Errorf("exit %d, want %d", exit, c.exit)
			}
			for _, want := range c.want {
				if !strings.Contains(stdout.String()+stderr.String(), want) {
					t.Errorf("no %q in\n%s%s", want, stdout.String(), stderr.String())
				}
			}
		})
	}
}

func TestRecordJSON(t *testing.T) {
	t.Chdir(folder(t, map[string]string{"a/bad.mat": strings.Replace(matchLines, "8/4 6/4", "8/4 6/3", 1), "a/good.mat": matchLines, "a/notes.md": "x"}))
	var stdout, stderr bytes.Buffer
	if exit := run([]string{"record", "--json", "--board", "a"}, strings.NewReader(""), &stdout, &stderr); exit != 1 {
		t.Errorf("exit %d, want 1: %s", exit, stderr.String())
	}
	verdicts := map[string]string{}
	for line := range strings.Lines(stdout.String()) {
		var r struct {
			File, Format, Variant, Verdict string
			Findings                       []struct {
				Game, Line                      int
				Check, Category, Message, Board string
			}
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		verdicts[filepath.Base(r.File)] = r.Verdict
		if r.Findings == nil {
			t.Errorf("%s: findings are null", r.File)
		}
		for _, f := range r.Findings {
			if f.Game != 1 || f.Line != 4 || f.Check != "rules.moves" || f.Category == "" || f.Board == "" {
				t.Errorf("%s: %+v", r.File, f)
			}
		}
	}
	want := map[string]string{"bad.mat": "failed", "good.mat": "verified", "notes.md": "skipped"}
	for name, verdict := range want {
		if verdicts[name] != verdict {
			t.Errorf("%s: %s, want %s", name, verdicts[name], verdict)
		}
	}
}

func TestPlaysCommand(t *testing.T) {
	good := `{"pid":"4HPwATDgc/ABMA","dice":[3,1]}` + "\n"
	for _, c := range []struct {
		name, in string
		args     []string
		exit     int
		want     string
	}{
		{"position id", good, []string{"--pid"}, 0, `{"k":2,"pass":false,"count":16,"ends":["4HPwATCkc/ABMA"`},
		{"bad request", good + "{}\n" + good, []string{"--pid"}, 3, `{"error":`},
		{"no variant", `{"dice":[1,2]}` + "\n", nil, 3, "variant is missing"},
		{"unknown variant", good, []string{"--variant", "chess"}, 3, "chess"},
		{"argument", good, []string{"x"}, 3, "standard input"},
		{"nothing asked", "", []string{"--pid"}, 3, "nothing was asked"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var stdout, stderr bytes.Buffer
			exit := run(append([]string{"plays"}, c.args...), strings.NewReader(c.in), &stdout, &stderr)
			if exit != c.exit || !strings.Contains(stdout.String()+stderr.String(), c.want) {
				t.Errorf("exit %d, want %d and %q:\n%s%s", exit, c.exit, c.want, stdout.String(), stderr.String())
			}
		})
	}
}
