package api_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairdice/api"
	"fairdice/client"
	"fairdice/client/player"
	"fairdice/house"
	"fairdice/replay"
	"fairdice/store"
)

// moment is all that a refused request must leave as it was.
type moment struct {
	Log   int64
	Match string
}

func (b *bench) moment(match string) moment {
	b.t.Helper()
	var m moment
	must(b.t, b.store.View(b.t.Context(), func(r store.Reader) error {
		head, err := r.LogHead()
		m.Log = head.Size
		return err
	}))
	m.Match = b.send(http.MethodGet, "/v1/matches/"+match, "").body
	return m
}

func TestRefusals(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	must(t, b.house.AddTenant(ctx, "rival"))
	foreign, err := b.house.IssueKey(ctx, "rival", "", house.Scopes())
	must(t, err)
	reader, err := b.house.IssueKey(ctx, tenant, "", []string{house.ScopeRead})
	must(t, err)

	cut, seats := b.openL2(single) // its game awaits links
	must(t, second(b.client.NextGame(ctx, cut, 1, 0)))
	link, err := seats[0].Release(ctx, b.client, 1, 1)
	must(t, err)
	early, _ := b.openL2(single) // has no game yet
	fresh := b.openL0("short")   // an opening draw is due
	moving := b.openL0("short")  // a move is due
	_, _, st := b.playOn(moving, 1, setting(t, single), [2]*player.Player{}, func(st replay.State) bool { return st.Due().Kind == replay.DueStage })
	line := int(st.Throws()[0]) + 1
	ended := b.openL0("short")
	b.playOn(ended, 1, setting(t, single), [2]*player.Player{}, nil)
	must(t, second(b.client.CloseGame(ctx, ended, 1, 0)))
	aborted := b.openL0("short")
	must(t, second(b.client.AbortGame(ctx, aborted, 1, "crash", 0)))

	anyLink := `{"link":"` + strings.Repeat("ab", 32) + `"}`
	anyMove := `{"lines":["move A 8/5 6/5"]}`
	open := func(change ...string) string {
		body := `{"variant":"short","mode":"random","options":"` + single + `","a":{"token":"ada"},"b":{"token":"ben"}}`
		return strings.NewReplacer(change...).Replace(body)
	}
	anchor := `"anchor":{"hash":"` + strings.Repeat("ab", 32) + `"}`
	for _, c := range []struct {
		name, match, method, path, body string
		header                          []string
		status                          int
		code                            string
	}{
		{"no key", fresh, "PUT", gamePath(fresh, 1, "segments/1/rolls/opening/0"), "", []string{"Authorization", ""}, 401, "unauthorized"},
		{"unknown key", fresh, "PUT", gamePath(fresh, 1, "segments/1/rolls/opening/0"), "", []string{"Authorization", "Bearer fd_club_AAAA"}, 401, "unauthorized"},
		{"basic authentication", fresh, "PUT", gamePath(fresh, 1, "segments/1/rolls/opening/0"), "", []string{"Authorization", "Basic YTpi"}, 401, "unauthorized"},
		{"foreign key draws", fresh, "PUT", gamePath(fresh, 1, "segments/1/rolls/opening/0"), "", []string{"Authorization", "Bearer " + foreign}, 404, "not-found"},
		{"foreign key appends", moving, "PUT", gamePath(moving, 1, "events", line), anyMove, []string{"Authorization", "Bearer " + foreign}, 404, "not-found"},
		{"foreign key aborts", moving, "PUT", gamePath(moving, 1, "abort"), `{"reason":"x"}`, []string{"Authorization", "Bearer " + foreign}, 404, "not-found"},
		{"foreign key abandons", moving, "PUT", "/v1/matches/" + moving + "/abandon", "", []string{"Authorization", "Bearer " + foreign}, 404, "not-found"},
		{"scope missing", fresh, "PUT", gamePath(fresh, 1, "segments/1/rolls/opening/0"), "", []string{"Authorization", "Bearer " + reader}, 403, "forbidden"},
		{"no such match", fresh, "PUT", gamePath(newID(t), 1, "segments/1/rolls/opening/0"), "", nil, 404, "not-found"},
		{"id is no UUIDv7", fresh, "PUT", gamePath("6ba7b810-9dad-11d1-80b4-00c04fd430c8", 1, "segments/1/rolls/opening/0"), "", nil, 400, "malformed-request"},
		{"no such stream", fresh, "PUT", gamePath(fresh, 1, "segments/1/rolls/c/0"), "", nil, 400, "malformed-request"},
		{"index is no number", fresh, "PUT", gamePath(fresh, 1, "segments/1/rolls/opening/x"), "", nil, 400, "malformed-request"},
		{"index beyond int", fresh, "PUT", gamePath(fresh, 1, "segments/1/rolls/opening/99999999999999999999"), "", nil, 400, "malformed-request"},
		{"negative since", early, "PUT", gamePath(early, 1) + "?since=-1", "", nil, 400, "malformed-request"},
		{"since that is no number", early, "GET", "/v1/matches/" + early + "/statements?since=x", "", nil, 400, "malformed-request"},
		{"draw out of order", fresh, "PUT", gamePath(fresh, 1, "segments/1/rolls/opening/1"), "", nil, 409, "out-of-order"},
		{"draw of a later segment", fresh, "PUT", gamePath(fresh, 1, "segments/2/rolls/opening/0"), "", nil, 409, "out-of-order"},
		{"draw of the other stream", fresh, "PUT", gamePath(fresh, 1, "segments/1/rolls/a/0"), "", nil, 409, "not-due"},
		{"draw while a move is due", moving, "PUT", gamePath(moving, 1, "segments/1/rolls/a/0"), "", nil, 409, "not-due"},
		{"draw before the deal", cut, "PUT", gamePath(cut, 1, "segments/1/rolls/opening/0"), "", nil, 409, "awaiting-links"},
		{"draw of a closed game", ended, "PUT", gamePath(ended, 1, "segments/30/rolls/a/9"), "", nil, 409, "game-ended"},
		{"draw of an aborted game", aborted, "PUT", gamePath(aborted, 1, "segments/1/rolls/opening/0"), "", nil, 409, "game-ended"},
		{"draw of no game", early, "PUT", gamePath(early, 1, "segments/1/rolls/opening/0"), "", nil, 404, "not-found"},
		{"link before the assign", early, "PUT", gamePath(early, 1, "segments/1/links/a"), anyLink, nil, 404, "not-found"},
		{"link of a later segment", cut, "PUT", gamePath(cut, 1, "segments/2/links/a"), anyLink, nil, 404, "not-found"},
		{"link of another seat", cut, "PUT", gamePath(cut, 1, "segments/1/links/b"), `{"link":"` + link.Link.String() + `"}`, nil, 422, "wrong-link"},
		{"made-up link", cut, "PUT", gamePath(cut, 1, "segments/1/links/a"), anyLink, nil, 422, "wrong-link"},
		{"link without anchor", fresh, "PUT", gamePath(fresh, 1, "segments/1/links/a"), anyLink, nil, 404, "not-found"},
		{"link of no seat", cut, "PUT", gamePath(cut, 1, "segments/1/links/A"), anyLink, nil, 400, "malformed-request"},
		{"link is not hex", cut, "PUT", gamePath(cut, 1, "segments/1/links/a"), `{"link":"xyz"}`, nil, 400, "malformed-request"},
		{"game before its turn", early, "PUT", gamePath(early, 2), "", nil, 409, "out-of-order"},
		{"game zero", early, "PUT", gamePath(early, 0), "", nil, 409, "out-of-order"},
		{"game while one is played", moving, "PUT", gamePath(moving, 2), "", nil, 409, "not-due"},
		{"game of a decided match", ended, "PUT", gamePath(ended, 2), "", nil, 409, "match-ended"},
		{"line out of order", moving, "PUT", gamePath(moving, 1, "events", line+1), anyMove, nil, 409, "out-of-order"},
		{"a platform's own roll", fresh, "PUT", gamePath(fresh, 1, "events", 1), `{"lines":["opening 6 1"]}`, nil, 409, "not-due"},
		{"no event at all", moving, "PUT", gamePath(moving, 1, "events", line), `{"lines":["jump A"]}`, nil, 400, "malformed-request"},
		{"no lines", moving, "PUT", gamePath(moving, 1, "events", line), `{"lines":[]}`, nil, 400, "malformed-request"},
		{"a line break in a line", moving, "PUT", gamePath(moving, 1, "events", line), `{"lines":["move A -\nmove B -"]}`, nil, 400, "malformed-request"},
		{"other lines at a used place", ended, "PUT", gamePath(ended, 1, "events", 3), `{"lines":["timeout A"]}`, nil, 409, "other-content"},
		{"close of a running game", moving, "PUT", gamePath(moving, 1, "close"), "", nil, 409, "not-due"},
		{"close of an aborted game", aborted, "PUT", gamePath(aborted, 1, "close"), "", nil, 409, "game-ended"},
		{"abort of a closed game", ended, "PUT", gamePath(ended, 1, "abort"), `{"reason":"late"}`, nil, 409, "game-ended"},
		{"abort for another reason", aborted, "PUT", gamePath(aborted, 1, "abort"), `{"reason":"other"}`, nil, 409, "other-content"},
		{"abort without a token", moving, "PUT", gamePath(moving, 1, "abort"), `{"reason":"two words"}`, nil, 400, "malformed-request"},
		{"open again on other terms", fresh, "PUT", "/v1/matches/" + fresh, open("ben", "bob"), nil, 409, "other-content"},
		{"open an unknown variant", fresh, "PUT", "/v1/matches/" + newID(t), open("short", "chess"), nil, 422, "invalid-match"},
		{"open with impossible options", fresh, "PUT", "/v1/matches/" + newID(t), open("single", "points:0"), nil, 422, "invalid-match"},
		{"open with one player twice", fresh, "PUT", "/v1/matches/" + newID(t), open("ben", "ada"), nil, 422, "invalid-match"},
		{"open with one anchor twice", fresh, "PUT", "/v1/matches/" + newID(t), open(`"ada"`, `"ada",`+anchor, `"ben"`, `"ben",`+anchor), nil, 422, "invalid-match"},
		{"open in a mode not offered", fresh, "PUT", "/v1/matches/" + newID(t), open("random", "live"), nil, 422, "invalid-match"},
		{"open with a beacon of no kind", fresh, "PUT", "/v1/matches/" + newID(t), open(`"mode"`, `"beacon":"moon","mode"`), nil, 400, "malformed-request"},
		{"open with a keeper of no kind", fresh, "PUT", "/v1/matches/" + newID(t), open(`"ada"`, `"ada","anchor":{"hash":"`+strings.Repeat("ab", 32)+`","custody":"bank"}`), nil, 400, "malformed-request"},
		{"seal far ahead", fresh, "PUT", "/v1/modes/random/sequences/9007199254740991", "", nil, 409, "out-of-order"},
		{"seal in a mode of no kind", fresh, "PUT", "/v1/modes/loaded/sequences/9", "", nil, 422, "invalid-match"},
		{"bundle of a match without an ended game", fresh, "GET", "/v1/matches/" + fresh + "/bundle", "", nil, 404, "not-found"},
		{"record for a stranger", moving, "GET", gamePath(moving, 1, "record"), "", []string{"Authorization", ""}, 401, "unauthorized"},
		{"record for a wrong token", moving, "GET", gamePath(moving, 1, "record"), "", []string{"Authorization", "", "X-View-Token", "AAAAAAAAAAAAAAAAAAAAAA"}, 401, "unauthorized"},
		{"statement not there", fresh, "GET", "/v1/statements/999999", "", nil, 404, "not-found"},
		{"page of the wrong size", fresh, "GET", "/v1/sequences?tenant=club&mode=random&limit=101", "", nil, 400, "malformed-request"},
		{"page without a tenant", fresh, "GET", "/v1/sequences?mode=random", "", nil, 400, "malformed-request"},
		{"page of a state of no kind", fresh, "GET", "/v1/sequences?tenant=club&mode=random&state=lost", "", nil, 400, "malformed-request"},
		{"no such address", fresh, "GET", "/v1/nothing", "", nil, 404, "not-found"},
		{"wrong method", fresh, "DELETE", "/v1/matches/" + fresh, "", nil, 405, "method-not-allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			before := b.moment(c.match)
			a := b.send(c.method, c.path, c.body, c.header...)
			if a.status != c.status || a.code() != c.code {
				t.Errorf("got %d %s, want %d %s\n%s", a.status, a.code(), c.status, c.code, a.body)
			}
			if kind := a.header.Get("Content-Type"); kind != "application/problem+json" {
				t.Errorf("a problem of type %q", kind)
			}
			if diff := cmp.Diff(before, b.moment(c.match)); diff != "" {
				t.Errorf("a refused request has changed something:\n%s", diff)
			}
		})
	}
}

// A body is read whole, as one object with exactly the members of the document.
func TestBodies(t *testing.T) {
	b := newBench(t)
	id := newID(t)
	good := `{"variant":"short","mode":"random","a":{"token":"ada"},"b":{"token":"ben"}}`
	for _, c := range []struct {
		name, body, kind string
		status           int
		says             string
	}{
		{"unknown member", `{"variant":"short","mode":"random","a":{"token":"ada"},"b":{"token":"ben"},"optoins":"x"}`, "", 400, "/optoins"},
		{"unknown member inside", `{"variant":"short","mode":"random","a":{"token":"ada","elo":1},"b":{"token":"ben"}}`, "", 400, "/a/elo"},
		{"other letter case", `{"Variant":"short","mode":"random","a":{"token":"ada"},"b":{"token":"ben"}}`, "", 400, "/Variant"},
		{"member twice", `{"variant":"tavla","variant":"short","mode":"random","a":{"token":"ada"},"b":{"token":"ben"}}`, "", 400, "duplicate"},
		{"member missing", `{"variant":"short","a":{"token":"ada"},"b":{"token":"ben"}}`, "", 400, "/mode"},
		{"token missing", `{"variant":"short","mode":"random","a":{},"b":{"token":"ben"}}`, "", 400, "/a/token"},
		{"anchor without a hash", `{"variant":"short","mode":"random","a":{"token":"ada","anchor":{}},"b":{"token":"ben"}}`, "", 400, "/a/anchor/hash"},
		{"anchor of an empty hash", `{"variant":"short","mode":"random","a":{"token":"ada","anchor":{"hash":""}},"b":{"token":"ben"}}`, "", 400, "anchor of a"},
		{"profile of nothing", `{"variant":"short","mode":"random","profile":"","a":{"token":"ada"},"b":{"token":"ben"}}`, "", 422, "profile"},
		{"anchor of null", `{"variant":"short","mode":"random","a":{"token":"ada","anchor":null},"b":{"token":"ben"}}`, "", 400, "/a/anchor"},
		{"wrong type", `{"variant":7,"mode":"random","a":{"token":"ada"},"b":{"token":"ben"}}`, "", 400, "/variant"},
		{"text behind it", good + "x", "", 400, "follows"},
		{"a second object", good + good, "", 400, "follows"},
		{"breaks off", good[:20], "", 400, "not JSON"},
		{"an array", "[" + good + "]", "", 400, "object"},
		{"null", "null", "", 400, "object"},
		{"invalid UTF-8", strings.Replace(good, "ada", "a\xff", 1), "", 400, "UTF-8"},
		{"a lone surrogate", strings.Replace(good, "ada", `\ud800`, 1), "", 400, "surrogate"},
		{"two of them, the wrong way round", strings.Replace(good, "ada", `\udc00\ud800`, 1), "", 400, "surrogate"},
		{"a member twice, once escaped", strings.Replace(good, `{"variant"`, `{"\u0076ariant":"tavla","variant"`, 1), "", 400, "duplicate"},
		{"a member twice inside", strings.Replace(good, `"token":"ada"`, `"token":"eve","token":"ada"`, 1), "", 400, "duplicate"},
		{"a number beyond all", strings.Replace(good, `"short"`, "1e400", 1), "", 400, "/variant"},
		{"a number of many digits", strings.Replace(good, `"short"`, strings.Repeat("9", 40_000), 1), "", 400, "/variant"},
		{"deeply nested", strings.Replace(good, `"short"`, strings.Repeat("[", 30_000)+strings.Repeat("]", 30_000), 1), "", 400, "depth"},
		{"deeply nested and open", strings.Repeat(`{"a":`, 10_000), "", 400, ""},
		{"too large", strings.Repeat(" ", api.MaxBody) + good, "", 413, "larger"},
		{"of another type", good, "text/plain", 415, "text/plain"},
		{"missing", "", "", 400, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			kind := c.kind
			if kind == "" {
				kind = "application/json"
			}
			a := b.send(http.MethodPut, "/v1/matches/"+id, c.body, "Content-Type", kind)
			if a.status != c.status || !strings.Contains(a.body, strings.ReplaceAll(c.says, `"`, `\"`)) {
				t.Errorf("got %d, want %d that says %s:\n%s", a.status, c.status, c.says, a.body)
			}
			if _, err := b.client.Match(t.Context(), id); client.Code(err) != "not-found" {
				t.Errorf("after a refused body: %v", err)
			}
		})
	}
	if a := b.send(http.MethodPut, "/v1/matches/"+id, good+" \n", "Content-Type", "application/json; charset=utf-8"); a.status != 200 {
		t.Errorf("a good body: %d %s", a.status, a.body)
	}
}

// Links come without a key, so they are counted per address.
func TestLinkRate(t *testing.T) {
	b := newBench(t, func(c *api.Config) { c.LinkRate = 3 })
	id, _ := b.openL2(single)
	path, body := gamePath(id, 1, "segments/1/links/a"), `{"link":"`+strings.Repeat("00", 32)+`"}`
	for i := range 5 {
		a := b.send(http.MethodPut, path, body, "Authorization", "")
		if want := i >= 3; (a.status == http.StatusTooManyRequests) != want {
			t.Errorf("link %d: %d %s", i+1, a.status, a.body)
		}
		if a.status == http.StatusTooManyRequests && (a.code() != "rate-limited" || a.header.Get("Retry-After") == "") {
			t.Errorf("link %d: %s, Retry-After %q", i+1, a.body, a.header.Get("Retry-After"))
		}
	}
}

// A revoked key dies within KeyKept, and a request in between costs no look-up.
func TestRevokedKey(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	id := b.openL0("short")
	key, err := b.house.IssueKey(ctx, tenant, "short-lived", house.Scopes())
	must(t, err)
	c := b.as(key)
	must(t, second(c.Draw(ctx, id, 1, 1, client.StreamOpening, 0)))
	must(t, b.store.Update(ctx, func(tx store.Tx) error {
		keys, err := tx.APIKeys(tenant)
		must(t, err)
		for _, k := range keys {
			if k.Label == "short-lived" {
				return tx.RevokeAPIKey(k.Hash, b.clock(), true)
			}
		}
		return fmt.Errorf("the key is not in the list")
	}))
	must(t, second(c.Draw(ctx, id, 1, 1, client.StreamOpening, 0)))
	if api.KeyKept > 5*time.Second {
		t.Errorf("a revoked key lives for %s", api.KeyKept)
	}
	b.pass(api.KeyKept)
	if _, err := c.Draw(ctx, id, 1, 1, client.StreamOpening, 0); client.Code(err) != "unauthorized" {
		t.Errorf("a revoked key: %v", err)
	}
}

// A clock that is set back does not have a key believed for longer.
func TestKeyInThePast(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	key, err := b.house.IssueKey(ctx, tenant, "phone", house.Scopes())
	must(t, err)
	version := func() int {
		return b.send(http.MethodGet, "/version", "", "Authorization", "Bearer "+key).status
	}
	if got := version(); got != http.StatusOK {
		t.Fatal(got)
	}
	prefix := ""
	keys, err := b.house.Keys(ctx)
	must(t, err)
	for _, k := range keys {
		if k.Label == "phone" {
			prefix = k.Prefix
		}
	}
	must(t, second(b.house.RevokeKeys(ctx, prefix)))
	b.pass(-time.Hour)
	if got := version(); got != http.StatusUnauthorized {
		t.Errorf("a revoked key an hour before it was revoked: %d", got)
	}
}

// A key that is believed without a look-up ends all the same when its time has come.
func TestExpiredKey(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	id := b.openL0("short")
	key, err := b.house.IssueKeyUntil(ctx, tenant, "short-lived", house.Scopes(), b.clock().Add(2*time.Second))
	must(t, err)
	c := b.as(key)
	b.pass(time.Second)
	must(t, second(c.Draw(ctx, id, 1, 1, client.StreamOpening, 0)))
	b.pass(api.KeyKept / 4)
	must(t, second(c.Draw(ctx, id, 1, 1, client.StreamOpening, 0)))
	b.pass(api.KeyKept / 4) // it was accepted less than KeyKept ago
	_, err = c.Draw(ctx, id, 1, 1, client.StreamOpening, 0)
	if client.Code(err) != "unauthorized" || !strings.Contains(err.Error(), "the API key expired on 2026-11-29T21:52:08Z") || strings.Contains(err.Error(), key) {
		t.Errorf("an expired key: %v", err)
	}
}

// A pool that has run dry is answered 503 with a time to ask again, and then
// there are sequences of the mode that was asked for.
func TestDryPool(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	id := newID(t)
	must(t, second(b.client.OpenMatch(ctx, id, client.OpenRequest{
		Variant: "short", Mode: client.ModeEqual, Options: new(single), A: client.Player{Token: "ada"}, B: client.Player{Token: "ben"},
	}, 0)))
	a := b.send(http.MethodPut, "/v1/matches/"+id+"/games/1", "")
	if a.status != http.StatusServiceUnavailable || a.code() != "pool-empty" || a.header.Get("Retry-After") != "1" {
		t.Fatalf("a dry pool: %d %s, Retry-After %q", a.status, a.body, a.header.Get("Retry-After"))
	}
	patient, err := client.New(b.url, client.WithKey(b.key))
	must(t, err)
	must(t, second(patient.NextGame(ctx, id, 1, 0)))
	page, err := b.client.Sequences(ctx, tenant, client.ModeEqual, "", 0)
	must(t, err)
	for _, q := range page.Sequences {
		if q.State == "assigned" {
			return
		}
	}
	t.Errorf("no sequence of mode equal was assigned: %+v", page.Sequences)
}

// full is a store whose disk has no room.
type full struct {
	store.Store
	now atomic.Bool
}

func (f *full) Update(ctx context.Context, fn func(store.Tx) error) error {
	if f.now.Load() {
		return fmt.Errorf("%w: disk full at /srv/secret", store.ErrStorage)
	}
	return f.Store.Update(ctx, fn)
}

// A disk without room is an outage: what needs to write is answered 503 with a
// time, what is read goes on, and with room again all is as before.
func TestDiskFull(t *testing.T) {
	disk := new(full)
	b := newBenchOf(t, func(_ *bench, c *house.Config) { disk.Store, c.Store = c.Store, disk }, func(c *api.Config) {
		c.Outage = func(err error) bool { return errors.Is(err, store.ErrStorage) }
	})
	id := b.openL0("short")
	open := `{"variant":"short","mode":"random","a":{"token":"ada"},"b":{"token":"ben"}}`
	disk.now.Store(true)
	for _, c := range []struct{ path, body string }{
		{gamePath(id, 1, "segments/1/rolls/opening/0"), ""},
		{"/v1/matches/" + newID(t), open},
		{"/v1/modes/random/sequences/40", ""},
		{gamePath(id, 1, "abort"), `{"reason":"x"}`},
	} {
		a := b.send(http.MethodPut, c.path, c.body)
		if a.status != http.StatusServiceUnavailable || a.code() != "unavailable" || a.header.Get("Retry-After") == "" || strings.Contains(a.body, "secret") {
			t.Errorf("%s: %d, Retry-After %q: %s", c.path, a.status, a.header.Get("Retry-After"), a.body)
		}
	}
	if a := b.send(http.MethodGet, "/v1/matches/"+id, ""); a.status != http.StatusOK {
		t.Errorf("a read: %d %s", a.status, a.body)
	}
	disk.now.Store(false)
	must(t, second(b.client.Draw(t.Context(), id, 1, 1, client.StreamOpening, 0)))
}
