package api_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/go-chi/chi/v5"
	"github.com/google/go-cmp/cmp"

	"fairdice/api"
	"fairdice/client/player"
	"fairdice/internal/messages"
	"fairdice/replay"
	"fairdice/web"
)

// newPages is a bench with pages; they are no part of the document that the
// other tests hold answers against.
func newPages(t *testing.T, change ...func(*api.Config)) *bench {
	return newBench(t, append(change, func(c *api.Config) {
		site, err := web.New(web.Config{Key: c.House.VerifierKey(), Origin: c.House.Origin(), Version: "test", Logger: c.Logger})
		must(t, err)
		c.Site = site
	})...)
}

var (
	inline = regexp.MustCompile(`(?i)<style|\sstyle=|\son[a-z]+=|<script(?:\s+type="module")?>|=\s*["']?\s*javascript:`)
	unsaid = regexp.MustCompile(`\bpage\.[a-z]+\.[a-z.-]+`)                       // a key that the catalogue does not have
	loaded = regexp.MustCompile(`<([a-z]+)\s[^>]*(?:src|href)="(/static/[^"]+)"`) // or linked to, by an a
)

// Every page in every language is whole: no text is missing, nothing is inline,
// and what it loads is there.
func TestPages(t *testing.T) {
	b := newPages(t)
	id := b.openL0("short")
	page, err := b.client.Sequences(t.Context(), tenant, "random", "", 0)
	must(t, err)
	for _, path := range []string{
		"/", "/match/" + id, "/commitments", "/commitments?tenant=club&mode=balanced&state=free", "/commitments/" + page.Sequences[0].Sequence, "/log", "/how", "/my-chain",
	} {
		for _, lang := range messages.Languages() {
			a := b.send(http.MethodGet, path, "", "Authorization", "", "Accept-Language", lang, "Accept", "text/html")
			if a.status != http.StatusOK || !strings.Contains(a.body, `<html lang="`+lang+`"`) {
				t.Errorf("%s in %s: %d %.300s", path, lang, a.status, a.body)
				continue
			}
			if found := inline.FindString(a.body); found != "" {
				t.Errorf("%s in %s has %s", path, lang, found)
			}
			if found := unsaid.FindString(a.body); found != "" {
				t.Errorf("%s in %s lacks the text %s", path, lang, found)
			}
			if !strings.Contains(a.header.Get("Content-Security-Policy"), "default-src 'none'") {
				t.Errorf("%s has the policy %q", path, a.header.Get("Content-Security-Policy"))
			}
			for _, m := range loaded.FindAllStringSubmatch(a.body, -1) {
				if m[1] == "a" {
					continue
				}
				if s := b.send(http.MethodGet, m[2], "", "Authorization", ""); s.status != http.StatusOK || !strings.Contains(s.header.Get("Cache-Control"), "immutable") {
					t.Errorf("%s loads %s: %d, %q", path, m[2], s.status, s.header.Get("Cache-Control"))
				}
			}
		}
	}
}

// The pages are no part of the API's document: with them there are these routes
// more, and the others are the same.
func TestPageRoutes(t *testing.T) {
	routes := func(b *bench) (list []string) {
		must(t, chi.Walk(b.handler.(chi.Routes), func(method, route string, _ http.Handler, _ ...func(http.Handler) http.Handler) error {
			list = append(list, method+" "+route)
			return nil
		}))
		return list
	}
	without := routes(newBench(t))
	more := slices.DeleteFunc(routes(newPages(t)), func(r string) bool { return slices.Contains(without, r) })
	slices.Sort(more)
	want := []string{
		"GET /", "GET /commitments", "GET /commitments/{sequence}", "GET /how", "GET /log", "GET /match/{match}", "GET /my-chain", "GET /static/*", "GET /sw.js",
	}
	if diff := cmp.Diff(want, more); diff != "" {
		t.Errorf("routes of pages (-want +got):\n%s", diff)
	}
}

// What does not work is told to people as a page and to programs as a problem.
func TestPageFailures(t *testing.T) {
	b := newPages(t)
	b.openL0("short")
	page, err := b.client.Sequences(t.Context(), tenant, "random", "", 0)
	must(t, err)
	id := page.Sequences[0].Sequence
	for _, c := range []struct {
		path, accept string
		status       int
		html         bool
	}{
		{"/nowhere", "text/html,*/*;q=0.8", 404, true},
		{"/nowhere", "application/json", 404, false},
		{"/nowhere", "", 404, false},
		{"/v1/nowhere", "text/html", 404, false},
		{"/match/0198", "text/html", 400, true},
		{"/match/01a22a9f-6faa-7dbc-9372-5338b76e5374", "text/html", 404, true},
		{"/commitments/01a22a9f-6faa-7dbc-9372-5338b76e5374", "", 404, true},
		{"/commitments?cursor=-1", "text/html", 400, true},
		{"/commitments?cursor=99999999999999999999", "text/html", 400, true},
		{"/commitments?cursor=9007199254740991", "text/html", 200, true},
		{"/commitments?mode=dice", "text/html", 400, true},
		{"/commitments?state=lost", "text/html", 400, true},
		{"/commitments?tenant=nobody&mode=random&state=", "text/html", 200, true},
		{"/commitments?sequence=" + id, "text/html", 200, true}, // leads to the page of it
		{"/commitments?sequence=" + strings.Repeat("x", 5000), "text/html", 200, true},
		{"/how?lang=ka&lang=ru&%zz", "text/html", 200, true},
	} {
		a := b.send(http.MethodGet, c.path, "", "Authorization", "", "Accept", c.accept)
		if a.status != c.status || strings.HasPrefix(a.header.Get("Content-Type"), "text/html") != c.html {
			t.Errorf("%.80s for %q: %d %s", c.path, c.accept, a.status, a.header.Get("Content-Type"))
		}
		if strings.HasSuffix(c.path, id) && !strings.Contains(a.body, `data-sequence="`+id+`"`) {
			t.Errorf("%s does not lead to the sequence", c.path)
		}
	}
	for _, path := range []string{"/", "/log", "/static/app.js", "/sw.js"} {
		if a := b.send(http.MethodHead, path, "", "Authorization", ""); a.status != http.StatusOK || a.body != "" {
			t.Errorf("HEAD %s: %d %q", path, a.status, a.body)
		}
		if a := b.send(http.MethodPost, path, "{}", "Authorization", ""); a.status != http.StatusMethodNotAllowed {
			t.Errorf("POST %s: %d", path, a.status)
		}
	}
}

// Pages count as reads of their visitor's address.
func TestPageRate(t *testing.T) {
	b := newPages(t, func(c *api.Config) { c.ReadRate = 3 })
	var last answer
	for range 8 {
		last = b.send(http.MethodGet, "/how", "", "Authorization", "", "Accept", "text/html")
	}
	if last.status != http.StatusTooManyRequests || !strings.Contains(last.body, "<h1>") {
		t.Errorf("the eighth page of three a minute: %d", last.status)
	}
}

// Of a match that goes on no roll and no move is shown; of one that is over the
// records are.
func TestMatchPage(t *testing.T) {
	b := newPages(t)
	id := b.openL0("short")
	b.playOn(id, 1, setting(t, single), [2]*player.Player{}, func(st replay.State) bool { return st.Due().Kind == replay.DueStage })
	show := func() string { return b.send(http.MethodGet, "/match/"+id, "", "Authorization", "").body }
	if text := show(); strings.Contains(text, "opening ") || strings.Contains(text, "<svg xmlns=") {
		t.Error("a running game is shown")
	}
	must(t, second(b.client.AbortGame(t.Context(), id, 1, "crash", 0)))
	if text := show(); !strings.Contains(text, "<svg xmlns=") {
		t.Error("an ended game is not shown")
	}
}
