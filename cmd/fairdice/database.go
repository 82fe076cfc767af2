package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"fairdice/commitment"
	"fairdice/store"
	"fairdice/store/postgres"
	"fairdice/store/sqlite"
	"fairdice/store/transfer"
)

func (c config) database() string {
	if c.db != "" {
		return c.db
	}
	return filepath.Join(c.data, "fairdice.db")
}

// isShared reports whether an address is that of a PostgreSQL database, which
// other instances may use too; anything else is the path of an SQLite file.
func isShared(address string) bool {
	return strings.HasPrefix(address, "postgres://") || strings.HasPrefix(address, "postgresql://")
}

// openDatabase opens it. committed, if not nil, is told how many updates have
// shared a commit; PostgreSQL does not say so.
func openDatabase(ctx context.Context, address string, committed func(updates int)) (store.Store, error) {
	if isShared(address) {
		return postgres.Open(ctx, address, postgres.Options{})
	}
	return sqlite.Open(address, sqlite.Options{Committed: committed})
}

// reader is a database that is only looked at.
type reader interface {
	View(ctx context.Context, fn func(store.Reader) error) error
	Close() error
}

// openToRead opens a database beside the services that use it.
func openToRead(ctx context.Context, address string, readers int) (reader, error) {
	if isShared(address) {
		return postgres.OpenReader(ctx, address, postgres.Options{Connections: readers})
	}
	return sqlite.OpenReader(address, sqlite.Options{Readers: readers})
}

// joins demands copies of the keys before an instance joins others on a
// database that has a log: new ones would be those of another log.
func (c config) joins(ctx context.Context) (err error) {
	if _, err := os.Stat(c.logKey()); err == nil || !isShared(c.database()) {
		return nil // whatever is wrong with the file is said when it is read
	}
	db, err := openDatabase(ctx, c.database(), nil)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.View(ctx, func(r store.Reader) error {
		head, err := r.LogHead()
		if err == nil && head.Size > 0 {
			err = fmt.Errorf("open keys: the database has a log of %d statements; copy log.key, receipts.key and the master key of the service that began it to %s", head.Size, c.data)
		}
		return err
	})
}

// withoutPassword is an address that may be shown.
func withoutPassword(address string) string {
	u, err := url.Parse(address)
	if err != nil || !isShared(address) && strings.Contains(address, "password") { // libpq's other form, which is not understood here
		return "unreadable"
	}
	q := u.Query()
	if q.Has("password") {
		q.Set("password", "xxxxx")
		u.RawQuery = q.Encode()
	}
	return u.Redacted()
}

// ownFile demands the database of the data directory for what is done with files.
func (c config) ownFile(what string) error {
	if isShared(c.database()) {
		return fmt.Errorf("%s: the database is PostgreSQL: use its own tools (pg_dump, pg_basebackup, point-in-time recovery)", what)
	}
	return nil
}

func newMigrate() *cobra.Command {
	return &cobra.Command{
		Use:   "migrate FROM TO",
		Short: "Copy a database into an empty one of either kind, and verify the copy",
		Long: `Copy a database into an empty one, and verify the copy: numbers of rows, every
value, the root of the log. FROM and TO are each the path of an SQLite file or
a postgres:// address. No service may run on either. The old database stays as
it is; the keys and the file "head" of the data directory go on with the new one.`,
		Args: cobra.ExactArgs(2),
		RunE: func(c *cobra.Command, args []string) error {
			from, err := existing(c.Context(), args[0])
			if err != nil {
				return err
			}
			to, err := openDatabase(c.Context(), args[1], nil)
			if err != nil {
				return errors.Join(err, from.Close())
			}
			var modes []string
			for _, m := range commitment.Modes() {
				modes = append(modes, m.String())
			}
			n, err := transfer.Copy(c.Context(), from, to, modes)
			if err := errors.Join(err, from.Close(), to.Close()); err != nil {
				return err
			}
			fmt.Fprintf(c.OutOrStdout(), "copied and verified: %d statements, %d sequences, %d matches, %d rolls\n", n.Entries, n.Sequences, n.Matches, n.Rolls)
			return nil
		},
	}
}

// existing opens a database, but makes none.
func existing(ctx context.Context, address string) (store.Store, error) {
	if !isShared(address) {
		if _, err := os.Stat(address); err != nil {
			return nil, fmt.Errorf("open database: %w", err)
		}
	}
	return openDatabase(ctx, address, nil)
}
