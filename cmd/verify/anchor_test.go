package main

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/uuid"

	"fairdice/api"
	"fairdice/audit"
	"fairdice/client"
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/store/sqlite"
	"fairdice/translog/server"
)

// service is a house to release links to.
type service struct {
	url, key string // of the API and of the log
	api      *client.Client
}

func newService(t *testing.T) service {
	t.Helper()
	dir := t.TempDir()
	const origin = "dice.example/log"
	newKey := func(name string) (string, string) {
		skey, vkey, err := commitment.NewKey(name, rand.Reader)
		must(t, err)
		return skey, vkey
	}
	logSecret, logKey := newKey(origin)
	receiptSecret, receiptKey := newKey(origin + "/receipts")
	logSigner, err := commitment.NewSigner(logSecret)
	must(t, err)
	verifier, err := commitment.ParseVerifier(logKey)
	must(t, err)
	receipts, err := commitment.NewSigner(receiptSecret)
	must(t, err)
	master, err := house.NewMasterKey(rand.Reader)
	must(t, err)
	db, err := sqlite.Open(filepath.Join(dir, "test.db"), sqlite.Options{})
	must(t, err)
	h, err := house.New(t.Context(), house.Config{
		Store: db, Origin: origin, Log: logSigner, LogVerifier: verifier, LogKey: logKey, Receipts: receipts, ReceiptKey: receiptKey, Master: master,
	})
	must(t, err)
	must(t, h.AddTenant(t.Context(), "club"))
	key, err := h.IssueKey(t.Context(), "club", "test", house.Scopes())
	must(t, err)
	must(t, h.TopUp(t.Context(), "club", "live", 4))
	handler, err := api.New(api.Config{House: h, Log: server.New(db), Version: "test"})
	must(t, err)
	s := httptest.NewServer(handler)
	t.Cleanup(func() {
		s.Close()
		must(t, errors.Join(h.Close(), db.Close()))
	})
	c, err := client.New(s.URL, client.WithKey(key), client.WithAttempts(1))
	must(t, err)
	return service{s.URL, logKey, c}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// verify runs one command line and demands an exit status.
func verify(t *testing.T, want int, args ...string) (stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if got := run(args, strings.NewReader(""), &out, &errs); got != want {
		t.Errorf("verify %s: exit %d, want %d\n%s%s", strings.Join(args, " "), got, want, out.String(), errs.String())
	}
	return strings.TrimSpace(out.String()), errs.String()
}

// A player plays a live game's first throw from the command line alone, and
// his opponent from another state file.
func TestAnchor(t *testing.T) {
	s := newService(t)
	dir := t.TempDir()
	state := [2]string{filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")}
	var anchors [2]string
	for i := range state {
		anchors[i], _ = verify(t, 0, "anchor", "new", "--state", state[i], "--key", s.key, "--links", "500")
	}
	verify(t, 3, "anchor", "new", "--state", state[0], "--key", s.key) // never over an old one
	id := uuid.Must(uuid.NewV7()).String()
	next := func(want, seat int, more ...string) string {
		t.Helper()
		args := []string{"anchor", "next", "--url", s.url, "--key", s.key, "--match", id, "--game", "1", "--state", state[seat]}
		for i := 0; i < len(more); i += 2 { // flags with their values, in the place of the usual ones
			if at := slices.Index(args, more[i]); at >= 0 {
				args = slices.Delete(args, at, at+2)
			}
		}
		args = append(args, more...)
		out, errs := verify(t, want, args...)
		return out + errs
	}
	contains := func(got, want string) {
		t.Helper()
		if !strings.Contains(got, want) {
			t.Errorf("%q does not say %q", got, want)
		}
	}
	contains(next(2, 0), "no match")
	_, err := s.api.OpenMatch(t.Context(), id, client.OpenRequest{
		Variant: "short", Mode: client.ModeLive, A: client.Player{Token: "ada", Anchor: &client.Anchor{Hash: anchors[0]}},
		B: client.Player{Token: "ben", Anchor: &client.Anchor{Hash: anchors[1]}},
	}, 0)
	must(t, err)
	contains(next(2, 0), "no game 1")
	_, err = s.api.NextGame(t.Context(), id, 1, 0)
	must(t, err)
	contains(next(2, 0, "--throw", "1"), "none was released for the cut")
	contains(next(1, 1, "--variant", "tavla"), "agreed was")
	contains(next(3, 1, "--variant", "short"), "joined with variant")
	state[1] = filepath.Join(dir, "b2.json") // that player is lost; the match goes on with the real one
	must(t, os.WriteFile(state[1], bytes.ReplaceAll(read(t, filepath.Join(dir, "b.json")), []byte(`"variant": "tavla"`), []byte(`"variant": "short"`)), 0o600))

	old := read(t, state[0])
	contains(next(0, 0, "--token", "ada"), "released link 1 of 500, seat a, game 1, segment 1: awaiting-links")
	contains(next(0, 0), "released link 1 of 500") // again
	current := state[0]
	state[0] = filepath.Join(dir, "a-old.json")
	must(t, os.WriteFile(state[0], old, 0o600))
	contains(next(3, 0), "this is an old copy of the chain: it knows of 0 released links, but 1 have left")
	state[0] = current
	contains(next(0, 1, "--json"), `"state":"dealt","spent":1,"of":500`)
	contains(next(2, 0, "--throw", "2"), "the next one is 1")
	contains(next(0, 1, "--throw", "1"), "released link 2 of 500, seat b, game 1, segment 1, throw 1")
	var wg sync.WaitGroup // two processes at once release the same link
	for range 4 {
		wg.Go(func() { contains(next(0, 0, "--throw", "1"), "released link 2 of 500") })
	}
	wg.Wait()
	contains(next(2, 0, "--throw", "2"), "not due")

	data, err := s.api.DrawBytes(t.Context(), id, 1, 1, client.StreamOpening, 0)
	must(t, err)
	roll := filepath.Join(dir, "roll.json")
	must(t, os.WriteFile(roll, data, 0o644))
	out, _ := verify(t, 0, "roll", roll, "--key", s.key)
	contains(out, "VERIFIED")
	out, _ = verify(t, 0, "anchor", "show", "--state", state[0])
	contains(out, "links   2 of 500 released")
	out, _ = verify(t, 0, "anchor", "show", "--state", state[0], "--json")
	contains(out, `"anchor":"`+anchors[0]+`"`)
	out, _ = verify(t, 0, "anchor", "show", "--state", state[0], "--checkpoint")
	contains(out, "dice.example/log\n")
	secret := secretOf(t, state[0])
	for _, said := range []string{out, next(0, 0), next(2, 0, "--throw", "9")} {
		if strings.Contains(said, secret) {
			t.Error("the end of the chain was printed")
		}
	}

	// Another house with the same name has another key, and gets nothing.
	other := newService(t)
	contains(next(3, 0, "--key", other.key), "made for another log key")
	if _, errs := verify(t, 2, "anchor", "next", "--url", other.url, "--key", s.key, "--match", id, "--game", "1", "--state", state[0]); !strings.Contains(errs, "no match") {
		t.Error(errs)
	}
	for _, args := range [][]string{
		{"anchor"}, {"anchor", "old"}, {"anchor", "new"}, {"anchor", "show", "x"}, {"anchor", "show", "--state", filepath.Join(dir, "none")},
		{"anchor", "next", "--state", state[0]}, {"anchor", "new", "--state", filepath.Join(dir, "c"), "--key", "x"},
		{"anchor", "new", "--state", filepath.Join(dir, "c"), "--key", s.key, "--links", "0"},
	} {
		verify(t, 3, args...)
	}
	contains(next(3, 0, "--game", "0"), "count from 1")
	contains(next(3, 0, "--throw", "0"), "count from 1")
}

func read(t *testing.T, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	must(t, err)
	return data
}

func secretOf(t *testing.T, file string) string {
	t.Helper()
	var s struct{ Last string }
	must(t, json.Unmarshal(read(t, file), &s))
	return s.Last
}

// A house that is caught lying gets no link, and the exit status says so.
func TestAnchorDistrust(t *testing.T) {
	s := newService(t)
	id := uuid.Must(uuid.NewV7()).String()
	state := filepath.Join(t.TempDir(), "a.json")
	anchor, _ := verify(t, 0, "anchor", "new", "--state", state, "--key", s.key, "--links", "8")
	other, _ := verify(t, 0, "anchor", "new", "--state", filepath.Join(t.TempDir(), "b.json"), "--key", s.key, "--links", "8")
	_, err := s.api.OpenMatch(t.Context(), id, client.OpenRequest{
		Variant: "short", Mode: client.ModeLive, A: client.Player{Token: "ada", Anchor: &client.Anchor{Hash: anchor, Custody: new(client.AnchorCustodyCustodial)}},
		B: client.Player{Token: "ben", Anchor: &client.Anchor{Hash: other}},
	}, 0)
	must(t, err)
	_, err = s.api.NextGame(t.Context(), id, 1, 0)
	must(t, err)
	_, errs := verify(t, 1, "anchor", "next", "--url", s.url, "--key", s.key, "--match", id, "--game", "1", "--state", state)
	if !strings.Contains(errs, "do not release a link: level") {
		t.Error(errs)
	}
	down := httptest.NewServer(http.NotFoundHandler())
	down.Close()
	verify(t, 2, "anchor", "next", "--url", down.URL, "--key", s.key, "--match", id, "--game", "1", "--segment", "1", "--state", state)
}

// The roll of the API's documentation, and what is left of it when members go
// or lie.
func TestRoll(t *testing.T) {
	s := newService(t)
	dir := t.TempDir()
	ctx := t.Context()
	id := uuid.Must(uuid.NewV7()).String()
	var anchors [2]string
	var states [2]string
	for i := range anchors {
		states[i] = filepath.Join(dir, fmt.Sprint(i))
		anchors[i], _ = verify(t, 0, "anchor", "new", "--state", states[i], "--key", s.key, "--links", "8")
	}
	_, err := s.api.OpenMatch(ctx, id, client.OpenRequest{Variant: "short", Mode: client.ModeLive,
		A: client.Player{Token: "ada", Anchor: &client.Anchor{Hash: anchors[0]}}, B: client.Player{Token: "ben", Anchor: &client.Anchor{Hash: anchors[1]}}}, 0)
	must(t, err)
	_, err = s.api.NextGame(ctx, id, 1, 0)
	must(t, err)
	for _, more := range [][]string{nil, {"--throw", "1"}} {
		for _, state := range states {
			verify(t, 0, append([]string{"anchor", "next", "--url", s.url, "--key", s.key, "--match", id, "--game", "1", "--state", state}, more...)...)
		}
	}
	good, err := s.api.DrawBytes(ctx, id, 1, 1, client.StreamOpening, 0)
	must(t, err)
	file := filepath.Join(dir, "roll.json")
	check := func(data []byte, want int, args ...string) audit.Report {
		t.Helper()
		must(t, os.WriteFile(file, data, 0o644))
		out, _ := verify(t, want, append([]string{"roll", file, "--json"}, args...)...)
		var r audit.Report
		must(t, json.Unmarshal([]byte(out), &r))
		return r
	}
	check(good, 0, "--key", s.key)
	check(good, 2)
	policy := filepath.Join(dir, "policy")
	must(t, os.WriteFile(policy, []byte("log "+s.key+"\nquorum none\n"), 0o644))
	check(good, 0, "--policy", policy)
	change := func(f func(m map[string]any)) []byte {
		var m map[string]any
		must(t, json.Unmarshal(good, &m))
		f(m)
		data, err := json.Marshal(m)
		must(t, err)
		return data
	}
	bare := change(func(m map[string]any) {
		for _, extra := range []string{"commit", "dice", "line", "head", "due"} {
			delete(m, extra)
		}
	})
	check(bare, 0, "--key", s.key)
	for name, c := range map[string]struct {
		want  int
		check audit.ID
		f     func(m map[string]any)
	}{
		"other dice":  {1, audit.RecordRolls, func(m map[string]any) { m["dice"] = []int{7, 7} }},
		"other line":  {1, audit.RecordHead, func(m map[string]any) { m["line"] = 9 }},
		"other head":  {1, audit.RecordHead, func(m map[string]any) { m["head"] = strings.Repeat("0", 64) }},
		"other index": {1, audit.RollsOpening, func(m map[string]any) { m["opening"].(map[string]any)["index"] = 1 }},
		"other key":   {1, audit.RollsOpening, func(m map[string]any) { m["opening"].(map[string]any)["key"] = strings.Repeat("0", 64) }},
		"no path":     {1, audit.RollsOpening, func(m map[string]any) { m["opening"].(map[string]any)["path"] = []string{} }},
		"another open": {1, audit.LogInclusion, func(m map[string]any) {
			o := m["open"].(map[string]any)
			o["text"] = strings.Replace(o["text"].(string), "a ada", "a eve", 1)
		}},
		"a forged receipt": {1, audit.ReceiptsSignature, func(m map[string]any) {
			m["receipt"] = strings.Replace(m["receipt"].(string), "record 0", "record 1", 1)
		}},
		"no receipt":            {3, audit.Format, func(m map[string]any) { delete(m, "receipt") }},
		"unknown member":        {3, audit.Format, func(m map[string]any) { m["luck"] = 1 }},
		"open and deal swapped": {3, audit.Format, func(m map[string]any) { m["open"], m["deal"] = m["deal"], m["open"] }},
		"another format":        {3, audit.Format, func(m map[string]any) { m["format"] = "fairdice/v1/bundle" }},
		"three dice":            {3, audit.Format, func(m map[string]any) { m["dice"] = []int{1, 2, 3} }},
	} {
		t.Run(name, func(t *testing.T) {
			r := check(change(c.f), c.want, "--key", s.key)
			found := false
			for _, id := range r.Failed() {
				found = found || id == c.check
			}
			if !found {
				t.Errorf("failed %v, want %s", r.Failed(), c.check)
			}
		})
	}
	check([]byte(""), 3, "--key", s.key)
	check([]byte(strings.Repeat(" ", audit.MaxRoll+1)), 3, "--key", s.key)
	verify(t, 3, "roll", filepath.Join(dir, "none"))
	verify(t, 3, "roll", file, file)
	other := newService(t)
	if r := check(good, 1, "--key", other.key); fmt.Sprint(r.Failed()) != "[log.signature]" {
		t.Errorf("under another key it failed %v", r.Failed())
	}
}
