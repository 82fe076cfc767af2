package house

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"fairdice/store"
)

// KeyUseEvery is how exactly the store knows when a key was last used: a draw
// waits for no write, and a crash forgets the uses of one such time.
const KeyUseEvery = time.Minute

// flushPatience is how long a house that closes waits for its last write of uses.
const flushPatience = 5 * time.Second

// keyUses are the uses of API keys that the store does not know of yet. Only
// keys that were accepted get in, so strangers cannot fill it.
type keyUses struct {
	mu    sync.Mutex
	fresh map[[32]byte]time.Time
	done  chan struct{}
}

// note takes a use that the row read just now does not show.
func (u *keyUses) note(row store.APIKey, at time.Time) {
	if !at.After(row.Used) {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	u.put(row.Hash, at)
}

func (u *keyUses) put(hash [32]byte, at time.Time) {
	if u.fresh == nil {
		u.fresh = make(map[[32]byte]time.Time)
	}
	if at.After(u.fresh[hash]) {
		u.fresh[hash] = at
	}
}

func (u *keyUses) take() map[[32]byte]time.Time {
	u.mu.Lock()
	defer u.mu.Unlock()
	taken := u.fresh
	u.fresh = nil
	return taken
}

// FlushKeyUse writes down when keys were last used; the house does so itself
// every KeyUseEvery, and when it closes.
func (h *House) FlushKeyUse(ctx context.Context) error {
	taken := h.uses.take()
	if len(taken) == 0 {
		return nil
	}
	// In one order, or two instances would wait for each other's rows.
	hashes := slices.SortedFunc(maps.Keys(taken), func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
	err := h.store.Update(ctx, func(tx store.Tx) error {
		for _, hash := range hashes {
			// A key that is gone keeps none of the others from being noted.
			if err := tx.UseAPIKey(hash, taken[hash]); err != nil && !errors.Is(err, store.ErrNotFound) {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.uses.mu.Lock()
		defer h.uses.mu.Unlock()
		for hash, at := range taken {
			h.uses.put(hash, at)
		}
		return fmt.Errorf("write uses of keys: %w", err)
	}
	return nil
}

// keepUses flushes until ctx ends, and once more.
func (h *House) keepUses(ctx context.Context) {
	defer close(h.uses.done)
	tick := time.NewTicker(KeyUseEvery)
	defer tick.Stop()
	for closing := false; !closing; {
		flush := ctx
		select {
		case <-ctx.Done():
			last, cancel := context.WithTimeout(context.WithoutCancel(ctx), flushPatience)
			defer cancel()
			flush, closing = last, true
		case <-tick.C:
		}
		if err := h.FlushKeyUse(flush); err != nil && (closing || ctx.Err() == nil) {
			h.log.Warn("uses of keys not written", "error", err)
		}
	}
}
