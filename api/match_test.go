package api_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/audit"
	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
	"fairdice/replay"
	"fairdice/rules"
	"fairdice/translog"
)

func gamePath(match string, game int, rest ...any) string {
	path := fmt.Sprintf("/v1/matches/%s/games/%d", match, game)
	for _, r := range rest {
		path += fmt.Sprintf("/%v", r)
	}
	return path
}

func diceIn(t testing.TB, body string) rules.Dice {
	var r struct{ Dice [2]uint8 }
	must(t, json.Unmarshal([]byte(body), &r))
	return rules.Dice{A: r.Dice[0], B: r.Dice[1]}
}

func setting(t testing.TB, options string) replay.Setting {
	v, err := rules.Lookup("short")
	must(t, err)
	o, err := replay.ParseOptions(options)
	must(t, err)
	m, err := replay.NewMatch(v, o)
	must(t, err)
	return m.Next()
}

// A whole match of both players, with more rolls than one sequence has: the
// bundle it leaves is verified under the pinned key and the player's anchor,
// and every request of it, sent again, gets the same bytes.
func TestMatch(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	id, seats := b.openL2(single)
	again := []step{{"/v1/matches/" + id, ""}}
	open := fmt.Sprintf(`{"variant":"short","mode":"random","options":%q,"a":{"token":"ada","anchor":{"hash":%q}},"b":{"token":"ben","anchor":{"hash":%q,"custody":"self"}}}`,
		single, seats[0].Anchor(), seats[1].Anchor())
	again[0].body = open
	first := b.send(http.MethodPut, again[0].path, open)
	answers := []string{first.body}
	put := func(path, body string) string {
		t.Helper()
		a := b.send(http.MethodPut, path, body)
		if a.status != http.StatusOK {
			t.Fatalf("%s: %d %s", path, a.status, a.body)
		}
		again, answers = append(again, step{path, body}), append(answers, a.body)
		return a.body
	}
	if got := put(gamePath(id, 1), ""); !strings.Contains(got, `"awaiting-links"`) {
		t.Errorf("the game does not await links: %s", got)
	}
	for i, p := range seats {
		l, err := p.Release(ctx, b.client, 1, 1)
		must(t, err)
		got := put(gamePath(id, 1, "segments", 1, "links", l.Seat), `{"link":"`+l.Link.String()+`"}`)
		if dealt := strings.Contains(got, `"dealt"`); dealt != (i == 1) {
			t.Errorf("after link %d: %s", i+1, got)
		}
	}
	steps, replies, st := b.playOn(id, 1, setting(t, single), seats, nil)
	again, answers = append(again, steps...), append(answers, replies...)
	if st.Throws()[1] <= 12 {
		t.Fatalf("seed 5 no longer plays a game longer than one segment: %v throws", st.Throws())
	}
	put(gamePath(id, 1, "close"), "")

	for i, s := range again {
		if a := b.send(http.MethodPut, s.path, s.body); a.status != http.StatusOK || a.body != answers[i] {
			t.Errorf("%s again: %d\n%s", s.path, a.status, cmp.Diff(answers[i], a.body))
		}
	}
	bundle, err := b.client.Bundle(ctx, id)
	must(t, err)
	own := seats[0].Anchor()
	report := audit.Verify(bundle, audit.Trust{Key: b.logKey, MyAnchor: &own})
	if report.Verdict != audit.Verified || report.Level != "L2" {
		t.Errorf("the bundle is %s at %s:\n%+v", report.Verdict, report.Level, report.Checks)
	}
	record, err := b.client.Record(ctx, id, 1, "")
	must(t, err)
	if n := st.Throws()[0] + st.Throws()[1] + st.Throws()[2]; len(record.Receipts) != n {
		t.Errorf("%d receipts of %d throws", len(record.Receipts), n)
	}
	m, err := b.client.Match(ctx, id)
	must(t, err)
	if m.State != client.MatchStateDecided || m.Games[0].State != client.GameStateClosed {
		t.Errorf("the match is %s, its game %s", m.State, m.Games[0].State)
	}
	for _, text := range []string{answers[1], replies[0]} {
		if strings.Contains(text, "secret ") {
			t.Error("an answer during the game names a secret")
		}
	}
}

// Two platforms' servers may ask for the same roll at once: both get the same one.
func TestTwoDrawOneRoll(t *testing.T) {
	b := newBench(t)
	for range 5 {
		id := b.openL0("short")
		var wg sync.WaitGroup
		bodies := make([]string, 8)
		for i := range bodies {
			wg.Go(func() { bodies[i] = b.send(http.MethodPut, gamePath(id, 1, "segments/1/rolls/opening/0"), "").body })
		}
		wg.Wait()
		for _, body := range bodies {
			if body != bodies[0] || !strings.Contains(body, `"receipt"`) {
				t.Fatalf("two answers for one roll:\n%s\n%s", bodies[0], body)
			}
		}
		if m, err := b.client.Match(t.Context(), id); err != nil || m.Games[0].Lines != 1 {
			t.Fatalf("%d lines after one roll, %v", m.Games[0].Lines, err)
		}
	}
}

// Two answers for one append, one of them lost, must not write the line twice.
func TestAppendOtherContent(t *testing.T) {
	b := newBench(t)
	id := b.openL0("short")
	_, _, st := b.playOn(id, 1, setting(t, single), [2]*player.Player{}, func(st replay.State) bool { return st.Due().Kind == replay.DueStage })
	line := int(st.Throws()[0]) + 1
	var gen rules.Generator
	moves := st.LegalMoves(&gen)
	must(t, second(b.client.Append(t.Context(), id, 1, line, moves[0].String())))
	must(t, second(b.client.Append(t.Context(), id, 1, line, moves[0].String())))
	_, err := b.client.Append(t.Context(), id, 1, line, moves[1].String())
	if client.Code(err) != "other-content" {
		t.Errorf("another move at a used line: %v", err)
	}
}

func second[T any](_ T, err error) error { return err }

// An illegal line says which rule it breaks, and what would have been right.
func TestIllegalMove(t *testing.T) {
	b := newBench(t)
	id := b.openL0("short")
	_, _, st := b.playOn(id, 1, setting(t, single), [2]*player.Player{}, func(st replay.State) bool { return st.Due().Kind == replay.DueStage })
	line := int(st.Throws()[0]) + 1
	mover := st.OnTurn().String()
	a := b.send(http.MethodPut, gamePath(id, 1, "events", line), `{"lines":["move `+mover+` 24/1 1/off"]}`)
	var p client.Problem
	must(t, json.Unmarshal([]byte(a.body), &p))
	if a.status != http.StatusUnprocessableEntity || a.code() != "illegal-event" {
		t.Fatalf("%d %s", a.status, a.body)
	}
	if p.Line != line || p.Rule == "" || p.Board == "" || len(p.Alternatives) == 0 {
		t.Errorf("the problem does not say line, rule, board and alternatives: %s", a.body)
	}
	for _, alternative := range p.Alternatives {
		if e, err := replay.ParseEvent(alternative); err != nil || e.Kind != replay.Move {
			t.Errorf("alternative %q: %v", alternative, err)
		}
	}
	must(t, second(b.client.Append(t.Context(), id, 1, line, p.Alternatives[0])))
}

// Anybody may repeat a link; nobody can send another one.
func TestLinks(t *testing.T) {
	b := newBench(t)
	id, seats := b.openL2(single)
	must(t, second(b.client.NextGame(t.Context(), id, 1, 0)))
	public := b.as("")
	l, err := seats[0].Release(t.Context(), public, 1, 1)
	must(t, err)
	if _, err := public.PutLink(t.Context(), id, 1, 1, client.SeatB, l.Link.String(), 0); client.Code(err) != "wrong-link" {
		t.Errorf("A's link in B's seat: %v", err)
	}
	other := commitment.Sum([]byte("mine")).String()
	if _, err := public.PutLink(t.Context(), id, 1, 1, client.SeatA, other, 0); client.Code(err) != "wrong-link" {
		t.Errorf("a made-up link: %v", err)
	}
	must(t, second(public.PutLink(t.Context(), id, 1, 1, client.SeatA, l.Link.String(), 0)))
	must(t, second(public.PutLink(t.Context(), id, 1, 1, client.SeatA, l.Link.String(), 0)))
	if _, err := public.PutLink(t.Context(), id, 1, 1, client.SeatA, other, 0); client.Code(err) != "other-content" {
		t.Errorf("another link at a used address: %v", err)
	}
}

// A player checks each roll as it comes. Whatever a platform or a house shows
// him instead of what was drawn, he sees it.
func TestPlayersCheckRolls(t *testing.T) {
	b := newBench(t)
	dealt := func() (draw func() client.Roll, seats [2]*player.Player) {
		id, seats := b.openL2(single)
		must(t, second(b.client.NextGame(t.Context(), id, 1, 0)))
		for _, p := range seats {
			must(t, second(p.Play(t.Context(), b.client, 1, 1)))
		}
		return func() client.Roll {
			r, err := b.client.Draw(t.Context(), id, 1, 1, client.StreamOpening, 0)
			must(t, err)
			return r
		}, seats
	}
	draw, seats := dealt()
	for _, p := range seats {
		must(t, p.CheckRoll(draw()))
	}
	drawOther, _ := dealt()
	other := drawOther() // a roll of another match, as good as this one
	for _, c := range []struct {
		check  string
		change func(r *client.Roll)
	}{
		{"record.rolls", func(r *client.Roll) { r.Dice = []int{7 - r.Dice[0], r.Dice[1]} }},
		{"record.rolls", func(r *client.Roll) { r.Dice = r.Dice[:1] }},
		{"receipts.chain", func(r *client.Roll) { r.Opening.Index++ }},
		{"receipts.chain", func(r *client.Roll) { r.Opening.Key = strings.Repeat("00", 32) }},
		{"receipts.signature", func(r *client.Roll) { r.Receipt = strings.Replace(r.Receipt, "dice ", "dice 6", 1) }},
		{"receipts.chain", func(r *client.Roll) { r.Receipt, r.Dice = other.Receipt, other.Dice }},
		{"rolls.opening", func(r *client.Roll) { r.Opening.Path = other.Opening.Path }},
		{"rolls.opening", func(r *client.Roll) { r.Opening.Path = nil }},
		{"format", func(r *client.Roll) { r.Opening.Stream = "c" }},
		{"format", func(r *client.Roll) { r.Opening.Path[0] = "x" }},
		{"log.inclusion", func(r *client.Roll) { r.Deal.Text = other.Deal.Text }},
		{"log.inclusion", func(r *client.Roll) { r.Deal.Path[0] = strings.Repeat("00", 32) }},
		{"log.signature", func(r *client.Roll) { r.Checkpoint = strings.Replace(r.Checkpoint, "dice", "mice", 1) }},
		{"statements.refs", func(r *client.Roll) { dice, line := r.Dice, r.Line; *r = other; r.Dice, r.Line = dice, line }},
		{"statements.refs", func(r *client.Roll) {
			r.Checkpoint, r.Deal = other.Checkpoint, other.Deal
			reprove(t, b, r.Checkpoint, &r.Commit, &r.Open, &r.Assign)
		}},
		{"format", func(r *client.Roll) { r.Assign = r.Open }},
	} {
		r := draw()
		c.change(&r)
		var d *player.Distrust
		if err := seats[1].CheckRoll(r); !errors.As(err, &d) || d.Check != c.check {
			t.Errorf("want a refusal for %s, got %v", c.check, err)
		}
	}
}

// reprove gives statements their proofs in a later checkpoint.
func reprove(t *testing.T, b *bench, checkpoint string, statements ...*client.Statement) {
	head, err := translog.ReadCheckpoint(checkpoint)
	must(t, err)
	for _, s := range statements {
		p, err := b.client.Statement(t.Context(), s.Index, head.Size)
		must(t, err)
		if p.Checkpoint != checkpoint {
			t.Fatalf("statement %d is proved in another checkpoint", s.Index)
		}
		*s = p.Statements[0]
	}
}
