package api

import (
	"net/http"
	"net/netip"
	"strings"

	"github.com/go-chi/httprate"
)

// limited holds back a flood of links before the house is asked about any:
// the link endpoints are those that write for people without a key. Requests
// that only make the processor work are held back too.
type limited struct {
	ServerInterface
	links *httprate.RateLimiter
	work  *httprate.RateLimiter
	proxy string
}

// ListOptions is limited.
func (l limited) ListOptions(w http.ResponseWriter, r *http.Request, params ListOptionsParams) {
	if !l.work.RespondOnLimit(w, r, caller(r, l.proxy)) {
		l.ServerInterface.ListOptions(w, r, params)
	}
}

// ListPlays is limited.
func (l limited) ListPlays(w http.ResponseWriter, r *http.Request) {
	if !l.work.RespondOnLimit(w, r, caller(r, l.proxy)) {
		l.ServerInterface.ListPlays(w, r)
	}
}

// VerifyFile is limited.
func (l limited) VerifyFile(w http.ResponseWriter, r *http.Request, params VerifyFileParams) {
	if !l.work.RespondOnLimit(w, r, caller(r, l.proxy)) {
		l.ServerInterface.VerifyFile(w, r, params)
	}
}

// GetStatistics is limited.
func (l limited) GetStatistics(w http.ResponseWriter, r *http.Request, params GetStatisticsParams) {
	if !l.work.RespondOnLimit(w, r, caller(r, l.proxy)) {
		l.ServerInterface.GetStatistics(w, r, params)
	}
}

// PutLink is limited.
func (l limited) PutLink(w http.ResponseWriter, r *http.Request, match MatchPath, game GamePath, segment SegmentPath, seat SeatPath, params PutLinkParams) {
	if l.links.RespondOnLimit(w, r, caller(r, l.proxy)) {
		return
	}
	l.ServerInterface.PutLink(w, r, match, game, segment, seat, params)
}

// PutThrow is limited, together with the links of cuts.
func (l limited) PutThrow(w http.ResponseWriter, r *http.Request, match MatchPath, game GamePath, segment SegmentPath, seat SeatPath, throw ThrowPath) {
	if l.links.RespondOnLimit(w, r, caller(r, l.proxy)) {
		return
	}
	l.ServerInterface.PutThrow(w, r, match, game, segment, seat, throw)
}

// caller is whom a request is counted for: the peer of the connection, or
// what the operator's own proxy has appended to its header last; what stands
// before that, anybody may have written. Of IPv6 the network counts, for one
// subscriber has 2^64 addresses.
func caller(r *http.Request, proxyHeader string) string {
	text := r.RemoteAddr
	if proxyHeader != "" {
		values := r.Header.Values(proxyHeader)
		if len(values) > 0 {
			parts := strings.Split(values[len(values)-1], ",")
			text = strings.TrimSpace(parts[len(parts)-1])
		}
	}
	address, err := netip.ParseAddr(text)
	if err != nil {
		port, err := netip.ParseAddrPort(text)
		if err != nil {
			return text
		}
		address = port.Addr()
	}
	address = address.Unmap().WithZone("")
	if address.Is6() {
		network, err := address.Prefix(64)
		if err != nil {
			return address.String()
		}
		return network.String()
	}
	return address.String()
}
