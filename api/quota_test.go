package api_test

import (
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"

	"fairdice/api"
)

// here are the proxies of these tests.
var here = []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("192.0.2.0/24")}

// What is limited says so before and when it is refused.
func TestQuotas(t *testing.T) {
	const proxy = "X-Forwarded-For"
	b := newBench(t, func(c *api.Config) { c.ReadRate, c.KeyRate, c.ProxyHeader, c.TrustedProxies = 5, 30, proxy, here })
	read := func(from string) answer {
		return b.send(http.MethodGet, "/version", "", "Authorization", "", proxy, from)
	}
	for i := range 5 {
		a := read("192.0.2.1")
		if want := fmt.Sprintf(`"reads";r=%d;t=`, 4-i); a.status != http.StatusOK || !strings.HasPrefix(a.header.Get("RateLimit"), want) {
			t.Errorf("read %d: %d, RateLimit %q, want %q", i, a.status, a.header.Get("RateLimit"), want)
		}
		if got := a.header.Get("RateLimit-Policy"); got != `"reads";q=5;w=60` {
			t.Errorf("RateLimit-Policy %q", got)
		}
	}
	if a := read("192.0.2.1"); a.code() != "rate-limited" || a.header.Get("Retry-After") == "" || !strings.HasPrefix(a.header.Get("RateLimit"), `"reads";r=0;t=`) {
		t.Errorf("one read too many: %d %v %s", a.status, a.header, a.body)
	}
	if a := read("192.0.2.2"); a.status != http.StatusOK {
		t.Errorf("from elsewhere: %d %s", a.status, a.body)
	}
	if a := b.send(http.MethodGet, "/healthz", "", "Authorization", "", proxy, "192.0.2.1"); a.status != http.StatusOK {
		t.Errorf("a probe: %d %s", a.status, a.body)
	}
	last := answer{}
	for range 31 {
		last = b.send(http.MethodGet, "/version", "", proxy, "192.0.2.1")
	}
	if last.code() != "rate-limited" || !strings.HasPrefix(last.header.Get("RateLimit"), `"key";r=0`) {
		t.Errorf("31 requests with a key: %d %v", last.status, last.header)
	}
	// However the header is spelt, it is one caller.
	for _, spelt := range []string{"Bearer  ", "bearer ", "BEARER   "} {
		if a := b.send(http.MethodGet, "/version", "", proxy, "192.0.2.1", "Authorization", spelt+b.key); a.code() != "rate-limited" {
			t.Errorf("the same key behind %q: %d %s", spelt, a.status, a.body)
		}
	}
	if a := b.send(http.MethodGet, "/version", "", "Authorization", "", proxy, "192.0.2.3", "Origin", "https://club.example"); !strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "RateLimit") &&
		!strings.Contains(a.header.Get("Access-Control-Expose-Headers"), "Ratelimit") {
		t.Errorf("a page may read %q", a.header.Get("Access-Control-Expose-Headers"))
	}
}

// Keys and view tokens cannot be tried at speed; a key that was used from the
// same address before goes on working, and other addresses are not concerned.
func TestGuesses(t *testing.T) {
	const proxy = "X-Forwarded-For"
	b := newBench(t, func(c *api.Config) { c.ProxyHeader, c.TrustedProxies = proxy, here })
	path := "/v1/matches/" + b.openL0("short") + "/feed"
	from := func(address, key string) answer {
		return b.send(http.MethodGet, "/version", "", "Authorization", key, proxy, address)
	}
	right := "Bearer " + b.key
	if a := from("192.0.2.1", right); a.status != http.StatusOK {
		t.Fatalf("%d %s", a.status, a.body)
	}
	refused := 0
	for i := range api.FailureRate + 10 {
		a := from("192.0.2.1", fmt.Sprintf("Bearer fd_club_%040d", i))
		if i%2 == 1 {
			a = b.send(http.MethodGet, path, "", "Authorization", "", "X-View-Token", fmt.Sprintf("%022d", i), proxy, "192.0.2.1")
		}
		switch a.code() {
		case "rate-limited":
			refused++
			if a.header.Get("Retry-After") == "" || !strings.HasPrefix(a.header.Get("RateLimit"), `"failures";r=0`) {
				t.Errorf("a guess too many: %v", a.header)
			}
		case "unauthorized":
		default:
			t.Errorf("a wrong key: %d %s", a.status, a.body)
		}
	}
	if refused == 0 {
		t.Error("all guesses were looked at")
	}
	if a := from("192.0.2.1", right); a.status != http.StatusOK {
		t.Errorf("the right key from there: %d %s", a.status, a.body)
	}
	if a := from("192.0.2.9", right); a.status != http.StatusOK {
		t.Errorf("the right key from elsewhere: %d %s", a.status, a.body)
	}
	if a := b.send(http.MethodGet, "/version", "", "Authorization", "", proxy, "192.0.2.1"); a.status != http.StatusOK {
		t.Errorf("a public read from there: %d %s", a.status, a.body)
	}
}

// A caller's request id is his own if it is a UUID, and nothing else gets into
// the log or an answer.
func TestRequestID(t *testing.T) {
	b := newBench(t)
	own := newID(t)
	if got := b.send(http.MethodGet, "/version", "", "X-Request-Id", own).header.Get("X-Request-Id"); got != own {
		t.Errorf("the id %s became %s", own, got)
	}
	for _, bad := range []string{"x", strings.ToUpper(own), "{" + own + "}", own + " level=ERROR", strings.Repeat("a", 5000)} {
		a := b.send(http.MethodGet, "/v1/nowhere", "", "X-Request-Id", bad)
		if got := a.header.Get("X-Request-Id"); got == bad || len(got) != 36 || strings.Contains(a.body, bad) && bad != "x" {
			t.Errorf("the id %.60q became %q: %s", bad, got, a.body)
		}
	}
}
