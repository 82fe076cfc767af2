// Package postgres keeps the store in a PostgreSQL database, which several
// instances of the service may share.
//
//	s, err := postgres.Open(ctx, "postgres://fairdice@db.example/fairdice", postgres.Options{})
//
// An Update is a REPEATABLE READ transaction: it sees one moment, and replaces
// only rows that are still as they were at that moment. If another transaction
// was faster the server says so (SQLSTATE 40001, or 40P01 for a deadlock, which
// it finds by itself), and the function runs again on a new moment. So draws in
// different games never wait for each other, however many instances there are.
//
// Appending to the log locks the log's head, one row in a table of its own, and
// does so before the transaction takes its moment: appending Updates run one
// after the other, each on what the last one has left. One that reads first and
// appends later runs again with the lock taken first, if anybody else has
// appended meanwhile.
//
// Statements that only write are kept and travel together with the next one that
// reads, or with COMMIT: a draw is one message to the server, or a part of one, for
// Updates that only write share transactions (see groups). They are written
// such that the server stops at one that finds another row than it had to; then
// the function runs again with every statement answered before the next, and
// learns which it was.
//
// A View is a READ ONLY transaction on one moment; it locks nothing.
//
// COMMIT is acknowledged when the server has flushed it to its disk:
// synchronous_commit is never off, and a server with fsync off is refused. A
// connection that is lost before COMMIT was sent is a transaction that never was,
// so the function runs again on a new connection; one that is lost later is
// store.ErrUncertain.
//
// The schema is plain SQL in numbered migrations, applied by Open.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"fairdice/store"

	"github.com/jackc/pgx/v5/pgconn"
)

// DefaultConnections is how many transactions run at the same time. More than
// the server has cores is useful, because commits share a flush of the disk.
const DefaultConnections = 32

// Time limits that the server enforces on every session.
const (
	// IdleLimit ends a transaction whose instance has stopped in the middle of
	// it: a paused process must not keep the others from the log for ever.
	IdleLimit = 5 * time.Second
	// StatementLimit ends a statement, waiting for locks included.
	StatementLimit = 30 * time.Second
)

// AnswerLimit is when this side gives up a server that does not answer at all.
const AnswerLimit = 45 * time.Second

// Options tune a database; the zero value is fine.
type Options struct {
	Connections int // at most; 0: DefaultConnections

	// For tests: called before each statement and before "commit"; an error
	// takes the place of what the server would have said.
	inject func(c *conn, sql string) error
}

type database struct {
	config *pgconn.Config
	inject func(c *conn, sql string) error
	slots  chan *conn // nil: not connected yet, or not any more
	groups groups

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup // Views and Updates
}

// CheckAddress fails if Open could not read the address. It connects to nothing.
func CheckAddress(address string) error {
	if _, err := pgconn.ParseConfig(address); err != nil {
		return fmt.Errorf("read database address: %w", err)
	}
	return nil
}

// Open connects to the database and brings its schema up to date; instances
// that start at the same time do so one after the other. It fails for a schema
// newer than this program, for a database of another program, and for a server
// that may lose what it acknowledges.
//
// The address is a URL or a keyword string in the sense of libpq; the
// variables of its environment (PGHOST, PGPASSFILE …) count too. With several
// hosts and target_session_attrs=read-write the store follows a failover.
func Open(ctx context.Context, address string, o Options) (store.Store, error) {
	return open(ctx, address, o, func(c *conn) error {
		scripts, err := migrations()
		if err != nil {
			return err
		}
		return migrate(c, scripts, time.Now())
	})
}

func open(ctx context.Context, address string, o Options, ready func(*conn) error) (*database, error) {
	config, err := pgconn.ParseConfig(address)
	if err != nil {
		return nil, fmt.Errorf("read database address: %w", err)
	}
	for name, value := range map[string]string{
		"application_name":                    "fairdice",
		"idle_in_transaction_session_timeout": fmt.Sprint(IdleLimit.Milliseconds()),
		"statement_timeout":                   fmt.Sprint(StatementLimit.Milliseconds()),
	} {
		if _, ok := config.RuntimeParams[name]; !ok {
			config.RuntimeParams[name] = value
		}
	}
	n := o.Connections
	if n <= 0 {
		n = DefaultConnections
	}
	db := &database{config: config, inject: o.inject, slots: make(chan *conn, n)}
	c, err := connect(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open database %s: %w", place(config), err)
	}
	err = checkServer(c)
	if err == nil {
		err = ready(c)
	}
	if err != nil {
		c.close()
		return nil, fmt.Errorf("open database %s: %w", place(config), err)
	}
	for range n - 1 {
		db.slots <- nil
	}
	db.slots <- c
	return db, nil
}

// place names the database without the password of its address.
func place(c *pgconn.Config) string { return fmt.Sprintf("%s on %s", c.Database, c.Host) }

// checkServer demands a server that keeps the store's promises.
func checkServer(c *conn) error {
	var version int
	var fsync string
	_, err := c.send(func(r *row) { version, fsync = r.int(0), r.text(1) }, call{sql: "SELECT current_setting('server_version_num')::bigint, current_setting('fsync')"})
	switch {
	case err != nil:
		return fmt.Errorf("read settings of the server: %w", err)
	case version < 130000:
		return fmt.Errorf("the server has version %d.%d; 13 is the oldest that is supported", version/10000, version%10000)
	case fsync != "on":
		return errors.New("the server runs with fsync off: rolls that were answered would be lost with its power")
	}
	return nil
}

// enter counts a View or Update in, so that Close can wait for it.
func (db *database) enter(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return fmt.Errorf("use database: %w", os.ErrClosed)
	}
	db.running.Add(1)
	return nil
}

func (db *database) View(ctx context.Context, fn func(store.Reader) error) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.running.Done()
	s := db.session(ctx, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY")
	defer s.end()
	err := fn(&reader{s})
	if s.failed != nil { // also if fn has swallowed it
		return storage(s.failed)
	}
	return err
}

const beginUpdate = "BEGIN ISOLATION LEVEL REPEATABLE READ"

// Update runs fn until a transaction of it did not lose a race. What is
// retried was rolled back, so nobody has seen anything of it.
func (db *database) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := db.enter(ctx); err != nil {
		return err
	}
	defer db.running.Done()
	var tries retries
	for lockLog, eager := false, false; ; {
		s := db.session(ctx, beginUpdate)
		s.eager = eager
		again, err := s.update(fn, lockLog)
		if !again {
			return storage(err)
		}
		lockLog = lockLog || s.logMoved
		if !eager && refused(err) {
			eager = true
			continue
		}
		if err := tries.wait(ctx, err); err != nil {
			return storage(err)
		}
	}
}

func (db *database) Close() error {
	db.mu.Lock()
	if db.closed {
		db.mu.Unlock()
		return nil
	}
	db.closed = true
	db.mu.Unlock()
	db.running.Wait()
	for range cap(db.slots) {
		if c := <-db.slots; c != nil {
			c.close()
		}
	}
	return nil
}
