package api_test

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	mathrand "math/rand/v2"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"fairdice/api"
	"fairdice/audit"
	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/internal/selfplay"
	"fairdice/replay"
	"fairdice/rules"
	"fairdice/translog"
)

// newSeats makes two independent players for a match of that mode.
func (b *bench) newSeats(id string, mode client.Mode) [2]*player.Player {
	b.t.Helper()
	var seats [2]*player.Player
	for i := range seats {
		p, err := player.New(filepath.Join(b.t.TempDir(), "player.json"), b.logKey, 2048, rand.Reader)
		must(b.t, err)
		must(b.t, p.Join(player.Terms{Match: id, Variant: "short", Mode: string(mode), Options: single}))
		seats[i] = p
	}
	return seats
}

// openAs opens a match of a mode that both players cut.
func (b *bench) openAs(mode client.Mode, profile client.OpenRequestProfile) (string, [2]*player.Player) {
	b.t.Helper()
	id := newID(b.t)
	seats := b.newSeats(id, mode)
	_, err := b.client.OpenMatch(b.t.Context(), id, client.OpenRequest{
		Variant: "short", Mode: mode, Profile: &profile, Options: new(single),
		A: client.Player{Token: "ada", Anchor: &client.Anchor{Hash: seats[0].Anchor().String()}},
		B: client.Player{Token: "ben", Anchor: &client.Anchor{Hash: seats[1].Anchor().String()}},
	}, 0)
	must(b.t, err)
	return id, seats
}

// verified demands that the match's bundle is proved at a level.
func (b *bench) verified(id, level string, trust audit.Trust) audit.Report {
	b.t.Helper()
	bundle, err := b.client.Bundle(b.t.Context(), id)
	must(b.t, err)
	if trust.Policy == nil {
		trust.Key = b.logKey
	}
	r := audit.Verify(bundle, trust)
	if r.Verdict != audit.Verified || r.Level != level {
		b.t.Errorf("the bundle is %s at %s, want verified at %s:\n%s", r.Verdict, r.Level, level, r.Text(audit.TextStyle{}))
	}
	return r
}

// In mode live two clients that know nothing of each other release a link for
// every throw, the seat on roll first; nothing is drawn before.
func TestLive(t *testing.T) {
	b := newBenchOf(t, func(_ *bench, c *house.Config) { c.Rolls = commitment.Lengths{6, 4, 4} })
	ctx := t.Context()
	must(t, b.house.TopUp(ctx, tenant, "live", 20))
	id, seats := b.openAs(client.ModeLive, client.OpenRequestProfileRefereed)
	public := b.as("") // the players have no API key
	must(t, second(b.client.NextGame(ctx, id, 1, 0)))
	if _, err := seats[0].ReleaseThrow(ctx, public, 1, 1, 1); err == nil {
		t.Error("a link for a throw before one for the cut")
	}
	cut := func(segment int) {
		t.Helper()
		for _, p := range seats {
			must(t, second(p.Play(ctx, public, 1, segment)))
		}
	}
	cut(1)
	st, err := replay.Start(setting(t, single))
	must(t, err)
	moves := selfplay.New(selfplay.Random, 5)
	var gen rules.Generator
	throws := 0
	for line := 1; !st.Over(); line++ {
		e, ok := moves.Next(st)
		if throws >= 12 && st.Due().Kind == replay.DueRoll { // one segment and a bit have been seen
			e, ok = replay.Event{Kind: replay.Resign, Seat: st.OnTurn(), Points: 1}, true
		}
		if ok {
			must(t, second(b.client.Append(ctx, id, 1, line, e.String())))
		} else {
			throws++
			r := b.liveThrow(id, seats, throws, cut)
			e, _ = selfplay.Throw(st, rules.Dice{A: uint8(r.Dice[0]), B: uint8(r.Dice[1])})
		}
		if st, err = st.Apply(&gen, e); err != nil {
			t.Fatal(err)
		}
	}
	if m, err := b.client.Match(ctx, id); err != nil || m.Games[0].Segments < 2 {
		t.Fatalf("the game was not longer than one segment: %v", err)
	}
	must(t, second(b.client.CloseGame(ctx, id, 1, 0)))
	own := seats[1].Anchor()
	if r := b.verified(id, "L3", audit.Trust{MyAnchor: &own}); r.LevelNote != audit.NoteProved {
		t.Errorf("note %q", r.LevelNote)
	}
	for i, p := range seats {
		if n, _ := p.Spent(); n < throws+2 {
			t.Errorf("player %d has released %d links for %d throws", i, n, throws)
		}
	}
}

// liveThrow draws one throw of a live game.
func (b *bench) liveThrow(id string, seats [2]*player.Player, throw int, cut func(segment int)) client.Roll {
	t, ctx, public := b.t, b.t.Context(), b.as("")
	t.Helper()
	due := func() client.Game {
		m, err := public.Match(ctx, id)
		must(t, err)
		return m.Games[0]
	}
	g := due()
	draw := func() (client.Roll, error) {
		return b.client.Draw(ctx, id, 1, g.Draw.Segment, g.Draw.Stream, g.Draw.Index)
	}
	_, err := draw()
	if client.Code(err) != "awaiting-links" {
		t.Fatalf("throw %d was drawn without links: %v", throw, err)
	}
	if g.Draw.Segment > g.Segments {
		cut(g.Draw.Segment)
	}
	first, then := seats[0], seats[1]
	if g.Draw.Stream == client.StreamB {
		first, then = then, first
	}
	if g.Draw.Stream != client.StreamOpening {
		// The player who is not on roll keeps his link until the other is bound.
		if _, err := then.ReleaseThrow(ctx, public, 1, g.Draw.Segment, throw); err == nil || !strings.Contains(err.Error(), "releases first") {
			t.Fatalf("throw %d: the seat that is not on roll released first: %v", throw, err)
		}
	}
	must(t, second(first.PlayThrow(ctx, public, 1, g.Draw.Segment, throw)))
	if got := due().Links; len(got) != 2 || got[0] == got[1] {
		t.Errorf("after one link of throw %d the match shows %v", throw, got)
	}
	if _, err := draw(); client.Code(err) != "awaiting-links" {
		t.Fatalf("throw %d was drawn with one link: %v", throw, err)
	}
	must(t, second(then.PlayThrow(ctx, public, 1, g.Draw.Segment, throw)))
	must(t, second(then.PlayThrow(ctx, public, 1, g.Draw.Segment, throw))) // a lost answer
	if throw < 4 {
		if _, err := first.ReleaseThrow(ctx, public, 1, g.Draw.Segment, throw+1); err == nil {
			t.Errorf("a link for throw %d left before throw %d was drawn", throw+1, throw)
		}
	}
	data, err := b.client.DrawBytes(ctx, id, 1, g.Draw.Segment, g.Draw.Stream, g.Draw.Index)
	must(t, err)
	var r client.Roll
	must(t, json.Unmarshal(data, &r))
	for _, p := range seats {
		must(t, p.CheckRoll(r))
	}
	if report := audit.VerifyRoll(data, audit.Trust{Key: b.logKey}); report.Verdict != audit.Verified {
		t.Errorf("throw %d by itself is %s: %v", throw, report.Verdict, report.Failed())
	}
	return r
}

// A dice-only game: the platform draws what it likes in order, and brings the
// record when it is over.
func TestDiceOnly(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	id, seats := b.openAs(client.ModeRandom, client.OpenRequestProfileDiceOnly)
	must(t, second(b.client.NextGame(ctx, id, 1, 0)))
	for _, p := range seats {
		must(t, second(p.Play(ctx, b.client, 1, 1)))
	}
	st, err := replay.Start(setting(t, single))
	must(t, err)
	moves := selfplay.New(selfplay.Random, 6)
	moves.GiveUp = 0.02
	var gen rules.Generator
	var lines []string
	used := map[string]int{}
	for !st.Over() {
		e, ok := moves.Next(st)
		if stream, due := st.NextDraw(); !ok && due {
			segment, index := used[stream]/12+1, used[stream]%12
			if stream == replay.StreamOpening {
				segment, index = used[stream]/6+1, used[stream]%6
			}
			used[stream]++
			draw := func() (client.Roll, error) {
				return b.client.Draw(ctx, id, 1, segment, client.Stream(stream), index)
			}
			r, err := draw()
			if client.Code(err) == "awaiting-links" {
				for _, p := range seats {
					must(t, second(p.Play(ctx, b.client, 1, segment)))
				}
				r, err = draw()
			}
			must(t, err)
			if r.Line != 0 || r.Due != "record" {
				t.Errorf("line %d, due %q in a dice-only game", r.Line, r.Due)
			}
			must(t, seats[0].CheckRoll(r))
			e, _ = selfplay.Throw(st, rules.Dice{A: uint8(r.Dice[0]), B: uint8(r.Dice[1])})
		}
		lines = append(lines, e.String())
		if st, err = st.Apply(&gen, e); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := b.client.Append(ctx, id, 1, 1, lines[0]); client.Code(err) != "not-due" {
		t.Errorf("lines posted to a dice-only game: %v", err)
	}
	path := gamePath(id, 1, "close")
	for body, code := range map[string]string{
		"":                             "malformed-request",
		`{"lines":[]}`:                 "malformed-request",
		`{}`:                           "malformed-request",
		`{"lines":["end A 1"],"x":1}`:  "malformed-request",
		`{"lines":["opening 1 2"]}`:    "malformed-request",
		`{"lines":["hello"]}`:          "malformed-request",
		`{"lines":["end A 1"]}`:        "illegal-event",
		`{"lines":"end A 1"}`:          "malformed-request",
		`{"lines":["end A 1",null]}`:   "malformed-request",
		`{"lines":["end A 1\nend B"]}`: "malformed-request",
	} {
		if a := b.send(http.MethodPut, path, body); a.code() != code {
			t.Errorf("close with %s: %d %s, want %s", body, a.status, a.body, code)
		}
	}
	first, err := b.client.CloseGame(ctx, id, 1, 0, lines...)
	must(t, err)
	again, err := b.client.CloseGame(ctx, id, 1, 0, lines...)
	must(t, err)
	if fmt.Sprint(first) != fmt.Sprint(again) {
		t.Error("closed again, the game has another answer")
	}
	if r := b.verified(id, "L2", audit.Trust{}); !strings.Contains(strings.Join(r.Says, " "), "dice-only") {
		t.Errorf("the verdict does not say dice-only: %v", r.Says)
	}
}

// Recorded throws are nobody's to see before their secret is, and then for good.
func TestReal(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	throws := make([]commitment.Dice, 20*30)
	rng := mathrand.New(mathrand.NewPCG(1, 1))
	for i := range throws {
		throws[i] = commitment.Dice{D1: uint8(rng.IntN(6) + 1), D2: uint8(rng.IntN(6) + 1)}
	}
	imp, err := b.house.ImportThrows(ctx, tenant, throws)
	must(t, err)
	address := func(i int) string { return "/archive/" + imp.Archives[i].Hash.String() }
	id, seats := b.openAs(client.ModeReal, client.OpenRequestProfileRefereed)
	must(t, second(b.client.NextGame(ctx, id, 1, 0)))
	for _, p := range seats {
		must(t, second(p.Play(ctx, b.client, 1, 1)))
	}
	_, _, st := b.playOn(id, 1, setting(t, single), seats, func(st replay.State) bool { return st.Throws()[1] > 13 && st.Due().Kind == replay.DueRoll })
	m, err := b.client.Match(ctx, id)
	must(t, err)
	winner := st.OnTurn().Other().String()
	must(t, second(b.client.Append(ctx, id, 1, m.Games[0].Lines+1, "resign "+st.OnTurn().String()+" 1", "end "+winner+" 1")))
	if a := b.send(http.MethodGet, address(0), ""); a.status != http.StatusNotFound {
		t.Errorf("the archive during the game: %d", a.status)
	}
	must(t, second(b.client.CloseGame(ctx, id, 1, 0)))
	b.verified(id, "L2", audit.Trust{})
	a := b.send(http.MethodGet, address(0), "", "Authorization", "")
	if a.status != http.StatusOK || commitment.Sum([]byte(a.body)) != imp.Archives[0].Hash || !strings.Contains(a.header.Get("Cache-Control"), "immutable") {
		t.Errorf("the archive after the game: %d, %s", a.status, a.header)
	}
	if a := b.send(http.MethodGet, address(0), "", "If-None-Match", a.header.Get("ETag")); a.status != http.StatusNotModified {
		t.Errorf("with its ETag: %d", a.status)
	}
	for path, status := range map[string]int{address(19): 404, "/archive/" + strings.Repeat("0", 64): 404, "/archive/x": 400, "/archive/" + strings.ToUpper(imp.Archives[0].Hash.String()): 400} {
		if a := b.send(http.MethodGet, path, ""); a.status != status {
			t.Errorf("%s: %d, want %d", path, a.status, status)
		}
	}
}

// The links of throws are limited together with those of cuts.
func TestThrowsAreLimited(t *testing.T) {
	b := newBench(t, func(c *api.Config) { c.LinkRate = 2 })
	id := newID(t)
	link := `{"link":"` + strings.Repeat("0", 64) + `"}`
	for i, path := range []string{"segments/1/links/a", "segments/1/links/a/1", "segments/1/links/b/1", "segments/1/links/b"} {
		a := b.send(http.MethodPut, gamePath(id, 1, path), link, "Authorization", "")
		if limited := a.code() == "rate-limited"; limited != (i >= 2) {
			t.Errorf("link %d: %d %s", i+1, a.status, a.body)
		}
	}
}

// TestProofFile: the file of a statement's proof is one that the verifier's own
// reader takes, and it proves the statement the JSON answer has.
func TestProofFile(t *testing.T) {
	b := newBench(t)
	b.openAs(client.ModeRandom, client.OpenRequestProfileRefereed)
	a := b.send(http.MethodGet, "/v1/statements/0/proof", "", "Authorization", "")
	if a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("Content-Type"), "text/plain") {
		t.Fatalf("the proof: %d, %s", a.status, a.header)
	}
	proof, err := translog.ParseProof(string(a.body))
	must(t, err)
	cp, err := translog.ReadCheckpoint(proof.Checkpoint)
	must(t, err)
	var statement struct{ Statements []struct{ Text string } }
	must(t, json.Unmarshal([]byte(b.send(http.MethodGet, "/v1/statements/0", "").body), &statement))
	leaf := translog.LeafHash([]byte(statement.Statements[0].Text))
	must(t, translog.VerifyInclusion(leaf, 0, cp.Size, proof.Path, cp.Root))
	if a := b.send(http.MethodGet, "/v1/statements/1000000/proof", ""); a.status != http.StatusNotFound {
		t.Errorf("beyond the log: %d", a.status)
	}
	if a := b.send(http.MethodGet, "/v1/sequences?state=", ""); a.status != http.StatusBadRequest {
		t.Errorf("an empty parameter: %d", a.status)
	}
}
