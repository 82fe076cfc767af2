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
	head   *store.LogHead     // once the log is locked
	hashes map[int64][32]byte // of entries that were appended
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

// add runs an INSERT of one row. Unless it waits in the queue, a row that is
// there already is skipped rather than reported by the server, which would end
// the transaction.
func (t *tx) add(query string, args ...any) error {
	if !t.eager {
		return t.put(query, args...)
	}
	added, err := t.write(query+" ON CONFLICT DO NOTHING", args...)
	if err == nil && !added {
		err = store.ErrExists
	}
	return err
}

// replace runs a conditional UPDATE of one row; exists finds the row without
// the condition.
func (t *tx) replace(exists string, key []any, query string, args ...any) error {
	if t.row == "" {
		t.row = rowName(key)
	}
	replaced, err := t.write(query, args...)
	if err != nil || replaced {
		return err
	}
	n, err := t.run(nil, exists, key...)
	switch {
	case err != nil:
		return err
	case n == 0:
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
