package house

import (
	"context"
	"fmt"
	"time"

	"fairdice/store"
)

// MaxOverlap is how long two keys may be valid that follow one another.
const MaxOverlap = 90 * 24 * time.Hour

// KeyState is what an API key is good for.
type KeyState string

// A key is valid until its end is set, ending until that has come, and then
// revoked; or it has expired before.
const (
	KeyValid   KeyState = "valid"
	KeyEnding  KeyState = "ending"
	KeyRevoked KeyState = "revoked"
	KeyExpired KeyState = "expired"
)

// Key is an API key as its owner may see it.
type Key struct {
	store.APIKey
	State KeyState
	Next  string // the prefix of the key that was issued for it in rotation
}

// Keys are the API keys of all tenants, by tenant and age. When they were last
// used is up to date if the store takes writes.
func (h *House) Keys(ctx context.Context) (keys []Key, err error) {
	if err := h.FlushKeyUse(ctx); err != nil {
		h.log.Warn("uses of keys not written", "error", err)
	}
	err = h.store.View(ctx, func(r store.Reader) error {
		keys, err = h.keys(r)
		return err
	})
	return keys, err
}

func (h *House) keys(r store.Reader) ([]Key, error) {
	var keys []Key
	tenants, err := r.Tenants()
	if err != nil {
		return nil, fmt.Errorf("list tenants: %w", err)
	}
	now := h.now()
	for _, t := range tenants {
		rows, err := r.APIKeys(t.Name)
		if err != nil {
			return nil, fmt.Errorf("list keys of %s: %w", t.Name, err)
		}
		next := make(map[[32]byte]string)
		for _, row := range rows {
			if s := stateOf(row, now); row.Replaces != ([32]byte{}) && (s == KeyValid || s == KeyEnding) {
				next[row.Replaces] = row.Prefix
			}
		}
		for _, row := range rows {
			keys = append(keys, Key{APIKey: row, State: stateOf(row, now), Next: next[row.Hash]})
		}
	}
	return keys, nil
}

func stateOf(k store.APIKey, now time.Time) KeyState {
	switch {
	case ended(k.Expires, now) && (k.Revoked.IsZero() || k.Expires.Before(k.Revoked)):
		return KeyExpired
	case k.Withdrawn || ended(k.Revoked, now):
		return KeyRevoked
	case !k.Revoked.IsZero():
		return KeyEnding
	}
	return KeyValid
}

// live are the keys with that prefix that still work.
func (h *House) live(r store.Reader, prefix string) (found []Key, err error) {
	keys, err := h.keys(r)
	for _, k := range keys {
		if k.Prefix == prefix && (k.State == KeyValid || k.State == KeyEnding) {
			found = append(found, k)
		}
	}
	return found, err
}

// RevokeKeys ends the keys with that prefix now and for good, also those whose
// end was set for later, and says how many there were.
func (h *House) RevokeKeys(ctx context.Context, prefix string) (n int, err error) {
	err = h.store.Update(ctx, func(tx store.Tx) error {
		found, err := h.live(tx, prefix)
		if err != nil {
			return err
		}
		for _, k := range found {
			if err := tx.RevokeAPIKey(k.Hash, h.now(), true); err != nil {
				return err
			}
		}
		n = len(found)
		return nil
	})
	if err == nil && n == 0 {
		err = refuse(NotFound, "no valid key begins with %q", prefix)
	}
	return n, err
}

// Rotated is a key that takes the place of another.
type Rotated struct {
	Key     string    // shown once
	Expires time.Time // its own end, zero for none
	OldEnds time.Time // when the key before it ends
}

// RotateKey issues a key with the tenant, label and scopes of the one with that
// prefix, for as long as that one was issued for, and sets the end of the old one
// after the overlap: until then both work, so that a platform changes over
// without a pause.
//
// A key has one successor at a time. Rotated again, by somebody who pressed the
// button twice, it is refused and nothing changes: else each repetition would
// leave one more key that nobody keeps. Whose new key got lost revokes that
// one, and rotates once more.
func (h *House) RotateKey(ctx context.Context, prefix string, overlap time.Duration) (Rotated, error) {
	if overlap < 0 || overlap > MaxOverlap {
		return Rotated{}, refuse(Malformed, "an overlap of %s is not 0 to %d days", overlap, MaxOverlap/(24*time.Hour))
	}
	var old Key
	err := h.store.View(ctx, func(r store.Reader) (err error) {
		old, err = h.rotatable(r, prefix)
		return err
	})
	if err != nil {
		return Rotated{}, err
	}
	key, row, err := h.newKey(old.Tenant)
	if err != nil {
		return Rotated{}, err
	}
	row.Label, row.Scopes, row.Replaces = old.Label, old.Scopes, old.Hash
	if !old.Expires.IsZero() {
		row.Expires = row.Created.Add(old.Expires.Sub(old.Created))
	}
	ends := row.Created.Add(overlap)
	if end := endOf(old.APIKey); !end.IsZero() && end.Before(ends) {
		ends = end // an overlap lengthens no life
	}
	err = h.store.Update(ctx, func(tx store.Tx) error {
		// Of two rotations at once the second one finds the first one's key: both
		// replace the row of the old one.
		if _, err := h.rotatable(tx, prefix); err != nil {
			return err
		}
		if err := tx.RevokeAPIKey(old.Hash, ends, overlap == 0); err != nil {
			return err
		}
		return tx.AddAPIKey(row)
	})
	if err != nil {
		return Rotated{}, err
	}
	return Rotated{Key: key, Expires: row.Expires, OldEnds: ends}, nil
}

// rotatable is the one key with that prefix that may be replaced.
func (h *House) rotatable(r store.Reader, prefix string) (Key, error) {
	found, err := h.live(r, prefix)
	switch {
	case err != nil:
		return Key{}, err
	case len(found) == 0:
		return Key{}, refuse(NotFound, "no valid key begins with %q", prefix)
	case len(found) > 1:
		return Key{}, refuse(OtherContent, "%d valid keys begin with %q: add a key and revoke these", len(found), prefix)
	case found[0].Next != "":
		return Key{}, refuse(OtherContent, "this key has a successor, %s…, and ends on %s; if the new key got lost, revoke it and rotate again",
			found[0].Next, found[0].Revoked.Format(time.RFC3339))
	}
	return found[0], nil
}
