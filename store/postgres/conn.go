package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"

	"fairdice/store"

	"github.com/jackc/pgx/v5/pgconn"
)

// conn is one connection with its prepared statements. It is not safe for
// concurrent use.
//
// It talks to pgconn, below pgx: the schema has three types, their binary forms
// are a few lines (value.go), and a transaction's BEGIN can travel together
// with its first statement.
type conn struct {
	pg       *pgconn.PgConn
	prepared map[string]*pgconn.StatementDescription
	values   [][]byte
	used     time.Time // when a transaction ended last
}

// inBinary is the format of every parameter and every column.
var inBinary = []int16{1}

// ConnectPatience is how long one attempt to connect may take.
const ConnectPatience = 5 * time.Second

func connect(ctx context.Context, config *pgconn.Config) (*conn, error) {
	ctx, cancel := context.WithTimeout(ctx, ConnectPatience)
	defer cancel()
	pg, err := pgconn.ConnectConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	c := &conn{pg: pg, prepared: make(map[string]*pgconn.StatementDescription)}
	// Whatever the server's default: what is acknowledged must be on its disk.
	// Stricter settings, for replicas, stay.
	if err := c.script(`SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`); err != nil {
		c.close()
		return nil, err
	}
	return c, nil
}

// close tells the server, if it listens, and frees the connection.
func (c *conn) close() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	c.pg.Close(ctx) // what it reports is that the server did not listen
}

// alive asks the server.
func (c *conn) alive() bool {
	ctx, cancel := context.WithTimeout(context.Background(), ConnectPatience)
	defer cancel()
	return c.pg.Ping(ctx) == nil
}

// script runs SQL, of several statements too, that is not worth keeping prepared.
func (c *conn) script(sql string) error {
	_, err := c.pg.Exec(context.Background(), sql).ReadAll()
	return err
}

func (c *conn) prepare(sql string) (*pgconn.StatementDescription, error) {
	if s, ok := c.prepared[sql]; ok {
		return s, nil
	}
	s, err := c.pg.Prepare(context.Background(), "s"+strconv.Itoa(len(c.prepared)), sql, nil)
	if err != nil {
		return nil, err
	}
	c.prepared[sql] = s
	return s, nil
}

// call is a statement with its arguments.
type call struct {
	sql  string
	args []any
}

// bind encodes the arguments of a prepared statement.
func (c *conn) bind(s *pgconn.StatementDescription, args []any) error {
	if len(args) != len(s.ParamOIDs) {
		return fmt.Errorf("statement has %d parameters, not %d: %s", len(s.ParamOIDs), len(args), s.SQL)
	}
	c.values = c.values[:0]
	for i, a := range args {
		v, oid := encode(a)
		if oid != s.ParamOIDs[i] {
			return fmt.Errorf("parameter %d is %T, but of type %d for the server: %s", i+1, a, s.ParamOIDs[i], s.SQL)
		}
		c.values = append(c.values, v)
	}
	return nil
}

// send sends statements in one message and waits for the answer, up to the
// first that fails; the server carries out none after it. scan is called for
// each row of the last one, whose command tag is answered.
//
// The context of a caller is not passed on: pgx ends the connection with it,
// which costs more than what it would save. A statement that takes too long is
// ended by the server, or by the session's timer.
func (c *conn) send(scan func(*row), calls ...call) (tag pgconn.CommandTag, err error) {
	var batch pgconn.Batch
	for _, call := range calls {
		if _, err := c.prepare(call.sql); err != nil {
			return tag, err
		}
	}
	for _, call := range calls {
		s := c.prepared[call.sql]
		if err := c.bind(s, call.args); err != nil {
			return tag, err
		}
		if len(calls) == 1 {
			return read(c.pg.ExecPrepared(context.Background(), s.Name, c.values, inBinary, inBinary), scan)
		}
		batch.ExecPrepared(s.Name, c.values, inBinary, inBinary)
	}
	results := c.pg.ExecBatch(context.Background(), &batch)
	for i := 0; err == nil && results.NextResult(); i++ {
		if i < len(calls)-1 {
			_, err = results.ResultReader().Close()
		} else {
			tag, err = read(results.ResultReader(), scan)
		}
	}
	if e := results.Close(); err == nil {
		err = e
	}
	return tag, err
}

func read(result *pgconn.ResultReader, scan func(*row)) (pgconn.CommandTag, error) {
	var r row
	for scan != nil && result.NextRow() {
		r.values = result.Values()
		if scan(&r); r.err != nil {
			break
		}
	}
	tag, err := result.Close()
	if err == nil {
		err = r.err
	}
	return tag, err
}

// code is the SQLSTATE of an error of the server, empty for other errors.
func code(err error) string {
	var e *pgconn.PgError
	if errors.As(err, &e) {
		return e.Code
	}
	return ""
}

// PostgreSQL's error codes, appendix A of its manual.
const (
	divisionByZero       = "22012"
	uniqueViolation      = "23505"
	readOnlyTransaction  = "25006"
	idleInTransaction    = "25P03"
	serializationFailure = "40001"
	deadlockDetected     = "40P01"
	lockNotAvailable     = "55P03"
	adminShutdown        = "57P01"
	crashShutdown        = "57P02"
	cannotConnectNow     = "57P03"
	tooManyConnections   = "53300"
)

// refused says that a statement found another row than it had to.
func refused(err error) bool {
	switch code(err) {
	case divisionByZero, uniqueViolation:
		return true
	}
	return false
}

// lostRace says that the transaction has lost against another one and has to
// run again. A duplicate is one of these cases: the statements that add rows
// skip those they can see, so this one was committed after the snapshot.
func lostRace(err error) bool {
	switch code(err) {
	case serializationFailure, deadlockDetected, lockNotAvailable, uniqueViolation:
		return true
	}
	return false
}

// storage marks the errors of a server that cannot work now: no space, no
// memory, an I/O error, a shutdown, a statement that waited too long.
func storage(err error) error {
	if errors.Is(err, store.ErrUncertain) || errors.Is(err, store.ErrStorage) {
		return err
	}
	switch c := code(err); {
	case strings.HasPrefix(c, "53"), strings.HasPrefix(c, "57"), strings.HasPrefix(c, "58"), c == readOnlyTransaction, c == idleInTransaction:
		return fmt.Errorf("%w: %w", store.ErrStorage, err)
	}
	return err
}

// gone says that the server, or the way to it, has failed, or that it is no
// longer the one that takes writes.
func (c *conn) gone(err error) bool {
	switch code(err) {
	case adminShutdown, crashShutdown, cannotConnectNow, tooManyConnections, readOnlyTransaction, idleInTransaction:
		return true
	}
	return err != nil && c.pg.IsClosed()
}
