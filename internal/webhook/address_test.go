package webhook

import (
	"net/netip"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestAllow(t *testing.T) {
	s := New(Config{})
	for _, text := range []string{
		"0.0.0.0", "0.1.2.3", "10.0.0.1", "100.64.0.1", "100.127.255.255", "127.0.0.1", "127.255.255.254", "169.254.169.254",
		"172.16.0.1", "172.31.255.255", "192.0.0.1", "192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.19.255.255", "198.51.100.7",
		"203.0.113.7", "224.0.0.1", "239.255.255.255", "240.0.0.1", "255.255.255.255",
		"::", "::1", "::7f00:1", "::ffff:127.0.0.1", "::ffff:10.0.0.1", "::ffff:0:127.0.0.1", "64:ff9b::7f00:1", "64:ff9b::808:808", "64:ff9b:1::1", "100::1",
		"2001::1", "2001:0:4136:e378::1", "2001:10::1", "2001:20::1", "2001:db8::1", "2002:7f00:1::", "3fff::1", "4000::1", "5f00::1",
		"fc00::1", "fd12::1", "fe80::1", "fe80::1%eth0", "2a00::1%eth0", "fec0::1", "ff02::1",
	} {
		if s.allow(netip.MustParseAddr(text)) == nil {
			t.Errorf("%s is allowed", text)
		}
	}
	for _, text := range []string{"8.8.8.8", "1.1.1.1", "100.63.255.255", "100.128.0.1", "172.32.0.1", "192.167.1.1", "198.20.0.1", "223.255.255.255", "::ffff:8.8.8.8", "2001:4860:4860::8888", "2606:4700::1", "2a00:1450::1"} {
		if err := s.allow(netip.MustParseAddr(text)); err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
	s = New(Config{Private: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16"), netip.MustParsePrefix("fd00::/8")}})
	for text, want := range map[string]bool{"10.1.2.3": true, "::ffff:10.1.2.3": true, "10.2.0.1": false, "fd12::1": true, "fc00::1": false, "127.0.0.1": false, "64:ff9b::a01:203": false} {
		if got := s.allow(netip.MustParseAddr(text)) == nil; got != want {
			t.Errorf("with private networks: %s is allowed: %v", text, got)
		}
	}
}

// What the standard library calls private, loopback, link-local, multicast or
// unspecified is never allowed.
func TestAllowAgrees(t *testing.T) {
	s := New(Config{})
	rapid.Check(t, func(t *rapid.T) {
		var ip netip.Addr
		if rapid.Bool().Draw(t, "v4") {
			ip = netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "ip")))
		} else {
			ip = netip.AddrFrom16([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "ip")))
		}
		u := ip.Unmap()
		if (u.IsPrivate() || u.IsLoopback() || u.IsLinkLocalUnicast() || u.IsMulticast() || u.IsUnspecified() || !u.IsGlobalUnicast()) && s.allow(ip) == nil {
			t.Fatalf("%s is allowed", ip)
		}
	})
}

func TestCheck(t *testing.T) {
	s := New(Config{})
	for _, address := range []string{"https://club.example/dice?x=1", "https://club.example:443", "https://club.example:8443/", "https://8.8.8.8/", "https://[2a00:1450::1]:1024/x"} {
		if err := s.Check(address, false); err != nil {
			t.Errorf("%s: %v", address, err)
		}
	}
	if err := s.Check("http://club.example:80/", true); err != nil {
		t.Error(err)
	}
	for address, want := range map[string]string{
		"http://club.example/":         "http:",
		"ftp://club.example/":          "not https",
		"https:club.example":           "not https",
		"https:///x":                   "not https",
		"//club.example":               "not https",
		"":                             "not https",
		"https://u:hunter2@club.test/": "a user or a password",
		"https://club.example/#x":      "fragment",
		"https://club.example:/":       "colon",
		"https://club.example:22/":     "port 22",
		"https://club.example:80/":     "port 80",
		"https://club.example:0/":      "port 0",
		"https://club.example:65536/":  "port 65536",
		"https://127.0.0.1/":           "loopback",
		"https://[::1]/":               "not public",
		"https://[::ffff:10.0.0.1]/":   "private",
		"https://[fe80::1%25eth0]/":    "interface",
		"https://a b/":                 "no URL",
		"https://club.example/\x00":    "no URL",
		"https://x.example/" + strings.Repeat("x", MaxAddress): "more than",
	} {
		err := s.Check(address, false)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%.60q: %v, want %q", address, err, want)
		}
	}
}

func TestParsePrivate(t *testing.T) {
	got, err := ParsePrivate(" 10.0.0.0/8, fd00::/8,")
	if err != nil || len(got) != 2 {
		t.Error(got, err)
	}
	for _, text := range []string{"10.0.0.1/8", "10.0.0.0", "::ffff:10.0.0.0/104", "x", "10.0.0.0/33"} {
		if _, err := ParsePrivate(text); err == nil {
			t.Errorf("%q is taken", text)
		}
	}
}

// FuzzCheck: an address that is taken is https, with no credentials, and not a literal one
// that is not public.
func FuzzCheck(f *testing.F) {
	for _, s := range []string{"https://club.example/", "https://0x7f.1/", "https://[::1]/", "https://a@b/", "https://127.0.0.1:443", "https://127。0。0。1/"} {
		f.Add(s)
	}
	s := New(Config{})
	f.Fuzz(func(t *testing.T, address string) {
		u, err := s.parse(address, false)
		if err != nil {
			return
		}
		if u.Scheme != "https" || u.User != nil || u.Host == "" {
			t.Errorf("%q is taken", address)
		}
		if ip, err := netip.ParseAddr(u.Hostname()); err == nil && s.allow(ip) != nil {
			t.Errorf("%q is taken", address)
		}
	})
}
