//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairdice/store"
	"fairdice/store/postgres/pgtest"

	"github.com/jackc/pgx/v5/pgconn"
)

// TestRetries: whatever the server says of a lost race, and wherever it says
// it, the function runs again until it has not lost.
func TestRetries(t *testing.T) {
	db := openTest(t, pgtest.Database(t), Options{Connections: 2})
	for n, code := range []string{serializationFailure, deadlockDetected, lockNotAvailable, uniqueViolation} {
		for _, at := range []string{"BEGIN ISOLATION LEVEL REPEATABLE READ", "SELECT name, created FROM tenants ORDER BY name", "COMMIT"} {
			t.Run(code+" at "+at, func(t *testing.T) {
				left, runs := 5, 0
				db.inject = func(_ *conn, sql string) error {
					if sql != at || left == 0 {
						return nil
					}
					left--
					return &pgconn.PgError{Code: code, Message: "injected"}
				}
				name := fmt.Sprint(n, at)
				err := db.Update(context.Background(), func(tx store.Tx) error {
					runs++
					if err := tx.AddTenant(store.Tenant{Name: name}); err != nil {
						return err
					}
					_, err := tx.Tenants() // so that something is sent before COMMIT
					return err
				})
				db.inject = nil
				if err != nil || runs != 6 {
					t.Errorf("error %v after %d runs, want none after 6", err, runs)
				}
				if !slices.Contains(tenants(t, db), name) {
					t.Error("what was acknowledged is not there")
				}
			})
		}
	}
	t.Run("another error", func(t *testing.T) {
		runs := 0
		err := db.Update(context.Background(), func(tx store.Tx) error {
			runs++
			if err := tx.AddTenant(store.Tenant{Name: "not UTF-8: \xff"}); err != nil {
				t.Error(err)
			}
			tx.Tenants() // fails, and is ignored here
			return nil
		})
		if err == nil || runs != 1 {
			t.Errorf("error %v after %d runs, want that of the server after one", err, runs)
		}
	})
	t.Run("no space", func(t *testing.T) {
		db.inject = func(*conn, string) error { return &pgconn.PgError{Code: "53100", Message: "could not extend file"} }
		defer func() { db.inject = nil }()
		if err := db.Update(context.Background(), addTenant("x")); !errors.Is(err, store.ErrStorage) {
			t.Errorf("got error %v, want %v", err, store.ErrStorage)
		}
	})
	t.Run("end of the context", func(t *testing.T) {
		ctx, cancel := context.WithCancel(context.Background())
		db.inject = func(*conn, string) error {
			cancel()
			return &pgconn.PgError{Code: serializationFailure}
		}
		defer func() { db.inject = nil }()
		if err := db.Update(ctx, addTenant("x")); !errors.Is(err, context.Canceled) {
			t.Errorf("got error %v, want %v", err, context.Canceled)
		}
	})
}

// TestConnectionBreaks: whoever reads while the server dies learns that the
// storage failed, although nobody was left to send a code; whoever writes is
// run again.
func TestConnectionBreaks(t *testing.T) {
	db := openTest(t, pgtest.Database(t), Options{Connections: 1})
	statements, left := 0, 0
	db.inject = func(c *conn, _ string) error {
		if statements++; statements%3 == 0 && left > 0 { // BEGIN, the first one, the second
			left--
			c.pg.Conn().Close()
		}
		return nil
	}
	twice := func(r store.Reader) error {
		_, err := r.Tenants()
		if err == nil {
			_, err = r.LogHead()
		}
		return err
	}
	left = 1
	if err := db.View(context.Background(), twice); !errors.Is(err, store.ErrStorage) || left != 0 {
		t.Errorf("a view was answered %v, want %v", err, store.ErrStorage)
	}
	statements, left = 0, 1
	if err := db.Update(context.Background(), func(tx store.Tx) error { return twice(tx) }); err != nil || left != 0 {
		t.Errorf("an update was answered %v", err)
	}
}

// TestDeadlock: two updates that replace two rows in opposite order both succeed.
func TestDeadlock(t *testing.T) {
	db := openTest(t, pgtest.Database(t), Options{Connections: 4})
	if err := db.Update(context.Background(), func(tx store.Tx) error {
		return errors.Join(tx.AddMatch(store.Match{ID: "0"}), tx.AddMatch(store.Match{ID: "1"}))
	}); err != nil {
		t.Fatal(err)
	}
	var both, wg sync.WaitGroup
	both.Add(2)
	var runs atomic.Int64
	for first := range 2 {
		wg.Go(func() {
			met := false
			err := db.Update(context.Background(), func(tx store.Tx) error {
				runs.Add(1)
				for i := range 2 {
					m, err := tx.Match(fmt.Sprint((first + i) % 2))
					if err != nil {
						return err
					}
					m.Games++
					if err := tx.ReplaceMatch(m); err != nil {
						return err
					}
					if _, err := tx.Tenants(); err != nil { // sends the write, and so locks the row
						return err
					}
					if !met {
						met = true
						both.Done()
						both.Wait()
					}
				}
				return nil
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	for _, id := range []string{"0", "1"} {
		err := db.View(context.Background(), func(r store.Reader) error {
			m, err := r.Match(id)
			if err == nil && m.Games != 2 {
				t.Errorf("match %s was replaced %d times", id, m.Games)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
	if runs.Load() < 3 {
		t.Errorf("%d runs: there was no deadlock", runs.Load())
	}
}

// TestUncertain: a connection lost around COMMIT is the one case in which the
// caller learns that nobody knows.
func TestUncertain(t *testing.T) {
	db := openTest(t, pgtest.Database(t), Options{Connections: 1})
	for _, committed := range []bool{false, true} {
		name := fmt.Sprintf("committed %v", committed)
		runs := 0
		db.inject = func(c *conn, sql string) error {
			if sql != commit {
				return nil
			}
			if committed {
				if err := c.script(commit); err != nil {
					t.Error(err)
				}
			}
			c.pg.Conn().Close()
			_, err := c.pg.Exec(context.Background(), "SELECT 1").ReadAll()
			if err == nil {
				t.Error("a closed connection works")
			}
			return net.ErrClosed
		}
		err := db.Update(context.Background(), func(tx store.Tx) error {
			runs++
			if err := tx.AddTenant(store.Tenant{Name: name}); err != nil {
				return err
			}
			_, err := tx.Tenants()
			return err
		})
		db.inject = nil
		if !errors.Is(err, store.ErrUncertain) || runs != 1 {
			t.Errorf("%s: error %v after %d runs, want %v after one", name, err, runs, store.ErrUncertain)
		}
		if got := slices.Contains(tenants(t, db), name); got != committed {
			t.Errorf("%s: it is there: %v", name, got)
		}
	}
}

// count lets callers count in rows of their own until stop; what they count is
// no less than what was acknowledged, and no more than what was not refused.
func count(t *testing.T, db store.Store, callers int, stop <-chan struct{}) (finish func() (acknowledged, uncertain int)) {
	if err := db.Update(context.Background(), func(tx store.Tx) error {
		for i := range callers {
			if err := tx.AddMatch(store.Match{ID: fmt.Sprint(i)}); err != nil {
				return err
			}
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	sure, unsure := make([]int, callers), make([]int, callers)
	var wg sync.WaitGroup
	for i := range callers {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				err := db.Update(context.Background(), func(tx store.Tx) error {
					m, err := tx.Match(fmt.Sprint(i))
					if err != nil {
						return err
					}
					m.Games++
					return tx.ReplaceMatch(m)
				})
				switch {
				case err == nil:
					sure[i]++
				case errors.Is(err, store.ErrUncertain):
					unsure[i]++
				default:
					t.Errorf("caller %d: %v", i, err)
					return
				}
			}
		})
	}
	return func() (acknowledged, uncertain int) {
		wg.Wait()
		for i := range callers {
			err := db.View(context.Background(), func(r store.Reader) error {
				m, err := r.Match(fmt.Sprint(i))
				if err == nil && (m.Games < sure[i] || m.Games > sure[i]+unsure[i]) {
					t.Errorf("caller %d has counted to %d; %d were acknowledged, %d uncertain", i, m.Games, sure[i], unsure[i])
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
			acknowledged += sure[i]
			uncertain += unsure[i]
		}
		return acknowledged, uncertain
	}
}

// TestServerKilled: a crash of the server is a delay for its callers, and an
// uncertain answer for those whose COMMIT it had.
func TestServerKilled(t *testing.T) {
	server := pgtest.Start(t)
	db := openTest(t, server.Database(t), Options{Connections: 8})
	stop := make(chan struct{})
	finish := count(t, db, 8, stop)
	for range 3 {
		time.Sleep(100 * time.Millisecond)
		server.Kill(t)
		server.Restart(t)
	}
	time.Sleep(100 * time.Millisecond)
	close(stop)
	sure, unsure := finish()
	t.Logf("%d acknowledged, %d uncertain", sure, unsure)
	if sure == 0 {
		t.Error("nothing was acknowledged")
	}
}

// TestSessionsTerminated: an administrator ends sessions while they work.
func TestSessionsTerminated(t *testing.T) {
	server := pgtest.Start(t)
	address := server.Database(t)
	db := openTest(t, address, Options{Connections: 4})
	stop := make(chan struct{})
	finish := count(t, db, 8, stop)
	for range 20 {
		time.Sleep(10 * time.Millisecond)
		if err := server.Exec(address, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'fairdice'"); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	sure, unsure := finish()
	t.Logf("%d acknowledged, %d uncertain", sure, unsure)
}

// TestIdleConnections: sessions that ended while nobody used them are replaced
// without a caller's knowing, also by a transaction that is one message.
func TestIdleConnections(t *testing.T) {
	server := pgtest.Start(t)
	db := openTest(t, server.Database(t), Options{Connections: 2})
	for range 2 {
		tenants(t, db)
	}
	server.Stop(t)
	server.Restart(t)
	for range 2 { // as if more time had passed
		c := <-db.slots
		if c != nil {
			c.used = time.Time{}
		}
		db.slots <- c
	}
	for i := range 4 {
		if err := db.Update(context.Background(), addTenant(fmt.Sprint(i))); err != nil {
			t.Error(err)
		}
	}
}

// TestPausedInstance: an instance that stops in the middle of a transaction
// keeps the log for so long and no longer, and starts again when it wakes up.
func TestPausedInstance(t *testing.T) {
	address := pgtest.Database(t)
	paused := openTest(t, address+"&idle_in_transaction_session_timeout=200", Options{})
	other := openTest(t, address, Options{})
	appendOne := func(tx store.Tx) error {
		head, err := tx.LockLog()
		if err != nil {
			return err
		}
		n := 1
		for i := head.Size; i&1 == 1; i >>= 1 {
			n++
		}
		return tx.AppendEntry(store.Entry{Index: head.Size, Text: []byte("text")}, make([][32]byte, n))
	}
	locked, wake := make(chan struct{}), make(chan struct{})
	done := make(chan error)
	runs := 0
	go func() {
		done <- paused.Update(context.Background(), func(tx store.Tx) error {
			if runs++; runs == 1 {
				if _, err := tx.LockLog(); err != nil {
					return err
				}
				close(locked)
				<-wake
			}
			return appendOne(tx)
		})
	}()
	<-locked
	if err := other.Update(context.Background(), appendOne); err != nil {
		t.Error(err)
	}
	close(wake)
	err := <-done
	// Its entry and its COMMIT were one message to a server that had hung up.
	if err != nil && !errors.Is(err, store.ErrUncertain) {
		t.Error(err)
	}
	if err == nil && runs != 2 {
		t.Errorf("the paused update ran %d times", runs)
	}
	want := int64(1 + min(runs-1, 1))
	if err := other.View(context.Background(), func(r store.Reader) error {
		head, err := r.LogHead()
		if err == nil && head.Size != want {
			t.Errorf("the log has %d entries, want %d", head.Size, want)
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}

// TestLateLock: an update that has read before it locks the log runs again if
// the log has grown in between, and only then.
func TestLateLock(t *testing.T) {
	db := openTest(t, pgtest.Database(t), Options{})
	for _, grows := range []bool{false, true} {
		runs, first := 0, int64(-1)
		err := db.Update(context.Background(), func(tx store.Tx) error {
			runs++
			if _, err := tx.Tenants(); err != nil {
				return err
			}
			if grows && runs == 1 {
				if err := db.Update(context.Background(), func(tx store.Tx) error {
					_, err := tx.LockLog()
					if err == nil {
						err = tx.AppendEntry(store.Entry{}, make([][32]byte, 1))
					}
					return err
				}); err != nil {
					t.Error(err)
				}
			}
			head, err := tx.LockLog()
			first = head.Size
			return err
		})
		wantRuns, wantSize := 1, int64(0)
		if grows {
			wantRuns, wantSize = 2, 1
		}
		if err != nil || runs != wantRuns || first != wantSize {
			t.Errorf("grows %v: error %v, %d runs, size %d; want %d runs, size %d", grows, err, runs, first, wantRuns, wantSize)
		}
	}
}
