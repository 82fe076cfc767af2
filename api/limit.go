package api

import (
	"hash/maphash"
	"net/http"
	"strings"
	"sync"
)

// limited holds back a flood of links before the house is asked about any:
// the link endpoints are those that write for people without a key. Requests
// that only make the processor work are held back too.
type limited struct {
	ServerInterface
	server *server
}

// worked counts a request that makes the processor work.
func (l limited) worked(w http.ResponseWriter, r *http.Request) bool {
	err := l.server.work.take(w, r, l.server.proxies.caller(r))
	if err != nil {
		l.server.problem(w, r, err)
	}
	return err == nil
}

// ListOptions is limited.
func (l limited) ListOptions(w http.ResponseWriter, r *http.Request, params ListOptionsParams) {
	if l.worked(w, r) {
		l.ServerInterface.ListOptions(w, r, params)
	}
}

// ListPlays is limited.
func (l limited) ListPlays(w http.ResponseWriter, r *http.Request) {
	if l.worked(w, r) {
		l.ServerInterface.ListPlays(w, r)
	}
}

// VerifyFile is limited.
func (l limited) VerifyFile(w http.ResponseWriter, r *http.Request, params VerifyFileParams) {
	if l.worked(w, r) {
		l.ServerInterface.VerifyFile(w, r.WithContext(withUploader(r.Context(), l.server.proxies.caller(r))), params)
	}
}

// GetStatistics is limited.
func (l limited) GetStatistics(w http.ResponseWriter, r *http.Request, params GetStatisticsParams) {
	if l.worked(w, r) {
		l.ServerInterface.GetStatistics(w, r, params)
	}
}

// PutLink is limited.
func (l limited) PutLink(w http.ResponseWriter, r *http.Request, match MatchPath, game GamePath, segment SegmentPath, seat SeatPath, params PutLinkParams) {
	if err := l.server.links.take(w, r, l.server.proxies.caller(r)); err != nil {
		l.server.problem(w, r, err)
		return
	}
	l.ServerInterface.PutLink(w, r, match, game, segment, seat, params)
}

// PutThrow is limited, together with the links of cuts.
func (l limited) PutThrow(w http.ResponseWriter, r *http.Request, match MatchPath, game GamePath, segment SegmentPath, seat SeatPath, throw ThrowPath) {
	if err := l.server.links.take(w, r, l.server.proxies.caller(r)); err != nil {
		l.server.problem(w, r, err)
		return
	}
	l.ServerInterface.PutThrow(w, r, match, game, segment, seat, throw)
}

// limit counts requests with a key by the key, and reads without one by the
// address. Whoever probes the service's health is not counted.
func (s *server) limit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var err error
		switch reads := r.Method == http.MethodGet || r.Method == http.MethodHead; {
		case who(r.Context()).Tenant != "":
			shown := r.Header.Get("Authorization")
			s.welcome.add(s.proxies.caller(r), shown)
			if s.perKey != nil {
				// By the key alone: "bearer  KEY" is no second caller.
				_, key, _ := strings.Cut(shown, " ")
				err = s.perKey.take(w, r, strings.TrimSpace(key))
			}
		case reads && r.URL.Path != "/healthz" && r.URL.Path != "/readyz":
			err = s.reads.take(w, r, s.proxies.caller(r))
		}
		if err != nil {
			s.problem(w, r, err)
			return
		}
		next.ServeHTTP(w, r)
	})
}

// credentials are what a request shows to be let in, "" if nothing.
func credentials(r *http.Request) string {
	for _, c := range []string{r.Header.Get("Authorization"), r.Header.Get("X-View-Token"), r.URL.Query().Get("view")} {
		if c != "" {
			return c
		}
	}
	return ""
}

// guesses lets in nobody from an address that has tried too many wrong keys
// and view tokens, but for the keys that were accepted from there lately: a
// guesser behind the same router, or behind a proxy that the operator has not
// named, must not shut out a platform.
func (s *server) guesses(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		shown := credentials(r)
		if from := s.proxies.caller(r); shown != "" && !s.welcome.has(from, shown) {
			if err := s.failures.spent(w, from); err != nil {
				s.problem(w, r, err)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// failed counts a request whose key or token was refused.
func (s *server) failed(r *http.Request) {
	if shown := credentials(r); shown != "" {
		from := s.proxies.caller(r)
		s.welcome.drop(from, shown)
		s.failures.count(from)
	}
}

// welcome remembers, by their hashes, which keys were accepted from where.
type welcome struct {
	seed  maphash.Seed
	mu    sync.RWMutex
	known map[uint64]struct{}
}

func newWelcome() *welcome {
	return &welcome{seed: maphash.MakeSeed(), known: make(map[uint64]struct{})}
}

func (v *welcome) hash(from, shown string) uint64 { return maphash.String(v.seed, from+"\n"+shown) }

func (v *welcome) has(from, shown string) bool {
	v.mu.RLock()
	defer v.mu.RUnlock()
	_, ok := v.known[v.hash(from, shown)]
	return ok
}

func (v *welcome) add(from, shown string) {
	if v.has(from, shown) {
		return
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	if len(v.known) >= maxKeys {
		clear(v.known)
	}
	v.known[v.hash(from, shown)] = struct{}{}
}

func (v *welcome) drop(from, shown string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.known, v.hash(from, shown))
}
