package storetest

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"

	"fairdice/store"
)

func testTallies(t *testing.T, s store.Store) {
	read := func(r store.Reader) (store.Tally, error) { return r.Tally("club", "random") }
	missing(t, s, read)
	set := func(v store.Tally) {
		update(t, s, func(tx store.Tx) error {
			if _, err := tx.LockLog(); err != nil {
				return err
			}
			return tx.SetTally(v)
		})
	}
	one := store.Tally{Tenant: "club", Mode: "random", Sums: []byte("one")}
	set(one)
	same(t, get(t, s, read), one)
	for _, v := range []store.Tally{{Tenant: "club", Mode: "live", Sums: []byte("x")}, {Tenant: "Club", Mode: "random"}} {
		set(v)
	}
	one.Sums = []byte("two")
	set(one)
	same(t, get(t, s, store.Reader.Tallies), []store.Tally{
		{Tenant: "Club", Mode: "random"}, {Tenant: "club", Mode: "live", Sums: []byte("x")}, one,
	})
	same(t, get(t, s, store.Reader.Counts), store.Counts{Tallies: 3})

	refused(t, s, context.Canceled, func(tx store.Tx) error { // rolled back
		if _, err := tx.LockLog(); err != nil {
			return err
		}
		if err := errors.Join(tx.SetTally(store.Tally{Tenant: "club", Mode: "random"}), tx.SetCounting(store.Counting{Done: 1, Until: 2})); err != nil {
			return err
		}
		return context.Canceled
	})
	same(t, get(t, s, read), one)
	same(t, get(t, s, store.Reader.Counting), store.Counting{})
	want := store.Counting{Done: 3, Until: 1 << 40}
	update(t, s, func(tx store.Tx) error {
		if _, err := tx.LockLog(); err != nil {
			return err
		}
		return tx.SetCounting(want)
	})
	same(t, get(t, s, store.Reader.Counting), want)
}

// testTallyRace: of many who add to one tally under the lock of the log every one counts.
func testTallyRace(t *testing.T, s store.Store) {
	const workers, each = 8, 10
	var all sync.WaitGroup
	errs := make([]error, workers)
	for i := range workers {
		all.Go(func() {
			for range each {
				errs[i] = errors.Join(errs[i], s.Update(context.Background(), func(tx store.Tx) error {
					if _, err := tx.LockLog(); err != nil {
						return err
					}
					v, err := tx.Tally("club", "random")
					if errors.Is(err, store.ErrNotFound) {
						v = store.Tally{Tenant: "club", Mode: "random", Sums: []byte("0")}
					} else if err != nil {
						return err
					}
					n, err := strconv.Atoi(string(v.Sums))
					if err != nil {
						return err
					}
					v.Sums = []byte(strconv.Itoa(n + 1))
					return tx.SetTally(v)
				}))
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	got := get(t, s, func(r store.Reader) (store.Tally, error) { return r.Tally("club", "random") })
	same(t, string(got.Sums), strconv.Itoa(workers*each))
}
