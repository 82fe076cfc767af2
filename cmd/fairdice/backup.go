package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"fairdice/commitment"
	"fairdice/store"
	"fairdice/store/sqlite"
	"fairdice/translog"
)

func newBackup(s *settings) *cobra.Command {
	c := &cobra.Command{
		Use:   "backup FILE",
		Short: "Copy the database to a new file, also while the service runs",
		Long: `Copy the database to a new file, also while the service runs. The copy holds
one moment of it, not before the last checkpoint that was signed when it began, and
is read back before it gets its name. It holds no key: keep log.key, receipts.key and the master key
elsewhere, once, and the file "head" where it is: it is what keeps a service that
was restored from an old backup from signing a second history.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := s.read(c)
			if err != nil {
				return err
			}
			if err := cfg.ownFile("back up database"); err != nil {
				return err
			}
			if err := cfg.errNoService(); err != nil {
				return err
			}
			return cfg.backUp(c.Context(), args[0])
		},
	}
	s.flags(c, "data", "database")
	return c
}

func newRestore(s *settings) *cobra.Command {
	c := &cobra.Command{
		Use:   "restore FILE",
		Short: "Put a backup in the place of a database that was lost",
		Long: `Put a backup in the place of a database that was lost. A database that is there
is never overwritten, and the keys must be there already. If the backup is older
than the last checkpoint that was signed, the service refuses to start: what it
signed next would contradict what people hold. A backup that an older version of this
program has made is brought up to date.`,
		Args: cobra.ExactArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			cfg, err := s.read(c)
			if err != nil {
				return err
			}
			if err := cfg.ownFile("restore database"); err != nil {
				return err
			}
			return restore(c.Context(), cfg, args[0])
		},
	}
	s.flags(c, "data", "database", "master-key")
	return c
}

// backUp copies the database and demands that the copy has every statement
// that was signed before it was begun.
func (c config) backUp(ctx context.Context, to string) error {
	head, err := os.ReadFile(c.headFile())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("back up database: %w", err)
	}
	if err := sqlite.Backup(c.database(), to); err != nil {
		return err
	}
	if len(head) == 0 {
		return nil // nothing is signed yet
	}
	if err := c.covers(ctx, to, string(head)); err != nil {
		return errors.Join(fmt.Errorf("back up database to %s: %w", to, err), os.Remove(to))
	}
	return nil
}

// covers demands that a copy begins with the log that a checkpoint has signed.
// A copy of another schema is left to the program whose schema it is.
func (c config) covers(ctx context.Context, file, head string) (err error) {
	key, err := readSigningKey(c.logKey())
	if err != nil {
		return err
	}
	signed, err := translog.OpenCheckpoint(head, key.verifier)
	if err != nil {
		return fmt.Errorf("read %s: %w", c.headFile(), err)
	}
	db, err := sqlite.OpenReader(file, sqlite.Options{Readers: 1})
	if errors.Is(err, sqlite.ErrSchema) {
		return nil
	} else if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close(), removeBeside(file)) }()
	return db.View(ctx, func(r store.Reader) error {
		size, err := r.LogHead()
		if err != nil {
			return fmt.Errorf("read log head: %w", err)
		}
		if size.Size < signed.Size {
			return fmt.Errorf("the copy has %d statements, and %d were signed: the database is not the one that belongs to %s", size.Size, signed.Size, c.headFile())
		}
		root, err := translog.Root(signed.Size, translog.Stored(r))
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		if root != signed.Root {
			return fmt.Errorf("the copy is another history of the log than %s", c.headFile())
		}
		return nil
	})
}

// removeBeside removes what SQLite leaves beside a database that was closed.
func removeBeside(file string) (err error) {
	for _, beside := range []string{"-wal", "-shm", ".lock"} {
		if e := os.Remove(file + beside); e != nil && !errors.Is(e, fs.ErrNotExist) {
			err = errors.Join(err, e)
		}
	}
	return err
}

func restore(ctx context.Context, c config, from string) error {
	if err := c.errNoDirectory(); err != nil {
		return fmt.Errorf("restore database: %w", err)
	}
	for _, file := range []string{c.logKey(), c.receiptKey(), c.master} {
		if _, err := readSecret(file); err != nil {
			return fmt.Errorf("restore database: %w", err)
		}
	}
	// A write-ahead log of another database would be played into this one.
	for _, file := range []string{c.database(), c.database() + "-wal", c.database() + "-shm"} {
		if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("restore database: %s is there; move it away first", file)
		}
	}
	in, err := os.Open(from)
	if err != nil {
		return fmt.Errorf("restore database: %w", err)
	}
	defer in.Close()
	// The name comes last: a restore that was interrupted leaves no database.
	partial := c.database() + ".partial"
	out, err := os.OpenFile(partial, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("restore database: %w", err)
	}
	_, err = io.Copy(out, in)
	if err == nil {
		err = out.Sync()
	}
	if err = errors.Join(err, out.Close()); err == nil {
		err = checkBackup(ctx, partial, c.logKey())
	}
	if err == nil {
		err = os.Rename(partial, c.database())
	}
	if err != nil {
		return errors.Join(fmt.Errorf("restore database from %s: %w", from, err), os.Remove(partial))
	}
	return syncDir(c.data)
}

// checkBackup demands that a file is a database of the log whose key is here,
// and brings its schema up to date.
// It is asked of the copy, so that what was checked is what gets the name.
func checkBackup(ctx context.Context, file, logKey string) (err error) {
	key, err := readSigningKey(logKey)
	if err != nil {
		return err
	}
	if err := sqlite.Check(file); err != nil {
		return fmt.Errorf("this is no backup that can be used: %w", err)
	}
	db, err := sqlite.Open(file, sqlite.Options{Readers: 1})
	if err != nil {
		return fmt.Errorf("this is no backup that can be used: %w", err)
	}
	defer func() { err = errors.Join(err, db.Close(), removeBeside(file)) }()
	return db.View(ctx, func(r store.Reader) error {
		origin, err := originOf(r)
		if err != nil {
			return err
		}
		if origin == "" {
			return errors.New("this is a database without a log")
		}
		if origin != key.signer.Name() {
			return fmt.Errorf("this is a backup of the log %q, and the key here is that of %q", origin, key.signer.Name())
		}
		last, err := r.LatestCheckpoint()
		if errors.Is(err, store.ErrNotFound) {
			return nil
		} else if err != nil {
			return fmt.Errorf("read last checkpoint: %w", err)
		}
		if _, err := translog.OpenCheckpoint(last.Note, key.verifier); err != nil {
			return fmt.Errorf("its last checkpoint is not signed by the log key here: %w", err)
		}
		return nil
	})
}

// originOf is the name of the log in a database, "" if it has no log yet.
func originOf(r store.Reader) (string, error) {
	first, err := r.Entry(0)
	if errors.Is(err, store.ErrNotFound) {
		return "", nil
	} else if err != nil {
		return "", fmt.Errorf("read first statement: %w", err)
	}
	st, err := commitment.Parse(first.Text)
	if err != nil {
		return "", fmt.Errorf("read first statement: %w", err)
	}
	switch st := st.(type) {
	case commitment.Commit:
		return st.Log, nil
	case commitment.Open:
		return st.Log, nil
	}
	return "", fmt.Errorf("read first statement: it is of type %s, which cannot come first", st.Type())
}

func syncDir(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	if err := errors.Join(d.Sync(), d.Close()); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return nil
}
