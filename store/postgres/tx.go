package postgres

import (
	"fmt"

	"fairdice/store"
)

// reader is a View.
type reader struct{ *session }

// tx is an Update.
type tx struct {
	reader
	head *store.LogHead // once the log is locked
}

// one reads the only row of a query.
func one[T any](r *reader, scan func(*row) T, query string, args ...any) (T, error) {
	var v T
	n, err := r.run(func(w *row) { v = scan(w) }, query, args...)
	if err == nil && n == 0 {
		err = store.ErrNotFound
	}
	return v, err
}

// list reads all rows of a query.
func list[T any](r *reader, scan func(*row) T, query string, args ...any) ([]T, error) {
	var vs []T
	_, err := r.run(func(w *row) { vs = append(vs, scan(w)) }, query, args...)
	return vs, err
}

// exec runs a statement without a result and says how many rows it changed.
func (t *tx) exec(query string, args ...any) (int64, error) {
	return t.run(func(*row) {}, query, args...)
}

// add runs an INSERT of one row. A row that is there already is skipped
// rather than reported by the server, which would end the transaction.
func (t *tx) add(query string, args ...any) error {
	n, err := t.exec(query+" ON CONFLICT DO NOTHING", args...)
	if err == nil && n == 0 {
		err = store.ErrExists
	}
	return err
}

// replace runs a conditional UPDATE of one row; exists finds the row without
// the condition.
func (t *tx) replace(exists string, key []any, query string, args ...any) error {
	n, err := t.exec(query, args...)
	if err != nil || n == 1 {
		return err
	}
	if n, err = t.exec(exists, key...); err != nil {
		return err
	}
	if n == 0 {
		return store.ErrNotFound
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
