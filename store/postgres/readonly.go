package postgres

import (
	"context"
	"fmt"
	"time"

	"fairdice/store"
)

// ReadOnly is a database that is looked at beside the services that use it.
type ReadOnly struct{ db *database }

// OpenReader connects to a database with the schema of this program, and
// changes nothing in it.
func OpenReader(ctx context.Context, address string, o Options) (*ReadOnly, error) {
	db, err := open(ctx, address, o, currentSchema)
	if err != nil {
		return nil, err
	}
	return &ReadOnly{db}, nil
}

func currentSchema(c *conn) error {
	scripts, err := migrations()
	if err != nil {
		return err
	}
	version, err := schemaVersion(c)
	if err == nil && version != len(scripts) {
		err = fmt.Errorf("schema version %d, this program reads %d: use the version of the service that runs", version, len(scripts))
	}
	return err
}

// View shows one moment of the database; see [store.Store].
func (r *ReadOnly) View(ctx context.Context, fn func(store.Reader) error) error {
	return r.db.View(ctx, fn)
}

// Clock is the time of the server that keeps the database.
func Clock(ctx context.Context, address string) (now time.Time, err error) {
	db, err := open(ctx, address, Options{Connections: 1}, func(c *conn) error {
		_, err := c.send(func(r *row) { now = time.UnixMilli(int64(r.int(0))) }, call{sql: "SELECT (extract(epoch FROM clock_timestamp()) * 1000)::bigint"})
		return err
	})
	if err != nil {
		return now, err
	}
	return now, db.Close()
}

// Close waits for Views.
func (r *ReadOnly) Close() error { return r.db.Close() }
