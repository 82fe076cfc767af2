package postgres

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

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

// run runs a statement, after others that travel with it (BEGIN, LOCK) and
// have no result, and calls scan for every row. It answers the number of rows
// that the statement read or changed. The context of a caller is not passed on:
// pgx ends the connection with it, which costs more than what it would save.
// A statement that takes too long is ended by the server, or by the transaction's timer.
func (c *conn) run(first []string, scan func(*row), sql string, args ...any) (n int64, err error) {
	s, err := c.prepare(sql)
	if err != nil {
		return 0, err
	}
	before := make([]*pgconn.StatementDescription, len(first))
	for i, sql := range first {
		if before[i], err = c.prepare(sql); err != nil {
			return 0, err
		}
	}
	if err := c.bind(s, args); err != nil {
		return 0, err
	}
	if len(first) == 0 {
		return read(c.pg.ExecPrepared(context.Background(), s.Name, c.values, inBinary, inBinary), scan)
	}
	var batch pgconn.Batch
	for _, b := range before {
		batch.ExecPrepared(b.Name, nil, nil, nil)
	}
	batch.ExecPrepared(s.Name, c.values, inBinary, inBinary)
	results := c.pg.ExecBatch(context.Background(), &batch)
	for i := 0; results.NextResult(); i++ {
		if i < len(first) {
			_, err = results.ResultReader().Close()
		} else {
			n, err = read(results.ResultReader(), scan)
		}
		if err != nil {
			break
		}
	}
	if e := results.Close(); err == nil {
		err = e
	}
	return n, err
}

// commit answers the server's word for it, which is ROLLBACK for a transaction that had failed.
func (c *conn) commit() (string, error) {
	s, err := c.prepare("COMMIT")
	if err != nil {
		return "", err
	}
	tag, err := c.pg.ExecPrepared(context.Background(), s.Name, nil, nil, nil).Close()
	return tag.String(), err
}

func read(result *pgconn.ResultReader, scan func(*row)) (int64, error) {
	var r row
	for result.NextRow() {
		r.values = result.Values()
		if scan(&r); r.err != nil {
			break
		}
	}
	tag, err := result.Close()
	if err == nil {
		err = r.err
	}
	return tag.RowsAffected(), err
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

// gone says that the server, or the way to it, has failed, or that it is no
// longer the one that takes writes.
func (c *conn) gone(err error) bool {
	switch code(err) {
	case adminShutdown, crashShutdown, cannotConnectNow, tooManyConnections, readOnlyTransaction, idleInTransaction:
		return true
	}
	return err != nil && c.pg.IsClosed()
}
