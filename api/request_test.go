package api_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"fairdice/client/player"
)

// Every operation takes the query parameters and the body that the document
// gives it, and no other.
func TestShapesAreTheDocument(t *testing.T) {
	b := newBench(t)
	doc, err := document()
	must(t, err)
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if op.Extensions["x-problems"] == nil {
				continue // the log's own
			}
			var known []string
			for _, p := range op.Parameters {
				if p.Value.In == "query" {
					known = append(known, p.Value.Name)
				}
			}
			// Paths need not lead anywhere: what is asked comes before who answers.
			at := strings.NewReplacer("{match}", newID(t), "{game}", "1", "{segment}", "1", "{seat}", "a", "{throw}", "1", "{line}", "1",
				"{stream}", "a", "{index}", "0", "{mode}", "random", "{number}", "0", "{sequence}", newID(t), "{hash}", strings.Repeat("ab", 32)).Replace(path)
			for _, name := range []string{"since", "view", "tenant", "mode", "state", "cursor", "limit", "key", "variant", "options", "sinse"} {
				a := b.send(method, at+"?"+name+"=1", "")
				refused := a.status == http.StatusBadRequest && strings.Contains(a.body, "there is no parameter")
				if listed := strings.Contains(" "+strings.Join(known, " ")+" ", " "+name+" "); refused == listed {
					t.Errorf("%s %s with %s, which is listed: %v: %d %s", method, path, name, listed, a.status, a.body)
				}
			}
			a := b.send(method, at, `{"surplus":1}`)
			if refused := strings.Contains(a.body, "this request has no body"); refused == (op.RequestBody != nil) {
				t.Errorf("%s %s with a body: %d %s", method, path, a.status, a.body)
			}
		}
	}
}

func TestQueries(t *testing.T) {
	b := newBench(t)
	id := b.openL0("short")
	for _, q := range []string{"since=1&since=2", "since=%zz", "since=1;x=2", "%", "since=0", "x"} {
		if a := b.send(http.MethodGet, "/v1/matches/"+id+"/statements?"+q, ""); a.code() != "malformed-request" {
			t.Errorf("%s: %d %s", q, a.status, a.body)
		}
	}
	if a := b.send(http.MethodPut, gamePath(id, 1), " { } "); a.status != http.StatusOK {
		t.Errorf("an empty object where no body belongs: %d %s", a.status, a.body)
	}
}

// HEAD is GET without its body.
func TestHead(t *testing.T) {
	b := newBench(t)
	id := b.openL0("short")
	for _, path := range []string{"/v1/matches/" + id, "/version", "/openapi.yaml", "/checkpoint", "/v1/statements/0", "/v1/matches/" + newID(t), "/v1/variants?x=1"} {
		get, head := b.send(http.MethodGet, path, ""), b.send(http.MethodHead, path, "")
		if head.status != get.status || head.body != "" || head.header.Get("Content-Type") != get.header.Get("Content-Type") {
			t.Errorf("%s: HEAD %d %q %q, GET %d", path, head.status, head.body, head.header.Get("Content-Type"), get.status)
		}
	}
	if a := b.send(http.MethodHead, "/v1/matches/"+id+"/abandon", ""); a.status != http.StatusMethodNotAllowed || a.header.Get("Allow") != "PUT" {
		t.Errorf("HEAD of what can only be put: %d, Allow %q", a.status, a.header.Get("Allow"))
	}
	if a := b.send(http.MethodDelete, "/version", ""); a.header.Get("Allow") != "GET, HEAD" {
		t.Errorf("Allow %q", a.header.Get("Allow"))
	}
}

// A body that stops coming is a timeout that can be repeated, not a mistake of
// the caller's.
func TestStalledBody(t *testing.T) {
	b := newBench(t)
	h := httptest.NewUnstartedServer(b.handler)
	h.Config.ReadTimeout = 200 * time.Millisecond
	h.Start()
	defer h.Close()
	c, err := net.Dial("tcp", h.Listener.Addr().String())
	must(t, err)
	defer c.Close()
	fmt.Fprintf(c, "PUT /v1/matches/%s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", newID(t), b.key)
	resp, err := http.ReadResponse(bufio.NewReader(c), nil)
	must(t, err)
	body, err := io.ReadAll(resp.Body)
	must(t, err)
	if resp.StatusCode != http.StatusRequestTimeout || resp.Header.Get("Retry-After") == "" || codeIn(body) != "request-timeout" {
		t.Errorf("%d, Retry-After %q: %s", resp.StatusCode, resp.Header.Get("Retry-After"), body)
	}
}

// What is secret while a match lasts stays out of caches, and so does what was
// asked for with a token in the address.
func TestRecordCaching(t *testing.T) {
	b := newBench(t)
	id := b.openL0("short")
	path := gamePath(id, 1, "record")
	caching := func(path string) string { return b.send(http.MethodGet, path, "").header.Get("Cache-Control") }
	if got := caching(path); got != "no-store" {
		t.Errorf("of an unfinished match: Cache-Control %q", got)
	}
	if a := b.send(http.MethodGet, path, "", "Authorization", ""); a.status != http.StatusUnauthorized || a.code() != "unauthorized" || a.header.Get("WWW-Authenticate") == "" {
		t.Errorf("without a key: %d %s", a.status, a.body)
	}
	b.playOn(id, 1, setting(t, single), [2]*player.Player{}, nil)
	must(t, second(b.client.CloseGame(t.Context(), id, 1, 0)))
	if got := caching(path); got != "public, max-age=31536000, immutable" {
		t.Errorf("of a finished match: Cache-Control %q", got)
	}
	if got := caching(path + "?view=x"); got != "private" {
		t.Errorf("with a view token: Cache-Control %q", got)
	}
}
