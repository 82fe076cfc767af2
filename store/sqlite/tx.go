package sqlite

import (
	"context"
	"fmt"

	"fairdice/store"
)

// reader is a View; its reads fail once the context of the View has ended.
type reader struct {
	conn *conn
	ctx  context.Context // nil in an Update, which always runs to its end
}

// tx is an Update.
type tx struct{ reader }

func (r *reader) query(scan func(*row), query string, args ...any) error {
	if r.ctx != nil {
		if err := r.ctx.Err(); err != nil {
			return err
		}
	}
	return r.conn.query(scan, query, args...)
}

// one reads the only row of a query.
func one[T any](r *reader, scan func(*row) T, query string, args ...any) (T, error) {
	var v T
	err := error(store.ErrNotFound)
	if e := r.query(func(w *row) { v, err = scan(w), nil }, query, args...); e != nil {
		return v, e
	}
	return v, err
}

// list reads all rows of a query.
func list[T any](r *reader, scan func(*row) T, query string, args ...any) ([]T, error) {
	var vs []T
	err := r.query(func(w *row) { vs = append(vs, scan(w)) }, query, args...)
	return vs, err
}

// add runs an INSERT of one row.
func (t *tx) add(query string, args ...any) error {
	_, err := t.conn.exec(query, args...)
	if taken(err) {
		return store.ErrExists
	}
	return err
}

// replace runs a conditional UPDATE of one row; exists finds the row without
// the condition.
func (t *tx) replace(exists string, key []any, query string, args ...any) error {
	n, err := t.conn.exec(query, args...)
	switch {
	case taken(err):
		return store.ErrExists
	case err != nil || n == 1:
		return err
	}
	if _, err := one(&t.reader, func(*row) struct{} { return struct{}{} }, exists, key...); err != nil {
		return err
	}
	return store.ErrConflict
}

// wrap says what failed, and for what.
func wrap(err error, format string, args ...any) error {
	if err == nil {
		return nil
	}
	return fmt.Errorf(format+": %w", append(args, err)...)
}
