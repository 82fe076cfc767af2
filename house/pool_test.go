package house_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/store"
)

// free waits until the pool of a tenant and mode has at least that many free
// sequences, and answers how many there are. It gives up after a while, for a
// pool that nobody fills.
func (b *bench) free(tenant string, mode commitment.Mode, least int) (n int) {
	b.t.Helper()
	for range 400 {
		if err := b.config.Store.View(b.ctx(), func(r store.Reader) error {
			pool, err := r.Pool(tenant, mode.String())
			n = pool.Free
			return err
		}); err != nil {
			b.t.Fatal(err)
		}
		if n >= least {
			break
		}
		time.Sleep(5 * time.Millisecond)
	}
	return n
}

// A tenant that was added while the house runs gets its sequences in time,
// though nobody sealed any for it: the first assign is refused for a moment and
// has the pool filled, and no later one waits.
func TestPoolOfNewTenant(t *testing.T) {
	b := newBench(t, func(c *house.Config) { c.Pool = house.PoolMarks{Low: 3, Full: 5} })
	if err := b.AddTenant(b.ctx(), "late"); err != nil {
		t.Fatal(err)
	}
	b.p = house.Principal{Tenant: "late", Scopes: house.Scopes()}
	for _, mode := range []commitment.Mode{commitment.Random, commitment.Balanced} {
		open := func() *match {
			return b.open("short", single, nil, nil, func(r *house.OpenRequest) { r.Mode = mode.String() })
		}
		m := open()
		_, err := b.NextGame(b.ctx(), b.p, m.id, 1, 0)
		var refused *house.Error
		if !errors.As(err, &refused) || refused.Code != house.PoolEmpty || refused.RetryAfter <= 0 {
			t.Fatalf("a dry pool of mode %s: %v", mode, err)
		}
		if n := b.free("late", mode, 5); n != 5 {
			t.Fatalf("the pool of mode %s has %d, want 5", mode, n)
		}
		for range 7 { // more than the pool has room for
			if _, err := b.NextGame(b.ctx(), b.p, m.id, 1, 0); err != nil {
				t.Fatal(err)
			}
			assigned := 0
			if err := b.config.Store.View(b.ctx(), func(r store.Reader) error {
				segments, err := r.Segments(m.id, 1)
				for _, s := range segments {
					q, err := r.Sequence(s.Sequence)
					if err != nil || q.Mode != mode.String() || q.Tenant != "late" {
						return fmt.Errorf("a match of mode %s was dealt one of mode %s: %w", mode, q.Mode, err)
					}
					assigned++
				}
				return err
			}); err != nil || assigned != 1 {
				t.Fatal(assigned, err)
			}
			if n := b.free("late", mode, 3); n < 3 {
				t.Fatalf("%d sequences of mode %s are left, and nobody seals more", n, mode)
			}
			m = open()
		}
	}
}

// A pool that nobody can fill stays dry: a match of recorded dice waits for
// throws, and never gets dice of another kind.
func TestPoolOfThrows(t *testing.T) {
	b := newBench(t, func(c *house.Config) { c.Pool = house.PoolMarks{Low: 3, Full: 5} })
	m := b.open("short", single, nil, nil, func(r *house.OpenRequest) { r.Mode = "real" })
	for range 3 {
		_, err := b.NextGame(b.ctx(), b.p, m.id, 1, 0)
		if house.CodeOf(err) != house.PoolEmpty || !strings.Contains(err.Error(), "imported") {
			t.Fatalf("without throws: %v", err)
		}
	}
	v, err := b.Match(b.ctx(), m.id)
	if err != nil || len(v.Games) != 0 {
		t.Errorf("there are games: %+v, %v", v.Games, err)
	}
	if n := b.free("default", commitment.Random, 4); n != 4 {
		t.Errorf("%d sequences of mode random are left of 4", n)
	}
}

// What is retired because it got too old is sealed anew.
func TestPoolAfterSweep(t *testing.T) {
	c := &clock{now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
	b := newBench(t, func(cfg *house.Config) { cfg.Now, cfg.Pool = c.Now, house.PoolMarks{Low: 3, Full: 5} })
	c.set(c.Now().Add(house.FreeLimit - time.Hour))
	done, err := b.Sweep(b.ctx())
	if err != nil || done.Retired != 4*len(house.Sealable()) {
		t.Fatalf("swept %+v, %v", done, err)
	}
	for _, mode := range house.Sealable() {
		m, err := commitment.ParseMode(mode)
		if err != nil {
			t.Fatal(err)
		}
		if n := b.free("default", m, 5); n != 5 {
			t.Errorf("the pool of mode %s has %d, want 5", mode, n)
		}
	}
}
