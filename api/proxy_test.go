package api

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
)

// Whom a request is counted for cannot be chosen by the one who sends it.
func TestCaller(t *testing.T) {
	own := []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8"), netip.MustParsePrefix("::1/128"), netip.MustParsePrefix("2001:db8:1::/48")}
	for _, c := range []struct {
		name, header, peer string
		lines              []string
		want               string
	}{
		{"no proxy", "", "192.0.2.7:4711", []string{"198.51.100.1"}, "192.0.2.7"},
		{"behind the proxy", "X-Forwarded-For", "10.0.0.2:4711", []string{"198.51.100.1"}, "198.51.100.1"},
		{"spoofed past the proxy", "X-Forwarded-For", "192.0.2.7:4711", []string{"198.51.100.1"}, "192.0.2.7"},
		{"spoofed as the proxy", "X-Forwarded-For", "192.0.2.7:4711", []string{"10.0.0.2"}, "192.0.2.7"},
		{"spoofed before the proxy", "X-Forwarded-For", "10.0.0.2:4711", []string{"203.0.113.9, 198.51.100.1"}, "198.51.100.1"},
		{"spoofed in a line of its own", "X-Forwarded-For", "10.0.0.2:4711", []string{"203.0.113.9", "198.51.100.1"}, "198.51.100.1"},
		{"spoofed as a hop of ours", "X-Forwarded-For", "10.0.0.2:4711", []string{"10.0.0.9, 198.51.100.1"}, "198.51.100.1"},
		{"two proxies of ours", "X-Forwarded-For", "10.0.0.2:4711", []string{"203.0.113.9, 198.51.100.1, 10.0.0.3"}, "198.51.100.1"},
		{"two proxies, two lines", "X-Forwarded-For", "10.0.0.2:4711", []string{"198.51.100.1", "10.0.0.3"}, "198.51.100.1"},
		{"called by a proxy itself", "X-Forwarded-For", "10.0.0.2:4711", nil, "10.0.0.2"},
		{"an empty header", "X-Forwarded-For", "10.0.0.2:4711", []string{""}, "10.0.0.2"},
		{"no address", "X-Forwarded-For", "10.0.0.2:4711", []string{"198.51.100.1, unknown"}, "10.0.0.2"},
		{"an address with a port", "X-Forwarded-For", "10.0.0.2:4711", []string{"198.51.100.1:99"}, "198.51.100.1"},
		{"IPv6", "X-Real-Ip", "[::1]:4711", []string{"2001:db8:2:3:4:5:6:7"}, "2001:db8:2:3::/64"},
		{"IPv6 in brackets", "X-Real-Ip", "[::1]:4711", []string{"[2001:db8:2:3::1]"}, "2001:db8:2:3::/64"},
		{"IPv4 in IPv6", "X-Forwarded-For", "[::ffff:10.0.0.2]:4711", []string{"::ffff:198.51.100.1"}, "198.51.100.1"},
		{"IPv6 without a proxy", "", "[2001:db8:1:2:3::4]:5001", nil, "2001:db8:1:2::/64"},
		{"IPv6 with a zone", "", "[fe80::1%eth0]:5001", nil, "fe80::/64"},
		{"no network", "X-Forwarded-For", "@", []string{"198.51.100.1"}, "@"},
		{"another header", "X-Forwarded-For", "10.0.0.2:4711", nil, "10.0.0.2"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := httptest.NewRequest(http.MethodGet, "/version", nil)
			r.RemoteAddr = c.peer
			r.Header.Set("Forwarded", "for=203.0.113.66")
			for _, l := range c.lines {
				r.Header.Add("X-Forwarded-For", l)
				r.Header.Add("X-Real-Ip", l)
			}
			if got := (proxies{c.header, own}).caller(r); got != c.want {
				t.Errorf("counted for %s, want %s", got, c.want)
			}
		})
	}
}

// FuzzCaller: whatever a stranger sends, he is counted for his own address, and
// what stands before a trusted proxy's word changes nothing.
func FuzzCaller(f *testing.F) {
	f.Add("203.0.113.9, 10.0.0.1")
	f.Add(",,[::1]:1, %")
	own := proxies{"X-Forwarded-For", []netip.Prefix{netip.MustParsePrefix("10.0.0.0/8")}}
	f.Fuzz(func(t *testing.T, text string) {
		r := httptest.NewRequest(http.MethodGet, "/version", nil)
		r.RemoteAddr = "192.0.2.7:4711"
		r.Header["X-Forwarded-For"] = []string{text}
		if got := own.caller(r); got != "192.0.2.7" {
			t.Errorf("a stranger is counted for %q", got)
		}
		r.RemoteAddr = "10.0.0.2:4711"
		r.Header["X-Forwarded-For"] = []string{text + ", 198.51.100.1"}
		if got := own.caller(r); got != "198.51.100.1" {
			t.Errorf("behind the proxy %q", got)
		}
		r.Header["X-Forwarded-For"] = []string{strings.TrimSuffix(text, ","), "198.51.100.1"}
		if got := own.caller(r); got != "198.51.100.1" {
			t.Errorf("behind the proxy in two lines %q", got)
		}
	})
}
