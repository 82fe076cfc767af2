package web_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/andybalholm/brotli"

	"fairdice/internal/messages"
	"fairdice/rules"
	"fairdice/web"
)

func newSite(t *testing.T) *web.Site {
	t.Helper()
	site, err := web.New(web.Config{Key: "dice.example/log+0a1b2c3d+AQ", Origin: "dice.example/log", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	return site
}

func get(h http.Handler, path string, headers ...string) *http.Response {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Result()
}

func body(t *testing.T, r *http.Response) string {
	t.Helper()
	data, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// rendered is a page of the site as a visitor gets it.
func rendered(s *web.Site, p web.Page) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { s.Render(w, r, p) })
}

// What is asked for in the address counts most and is remembered; then what was
// remembered, then the browser's wishes.
func TestLanguage(t *testing.T) {
	page := rendered(newSite(t), web.How{})
	for _, c := range []struct {
		name, path, cookie, accept string
		want                       string
		kept                       bool
	}{
		{"wish", "/how", "", "ka-GE,en;q=0.5", "ka", false},
		{"no wish", "/how", "", "", "en", false},
		{"unknown wish", "/how", "", "fr", "en", false},
		{"cookie", "/how", "hy", "ka", "hy", false},
		{"unknown cookie", "/how", "xx", "ka", "ka", false},
		{"address", "/how?lang=ru", "hy", "ka", "ru", true},
		{"unknown address", "/how?lang=xx", "hy", "ka", "hy", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			headers := []string{"Accept-Language", c.accept}
			if c.cookie != "" {
				headers = append(headers, "Cookie", "lang="+c.cookie)
			}
			r := get(page, c.path, headers...)
			if got := r.Header.Get("Content-Language"); got != c.want || !strings.Contains(body(t, r), `<html lang="`+c.want+`">`) {
				t.Errorf("the page is in %s, want %s", got, c.want)
			}
			if kept := len(r.Cookies()) == 1; kept != c.kept || kept && (r.Cookies()[0].SameSite != http.SameSiteLaxMode || r.Cookies()[0].Value != c.want) {
				t.Errorf("cookies %v, kept: %t", r.Cookies(), c.kept)
			}
		})
	}
}

// Every file is the same in every coding, is not sent twice, and may be kept for
// ever under the address that pages give it.
func TestStatic(t *testing.T) {
	site := newSite(t)
	h := site.Static()
	how := body(t, get(rendered(site, web.How{}), "/how"))
	versioned := regexp.MustCompile(`/static/[0-9a-f]{16}/`).FindString(how)
	if versioned == "" {
		t.Fatal("the page names no version")
	}
	var names []string
	err := filepath.WalkDir("static", func(name string, d fs.DirEntry, err error) error {
		if err == nil && !d.IsDir() && name != "static/sw.js" {
			names = append(names, strings.TrimPrefix(filepath.ToSlash(name), "static/"))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range append(names, "player.js", "evidence.js", "proof.js") {
		plain := get(h, "/static/"+name)
		want := body(t, plain)
		if plain.StatusCode != http.StatusOK || want == "" || plain.Header.Get("Cache-Control") != "public, no-cache" || plain.Header.Get("Content-Type") == "" {
			t.Errorf("%s: %d, %v", name, plain.StatusCode, plain.Header)
		}
		if file, err := os.ReadFile(filepath.Join("static", name)); err == nil && string(file) != want {
			t.Errorf("%s is not served as it is", name)
		}
		for coding, open := range map[string]func(io.Reader) (io.Reader, error){
			"br":   func(r io.Reader) (io.Reader, error) { return brotli.NewReader(r), nil },
			"gzip": func(r io.Reader) (io.Reader, error) { return gzip.NewReader(r) },
		} {
			r := get(h, versioned+name, "Accept-Encoding", coding)
			if got := r.Header.Get("Cache-Control"); got != "public, max-age=31536000, immutable" {
				t.Errorf("%s may be kept: %q", name, got)
			}
			if r.Header.Get("Content-Encoding") == "" && strings.HasSuffix(name, ".woff2") {
				continue // is compressed
			}
			z, err := open(r.Body)
			if err != nil {
				t.Fatalf("%s as %s: %v", name, coding, err)
			}
			got, err := io.ReadAll(z)
			if err != nil || string(got) != want || r.Header.Get("Content-Encoding") != coding || !slices.Contains(r.Header.Values("Vary"), "Accept-Encoding") {
				t.Errorf("%s as %s: %d bytes, want %d; %v; %v", name, coding, len(got), len(want), err, r.Header)
			}
			if again := get(h, versioned+name, "Accept-Encoding", coding, "If-None-Match", r.Header.Get("ETag")); again.StatusCode != http.StatusNotModified {
				t.Errorf("%s as %s is sent again: %d", name, coding, again.StatusCode)
			}
			if r.Header.Get("ETag") == plain.Header.Get("ETag") {
				t.Errorf("%s has the same ETag as %s", name, coding)
			}
		}
		if r := get(h, "/static/"+name, "Accept-Encoding", "br;q=0, gzip;q=0.0, identity"); r.Header.Get("Content-Encoding") != "" {
			t.Errorf("%s is sent as %s, which was refused", name, r.Header.Get("Content-Encoding"))
		}
	}
	// A page of the build before loads its files from this one.
	if r := get(h, "/static/0123456789abcdef/app.js"); r.StatusCode != http.StatusOK || r.Header.Get("Cache-Control") != "public, no-cache" {
		t.Errorf("a file of another version: %d %s", r.StatusCode, r.Header.Get("Cache-Control"))
	}
	for _, path := range []string{"/static/", "/static/nothing.js", "/static/../site.go", "/static/sw.js", versioned, "/static/fonts", "/static/web.go"} {
		if r := get(h, path); r.StatusCode != http.StatusNotFound {
			t.Errorf("%s: %d", path, r.StatusCode)
		}
	}
}

// The service worker keeps every file there is, under the address that pages
// give it; but for the fonts' licence.
func TestServiceWorker(t *testing.T) {
	site := newSite(t)
	r := get(site.Static(), "/sw.js")
	text := body(t, r)
	if r.StatusCode != http.StatusOK || !strings.HasPrefix(text, "const KEPT = {") || r.Header.Get("Cache-Control") != "no-cache" {
		t.Fatalf("%d %v %.80s", r.StatusCode, r.Header, text)
	}
	for _, m := range regexp.MustCompile(`"(/static/[^"]*)"`).FindAllStringSubmatch(text, -1) {
		if r := get(site.Static(), m[1]); r.StatusCode != http.StatusOK || !strings.Contains(r.Header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %d %s", m[1], r.StatusCode, r.Header.Get("Cache-Control"))
		}
	}
	for _, name := range []string{"site.css", "app.js", "player.js", "fonts/georgian-Bold.woff2"} {
		if !strings.Contains(text, "/"+name+`"`) {
			t.Errorf("%s is not kept", name)
		}
	}
}

// What comes from outside is text on a page, never markup.
func TestEscaped(t *testing.T) {
	const evil = `"><script>alert(1)</script><b x='`
	site := newSite(t)
	for name, p := range map[string]web.Page{
		"commitments": web.Commitments{Tenants: []string{evil}, Tenant: evil, Modes: []string{"random"}, Mode: "random", Asked: evil, Next: evil,
			Rows: []web.Sequence{{ID: evil, Mode: "random", State: "free", Match: evil}}},
		"sequence": web.Sequence{ID: evil, Mode: "random", State: "free", Statement: evil, Checkpoint: evil, Key: evil, Path: []string{evil}},
		"match":    web.Match{Match: evil, A: evil, B: evil, Variant: "short", Mode: "random", State: "open", Options: evil},
		"log": web.Log{Checkpoint: evil, Key: evil, Origin: evil, Root: evil, Time: time.Now(), Witnesses: []web.Witness{{Name: evil, Hash: evil}},
			Overdue: []web.Overdue{{Match: evil, Tenant: evil}}, Groups: []web.Group{{Tenant: evil, Mode: "random"}},
			Plots: []web.Plot{{Mode: "random", Values: []web.PlotValue{{Label: evil, Count: 3}}}}},
		"failure": web.Failure{Status: 500, Request: evil},
	} {
		if text := body(t, get(rendered(site, p), "/x?q="+"%22%3E%3Cscript%3E")); strings.Contains(text, "<script>") || strings.Contains(text, "<b x") {
			t.Errorf("%s has markup of strangers", name)
		}
	}
}

// A visitor is shown nothing but a text that says so where a page fails.
func TestFailure(t *testing.T) {
	for _, status := range []int{400, 404, 429, 500, 503} {
		for _, lang := range messages.Languages() {
			r := get(rendered(newSite(t), web.Failure{Status: status, Request: "0198"}), "/x?lang="+lang)
			want := messages.For(lang).Text("page.site.error." + strconv.Itoa(status))
			if text := body(t, r); r.StatusCode != status || !strings.Contains(text, want) {
				t.Errorf("%d in %s: %d", status, lang, r.StatusCode)
			}
		}
	}
}

// Every letter of every text is in a font that is served, and the fonts are small.
func TestFonts(t *testing.T) {
	css, err := os.ReadFile("static/site.css")
	if err != nil {
		t.Fatal(err)
	}
	var ranges [][2]rune
	for _, m := range regexp.MustCompile(`U\+([0-9A-F]{4})(?:-([0-9A-F]{4}))?`).FindAllStringSubmatch(string(css), -1) {
		from, _ := strconv.ParseUint(m[1], 16, 32)
		to := from
		if m[2] != "" {
			to, _ = strconv.ParseUint(m[2], 16, 32)
		}
		ranges = append(ranges, [2]rune{rune(from), rune(to)})
	}
	for _, lang := range messages.Languages() {
		c := messages.For(lang)
		missing := map[rune]bool{}
		for _, key := range c.Keys() {
			for _, r := range c.Text(key) {
				if !slices.ContainsFunc(ranges, func(x [2]rune) bool { return x[0] <= r && r <= x[1] }) && !missing[r] {
					missing[r] = true
					t.Errorf("no font has %q of %s in %s", r, key, lang)
				}
			}
		}
	}
	files, err := filepath.Glob("static/fonts/*.woff2")
	if err != nil {
		t.Fatal(err)
	}
	var total int
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if total += len(data); !bytes.HasPrefix(data, []byte("wOF2")) || !bytes.Contains(css, []byte(filepath.Base(name))) {
			t.Errorf("%s is no font, or no style uses it", name)
		}
	}
	if total == 0 || total > 100_000 {
		t.Errorf("the fonts have %d bytes", total)
	}
}

// A board is drawn on the page of a match, with its words in the language of the page.
func TestBoard(t *testing.T) {
	v, _ := rules.Lookup("long-classic")
	p := web.Match{Match: "m", Variant: v.ID, Mode: "random", State: "decided", Games: []web.Game{{Number: 1, State: "closed"}}, Boards: []web.Board{{Game: 1, Position: v.Rules.Start(), Rules: v.Rules}}}
	text := body(t, get(rendered(newSite(t), p), "/match/m?lang=ka"))
	if !strings.Contains(text, "<svg xmlns=") || !strings.Contains(text, "<title>ქვემოთ თეთრები</title>") {
		t.Error("there is no board, or it is described in another language")
	}
}
