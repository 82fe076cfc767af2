package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"fairdice/store"
)

func addTenant(name string) func(store.Tx) error {
	return func(tx store.Tx) error { return tx.AddTenant(store.Tenant{Name: name}) }
}

func tenants(t *testing.T, s store.Store) (names []string) {
	t.Helper()
	err := s.View(context.Background(), func(r store.Reader) error {
		names = nil
		list, err := r.Tenants()
		for _, v := range list {
			names = append(names, v.Name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func want(t *testing.T, got []string, want ...string) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// hold keeps the writer busy inside an Update; release lets it run fn and go.
func hold(s store.Store, fn func(store.Tx) error) (release func() error) {
	inside, leave, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- s.Update(context.Background(), func(tx store.Tx) error {
			close(inside)
			<-leave
			return fn(tx)
		})
	}()
	<-inside
	return func() error {
		close(leave)
		return <-done
	}
}

// queued waits until n requests wait for the writer.
func queued(s store.Store, n int) {
	for len(s.(*database).writer.queue) < n {
		runtime.Gosched()
	}
}

// group runs updates so that they share one transaction.
func group(s store.Store, fns ...func(store.Tx) error) []error {
	errs := make([]error, len(fns))
	release := hold(s, fns[0])
	var wg sync.WaitGroup
	for i := 1; i < len(fns); i++ {
		wg.Go(func() { errs[i] = s.Update(context.Background(), fns[i]) })
		queued(s, i)
	}
	errs[0] = release()
	wg.Wait()
	return errs
}

func TestCancelInQueue(t *testing.T) {
	s, _ := openTest(t, Options{})
	release := hold(s, addTenant("held"))
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan error)
	go func() {
		done <- s.Update(ctx, func(store.Tx) error {
			t.Error("an update that was cancelled in the queue was run")
			return nil
		})
	}()
	queued(s, 1)
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
	if err := release(); err != nil {
		t.Error(err)
	}
	want(t, tenants(t, s), "held")
}

// TestCancelWhileRunning: once its function runs, the caller hears what came of it.
func TestCancelWhileRunning(t *testing.T) {
	s, _ := openTest(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	err := s.Update(ctx, func(tx store.Tx) error {
		cancel()
		return addTenant("a")(tx)
	})
	if err != nil {
		t.Errorf("update: %v", err)
	}
	want(t, tenants(t, s), "a")
}

func TestGroupOfMany(t *testing.T) {
	s, _ := openTest(t, Options{})
	var fns []func(store.Tx) error
	for i := range MaxGroup {
		fns = append(fns, addTenant(fmt.Sprintf("%03d", i)))
	}
	for i, err := range group(s, fns...) {
		if err != nil {
			t.Errorf("update %d: %v", i, err)
		}
	}
	if n := len(tenants(t, s)); n != MaxGroup {
		t.Errorf("%d updates are there, want %d", n, MaxGroup)
	}
}

// TestDiskFull: SQLite rolls the whole transaction back by itself when it has
// no room. The function that met the error goes on as if nothing had
// happened; what it writes then must not be committed by itself.
func TestDiskFull(t *testing.T) {
	s, _ := openTest(t, Options{maxPages: 60})
	big := strings.Repeat("x", 100*4096)
	errs := group(s,
		addTenant("before"),
		func(tx store.Tx) error {
			if err := tx.AddTenant(store.Tenant{Name: big}); err == nil {
				t.Error("the disk is not full")
			}
			if err := addTenant("inside")(tx); err == nil {
				t.Error("a statement ran outside the transaction")
			}
			return nil
		},
		addTenant("later"))
	if errs[0] == nil || errs[1] == nil {
		t.Errorf("updates of a transaction that was lost: %v", errs)
	}
	if errs[2] != nil {
		t.Errorf("the next transaction: %v", errs[2])
	}
	want(t, tenants(t, s), "later")
}

// TestCommitFails: nobody of the group is told that it is there, and the next
// group is not affected.
func TestCommitFails(t *testing.T) {
	s, _ := openTest(t, Options{})
	err := s.(*database).writer.conn.once(`PRAGMA foreign_keys = ON;
		CREATE TABLE parent (id INTEGER PRIMARY KEY);
		CREATE TABLE child (parent INTEGER REFERENCES parent DEFERRABLE INITIALLY DEFERRED)`)
	if err != nil {
		t.Fatal(err)
	}
	cause := errors.New("refused")
	errs := group(s,
		addTenant("before"),
		func(store.Tx) error { return cause },
		func(v store.Tx) error {
			_, err := v.(*tx).conn.exec("INSERT INTO child VALUES (7)")
			return err
		},
		addTenant("after"))
	for i, err := range errs {
		if err == nil || errors.Is(err, store.ErrUncertain) || errors.Is(err, cause) {
			t.Errorf("update %d of a commit that failed: %v", i, err)
		}
	}
	want(t, tenants(t, s))
	if err := s.Update(context.Background(), addTenant("next")); err != nil {
		t.Fatal(err)
	}
	want(t, tenants(t, s), "next")
}

// TestWALIsBounded writes many times what the WAL may hold, while views come
// and go.
func TestWALIsBounded(t *testing.T) {
	s, path := openTest(t, Options{checkpointPages: 100})
	text := strings.Repeat("x", 3000)
	largest := int64(0)
	for i := range 1500 {
		err := s.Update(context.Background(), func(tx store.Tx) error {
			return tx.AddEvents("m", 1, i+1, []string{text})
		})
		if err != nil {
			t.Fatal(err)
		}
		if i%10 == 0 {
			tenants(t, s)
			info, err := os.Stat(path + "-wal")
			if err != nil {
				t.Fatal(err)
			}
			largest = max(largest, info.Size())
		}
	}
	// Never larger than it may be, and not copied after every commit either.
	const page = 4096 + 24
	if largest < 100*page || largest > 200*page {
		t.Errorf("the WAL grew to %d bytes, want %d to %d", largest, 100*page, 200*page)
	}
}
