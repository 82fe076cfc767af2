package api_test

import (
	"bytes"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"fairdice/api"
	"fairdice/client/player"
	"fairdice/replay"
)

// The document is valid, and the routes are its paths, both ways.
func TestRoutesAreTheDocument(t *testing.T) {
	doc, err := document()
	must(t, err)
	var documented, routed []string
	for path, item := range doc.Paths.Map() {
		for method := range item.Operations() {
			documented = append(documented, method+" "+path)
		}
	}
	must(t, chi.Walk(newBench(t).handler.(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
		// A tile's index may have slashes, which a path of the document cannot say.
		routed = append(routed, method+" "+strings.Replace(route, "/tile/*", "/tile/{level}/{tile}", 1))
		return nil
	}))
	slices.Sort(documented)
	slices.Sort(routed)
	if diff := cmp.Diff(documented, routed); diff != "" {
		t.Errorf("document (-) and routes (+):\n%s", diff)
	}
}

// Codes in x-problems are problem types of the document, and every type is
// listed somewhere.
func TestProblemsAreListed(t *testing.T) {
	doc, err := document()
	must(t, err)
	used := map[string]bool{"method-not-allowed": true} // of no operation
	note := func(where string, extension any) {
		for _, code := range extension.([]any) {
			used[fmt.Sprint(code)] = true
			if !slices.Contains(doc.Components.Schemas["ProblemType"].Value.Enum, any("urn:fairdice:problem:"+fmt.Sprint(code))) {
				t.Errorf("%s: %v is no problem type", where, code)
			}
		}
	}
	note("x-problems-common", doc.Extensions["x-problems-common"])
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if list := op.Extensions["x-problems"]; list != nil {
				note(method+" "+path, list)
			} else if !slices.Contains(op.Tags, "log") {
				t.Errorf("%s %s has no x-problems", method, path)
			}
		}
	}
	for _, urn := range doc.Components.Schemas["ProblemType"].Value.Enum {
		if code := strings.TrimPrefix(urn.(string), "urn:fairdice:problem:"); !used[code] {
			t.Errorf("no operation lists %s", code)
		}
	}
}

// Every public read answers in the form of the document (which held checks).
func TestReads(t *testing.T) {
	b := newBench(t)
	id := b.openL0("short")
	b.playOn(id, 1, setting(t, single), [2]*player.Player{}, func(st replay.State) bool { return st.Due().Kind == replay.DueStage })
	page, err := b.client.Sequences(t.Context(), tenant, "random", "", 0)
	must(t, err)
	for _, path := range []string{
		"/v1/matches/" + id, "/v1/matches/" + id + "/statements", "/v1/matches/" + id + "/statements?since=3",
		gamePath(id, 1, "record"), "/v1/sequences?tenant=club&mode=random&limit=3", "/v1/sequences?tenant=club&mode=random&state=assigned",
		"/v1/sequences?tenant=nobody&mode=random", "/v1/sequences/" + page.Sequences[0].Sequence, "/v1/statements/0", "/v1/statements/0?since=5",
		"/v1/variants", "/v1/modes", "/healthz", "/readyz", "/version", "/openapi.yaml", "/checkpoint", "/tile/0/000.p/1",
	} {
		if a := b.send(http.MethodGet, path, ""); a.status != http.StatusOK {
			t.Errorf("%s: %d %s", path, a.status, a.body)
		}
	}
	// Pages of three walk through all sequences once.
	var numbers []int64
	for cursor := int64(0); ; {
		a, err := b.client.Sequences(t.Context(), tenant, "balanced", "free", cursor)
		must(t, err)
		for _, s := range a.Sequences {
			numbers = append(numbers, s.Number)
		}
		if cursor = a.Next; cursor == 0 {
			break
		}
	}
	if !slices.Equal(numbers, []int64{0, 1}) {
		t.Errorf("pages list the numbers %v", numbers)
	}
}

func TestCaching(t *testing.T) {
	b := newBench(t)
	id := b.openL0("short")
	must(t, second(b.client.AbortGame(t.Context(), id, 1, "crash", 0)))
	for _, c := range []struct{ path, caching string }{
		{"/v1/matches/" + id + "/bundle", "public, no-cache"},
		{"/v1/statements/2", "public, max-age=31536000, immutable"},
	} {
		first := b.send(http.MethodGet, c.path, "", "Authorization", "")
		tag := first.header.Get("ETag")
		if first.status != 200 || tag == "" || first.header.Get("Cache-Control") != c.caching {
			t.Errorf("%s: %d, ETag %q, Cache-Control %q", c.path, first.status, tag, first.header.Get("Cache-Control"))
		}
		if a := b.send(http.MethodGet, c.path, "", "If-None-Match", `"other", W/`+tag); a.status != http.StatusNotModified || a.body != "" {
			t.Errorf("%s with its ETag: %d %q", c.path, a.status, a.body)
		}
		if a := b.send(http.MethodGet, c.path, "", "If-None-Match", `"other"`); a.status != 200 || a.body != first.body {
			t.Errorf("%s with another ETag: %d", c.path, a.status)
		}
	}
}

// Any page may read what is public and release its visitor's link; none may
// make a browser send an API key.
func TestCrossOrigin(t *testing.T) {
	b := newBench(t)
	id := newID(t)
	ask := func(method, path, headers string) http.Header {
		return b.send(http.MethodOptions, path, "", "Authorization", "", "Origin", "https://club.example",
			"Access-Control-Request-Method", method, "Access-Control-Request-Headers", headers).header
	}
	if h := ask("PUT", gamePath(id, 1, "segments/1/links/a"), "content-type"); h.Get("Access-Control-Allow-Origin") != "*" || h.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("a link from a page: %v", h)
	}
	if h := ask("PUT", gamePath(id, 1, "segments/1/rolls/a/0"), "authorization"); h.Get("Access-Control-Allow-Headers") != "" {
		t.Errorf("an API key from a page: %v", h)
	}
	// A page in a sandbox or from a file has the origin null, and no more rights.
	a := b.send(http.MethodOptions, "/v1/matches", "", "Authorization", "", "Origin", "null",
		"Access-Control-Request-Method", "GET", "Access-Control-Request-Headers", "authorization")
	if a.header.Get("Access-Control-Allow-Headers") != "" || a.header.Get("Access-Control-Allow-Credentials") != "" || a.header.Get("Access-Control-Allow-Origin") == "null" {
		t.Errorf("an API key from the origin null: %v", a.header)
	}
	a = b.send(http.MethodGet, "/version", "", "Origin", "null")
	if a.header.Get("Access-Control-Allow-Origin") != "*" || a.header.Get("Access-Control-Allow-Credentials") != "" {
		t.Errorf("a read from the origin null: %v", a.header)
	}
	if a := b.send(http.MethodGet, "/version", "", "Origin", "https://club.example"); a.header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("a read from a page: %v", a.header)
	}
}

// What goes wrong inside is told to the log, not to the caller.
func TestPanic(t *testing.T) {
	var log bytes.Buffer
	b := newBench(t, func(c *api.Config) {
		c.Logger = slog.New(slog.NewTextHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug}))
		c.Log = http.HandlerFunc(func(http.ResponseWriter, *http.Request) { panic("file /srv/secret is gone") })
	})
	a := b.send(http.MethodGet, "/checkpoint", "")
	if a.status != http.StatusInternalServerError || a.code() != "internal" || strings.Contains(a.body, "secret") {
		t.Errorf("%d %s", a.status, a.body)
	}
	if id := a.header.Get("X-Request-Id"); id == "" || !strings.Contains(a.body, "urn:uuid:"+id) {
		t.Errorf("the problem does not name request %q: %s", id, a.body)
	}
	if text := log.String(); !strings.Contains(text, "handler panicked") || strings.Contains(text, b.key) {
		t.Errorf("the log of a panic:\n%s", text)
	}
}
