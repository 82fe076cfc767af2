package api

import (
	"context"
	"crypto/sha256"
	"net/http"
	"strings"
	"sync"
	"time"

	"fairdice/house"
)

// KeyKept is how long an accepted API key is believed without asking the
// store again: a revoked key works no longer than this. An end that was known
// when the key was accepted is kept to the second.
const KeyKept = 3 * time.Second

// maxKeys bounds the memory for keys seen lately; only keys that were
// accepted get in, so strangers cannot fill it.
const maxKeys = 10_000

// keyring remembers lately accepted API keys by their hash, so that a draw
// costs no look-up and a memory dump shows no key.
type keyring struct {
	mu    sync.RWMutex
	known map[[sha256.Size]byte]accepted
	now   func() time.Time
}

// accepted is believed from since on and before until: a clock that is set back
// must not make it last longer.
type accepted struct {
	principal    house.Principal
	since, until time.Time
}

func newKeyring(now func() time.Time) *keyring {
	return &keyring{known: make(map[[sha256.Size]byte]accepted), now: now}
}

func (k *keyring) principal(ctx context.Context, h *house.House, key string) (house.Principal, error) {
	hash := sha256.Sum256([]byte(key))
	now := k.now()
	k.mu.RLock()
	a, ok := k.known[hash]
	k.mu.RUnlock()
	if ok && !now.Before(a.since) && now.Before(a.until) {
		return a.principal, nil
	}
	p, err := h.Authenticate(ctx, key)
	k.mu.Lock()
	defer k.mu.Unlock()
	if err != nil {
		delete(k.known, hash)
		return house.Principal{}, err
	}
	if len(k.known) >= maxKeys {
		clear(k.known)
	}
	until := now.Add(KeyKept)
	if !p.Ends.IsZero() && p.Ends.Before(until) {
		until = p.Ends
	}
	k.known[hash] = accepted{principal: p, since: now, until: until}
	return p, nil
}

type principalKey struct{}

// who is the caller: zero for the public.
func who(ctx context.Context) house.Principal {
	p, _ := ctx.Value(principalKey{}).(house.Principal)
	return p
}

// authenticate checks the API key of a request that brings one. A key that is
// wrong is refused even where none is needed: its owner wants to know.
func (s *server) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := r.Header.Get("Authorization")
		if header == "" {
			next.ServeHTTP(w, r)
			return
		}
		// Of two, another reader before the service may have checked the other.
		scheme, key, ok := strings.Cut(header, " ")
		if !ok || !strings.EqualFold(scheme, "Bearer") || len(r.Header.Values("Authorization")) > 1 {
			s.problem(w, r, refuse(house.Unauthorized, "the Authorization header is not of the form Bearer KEY"))
			return
		}
		p, err := s.keys.principal(r.Context(), s.house, strings.TrimSpace(key))
		if err != nil {
			s.problem(w, r, err)
			return
		}
		next.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), principalKey{}, p)))
	})
}
