package postgres

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"fairdice/store"
)

// session is one transaction on one connection. It begins with its first
// statement, in the same message to the server.
type session struct {
	db   *database
	ctx  context.Context
	conn *conn // nil before it is connected and after it was lost

	begin  string
	begun  bool
	failed error // the first error; from then on nothing is sent any more
	again  bool  // failed is one after which the transaction may run again

	logMoved bool // the log was locked too late: it had grown since the transaction began

	timer *time.Timer
}

// session waits for a free connection.
func (db *database) session(ctx context.Context, begin string) (*session, error) {
	select {
	case c := <-db.slots:
		return &session{db: db, ctx: ctx, conn: c, begin: begin}, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// end rolls back what is not committed and gives the connection back.
func (s *session) end() {
	if c := s.conn; c != nil && s.begun {
		if c.pg.IsClosed() || c.pg.TxStatus() != 'I' && c.script("ROLLBACK") != nil || !s.timer.Stop() {
			s.drop()
		}
	}
	s.db.slots <- s.conn
}

// drop gives up a connection that is of no use any more.
func (s *session) drop() {
	if s.conn != nil {
		s.conn.close()
		s.conn = nil
	}
}

// run runs one statement of the transaction.
func (s *session) run(scan func(*row), sql string, args ...any) (int64, error) {
	return s.after(nil, scan, sql, args...)
}

// after runs a statement, and first those that travel with it.
func (s *session) after(first []string, scan func(*row), sql string, args ...any) (int64, error) {
	if s.failed != nil {
		return 0, s.failed
	}
	if err := s.ctx.Err(); err != nil {
		return 0, s.fail(err)
	}
	if !s.begun {
		return s.open(first, scan, sql, args...)
	}
	n, err := s.send(first, scan, sql, args...)
	return n, s.fail(err)
}

// open is after for the first statement. The function of the transaction has
// seen nothing yet, so a connection that turns out to be dead is replaced
// without its knowing.
func (s *session) open(first []string, scan func(*row), sql string, args ...any) (int64, error) {
	var tries retries
	for {
		n, err := s.start(first, scan, sql, args...)
		if err == nil || s.conn != nil && !s.conn.gone(err) {
			s.begun = s.conn != nil
			return n, s.fail(err)
		}
		if s.timer != nil {
			s.timer.Stop()
		}
		s.drop()
		if !errors.Is(err, errConnect) || tries.count == 0 {
			tries.count++ // the first new connection is tried at once
			continue
		}
		if err := tries.wait(s.ctx, err); err != nil {
			return 0, s.fail(err)
		}
	}
}

// errConnect: the server cannot be reached.
var errConnect = errors.New("connect to database")

func (s *session) start(first []string, scan func(*row), sql string, args ...any) (int64, error) {
	if s.conn == nil {
		c, err := connect(s.ctx, s.db.config)
		if err != nil {
			return 0, fmt.Errorf("%w: %w", errConnect, err)
		}
		s.conn = c
	}
	net := s.conn.pg.Conn()
	s.timer = time.AfterFunc(TransactionLimit, func() { net.SetDeadline(time.Unix(1, 0)) })
	return s.send(append([]string{s.begin}, first...), scan, sql, args...)
}

func (s *session) send(first []string, scan func(*row), sql string, args ...any) (int64, error) {
	if s.db.inject != nil {
		if err := s.db.inject(s.conn, sql); err != nil {
			return 0, err
		}
	}
	return s.conn.run(first, scan, sql, args...)
}

// fail remembers the error after which the server refuses the rest of the transaction.
func (s *session) fail(err error) error {
	if err != nil && s.failed == nil {
		s.failed = err
		s.again = lostRace(err) || s.conn != nil && s.conn.gone(err)
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
	switch {
	case s.failed != nil:
		return s.again, s.failed
	case err != nil || !s.begun:
		return false, err
	case s.ctx.Err() != nil:
		return false, s.ctx.Err()
	}
	return s.commit()
}

// commit does not end with the context: between the two answers of COMMIT
// there is nothing to be had by not waiting for one.
func (s *session) commit() (again bool, err error) {
	if s.db.inject != nil {
		err = s.db.inject(s.conn, "COMMIT")
	}
	var tag string
	if err == nil {
		tag, err = s.conn.commit()
	}
	switch {
	case err != nil && (s.conn.gone(err) || code(err) == ""):
		// The server may have written the commit before it, or the way to it, failed.
		s.drop()
		return false, fmt.Errorf("%w: %w", store.ErrUncertain, err)
	case err != nil: // it has said that it has not
		return lostRace(err), err
	case tag != "COMMIT":
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
