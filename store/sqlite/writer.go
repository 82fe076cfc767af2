package sqlite

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"fairdice/store"

	sqlite3 "modernc.org/sqlite/lib"
)

// MaxGroup is how many updates share one commit at most.
const MaxGroup = 256

// defaultCheckpointPages bounds the WAL: 4,000 pages of 4 KiB, and what one
// group writes or a long View keeps from being copied.
const defaultCheckpointPages = 4000

// writer owns the only connection that writes and orders the updates.
//
// Making one commit durable costs an fsync, whatever is in it, so updates that
// wait while the disk is busy are run one after the other in the next
// transaction and acknowledged together by its commit. Each runs between
// SAVEPOINT and RELEASE: one that fails is rolled back alone.
//
// What a crash leaves behind, step by step:
//
//   - while updates run: the WAL holds at most frames without a commit mark;
//     opening ignores them; nobody was answered;
//   - inside COMMIT, before its fsync returned: the group may be there whole
//     or not at all, never in part; nobody was answered;
//   - after the fsync: the group is there; some callers may not have heard of it;
//   - while SQLite copies the WAL into the database (a checkpoint): the WAL
//     is reset only after the database file was fsynced.
//
// Errors are answered only after the commit too: an update that failed because
// of what an earlier one of its group wrote must not say so if that never
// came to be.
type writer struct {
	conn    *conn
	queue   chan *request
	stopped chan struct{}
	group   []*request // of the running transaction
	// failed stops all writing until heal has succeeded: when fsync fails the
	// kernel may drop the pages and report success next time, so a second fsync
	// proves nothing.
	failed error
	tried  time.Time // to heal
	// checkpointed is how many pages the WAL had at the last checkpoint, and
	// checkpointPages how many more bring about the next.
	checkpointed, checkpointPages int64
	committed                     func(updates int)
}

// request is one update. Its function runs in the goroutine of its caller, when
// the writer gives it the turn: a panic or runtime.Goexit unwinds the caller
// with its true stack, and the writer sees only that the turn ended badly.
type request struct {
	claimed atomic.Bool // by the writer to run it, or by the caller to leave
	turn    chan struct{}
	ran     chan bool
	done    chan error
}

func newWriter(c *conn, o Options) *writer {
	if o.checkpointPages <= 0 {
		o.checkpointPages = defaultCheckpointPages
	}
	if o.Committed == nil {
		o.Committed = func(int) {}
	}
	w := &writer{
		conn: c, queue: make(chan *request, MaxGroup), stopped: make(chan struct{}), checkpointPages: int64(o.checkpointPages),
		committed: o.Committed,
	}
	go w.run()
	return w
}

// stop finishes what is queued. No update may be called after it.
func (w *writer) stop() {
	close(w.queue)
	<-w.stopped
}

func (w *writer) update(ctx context.Context, fn func(store.Tx) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r := &request{turn: make(chan struct{}), ran: make(chan bool), done: make(chan error, 1)}
	select {
	case w.queue <- r:
	case <-ctx.Done():
		return ctx.Err()
	}
	select {
	case <-r.turn:
	case err := <-r.done:
		return err
	case <-ctx.Done():
		if r.claimed.CompareAndSwap(false, true) {
			return ctx.Err()
		}
		select {
		case <-r.turn:
		case err := <-r.done:
			return err
		}
	}
	err := w.call(r, fn)
	if commit := <-r.done; commit != nil {
		return commit
	}
	return err
}

func (w *writer) call(r *request, fn func(store.Tx) error) (err error) {
	ok := false
	defer func() { r.ran <- ok }()
	err = fn(&tx{reader{conn: w.conn}})
	ok = err == nil
	return err
}

func (w *writer) run() {
	defer close(w.stopped)
	for first := range w.queue {
		err := w.runGroup(first)
		for _, r := range w.group {
			r.done <- err
		}
		clear(w.group)
		w.group = w.group[:0]
		w.checkpoint()
	}
}

// runGroup runs first, and whatever is queued by then, in one transaction.
func (w *writer) runGroup(first *request) error {
	w.heal()
	err := w.failed
	if err == nil {
		_, err = w.conn.exec("BEGIN IMMEDIATE")
	}
	for r := first; r != nil; r = w.next() {
		if !r.claimed.CompareAndSwap(false, true) {
			continue // left the queue: its context has ended
		}
		w.group = append(w.group, r)
		if err == nil {
			err = w.runOne(r)
		}
		if err != nil {
			break
		}
	}
	switch {
	case w.failed != nil:
		return w.failed
	case err != nil:
		w.rollback()
		return fmt.Errorf("run update: %w", err)
	}
	if _, err = w.conn.exec("COMMIT"); err == nil {
		w.committed(len(w.group))
		return nil
	}
	w.rollback()
	if !undone(err) {
		w.failed, w.tried = fmt.Errorf("%w: %w", store.ErrUncertain, err), time.Now()
		return w.failed
	}
	return fmt.Errorf("commit: %w", err)
}

// rollback leaves the connection outside a transaction. It fails only if
// SQLite has rolled back already; if a transaction were still there, the next
// BEGIN would say so and come back here.
func (w *writer) rollback() {
	w.conn.fatal = nil
	w.conn.exec("ROLLBACK")
	w.conn.fatal = nil
}

// undone says that a failed COMMIT has certainly left nothing behind: the
// frame with the commit mark never reached the file as a whole. What fails
// later, above all the fsync, leaves it open.
func undone(err error) bool {
	switch c := code(err); c & 0xff {
	case sqlite3.SQLITE_BUSY, sqlite3.SQLITE_FULL, sqlite3.SQLITE_CONSTRAINT, sqlite3.SQLITE_NOMEM:
		return true
	default:
		return c == sqlite3.SQLITE_IOERR_WRITE
	}
}

// checkpoint copies the WAL into the database once it has grown by
// checkpointPages, so that it stays bounded; the next update then starts it
// over. SQLite can do this by itself inside COMMIT, but there the group would
// wait for it, and a failed fsync of the database file would go unnoticed and
// be forgotten together with the pages it lost.
func (w *writer) checkpoint() {
	if w.failed != nil {
		return
	}
	pages, err := w.walPages("NOOP")
	if err == nil && pages < w.checkpointed {
		w.checkpointed = 0 // started over
	}
	if err == nil && pages-w.checkpointed >= w.checkpointPages {
		w.checkpointed, err = w.walPages("PASSIVE")
	}
	w.conn.fatal = nil
	if err != nil && code(err)&0xff == sqlite3.SQLITE_IOERR {
		w.failed, w.tried = fmt.Errorf("checkpoint database: %w", err), time.Now()
	}
}

// healEvery is how often writing is tried again after an fsync has failed.
const healEvery = time.Second

// heal goes on after a failed fsync by writing again what must be durable.
// What was committed before is in the WAL, and an fsync of it succeeded; all of it
// is copied into the database file, pages that an earlier copy has lost too,
// for SQLite counts them only after the file's fsync. Then the WAL is cut off, and
// with it the transaction whose COMMIT failed: it will never be there.
func (w *writer) heal() {
	if w.failed == nil || time.Since(w.tried) < healEvery {
		return
	}
	w.tried = time.Now()
	if err := w.conn.emptyWAL(); err == nil {
		w.failed, w.checkpointed = nil, 0
	}
	w.conn.fatal = nil
}

// walPages runs a checkpoint of that kind and says how long the WAL is.
func (w *writer) walPages(kind string) (pages int64, err error) {
	err = w.conn.query(func(r *row) { pages = r.int64(1) }, "PRAGMA wal_checkpoint("+kind+")")
	return pages, err
}

// runOne gives r the turn. An error means that the transaction is lost.
func (w *writer) runOne(r *request) error {
	if _, err := w.conn.exec("SAVEPOINT one"); err != nil {
		return err
	}
	r.turn <- struct{}{}
	if ok := <-r.ran; !ok {
		if _, err := w.conn.exec("ROLLBACK TO one"); err != nil {
			return err
		}
	}
	_, err := w.conn.exec("RELEASE one")
	return err
}

// next is a queued request, nil if there is none. It does not wait for more:
// with 64 callers that come back as soon as they are answered a group has 60.
func (w *writer) next() *request {
	if len(w.group) >= MaxGroup {
		return nil
	}
	select {
	case r := <-w.queue:
		return r
	default:
		return nil
	}
}
