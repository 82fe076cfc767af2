package browsertest

import (
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"

	"fairdice/web"
)

// before is a server that answers with f and leaves what f does not answer to the service.
func before(t *testing.T, tb *table, f func(w http.ResponseWriter, r *http.Request) bool) *httptest.Server {
	t.Helper()
	to, err := url.Parse(tb.url)
	must(t, err)
	service := httputil.NewSingleHostReverseProxy(to)
	service.ErrorLog = log.New(io.Discard, "", 0) // of pages that leave in the middle of an answer
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !f(w, r) {
			service.ServeHTTP(w, r)
		}
	}))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// Where the verifier is missing the page says so, checks nothing on its own, and shows the server's answer to whoever asks for it as what it is:
// the server's word.
func TestMissingVerifier(t *testing.T) {
	t.Parallel()
	tb := shared(t)
	site, err := web.New(web.Config{Key: tb.logKey, Origin: origin, Version: "test"})
	must(t, err)
	for name, c := range map[string]struct {
		answer func(w http.ResponseWriter, r *http.Request) bool
		noisy  bool // the console tells the 404
	}{
		"not built": {func(w http.ResponseWriter, r *http.Request) bool {
			if r.URL.Path == "/" {
				site.Render(w, r, web.Check{Key: tb.logKey, Origin: origin})
			}
			return r.URL.Path == "/"
		}, false},
		"not found": {func(w http.ResponseWriter, r *http.Request) bool {
			if strings.HasSuffix(r.URL.Path, ".wasm") {
				http.NotFound(w, r)
			}
			return strings.HasSuffix(r.URL.Path, ".wasm")
		}, true},
	} {
		t.Run(name, func(t *testing.T) {
			p := openCheck(t, before(t, tb, c.answer).URL)
			p.Drop("main", "match.json", tb.bundle)
			p.Says("#missing", "The verifier is not there")
			p.Says("#missing", "Send my files to this server")
			if got := p.Text("#reports"); got != "" {
				t.Errorf("without the verifier the page reports %q", got)
			}
			p.Accessible()
			p.Click("#server")
			if got := verdict(p); got != "verified" {
				t.Errorf("the server says %s: %s", got, p.Text(".report"))
			}
			p.Says(".report .server", "This is the server's word.")
			p.Accessible()
			p.Drop("main", "move.mat", spoilt(t, sampleFile(t, "game.mat"), "8/4 6/4", "8/4 6/3"))
			if got := verdict(p); got != "failed" {
				t.Errorf("of an illegal move the server says %s", got)
			}
			p.Says(".report .fault", "rules.moves")
			p.Says(".report .server", "This is the server's word.")
			p.Drop("main", "noise.bin", []byte("\x89PNG\r\n\x1a\n\x00\x00"))
			if got := verdict(p); got == "verified" || got == "" {
				t.Errorf("of a picture the server says %s", got)
			}
			p.DropMade("main", `new File([new Uint8Array((8 << 20) + 1)], 'large.json')`)
			if got := verdict(p); !strings.Contains(got, "No more than 8 MiB") {
				t.Errorf("of a file that is too large for the server the page says %s", got)
			}
			p.Drop("main", "game.sgf", sampleFile(t, "game.sgf"))
			if got := verdict(p); got != "verified" {
				t.Errorf("of a good game the server says %s", got)
			}
			if faults := p.Faults(); !c.noisy && len(faults) > 0 {
				t.Error(faults)
			}
		})
	}
}

// A visitor who has opened the page once checks files without a connection.
func TestCheckOffline(t *testing.T) {
	t.Parallel()
	tb := shared(t)
	s := before(t, tb, func(http.ResponseWriter, *http.Request) bool { return false })
	p := openCheck(t, s.URL)
	p.Until(`navigator.serviceWorker.controller?.state === 'activated'`)
	s.CloseClientConnections()
	s.Close()
	if _, err := http.Get(s.URL); err == nil {
		t.Fatal("the service still answers")
	}
	p.Faults() // of connections that ended
	p.Go(s.URL + "/")
	p.Drop("main", "match.json", tb.bundle)
	if got := verdict(p); got != "verified" {
		t.Errorf("without a connection the bundle is %s", got)
	}
	p.Drop("main", "move.sgf", spoilt(t, sampleFile(t, "game.sgf"), "62agln", "62aglm"))
	if got := verdict(p); got != "failed" {
		t.Errorf("without a connection an illegal move is %s", got)
	}
	p.Shown(".report .fault svg")
	p.Click(".report [data-do=replay]")
	p.Shown(".screen .replay .board svg")
}
