package sqlite

import (
	"context"
	"database/sql/driver"
	"errors"
	"fmt"
	"io"
	"net/url"
	"path/filepath"
	"time"

	"fairdice/store"

	driverlib "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"
)

// conn is one connection with its prepared statements. It is not safe for
// concurrent use.
//
// It talks to the driver below database/sql: a connection has one user at a
// time here, so the locks and conversions that database/sql wraps around every
// statement would guard nothing, and they cost more than a statement does
// (BenchmarkStatement: 2 µs without them, 5 µs with).
type conn struct {
	driver driver.Conn
	stmts  map[string]driver.Stmt
	args   []driver.NamedValue
	dest   []driver.Value
	// fatal is the first error after which SQLite may have given up the
	// whole transaction on its own (disk full, I/O, memory). From then on no
	// statement is passed on: outside a transaction it would commit by itself.
	fatal error
}

type access string

const (
	readWrite access = "rw"
	readOnly  access = "ro"
)

func connect(path string, a access, pragmas ...string) (*conn, error) {
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("find %s: %w", path, err)
	}
	dsn := "file://" + (&url.URL{Path: abs}).EscapedPath() + "?mode=" + string(a)
	connector, err := driverlib.NewConnector(dsn)
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	d, err := connector.Connect(context.Background())
	if err != nil {
		return nil, fmt.Errorf("open %s: %w", path, err)
	}
	c := &conn{driver: d, stmts: make(map[string]driver.Stmt)}
	for _, p := range pragmas {
		if err := c.once("PRAGMA " + p); err != nil {
			return nil, errors.Join(fmt.Errorf("open %s: %w", path, err), d.Close())
		}
	}
	return c, nil
}

func (c *conn) close() error {
	var errs []error
	for _, s := range c.stmts {
		errs = append(errs, s.Close())
	}
	return errors.Join(append(errs, c.driver.Close())...)
}

// once runs SQL, also a script, that is not worth keeping prepared.
func (c *conn) once(script string) error {
	_, err := c.driver.(driver.ExecerContext).ExecContext(context.Background(), script, nil)
	if err != nil {
		return fmt.Errorf("%s: %w", firstLine(script), err)
	}
	return nil
}

func firstLine(s string) string {
	for i, r := range s {
		if r == '\n' {
			return s[:i] + "…"
		}
	}
	return s
}

func (c *conn) prepare(query string) (driver.Stmt, error) {
	if c.fatal != nil {
		return nil, c.fatal
	}
	if s, ok := c.stmts[query]; ok {
		return s, nil
	}
	s, err := c.driver.Prepare(query)
	if err != nil {
		return nil, c.check(err)
	}
	c.stmts[query] = s
	return s, nil
}

// check remembers an error that may have ended the transaction. After a broken
// constraint only the statement is undone.
func (c *conn) check(err error) error {
	if err != nil && code(err)&0xff != sqlite3.SQLITE_CONSTRAINT {
		c.fatal = err
	}
	return err
}

// exec runs a statement and says how many rows it changed.
func (c *conn) exec(query string, args ...any) (int64, error) {
	s, err := c.prepare(query)
	if err != nil {
		return 0, err
	}
	res, err := s.(driver.StmtExecContext).ExecContext(context.Background(), c.bind(args))
	if err != nil {
		return 0, c.check(err)
	}
	return res.RowsAffected()
}

// errReaders: an old moment is still being read, by another process perhaps.
var errReaders = errors.New("the write-ahead log is being read")

// emptyWAL copies the whole WAL into the database file, syncs that, and cuts
// the WAL off.
func (c *conn) emptyWAL() error {
	busy := false
	err := c.query(func(r *row) { busy = r.bool(0) }, "PRAGMA wal_checkpoint(TRUNCATE)")
	switch {
	case err != nil:
		return fmt.Errorf("copy write-ahead log: %w", err)
	case busy:
		return errReaders
	}
	return nil
}

// query calls scan for every row. The row is valid during the call, and scan
// must not use the connection.
func (c *conn) query(scan func(*row), query string, args ...any) error {
	s, err := c.prepare(query)
	if err != nil {
		return err
	}
	rows, err := s.(driver.StmtQueryContext).QueryContext(context.Background(), c.bind(args))
	if err != nil {
		return c.check(err)
	}
	columns := len(rows.Columns())
	for len(c.dest) < columns {
		c.dest = append(c.dest, nil)
	}
	r := row{values: c.dest[:columns]}
	for {
		if err = rows.Next(r.values); err != nil {
			break
		}
		if scan(&r); r.err != nil {
			err = r.err
			break
		}
	}
	if err == io.EOF {
		err = nil
	}
	if e := rows.Close(); err == nil {
		err = e
	}
	return c.check(err)
}

func (c *conn) bind(args []any) []driver.NamedValue {
	for len(c.args) < len(args) {
		c.args = append(c.args, driver.NamedValue{Ordinal: len(c.args) + 1})
	}
	for i, a := range args {
		c.args[i].Value = value(a)
	}
	return c.args[:len(args)]
}

func value(a any) driver.Value {
	switch a := a.(type) {
	case int:
		return int64(a)
	case uint8:
		return int64(a)
	case bool:
		if a {
			return int64(1)
		}
		return int64(0)
	case [32]byte:
		return a[:]
	case []byte:
		if a == nil {
			return nil
		}
	case time.Time:
		return seconds(a)
	}
	return a
}

// seconds maps the zero time to 0 and back, so that "never" reads as zero.
func seconds(t time.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

// row reads the columns of one row. The tables are STRICT, so a value of
// another type means a damaged database; the first one is kept in err.
type row struct {
	values []driver.Value
	err    error
}

func column[T any](r *row, i int) T {
	v, ok := r.values[i].(T)
	if !ok && r.err == nil {
		r.err = fmt.Errorf("column %d is %T, not %T", i, r.values[i], v)
	}
	return v
}

func (r *row) int64(i int) int64 { return column[int64](r, i) }
func (r *row) int(i int) int     { return int(column[int64](r, i)) }
func (r *row) bool(i int) bool   { return column[int64](r, i) != 0 }
func (r *row) text(i int) string { return column[string](r, i) }

// blob is nil for NULL and for no bytes.
func (r *row) blob(i int) []byte {
	if r.values[i] == nil {
		return nil
	}
	return column[[]byte](r, i)
}

func (r *row) hash(i int) (h [32]byte) {
	b := column[[]byte](r, i)
	if len(b) != len(h) && r.err == nil {
		r.err = fmt.Errorf("column %d has %d bytes, not %d", i, len(b), len(h))
	}
	copy(h[:], b)
	return h
}

func (r *row) time(i int) time.Time {
	s := r.int64(i)
	if s == 0 {
		return time.Time{}
	}
	return time.Unix(s, 0).UTC()
}

// code is the extended result code of SQLite, 0 for other errors.
func code(err error) int {
	var e *driverlib.Error
	if errors.As(err, &e) {
		return e.Code()
	}
	return 0
}

// storage marks errors that come from the disk and not from what was asked.
func storage(err error) error {
	switch code(err) & 0xff {
	case sqlite3.SQLITE_FULL, sqlite3.SQLITE_IOERR, sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_NOMEM:
		return fmt.Errorf("%w: %w", store.ErrStorage, err)
	}
	return err
}

// taken says that a row with that key is there.
func taken(err error) bool {
	switch code(err) {
	case sqlite3.SQLITE_CONSTRAINT_PRIMARYKEY, sqlite3.SQLITE_CONSTRAINT_UNIQUE, sqlite3.SQLITE_CONSTRAINT_ROWID:
		return true
	}
	return false
}
