package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"fairdice/store"

	"github.com/jackc/pgx/v5/pgconn"
)

// session is one transaction on one connection. It begins with its first
// statement, in the same message to the server, and takes a connection only then.
type session struct {
	db   *database
	ctx  context.Context
	slot bool  // it has one of the connections, or the room for one
	conn *conn // nil before it is connected and after it was lost

	begin  string
	begun  bool
	queue  []call // writes that were not sent yet
	row    string // the first row that one of them replaces
	eager  bool   // nothing is queued
	failed error  // the first error; from then on nothing is sent any more
	again  bool   // failed is one after which the transaction may run again

	logMoved bool // the log was locked too late: it had grown since the transaction began

	timer *time.Timer
}

func (db *database) session(ctx context.Context, begin string) *session {
	return &session{db: db, ctx: ctx, begin: begin}
}

// take waits for a free connection.
func (s *session) take() error {
	select {
	case s.conn = <-s.db.slots:
		s.slot = true
		return nil
	case <-s.ctx.Done():
		return s.ctx.Err()
	}
}

// end rolls back what is not committed and gives the connection back.
func (s *session) end() {
	if c := s.conn; c != nil && s.begun {
		if c.pg.IsClosed() || c.pg.TxStatus() != 'I' && c.script("ROLLBACK") != nil || !s.timer.Stop() {
			s.drop()
		} else {
			c.used = time.Now()
		}
	}
	if s.slot {
		s.db.slots <- s.conn
	}
}

// drop gives up a connection that is of no use any more.
func (s *session) drop() {
	if s.conn != nil {
		s.conn.close()
		s.conn = nil
	}
}

// run runs a statement of the transaction, after those that wait in the queue.
func (s *session) run(scan func(*row), sql string, args ...any) (int64, error) {
	if err := s.usable(); err != nil {
		return 0, err
	}
	tag, err := s.flush(scan, call{sql, args})
	return tag.RowsAffected(), s.fail(err)
}

// write runs a statement that is expected to change at least one row, or lets
// it wait. Only an eager one says that it has not.
func (s *session) write(sql string, args ...any) (changed bool, err error) {
	if s.eager {
		n, err := s.run(nil, sql, args...)
		return n > 0, err
	}
	return true, s.put("WITH written AS ("+sql+" RETURNING 1) "+stopUnless("written"), args...)
}

// stopUnless ends a statement such that one that has changed nothing makes the
// server stop: by a division by zero.
func stopUnless(changed string) string { return "SELECT 1 / count(*) FROM " + changed }

// put lets a statement wait that needs no answer, unless nothing may wait.
func (s *session) put(sql string, args ...any) error {
	if s.eager {
		_, err := s.run(nil, sql, args...)
		return err
	}
	if err := s.usable(); err != nil {
		return err
	}
	s.queue = append(s.queue, call{sql, args})
	return nil
}

func (s *session) usable() error {
	if s.failed != nil {
		return s.failed
	}
	return s.fail(s.ctx.Err())
}

// flush sends what waits, and one more statement or none.
func (s *session) flush(scan func(*row), last ...call) (pgconn.CommandTag, error) {
	calls := append(s.queue, last...)
	s.queue = nil
	if s.begun {
		return s.send(scan, calls...)
	}
	return s.open(scan, calls...)
}

// open sends the first statements. The function of the transaction has seen
// nothing yet, so a connection that turns out to be dead is replaced without
// its knowing; but if the first statements are all, with COMMIT, only as long as
// it is certain that they have not reached the server.
func (s *session) open(scan func(*row), calls ...call) (pgconn.CommandTag, error) {
	if !s.slot {
		if err := s.take(); err != nil {
			return pgconn.CommandTag{}, err
		}
	}
	whole := calls[len(calls)-1].sql == commit
	calls = append([]call{{sql: s.begin}}, calls...)
	var tries retries
	for {
		kept := s.conn != nil
		tag, err := s.start(scan, calls...)
		switch {
		case err == nil, s.conn != nil && !s.conn.gone(err), s.conn != nil && whole && !pgconn.SafeToRetry(err):
			return tag, err
		case s.conn != nil:
			s.timer.Stop()
			s.drop()
			if kept {
				continue // a new connection is tried at once; if that is no better, later
			}
		}
		if err := tries.wait(s.ctx, err); err != nil {
			return tag, err
		}
	}
}

// idleTrusted is how long an unused connection is believed to be alive.
const idleTrusted = time.Second

func (s *session) start(scan func(*row), calls ...call) (tag pgconn.CommandTag, err error) {
	if s.conn != nil && time.Since(s.conn.used) > idleTrusted && !s.conn.alive() {
		s.drop()
	}
	if s.conn == nil {
		if s.conn, err = connect(s.ctx, s.db.config); err != nil {
			return tag, fmt.Errorf("%w: connect to database: %w", store.ErrStorage, err)
		}
	}
	net := s.conn.pg.Conn()
	s.timer = time.AfterFunc(AnswerLimit, func() { net.SetDeadline(time.Unix(1, 0)) })
	s.begun = true
	return s.send(scan, calls...)
}

func (s *session) send(scan func(*row), calls ...call) (tag pgconn.CommandTag, err error) {
	s.timer.Reset(AnswerLimit)
	if s.db.inject != nil {
		for _, c := range calls {
			if err := s.db.inject(s.conn, c.sql); err != nil {
				return tag, err
			}
		}
	}
	return s.conn.send(scan, calls...)
}

// fail remembers the error after which the server refuses the rest of the
// transaction. A server that is gone is a failure of the storage, also when all
// it left is a broken connection: nothing of the transaction is there.
func (s *session) fail(err error) error {
	if err != nil && s.failed == nil {
		gone := s.conn != nil && s.conn.gone(err)
		s.again = lostRace(err) || refused(err) && !s.eager || gone
		if gone && !errors.Is(err, store.ErrStorage) {
			err = fmt.Errorf("%w: connection to database lost: %w", store.ErrStorage, err)
		}
		s.failed = err
	}
	return err
}

// update runs fn and commits. If again, the transaction was rolled back, and
// may run again.
func (s *session) update(fn func(store.Tx) error, lockLog bool) (again bool, err error) {
	defer s.end() // also if fn panics or ends its goroutine
	t := &tx{reader: reader{s}}
	if lockLog {
		if _, err := t.LockLog(); err != nil {
			return s.again, err
		}
	}
	err = fn(t)
	if err != nil && s.failed == nil && len(s.queue) > 0 {
		// Would fn have got so far if its writes had been answered?
		_, e := s.flush(nil)
		s.fail(e)
	}
	switch {
	case s.failed != nil:
		return s.again, s.failed
	case err != nil, !s.begun && len(s.queue) == 0:
		return false, err
	case s.ctx.Err() != nil:
		return false, s.ctx.Err()
	case !s.begun && !s.eager:
		if o := s.db.together(s); !o.alone {
			return o.again, o.err
		}
	}
	return s.commit()
}

const commit = "COMMIT"

// commit does not end with the context: between the two answers of COMMIT
// there is nothing to be had by not waiting for one.
func (s *session) commit() (again bool, err error) {
	tag, err := s.flush(nil, call{sql: commit})
	switch {
	case err != nil && s.conn == nil: // never connected
		return false, s.fail(err)
	case err != nil && (code(err) == "" || s.conn.gone(err)):
		// The server may have written the commit before it, or the way to it, failed.
		s.drop()
		return false, fmt.Errorf("%w: %w", store.ErrUncertain, err)
	case err != nil: // it has said that it has not
		s.fail(err)
		return s.again, err
	case tag.String() != commit:
		return false, fmt.Errorf("the server has answered COMMIT with %s", tag)
	}
	return false, nil
}

// RetryPatience is how long a transaction is tried again: while the server is
// away, or while it loses to others.
const RetryPatience = 15 * time.Second

// retries paces the attempts at one transaction.
type retries struct {
	count int
	since time.Time
}

// wait waits a little longer, and less predictably, each time. Its error says
// that it was enough.
func (r *retries) wait(ctx context.Context, cause error) error {
	now := time.Now()
	if r.since.IsZero() {
		r.since = now
	}
	if now.Sub(r.since) > RetryPatience {
		return fmt.Errorf("give up after %d attempts: %w", r.count+1, cause)
	}
	r.count++
	limit := min(time.Millisecond<<min(r.count, 9), 200*time.Millisecond)
	select {
	case <-time.After(rand.N(limit)):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
