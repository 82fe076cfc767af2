package api

import (
	"net/http"
	"testing"
)

func TestCaller(t *testing.T) {
	for _, c := range []struct{ peer, header, forwarded, want string }{
		{"192.0.2.7:5001", "", "", "192.0.2.7"},
		{"192.0.2.7:5001", "", "198.51.100.1", "192.0.2.7"},
		{"192.0.2.7:5001", "X-Forwarded-For", "", "192.0.2.7"},
		{"192.0.2.7:5001", "X-Forwarded-For", "198.51.100.1", "198.51.100.1"},
		{"192.0.2.7:5001", "X-Forwarded-For", "203.0.113.9, 198.51.100.1", "198.51.100.1"},
		{"192.0.2.7:5001", "X-Forwarded-For", "198.51.100.1:443", "198.51.100.1"},
		{"[2001:db8:1:2:3::4]:5001", "", "", "2001:db8:1:2::/64"},
		{"[fe80::1%eth0]:5001", "", "", "fe80::/64"},
		{"[::ffff:192.0.2.7]:5001", "", "", "192.0.2.7"},
		{"@", "", "", "@"},
	} {
		r := &http.Request{RemoteAddr: c.peer, Header: http.Header{}}
		if c.forwarded != "" {
			r.Header.Set("X-Forwarded-For", c.forwarded)
		}
		if got := caller(r, c.header); got != c.want {
			t.Errorf("peer %s, %s %q: counted for %s, want %s", c.peer, c.header, c.forwarded, got, c.want)
		}
	}
}
