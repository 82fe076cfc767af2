package storetest

import (
	"sync"
	"testing"
	"time"

	"fairdice/store"
)

func take(t *testing.T, s store.Store, holder string, d time.Duration) (l store.Lease) {
	t.Helper()
	update(t, s, func(tx store.Tx) (err error) {
		l, err = tx.TakeLease("signer", holder, d)
		return err
	})
	return l
}

func testLease(t *testing.T, s store.Store) {
	read := func(r store.Reader) (store.Lease, error) { return r.Lease("signer") }
	held := func(holder string, epoch int64, atLeast, atMost time.Duration) {
		t.Helper()
		l := get(t, s, read)
		if l.Left < atLeast || l.Left > atMost {
			t.Errorf("the lease runs for %v, want %v to %v", l.Left, atLeast, atMost)
		}
		l.Left = 0
		same(t, l, store.Lease{Name: "signer", Holder: holder, Epoch: epoch})
	}
	missing(t, s, read)
	refused(t, s, store.ErrConflict, func(tx store.Tx) error { return tx.Fence("signer", 0) })

	if l := take(t, s, "a", time.Hour); l.Holder != "a" || l.Epoch != 1 || l.Left < 59*time.Minute {
		t.Errorf("took the lease %+v", l)
	}
	held("a", 1, 59*time.Minute, time.Hour)
	refused(t, s, store.ErrConflict, func(tx store.Tx) error {
		_, err := tx.TakeLease("signer", "b", time.Hour)
		return err
	})
	held("a", 1, 59*time.Minute, time.Hour)
	take(t, s, "a", 2*time.Hour) // longer
	held("a", 1, 119*time.Minute, 2*time.Hour)
	update(t, s, func(tx store.Tx) error { return tx.Fence("signer", 1) })
	update(t, s, func(tx store.Tx) error {
		l, err := tx.TakeLease("another", "b", time.Hour)
		same(t, l.Epoch, int64(1))
		return err
	})

	take(t, s, "a", 0) // given up, but nobody has taken it
	update(t, s, func(tx store.Tx) error { return tx.Fence("signer", 1) })
	if l := take(t, s, "b", 20*time.Millisecond); l.Epoch != 2 {
		t.Errorf("the next holder has epoch %d, want 2", l.Epoch)
	}
	refused(t, s, store.ErrConflict, func(tx store.Tx) error { return tx.Fence("signer", 1) })
	time.Sleep(25 * time.Millisecond)
	if l := get(t, s, read); l.Left > 0 {
		t.Errorf("a lease of 20 ms runs for another %v", l.Left)
	}
	if l := take(t, s, "b", time.Hour); l.Epoch != 2 {
		t.Errorf("who takes his own lease again has epoch %d, want 2", l.Epoch)
	}
}

// testLeaseRace: of many who take a free lease one gets it, and what the
// holder before writes behind a fence is not there.
func testLeaseRace(t *testing.T, s store.Store) {
	take(t, s, "a", 0)
	race(t, s, store.ErrConflict, func(tx store.Tx, i int) error {
		_, err := tx.TakeLease("signer", string(rune('b'+i)), time.Hour)
		return err
	})

	// Each holder writes as long as it can, and is followed by the next.
	const holders = 6
	take(t, s, get(t, s, func(r store.Reader) (store.Lease, error) { return r.Lease("signer") }).Holder, 0)
	var mu sync.Mutex
	latest := int64(0)
	update(t, s, func(tx store.Tx) error { return tx.AddMatch(match("m")) })
	together(holders, func(i int) {
		holder := string(rune('A' + i))
		for written := 0; written < 3; {
			var l store.Lease
			err := s.Update(t.Context(), func(tx store.Tx) (err error) {
				l, err = tx.TakeLease("signer", holder, 0)
				return err
			})
			if err != nil {
				t.Error(err)
				return
			}
			err = s.Update(t.Context(), func(tx store.Tx) error {
				if err := tx.Fence("signer", l.Epoch); err != nil {
					return err
				}
				m, err := tx.Match("m")
				if err != nil {
					return err
				}
				if int64(m.Games) > l.Epoch {
					t.Errorf("epoch %d writes after epoch %d", l.Epoch, m.Games)
				}
				m.Games = int(l.Epoch)
				return tx.ReplaceMatch(m)
			})
			if err == nil {
				written++
				mu.Lock()
				latest = max(latest, l.Epoch)
				mu.Unlock()
			}
		}
	})
	if m := get(t, s, func(r store.Reader) (store.Match, error) { return r.Match("m") }); int64(m.Games) != latest {
		t.Errorf("the last write is of epoch %d, want %d", m.Games, latest)
	}
}
