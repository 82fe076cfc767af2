package sgf_test

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"fairdice/internal/selfplay"
	"fairdice/replay"
	"fairdice/replay/files"
	"fairdice/replay/mat"
	"fairdice/replay/sgf"
	"fairdice/replay/sheet"
	"fairdice/rules"
)

// gnubg runs commands of GNU Backgammon and returns what it printed. Without the program the test is skipped, but not in continuous
// integration.
func gnubg(t *testing.T, commands ...string) (string, error) {
	t.Helper()
	path, err := exec.LookPath("gnubg")
	if err != nil {
		path = "/usr/games/gnubg" // Debian puts it there, and not every PATH has the folder
	}
	if _, err := os.Stat(path); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("gnubg is not installed: apt-get install gnubg")
		}
		t.Skip("gnubg is not installed")
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, path, "-t", "-q", "-r")
	cmd.Env = append(os.Environ(), "LC_ALL=C", "HOME="+t.TempDir())
	cmd.Dir = t.TempDir()
	cmd.Stdin = strings.NewReader("set automatic move off\nset automatic bearoff off\nset confirm new off\n" + strings.Join(commands, "\n") + "\n")
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// positions returns the position after every play of a file, game by game.
func positions(t *testing.T, name string, data []byte) (games [][]string, report files.Report) {
	t.Helper()
	report = files.Check(name, bytes.NewReader(data), files.Options{Observe: func(game, _ int, what string, st replay.State) {
		for len(games) < game {
			games = append(games, nil)
		}
		if strings.HasPrefix(what, "play") {
			games[game-1] = append(games[game-1], st.Position().String())
		}
	}})
	return games, report
}

// TestRealFilesAsSGF lets gnubg convert real matches to SGF: both formats must give the same positions.
func TestRealFilesAsSGF(t *testing.T) {
	dir := os.Getenv("FAIRDICE_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	names, _ := filepath.Glob(filepath.Join(dir, "mat", "*.mat"))
	if len(names) == 0 {
		if os.Getenv("FAIRDICE_REQUIRE_CORPUS") != "" {
			t.Fatalf("no match files in %s", dir)
		}
		t.Skip("no corpus of real match files: set FAIRDICE_CORPUS")
	}
	out := t.TempDir()
	same, plays := 0, 0
	for i := 0; i < len(names); i += 16 {
		base := filepath.Base(names[i])
		absolute, err := filepath.Abs(names[i])
		if err != nil {
			t.Fatal(err)
		}
		converted := filepath.Join(out, base+".sgf")
		if text, err := gnubg(t, "import mat "+absolute, "save match "+converted); err != nil {
			t.Logf("%s: gnubg fails: %v: %s", base, err, text)
			continue
		}
		data, err := os.ReadFile(names[i])
		if err != nil {
			t.Fatal(err)
		}
		want, _ := positions(t, base, data)
		if data, err = os.ReadFile(converted); err != nil {
			t.Logf("%s: gnubg wrote nothing: %v", base, err)
			continue
		}
		got, report := positions(t, base+".sgf", data)
		if report.Verdict == files.Malformed || len(got) != len(want) {
			t.Errorf("%s: %d games as SGF, want %d: %+v", base, len(got), len(want), report.Findings)
			continue
		}
		for g := range want {
			if n := len(want[g]); n == len(got[g])+1 && n > 1 && want[g][n-1] == want[g][n-2] {
				want[g] = want[g][:n-1] // thrown, then given up: gnubg writes no play for it
			}
			if !slices.Equal(got[g], want[g]) {
				t.Errorf("%s: game %d: other positions as SGF: %s", base, g+1, firstDifference(got[g], want[g]))
				continue
			}
			same, plays = same+1, plays+len(want[g])
		}
		for _, f := range report.Findings {
			t.Errorf("%s as SGF: game %d line %d: %s", base, f.Game, f.Line, f.Message)
		}
	}
	t.Logf("%d games and %d plays are the same", same, plays)
	if same == 0 {
		t.Error("nothing was compared")
	}
}

func firstDifference(got, want []string) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("play %d: %s, want %s", i+1, got[i], want[i])
		}
	}
	return fmt.Sprintf("%d plays, want %d", len(got), len(want))
}

// gnubgPlay finds the Position IDs that gnubg prints before the plays of a game.
var gnubgPlay = regexp.MustCompile(`Move number \d+:  .* to play \d\d\n\n GNU Backgammon  Position ID: (\S+)`)

// TestExportsAreReadByGnubg writes matches of self-play in both formats: gnubg must come to the same positions, by its own Position IDs.
func TestExportsAreReadByGnubg(t *testing.T) {
	for _, c := range []struct{ variant, options string }{
		{"short", "raise=cube stake=win series=points:5 crawford=on"},
		{"short", "raise=mars stake=win series=single crawford=off"},
		{"short", "raise=beaver stake=win series=single crawford=off"},
		{"short", "raise=auto stake=win series=single crawford=off"},
		{"nackgammon", "raise=cube stake=win series=points:3 crawford=off"},
		{"hyper", "raise=cube stake=win series=points:3 crawford=on"},
	} {
		t.Run(c.variant+" "+c.options, func(t *testing.T) {
			for seed := range uint64(1) {
				m, want := playedMatch(t, c.variant, c.options, seed)
				for _, format := range []string{"mat", "sgf"} {
					compareByGnubg(t, m, want, format)
				}
			}
		})
	}
}

// playedMatch plays a match and returns it with the Position IDs before its plays, game by game.
func playedMatch(t *testing.T, variant, options string, seed uint64) (sheet.Match, [][]string) {
	t.Helper()
	v, err := rules.Lookup(variant)
	if err != nil {
		t.Fatal(err)
	}
	o, err := replay.ParseOptions(options)
	if err != nil {
		t.Fatal(err)
	}
	match, err := replay.NewMatch(v, o)
	if err != nil {
		t.Fatal(err)
	}
	m := sheet.Match{Variant: v, Options: &o, Length: o.Series.N, Crawford: o.Crawford, Players: [2]string{"Ann [x]", "B\\ob"}}
	player, dice := selfplay.New(selfplay.Greedy, seed), selfplay.Uniform(seed)
	var want [][]string
	for !match.Over() {
		set := match.Next()
		events, st, err := player.Game(set, dice)
		if err != nil {
			t.Fatal(err)
		}
		r := st.Result()
		m.Games = append(m.Games, sheet.Game{Number: set.Game, Score: set.Score, Crawford: set.Crawford, Drawn: true, Events: events[:len(events)-1],
			Result: &sheet.Outcome{Winner: r.Seat, Points: r.Points}})
		want = append(want, positionIDs(t, set, events))
		if match, err = match.Add(r); err != nil {
			t.Fatal(err)
		}
	}
	return m, want
}

func positionIDs(t *testing.T, set replay.Setting, events []replay.Event) []string {
	t.Helper()
	st, err := replay.Start(set)
	if err != nil {
		t.Fatal(err)
	}
	var ids []string
	for _, e := range events {
		if e.Kind == replay.Move {
			id, err := set.Variant.Rules.PositionID(st.Position(), st.Color(e.Seat))
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		if st, err = replay.Apply(st, e); err != nil {
			t.Fatal(err)
		}
	}
	return ids
}

func compareByGnubg(t *testing.T, m sheet.Match, want [][]string, format string) {
	t.Helper()
	dir := t.TempDir()
	var text bytes.Buffer
	write, load := mat.Write, "import mat "
	if format == "sgf" {
		write, load = sgf.Write, "load match "
	}
	if err := write(&text, m); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "match."+format)
	if err := os.WriteFile(path, text.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	printed, err := gnubg(t, load+path, "export match text "+filepath.Join(dir, "out.txt"))
	if err != nil {
		t.Fatalf("%s: gnubg: %v: %s\n%s", format, err, printed, text.String())
	}
	for i := range m.Games {
		name := "out.txt"
		if i > 0 {
			name = fmt.Sprintf("out_%03d.txt", i+1)
		}
		data, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatalf("%s: gnubg has read %d of %d games: %s\n%s", format, i, len(m.Games), printed, text.String())
		}
		var got []string
		for _, found := range gnubgPlay.FindAllStringSubmatch(string(data), -1) {
			got = append(got, found[1])
		}
		if !slices.Equal(got, want[i]) || len(got) == 0 {
			t.Errorf("%s: game %d: %s\n%s", format, i+1, firstDifference(got, want[i]), text.String())
		}
	}
}

// TestWhatGnubgLetsThrough feeds both programs files that gnubg's importer accepts without a word, or crashes on.
func TestWhatGnubgLetsThrough(t *testing.T) {
	const open = "  1) 31: 8/5 6/5                   42: 8/4 6/4\n"
	file := func(rows string) string {
		return " 5 point match\n\n Game 1\n Ann : 0                        Bob : 0\n" + rows
	}
	for _, c := range []struct {
		name, text string
		line       int // of our finding, 0: none
		category   string
	}{
		{"dice that do not match", file(open + "  2) 64: 24/13                     31: 8/5 6/5\n"), 6, "dice-mismatch"},
		{"bar ignored", file("  1) 62: 24/18 13/11                31: 8/7*/4\n  2) 31: 8/5 6/5                   31: 8/5 6/5\n"), 6, "bar-first"},
		{"one die of two", file(open + "  2) 64: 24/18                     31: 8/5 6/5\n"), 6, "must-use-more"},
		{"cube of the other side", file(open + "  2)  Doubles => 2                Takes\n  3) 64: 24/14                     31: 13/10 24/23\n  4)  Doubles => 4                Takes\n"), 8, "double"},
		{"no first name", " 5 point match\n\n Game 1\n : 0                        Bob : 0\n" + open + "      Wins 1 point\n", 0, ""},
		{"losses at the left margin", file(open + "  2) 64: 24/14\n Losses 1 point\n\n      Wins 1 point\n"), 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := t.TempDir()
			path := filepath.Join(dir, "match.mat")
			if err := os.WriteFile(path, []byte(c.text), 0o644); err != nil {
				t.Fatal(err)
			}
			_, err := gnubg(t, "import mat "+path, "save match "+filepath.Join(dir, "match.sgf"))
			written, _ := os.ReadFile(filepath.Join(dir, "match.sgf"))
			t.Logf("gnubg: %v, %d plays read", err, strings.Count(string(written), "\n;"))
			report := files.Check("match.mat", strings.NewReader(c.text), files.Options{})
			switch {
			case c.line == 0 && len(report.Findings) > 0:
				t.Errorf("false alarm: %+v", report.Findings)
			case c.line > 0 && (len(report.Findings) == 0 || report.Findings[0].Line != c.line || report.Findings[0].Category != c.category):
				t.Errorf("found %+v, want %s in line %d", report.Findings, c.category, c.line)
			}
		})
	}
}
