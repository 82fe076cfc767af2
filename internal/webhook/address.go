package webhook

import (
	"errors"
	"fmt"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
)

// MaxAddress bounds the address of an endpoint, in bytes.
const MaxAddress = 1024

// Check refuses an address that nothing will be sent to, whatever it resolves
// to: another scheme than https (http with plain), credentials, a fragment,
// and the ports of other protocols, which are all below 1024.
func (s *Sender) Check(address string, plain bool) error {
	_, err := s.parse(address, plain)
	return err
}

func (s *Sender) parse(address string, plain bool) (*url.URL, error) {
	if len(address) > MaxAddress {
		return nil, fmt.Errorf("the address has more than %d bytes", MaxAddress)
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, errors.New("the address is no URL")
	}
	switch {
	case u.Scheme == "http" && !plain:
		return nil, errors.New("the address is http: messages would be read on their way; use https, or allow http")
	case u.Scheme != "https" && u.Scheme != "http" || u.Opaque != "" || u.Hostname() == "":
		return nil, errors.New("the address is not https://host/path")
	case u.User != nil:
		return nil, errors.New("the address has a user or a password in it; the receiver checks the signature instead")
	case u.Fragment != "":
		return nil, errors.New("the address has a fragment, which is never sent")
	case strings.HasSuffix(u.Host, ":"):
		return nil, errors.New("the address has a colon without a port")
	}
	if p := u.Port(); p != "" {
		n, err := strconv.ParseUint(p, 10, 16)
		if err != nil || n < 1024 && n != 443 && (n != 80 || u.Scheme != "http") {
			return nil, fmt.Errorf("the address has port %s; allowed are 443, 80 for http, and from 1024 on", p)
		}
	}
	// A literal address is known now; a name is looked up for each connection.
	if ip, err := netip.ParseAddr(u.Hostname()); err == nil {
		if err := s.allow(ip); err != nil {
			return nil, err
		}
	}
	return u, nil
}

// ParsePrivate reads the networks that endpoints may lie in although they are
// not public: prefixes with commas between them, "" for none.
func ParsePrivate(text string) ([]netip.Prefix, error) {
	var all []netip.Prefix
	for field := range strings.SplitSeq(text, ",") {
		field = strings.TrimSpace(field)
		if field == "" {
			continue
		}
		p, err := netip.ParsePrefix(field)
		if err != nil || p != p.Masked() || p.Addr().Is4In6() {
			return nil, fmt.Errorf("%q is no network such as 10.1.0.0/16", field)
		}
		all = append(all, p)
	}
	return all, nil
}

// closed are the networks that are not the public internet, by what they are
// for (the IANA registries of special-purpose addresses). Those that carry an IPv4
// address inside are closed as a whole: what they lead to depends on
// somebody else's translator.
var closed = []struct {
	prefix netip.Prefix
	what   string
}{
	{netip.MustParsePrefix("0.0.0.0/8"), "this network"},
	{netip.MustParsePrefix("10.0.0.0/8"), "private"},
	{netip.MustParsePrefix("100.64.0.0/10"), "shared by a carrier (CGNAT)"},
	{netip.MustParsePrefix("127.0.0.0/8"), "loopback"},
	{netip.MustParsePrefix("169.254.0.0/16"), "link-local"},
	{netip.MustParsePrefix("172.16.0.0/12"), "private"},
	{netip.MustParsePrefix("192.0.0.0/24"), "for protocols"},
	{netip.MustParsePrefix("192.0.2.0/24"), "for documentation"},
	{netip.MustParsePrefix("192.31.196.0/24"), "AS112"},
	{netip.MustParsePrefix("192.52.193.0/24"), "AMT"},
	{netip.MustParsePrefix("192.88.99.0/24"), "6to4 relay"},
	{netip.MustParsePrefix("192.168.0.0/16"), "private"},
	{netip.MustParsePrefix("192.175.48.0/24"), "AS112"},
	{netip.MustParsePrefix("198.18.0.0/15"), "for benchmarks"},
	{netip.MustParsePrefix("198.51.100.0/24"), "for documentation"},
	{netip.MustParsePrefix("203.0.113.0/24"), "for documentation"},
	{netip.MustParsePrefix("224.0.0.0/4"), "multicast"},
	{netip.MustParsePrefix("240.0.0.0/4"), "reserved or broadcast"},
	{netip.MustParsePrefix("2001::/23"), "for protocols (Teredo, ORCHID)"},
	{netip.MustParsePrefix("2001:db8::/32"), "for documentation"},
	{netip.MustParsePrefix("2002::/16"), "6to4"},
	{netip.MustParsePrefix("3fff::/20"), "for documentation"},
}

// global is what IANA has given out of IPv6: all else, from the unspecified
// address over NAT64, unique local, link-local and site-local to multicast, is not
// the public internet.
var global = netip.MustParsePrefix("2000::/3")

// allow refuses an address that is not on the public internet, unless the
// operator has named its network. An IPv4 address in the form of IPv6 is that
// IPv4 address.
func (s *Sender) allow(ip netip.Addr) error {
	ip = ip.Unmap()
	if ip.Zone() != "" {
		return fmt.Errorf("address %s belongs to one interface of this machine", ip)
	}
	for _, p := range s.private {
		if p.Contains(ip) {
			return nil
		}
	}
	for _, c := range closed {
		if c.prefix.Contains(ip) {
			return fmt.Errorf("address %s is not public: %s", ip, c.what)
		}
	}
	if !ip.IsValid() || ip.Is6() && !global.Contains(ip) {
		return fmt.Errorf("address %s is not public", ip)
	}
	return nil
}
