//go:build !js

package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"fairdice/audit"
	"fairdice/commitment"
	"fairdice/internal/dealer"
	"fairdice/rules"
)

// inFull reports whether the tests of the page take all the time they want:
// 200 games, and files as large as they may be.
func inFull() bool { return os.Getenv("FAIRDICE_PAGE") == "full" }

// dealt plays one game between two players who move at random and returns its
// bundle with the key of its log.
func dealt(t *testing.T, seed byte, how dealer.Terms) (bundle []byte, key string) {
	t.Helper()
	h := dealer.New(t, seed)
	m := h.Open(how)
	m.Play()
	m.Finish()
	b := &audit.Bundle{Log: audit.BundleLog{Origin: dealer.Origin, Key: h.Key, Checkpoint: h.Checkpoint(len(h.Texts))}}
	for i, text := range h.Texts {
		b.Statements = append(b.Statements, audit.BundleStatement{Index: uint64(i), Text: string(text), Path: h.Inclusion(i)})
	}
	for _, g := range m.Games {
		game := audit.BundleGame{Game: g.Number, Record: g.Record, Receipts: g.Receipts}
		for _, o := range g.Openings {
			game.Openings = append(game.Openings, audit.BundleOpening{Segment: o.Segment, Stream: o.Stream, Index: o.Index, Key: o.Key, Path: o.Path})
		}
		b.Games = append(b.Games, game)
	}
	data, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data, h.Key
}

// TestPageGames compares both verifiers over games of all variants, modes, and
// levels that need no beacon (the vectors have it), every third spoilt in one
// byte.
func TestPageGames(t *testing.T) {
	n := 16
	if inFull() {
		n = 200
	}
	b := newBrowser(t)
	variants, modes := rules.Variants(), commitment.Modes()
	verdicts, worst := map[audit.Verdict]int{}, 0.0
	for i := range n {
		how := dealer.Terms{Variant: variants[i%len(variants)].ID, Mode: modes[i/2%len(modes)], Options: dealer.SingleGame,
			Rolls: commitment.Lengths{4, 60, 60}, Anchored: i%5 != 0}
		switch how.Mode {
		case commitment.Real:
			how.Mode = commitment.Random // it needs an archive; the vectors have it
		case commitment.Live:
			how.Anchored = true
		}
		data, key := dealt(t, byte(i), how)
		if i%3 == 2 {
			spoil(data, i)
		}
		path := b.file(data)
		got := b.same(t, request{Op: "bundle", Path: path, Options: map[string]any{"key": key}}, "bundle", path, "--json", "--key", key)
		var report audit.Report
		if err := json.Unmarshal([]byte(got.Value), &report); err != nil {
			t.Fatal(err)
		}
		verdicts[report.Verdict]++
		if i%3 != 2 && report.Verdict != audit.Verified {
			t.Errorf("game %d, %+v: %s %v", i, how, report.Verdict, report.Failed())
		}
		worst = max(worst, got.MS)
	}
	t.Logf("%d games: %v, %.0f ms for the slowest", n, verdicts, worst)
}

// spoil changes one digit or letter of a bundle.
func spoil(data []byte, n int) {
	for at := n * 7919 % len(data); ; at = (at + 1) % len(data) {
		if c := data[at]; c >= '0' && c <= '8' || c >= 'a' && c <= 'e' {
			data[at]++
			return
		}
	}
}

// TestPageWords asks for what a person sees: the report in every language, the
// games, their boards.
func TestPageWords(t *testing.T) {
	b := newBrowser(t)
	if got := b.ask(request{Op: "words", Lang: "en"}); got.Error != "nothing has been verified yet" {
		t.Errorf("before anything: %+v", got)
	}
	data, key := dealt(t, 3, dealer.Terms{Variant: "long-classic", Mode: commitment.Random, Options: dealer.SingleGame, Rolls: commitment.Lengths{4, 80, 80}, Anchored: true})
	path := b.file(data)
	b.ask(request{Op: "bundle", Path: path, Options: map[string]any{"key": key}})
	titles := map[string]bool{}
	for _, lang := range []string{"en", "ka", "hy", "ru"} {
		var words struct {
			Lang, Verdict, Title string
			Sentences, Games     []string
			Checks               []struct{ ID, Words string }
		}
		if err := json.Unmarshal([]byte(b.ask(request{Op: "words", Lang: lang}).Value), &words); err != nil {
			t.Fatal(err)
		}
		if words.Lang != lang || words.Verdict != "verified" || len(words.Sentences) == 0 || len(words.Games) != 1 || len(words.Checks) < len(audit.IDs()) {
			t.Errorf("%s: %+v", lang, words)
		}
		titles[words.Title] = true
	}
	if len(titles) != 4 {
		t.Errorf("four languages have the titles %v", titles)
	}
	var show struct {
		Games []struct {
			Steps []struct {
				Event, Kind string
				Fault       *struct{}
			}
		}
	}
	if err := json.Unmarshal([]byte(b.ask(request{Op: "games", Path: path, Options: map[string]any{"lang": "ru"}}).Value), &show); err != nil {
		t.Fatal(err)
	}
	if len(show.Games) != 1 || len(show.Games[0].Steps) < 20 {
		t.Fatalf("the games are %+v", show)
	}
	last := len(show.Games[0].Steps) - 1
	if show.Games[0].Steps[last].Kind != "end" {
		t.Errorf("the last step is %+v", show.Games[0].Steps[last])
	}
	for _, seat := range []string{"A", "B"} {
		if got := b.ask(request{Op: "board", Step: last, Seat: seat}); !strings.HasPrefix(got.Value, "<svg") {
			t.Errorf("the board of the last step: %+v", got)
		}
	}
	for _, r := range []request{{Op: "board", Step: last + 1}, {Op: "board", Game: 1}, {Op: "board", Step: -1}, {Op: "describe", Seat: "C"}} {
		if got := b.ask(r); got.Error == "" {
			t.Errorf("%+v: %+v", r, got)
		}
	}
}

// TestPageLines asks for the boards where something is wrong, in a small file, in one of which only what was refused is kept, and in a bundle; and
// for how far a check is.
func TestPageLines(t *testing.T) {
	b := newBrowser(t)
	if got := b.ask(request{Op: "line", Game: 1, Line: 4, Lang: "en"}); got.Error == "" {
		t.Errorf("before anything: %+v", got)
	}
	const game = " Game 1\n Ann : 0                        Bob : 0\n  1) 31: 8/5 6/5                   42: 8/4 6/3\n  2)                               Wins 1 point\n"
	large, filler := " 5 point match\n"+game, strings.Repeat("; a comment of the program that wrote the file\n", 20_000)
	for range 3 {
		large += filler + game
	}
	for name, text := range map[string]string{"small": " 5 point match\n" + game, "large": large} {
		path := b.file([]byte(text))
		b.same(t, request{Op: "record", Name: path, Path: path}, "record", "--json", path)
		var at []float64
		if err := json.Unmarshal([]byte(b.ask(request{Op: "checked"}).Value), &at); err != nil {
			t.Fatal(err)
		}
		if len(at) == 0 || len(at) > 150 || at[len(at)-1] < 0.98 || !slices.IsSorted(at) {
			t.Errorf("%s: the check was at %v", name, at)
		}
		for lang, word := range map[string]string{"en": "White", "ru": "Белые"} {
			if got := b.ask(request{Op: "line", Game: 1, Line: 4, Lang: lang}); !strings.HasPrefix(got.Value, "<svg") || !strings.Contains(got.Value, word) {
				t.Errorf("%s: the board in %s: %+v", name, lang, got)
			}
		}
		if got := b.ask(request{Op: "line", Game: 7, Line: 4, Lang: "en"}); got.Error != "there is no game 7 to show" {
			t.Errorf("%s: a game that is not there: %+v", name, got)
		}
		if got := b.ask(request{Op: "games", Path: path, Options: map[string]any{"lang": "en"}}); !strings.Contains(got.Value, "A plays 8/5 6/5") {
			t.Errorf("%s: the games are %.300s %s", name, got.Value, got.Error)
		}
	}
	data, key := dealt(t, 3, dealer.Terms{Variant: "short", Mode: commitment.Random, Options: dealer.SingleGame, Rolls: commitment.Lengths{4, 60, 60}, Anchored: true})
	path := b.file(data)
	b.ask(request{Op: "bundle", Path: path, Options: map[string]any{"key": key}})
	if got := b.ask(request{Op: "line", Game: 1, Line: 2, Lang: "en"}); !strings.HasPrefix(got.Value, "<svg") {
		t.Errorf("the board of a bundle: %+v", got)
	}
}

// TestPageLimits gives the page the largest files and the worst, and demands
// that it answers what the command line prints and goes on.
func TestPageLimits(t *testing.T) {
	if testing.Short() {
		t.Skip("files of up to 64 MiB")
	}
	size := 2 << 20
	if inFull() {
		size = 20 << 20
	}
	b := newBrowser(t)
	data, key := dealt(t, 3, dealer.Terms{Variant: "short", Mode: commitment.Random, Options: dealer.SingleGame, Rolls: commitment.Lengths{4, 60, 60}, Anchored: true})
	full := append(bytes.Clone(data), bytes.Repeat([]byte(" "), audit.MaxBundle-len(data))...)
	row := "  1) 31: 8/5 6/5                   42: 8/4 6/4\n"
	var match strings.Builder
	for game := 1; match.Len() < size; game++ {
		fmt.Fprintf(&match, "\n Game %d\n Ann : 0                        Bob : 0\n%s  2)                               Wins 1 point\n", game, row)
	}
	var record strings.Builder
	record.WriteString("opening 3 1\n")
	for record.Len() < 1<<20-20 {
		record.WriteString("move A 8/5 6/5\n")
	}
	for _, c := range []struct {
		name, op string
		content  []byte
	}{
		{"largest bundle", "bundle", full},
		{"too large a bundle", "bundle", append(full, ' ')},
		{"brackets", "bundle", bytes.Repeat([]byte("["), 1<<20)},
		{"nothing", "bundle", nil},
		{"garbage", "bundle", bytes.Repeat([]byte{0xff, 0, '{'}, 1<<16)},
		{"largest record", "record", []byte(record.String())},
		{"too large a record", "record", append([]byte(record.String()), bytes.Repeat([]byte("\n"), 1<<20)...)},
		{"match of many games", "record", []byte(match.String())},
		{"garbage for a record", "record", bytes.Repeat([]byte{0xff, 0, '{'}, 1<<16)},
		{"one long line", "record", append([]byte(" 5 point match\n Game 1\n"), bytes.Repeat([]byte("1"), size)...)},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := b.file(c.content)
			var got told
			if c.op == "bundle" {
				got = b.same(t, request{Op: "bundle", Path: path, Options: map[string]any{"key": key}}, "bundle", path, "--json", "--key", key)
			} else {
				got = b.same(t, request{Op: "record", Name: path, Path: path, Options: map[string]any{"variant": "short"}}, "record", "--json", "--variant", "short", path)
			}
			t.Logf("%d bytes, %.0f ms: %.100s", len(c.content), got.MS, got.Value)
			os.Remove(path)
		})
	}
	// Whoever does not want to wait stops it, and the next file is checked.
	path := b.file(data)
	if got := b.ask(request{Op: "stop", Path: path}); got.Value != "stopped" {
		t.Errorf("a verification that was stopped: %+v", got)
	}
	b.same(t, request{Op: "bundle", Path: path, Options: map[string]any{"key": key}}, "bundle", path, "--json", "--key", key)
	if got := b.ask(request{Op: "raw", Name: "no bytes"}); got.Error != "the file is no Uint8Array" {
		t.Errorf("no bytes: %+v", got)
	}
}
