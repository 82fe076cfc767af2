package sgf_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairdice/replay"
	"fairdice/replay/sgf"
)

func TestRealFilesRaiseNoFalseAlarm(t *testing.T) {
	dir := os.Getenv("FAIRDICE_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	names, _ := filepath.Glob(filepath.Join(dir, "selfplay", "*.sgf"))
	if len(names) == 0 {
		if os.Getenv("FAIRDICE_REQUIRE_CORPUS") != "" {
			t.Fatalf("no .sgf files in %s", dir)
		}
		t.Skip("no corpus of real match files: set FAIRDICE_CORPUS")
	}
	for _, name := range names {
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		report, err := sgf.Check(file, sgf.Options{})
		file.Close()
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(name), err)
			continue
		}
		for _, f := range report.Findings {
			t.Errorf("%s:%d: game %d: %s (%s): %s", filepath.Base(name), f.Line, f.Game, f.Check, f.Category, f.Message)
		}
		t.Logf("%s: %s, %d games, %d rolls, unfinished %v, notes %v", filepath.Base(name), report.Variant.ID, report.Games, report.Rolls, report.Unfinished, report.Notes)
	}
}

const root = "(;FF[4]GM[6]MI[length:3][game:0][ws:0][bs:0]PW[x\\]y]PB[z]RU[Crawford]"

const session = "(;FF[4]GM[6]MI[length:0][game:0][ws:0][bs:0]RU[Jacoby]"

func TestFaultsAreNamed(t *testing.T) {
	for _, c := range []struct {
		name, text string
		line       int
		check      string
	}{
		{"legal", root + "RE[W+1]\n;W[31hefe]A[0][junk];B[42lpln]\n;W[double];B[drop])", 0, ""},
		{"variation skipped", root + "RE[W+1]\n;W[31hefe]\n(;B[62agln]\n;W[double];B[drop])(;B[11zzzz]))", 0, ""},
		{"blocked", root + "\n;W[31hefe]\n;B[42atwa])", 3, "format"},
		{"illegal step", root + "\n;W[31hefe]\n;B[62lnah])", 3, "rules.moves"},
		{"short play", root + "\n;W[31he])", 2, "rules.forced"},
		{"wrong result", root + "RE[W+2]\n;W[31hefe]\n;B[62agln];W[double];B[drop])", 1, "result"},
		{"take without double", root + "\n;W[31hefe]\n;B[take])", 3, "cube"},
		{"resigned as gibbon writes it", root + "RE[W+2Resign]\n;W[31hefe]\n;B[resign:2]\n;W[accept])", 0, ""},
		{"resigned by the winner", root + "RE[W+1Resign]\n;W[31hefe]\n;B[62agln]\n;W[resign:1]\n;B[accept])", 1, "result"},
		{"resignation refused", root + "RE[W+1]\n;W[31hefe]\n;B[resign:1]\n;W[reject]\n;B[62agln];W[double];B[drop])", 0, ""},
		{"nothing to accept", root + "\n;W[31hefe]\n;B[accept])", 3, "format"},
		{"moved after resigning", root + "\n;W[31hefe]\n;B[resign:1]\n;W[accept]\n;B[62agln])", 5, "result"},
		{"thrown and given up", root + "RE[W+1R]\n;W[31hefe]\n;PL[B]DI[62])", 0, ""},
		{"an automatic double", session + "CV[2]RE[W+2]\n;W[31hefe]\n;B[62agln];W[double];B[drop])", 0, ""},
		{"an automatic double forgotten", session + "CV[2]RE[W+1]\n;W[31hefe]\n;B[62agln];W[double];B[drop])", 1, "result"},
		{"no automatic double", session + "RE[W+2]\n;W[31hefe]\n;B[62agln];W[double];B[drop])", 1, "result"},
		{"beaver and raccoon", session + "RE[W+8]\n;W[31hefe]\n;B[62agln];W[double];B[double];W[double];B[take])", 0, ""},
		{"arranged", root + "\n;AE[a]AW[b])", 2, "format"},
	} {
		t.Run(c.name, func(t *testing.T) {
			report, err := sgf.Check(strings.NewReader(c.text), sgf.Options{})
			if err != nil {
				t.Fatal(err)
			}
			var got []replay.Finding
			got = append(got, report.Findings...)
			switch {
			case c.check == "" && len(got) > 0:
				t.Errorf("found %+v in a legal game", got[0])
			case c.check != "" && (len(got) != 1 || got[0].Line != c.line || got[0].Check != c.check):
				t.Errorf("found %+v, want %s in line %d", got, c.check, c.line)
			}
		})
	}
}

func TestMalformedFiles(t *testing.T) {
	for _, text := range []string{"", " ", "x", "(", "()", "(;GM[1];W[31hefe])", "(;GM[6]", "(;GM[6];W[31", "(;GM[6];W)", "(W[1])", strings.Repeat("(;", 100),
		"(;GM[6]C[" + strings.Repeat("x", sgf.MaxValue+1) + "])", "(;GM[6]" + strings.Repeat("C[xxxxxxxxxxxxxxxxxxxxxxxx]", 50_000) + ")"} {
		if report, err := sgf.Check(strings.NewReader(text), sgf.Options{}); err == nil {
			t.Errorf("%.40q: accepted: %+v", text, report)
		}
	}
}

func FuzzCheck(f *testing.F) {
	f.Add(root + "RE[W+1]\n;W[31hefe]\n;B[62agln];W[double];B[drop])")
	f.Add("(;GM[6];W[66];B[double](;W[take])(;W[drop]))")
	f.Fuzz(func(t *testing.T, text string) {
		report, err := sgf.Check(strings.NewReader(text), sgf.Options{})
		if err != nil {
			return
		}
		last := strings.Count(text, "\n") + 1
		for _, finding := range report.Findings {
			if finding.Line < 1 || finding.Line > last {
				t.Errorf("finding in line %d of %d", finding.Line, last)
			}
		}
	})
}

func TestWhatTheFileSays(t *testing.T) {
	text := strings.Replace(root, "GM[6]", "GM[6]AP[gibbon:0.2]", 1) + "\n;W[31hefe]A[0][analysis]C[comment]\n;B[42lpln]A[0])"
	report, err := sgf.Check(strings.NewReader(text), sgf.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if report.App != "gibbon:0.2" || report.Players != [2]string{"x]y", "z"} || len(report.Ignored) != 2 || report.Ignored[0].Line != 2 {
		t.Errorf("%q %q %+v", report.App, report.Players, report.Ignored)
	}
	report, err = sgf.Check(strings.NewReader(session+"CV[4]RE[W+4]\n;W[31hefe])"), sgf.Options{})
	if err != nil || len(report.Findings) > 0 || len(report.Unchecked) != 1 {
		t.Errorf("a cube that begins at 4: %v %+v", err, report)
	}
}
