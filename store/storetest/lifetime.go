package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"fairdice/store"
)

func testEndedContext(t *testing.T, s store.Store) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var ran atomic.Bool
	if err := s.Update(ctx, func(store.Tx) error { ran.Store(true); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("update: got error %v, want %v", err, context.Canceled)
	}
	if err := s.View(ctx, func(store.Reader) error { ran.Store(true); return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("view: got error %v, want %v", err, context.Canceled)
	}
	if ran.Load() {
		t.Error("a function was run for a context that had ended")
	}
}

// testCancelledUpdates: whatever the moment its context ends, an Update that
// returns nil is there and one that returns an error is not.
func testCancelledUpdates(t *testing.T, s store.Store) {
	const n = 64
	var outcome [n]error
	together(n, func(i int) {
		ctx, cancel := context.WithTimeout(context.Background(), time.Duration(i)*50*time.Microsecond)
		defer cancel()
		outcome[i] = s.Update(ctx, func(tx store.Tx) error {
			if err := tx.AddMatch(match(fmt.Sprint(i))); err != nil {
				return err
			}
			if i%2 == 0 {
				cancel()
			}
			return nil
		})
	})
	for i, err := range outcome {
		read := func(r store.Reader) (store.Match, error) { return r.Match(fmt.Sprint(i)) }
		if err == nil {
			same(t, get(t, s, read), match(fmt.Sprint(i)))
			continue
		}
		if !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("update %d: %v", i, err)
		}
		missing(t, s, read)
	}
}

func testClose(t *testing.T, s store.Store) {
	update(t, s, func(tx store.Tx) error { return tx.AddMatch(match("m")) })
	if err := s.Close(); err != nil {
		t.Fatalf("close: %v", err)
	}
	if s.Update(context.Background(), func(store.Tx) error { return nil }) == nil {
		t.Error("Update of a closed store succeeded")
	}
	if s.View(context.Background(), func(store.Reader) error { return nil }) == nil {
		t.Error("View of a closed store succeeded")
	}
	if err := s.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

func testCloseWaits(t *testing.T, s store.Store) {
	inside, leave := make(chan struct{}, 2), make(chan struct{})
	done := make(chan error, 2)
	go func() {
		done <- s.Update(context.Background(), func(tx store.Tx) error {
			inside <- struct{}{}
			<-leave
			return tx.AddMatch(match("m"))
		})
	}()
	go func() {
		done <- s.View(context.Background(), func(r store.Reader) error {
			inside <- struct{}{}
			<-leave
			_, err := r.Tenants()
			return err
		})
	}()
	<-inside
	<-inside
	closed := make(chan error, 1)
	go func() { closed <- s.Close() }()
	select {
	case <-closed:
		t.Error("Close did not wait for running transactions")
	case <-time.After(30 * time.Millisecond):
	}
	close(leave)
	for range 2 {
		if err := <-done; err != nil {
			t.Errorf("a transaction running at Close: %v", err)
		}
	}
	if err := <-closed; err != nil {
		t.Errorf("close: %v", err)
	}
}

// testReopen: what was acknowledged is there after each of several restarts,
// and what was refused is not.
func testReopen(t *testing.T, open func() store.Store) {
	cause := errors.New("refused")
	const rounds = 3
	for round := range rounds {
		s := open()
		for i := range round {
			same(t, get(t, s, func(r store.Reader) (store.Game, error) { return r.Game(fmt.Sprint("m", i), 1) }),
				game(fmt.Sprint("m", i), 1))
			missing(t, s, func(r store.Reader) (store.Match, error) { return r.Match(fmt.Sprint("refused", i)) })
			refused(t, s, store.ErrExists, func(tx store.Tx) error { return tx.Spend(hash("m%d", i)) })
		}
		if head := get(t, s, store.Reader.LogHead); head.Size != int64(round) {
			t.Errorf("round %d: the log has %d entries", round, head.Size)
		}
		update(t, s, func(tx store.Tx) error { return spoil(tx, fmt.Sprint("m", round)) })
		refused(t, s, cause, func(tx store.Tx) error {
			if err := spoil(tx, fmt.Sprint("refused", round)); err != nil {
				return err
			}
			return cause
		})
		if err := s.Close(); err != nil {
			t.Fatalf("close: %v", err)
		}
	}
}
