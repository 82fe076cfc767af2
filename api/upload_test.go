package api_test

import (
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"testing"

	"fairdice/api"
)

// Whoever begins to send many files and goes on with none has what he holds to
// himself: files of others are checked, and only his own next one is refused.
func TestSlowUploads(t *testing.T) {
	const proxy = "X-Forwarded-For"
	b := newBench(t, func(c *api.Config) { c.ProxyHeader = proxy })
	h := httptest.NewServer(b.handler)
	verify := func(from string) answer {
		return b.send(http.MethodPost, "/v1/verify?variant=short", "opening 3 1\n", "Authorization", "", proxy, from)
	}
	var open []net.Conn
	defer func() { // the connections first, for the server waits for them
		for _, c := range open {
			c.Close()
		}
		h.Close()
	}()
	// As many as there was room for when a file took its place before it came.
	for i := range 5 * api.MaxFilesPerAddress {
		c, err := net.Dial("tcp", h.Listener.Addr().String())
		must(t, err)
		open = append(open, c)
		_, err = fmt.Fprintf(c, "POST /v1/verify?variant=short HTTP/1.1\r\nHost: x\r\n%s: 192.0.2.%d\r\nContent-Length: 1000000\r\n\r\nopening", proxy, 1+i/api.MaxFilesPerAddress)
		must(t, err)
	}
	for {
		a := verify("192.0.2.1")
		if a.status == http.StatusOK {
			continue // the server has not read all of the requests yet
		}
		if a.code() != "rate-limited" || a.header.Get("Retry-After") == "" {
			t.Errorf("one file more of an address: %d %s", a.status, a.body)
		}
		break
	}
	if a := verify("198.51.100.1"); a.status != http.StatusOK {
		t.Errorf("somebody else's file: %d %s", a.status, a.body)
	}
}
