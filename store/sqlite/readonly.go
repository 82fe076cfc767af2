package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"

	"fairdice/store"
)

// ReadOnly reads a database, also beside the process that has it open; Open's
// lock is for those who write.
type ReadOnly struct{ db *database }

// ErrSchema: the schema of a database is not the one of this program.
var ErrSchema = errors.New("another schema")

// OpenReader opens a database to read it. The schema must be the one of this
// program, or the error wraps ErrSchema: only Open brings it up to date.
func OpenReader(path string, o Options) (*ReadOnly, error) {
	if _, err := os.Stat(path); err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	n := o.Readers
	if n <= 0 {
		n = DefaultReaders
	}
	db := &database{readers: make(chan *conn, n)}
	for range n {
		c, err := connect(path, readOnly, "busy_timeout = 5000", "cache_size = -16384", "temp_store = MEMORY")
		if err == nil {
			db.readers <- c
			err = currentSchema(c)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("open database %s: %w", path, err), db.closeReaders(len(db.readers)))
		}
	}
	return &ReadOnly{db}, nil
}

func currentSchema(c *conn) error {
	scripts, err := migrations()
	if err != nil {
		return err
	}
	version, err := schemaVersion(c, applicationID)
	if err == nil && version != len(scripts) {
		err = fmt.Errorf("%w: version %d, this program reads %d: use the version of the service that runs", ErrSchema, version, len(scripts))
	}
	return err
}

// View shows one moment of the database; see [store.Store].
func (r *ReadOnly) View(ctx context.Context, fn func(store.Reader) error) error {
	return r.db.View(ctx, fn)
}

// Close waits for Views.
func (r *ReadOnly) Close() error {
	r.db.mu.Lock()
	closed := r.db.closed
	r.db.closed = true
	r.db.mu.Unlock()
	if closed {
		return nil
	}
	r.db.running.Wait()
	return r.db.closeReaders(cap(r.db.readers))
}
