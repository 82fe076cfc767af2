package house

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"slices"
	"time"

	"fairdice/store"
)

// Principal is who asks: a tenant with the scopes of its key, or the zero
// value for the public.
type Principal struct {
	Tenant string
	Scopes []string
	Ends   time.Time // the key's last moment is before it; zero: no end is set
}

// The scopes of an API key.
const (
	ScopeSeal  = "seal"  // seal and retire sequences
	ScopeMatch = "match" // open, play and end matches
	ScopeDraw  = "draw"  // draw rolls
	ScopeRead  = "read"  // read unfinished matches
	ScopeAdmin = "admin" // everything of the tenant
)

// Scopes are all of them.
func Scopes() []string {
	return []string{ScopeSeal, ScopeMatch, ScopeDraw, ScopeRead, ScopeAdmin}
}

func (p Principal) need(scope string) error {
	if p.Tenant == "" {
		return refuse(Unauthorized, "an API key is needed")
	}
	if !slices.Contains(p.Scopes, scope) && !slices.Contains(p.Scopes, ScopeAdmin) {
		return refuse(Forbidden, "this needs an API key with the scope %s", scope)
	}
	return nil
}

// owns refuses a stranger with the words used for a match that does not
// exist, so that a foreign key learns nothing.
func (p Principal) owns(tenant, match string) error {
	if p.Tenant != tenant {
		return refuse(NotFound, "no match %s", match)
	}
	return nil
}

// AddTenant adds a platform; a name that exists is store.ErrExists.
func (h *House) AddTenant(ctx context.Context, name string) error {
	if !isToken(name) {
		return refuse(Malformed, "tenant %q is not 1 to 64 of A-Z a-z 0-9 . _ -", name)
	}
	return h.store.Update(ctx, func(tx store.Tx) error {
		return tx.AddTenant(store.Tenant{Name: name, Created: h.now()})
	})
}

// IssueKey makes an API key without an end for a tenant.
func (h *House) IssueKey(ctx context.Context, tenant, label string, scopes []string) (string, error) {
	return h.IssueKeyUntil(ctx, tenant, label, scopes, time.Time{})
}

// IssueKeyUntil makes an API key that is refused from that time on; the zero
// time is no end. The key is 192 random bits behind a readable prefix; the store
// keeps its SHA-256, so it cannot be shown again.
func (h *House) IssueKeyUntil(ctx context.Context, tenant, label string, scopes []string, expires time.Time) (string, error) {
	for _, s := range scopes {
		if !slices.Contains(Scopes(), s) {
			return "", refuse(Malformed, "unknown scope %q; the scopes are %v", s, Scopes())
		}
	}
	if len(scopes) == 0 {
		return "", refuse(Malformed, "a key needs at least one scope of %v", Scopes())
	}
	if err := h.checkExpiry(expires); err != nil {
		return "", err
	}
	key, row, err := h.newKey(tenant)
	if err != nil {
		return "", err
	}
	row.Label, row.Scopes = label, scopes
	if !expires.IsZero() {
		row.Expires = expires.UTC().Truncate(time.Second)
	}
	err = h.store.Update(ctx, func(tx store.Tx) error {
		if _, err := tx.Tenant(tenant); err != nil {
			return fmt.Errorf("find tenant %s: %w", tenant, err)
		}
		return tx.AddAPIKey(row)
	})
	if err != nil {
		return "", err
	}
	return key, nil
}

func (h *House) checkExpiry(expires time.Time) error {
	if !expires.IsZero() && !expires.After(h.now()) {
		return refuse(Malformed, "a key that expires on %s would never work", expires.Format(time.RFC3339))
	}
	return nil
}

// newKey makes a key, and the row that says whose it is.
func (h *House) newKey(tenant string) (key string, row store.APIKey, err error) {
	var raw [24]byte
	if _, err := io.ReadFull(h.random, raw[:]); err != nil {
		return "", row, fmt.Errorf("make API key: %w", err)
	}
	key = "fd_" + tenant + "_" + base64.RawURLEncoding.EncodeToString(raw[:])
	return key, store.APIKey{
		Hash: sha256.Sum256([]byte(key)), Tenant: tenant,
		Prefix: key[:len("fd_")+len(tenant)+5], Created: h.now(),
	}, nil
}

// Authenticate says whose key this is. The key is looked up by its hash, so
// the time it takes tells nothing about other keys; and only who has a key
// learns that it was revoked or has expired, for no row is found for another.
func (h *House) Authenticate(ctx context.Context, key string) (Principal, error) {
	var row store.APIKey
	err := h.store.View(ctx, func(r store.Reader) (err error) {
		row, err = r.APIKey(sha256.Sum256([]byte(key)))
		return err
	})
	now := h.now()
	switch {
	case errors.Is(err, store.ErrNotFound):
		return Principal{}, refuse(Unauthorized, "unknown API key")
	case err != nil:
		return Principal{}, fmt.Errorf("look up API key: %w", err)
	case row.Withdrawn || ended(row.Revoked, now):
		return Principal{}, refuse(Unauthorized, "the API key was revoked on %s", row.Revoked.Format(time.RFC3339))
	case ended(row.Expires, now):
		return Principal{}, refuse(Unauthorized, "the API key expired on %s", row.Expires.Format(time.RFC3339))
	}
	h.uses.note(row, now)
	return Principal{Tenant: row.Tenant, Scopes: row.Scopes, Ends: endOf(row)}, nil
}

func ended(end, now time.Time) bool { return !end.IsZero() && !now.Before(end) }

// endOf is the first of a key's two ends, zero if it has none.
func endOf(k store.APIKey) time.Time {
	if k.Revoked.IsZero() || !k.Expires.IsZero() && k.Expires.Before(k.Revoked) {
		return k.Expires
	}
	return k.Revoked
}

func isToken(s string) bool {
	if len(s) < 1 || len(s) > 64 {
		return false
	}
	for _, c := range []byte(s) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '.', c == '_', c == '-':
		default:
			return false
		}
	}
	return true
}
