package api

import (
	"net/http"
	"net/netip"
	"slices"
	"strings"
)

// proxies are what stands between callers and the service. Limits are by
// address, so whoever could choose his own would have none: a header says whom
// a request came from only where a trusted proxy has written it.
type proxies struct {
	header  string // to which each appends its peer's address; "": there are none
	trusted []netip.Prefix
}

// caller is whom a request is counted for: the peer of the connection, or, if
// that is a trusted proxy, the last address in its header that is not itself one.
// What stands before that anybody may have written. Of IPv6 the network
// counts, for one subscriber has 2^64 addresses.
func (p proxies) caller(r *http.Request) string {
	at, ok := readAddress(r.RemoteAddr)
	if !ok {
		return r.RemoteAddr
	}
	if p.header != "" {
		hops := strings.Split(strings.Join(r.Header.Values(p.header), ","), ",")
		for _, hop := range slices.Backward(hops) {
			if !p.trusts(at) {
				break
			}
			next, ok := readAddress(strings.TrimSpace(hop))
			if !ok { // not written by a proxy that does as it is told
				break
			}
			at = next
		}
	}
	if at.Is6() {
		network, err := at.Prefix(64)
		if err == nil {
			return network.String()
		}
	}
	return at.String()
}

func (p proxies) trusts(a netip.Addr) bool {
	return slices.ContainsFunc(p.trusted, func(n netip.Prefix) bool { return n.Contains(a) })
}

// readAddress reads an address with or without a port, as peers and proxies have it.
func readAddress(text string) (netip.Addr, bool) {
	a, err := netip.ParseAddr(strings.Trim(text, "[]"))
	if err != nil {
		with, err := netip.ParseAddrPort(text)
		if err != nil {
			return netip.Addr{}, false
		}
		a = with.Addr()
	}
	return a.Unmap().WithZone(""), true
}
