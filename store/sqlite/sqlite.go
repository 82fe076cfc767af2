// Package sqlite keeps the store in one SQLite file, with a pure Go driver.
//
//	s, err := sqlite.Open("fairdice-data/fairdice.db", sqlite.Options{})
//
// One connection writes, and updates that wait for it share a commit (see
// writer); a few others read, each View in a transaction of its own, which in
// WAL mode sees one moment and waits for nobody. With synchronous=FULL every
// commit is fsynced before it is acknowledged. One process at a time may have
// the database open.
//
// The schema is plain SQL in numbered migrations, applied by Open.
package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"fairdice/store"

	driverlib "modernc.org/sqlite"
)

// DefaultReaders is how many Views run at the same time.
const DefaultReaders = 4

// ErrLocked: another process has the database open.
var ErrLocked = errors.New("database in use")

// Options tune a database; the zero value is fine.
type Options struct {
	Readers int // Views at the same time; 0: DefaultReaders
	// Committed, if set, is told after each commit how many updates shared it. It must not wait.
	Committed func(updates int)

	// For tests: of a full disk, and of a small WAL.
	maxPages, checkpointPages int
}

type database struct {
	lock    *os.File
	writer  *writer
	readers chan *conn

	mu      sync.Mutex
	closed  bool
	running sync.WaitGroup // Views and Updates
}

// Open opens the database file, or creates it for this user alone, and brings
// its schema up to date. It fails with ErrLocked if another process has it
// open, and for a schema newer than this program.
func Open(path string, o Options) (store.Store, error) {
	path, err := trueName(path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	lock, err := lock(path)
	if err != nil {
		return nil, fmt.Errorf("open database: %w", err)
	}
	db, err := open(path, o)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("open database %s: %w", path, err), lock.Close())
	}
	db.lock = lock
	return db, nil
}

func open(path string, o Options) (*database, error) {
	if err := create(path); err != nil {
		return nil, err
	}
	// fdatasync leaves out the time stamps, which nothing here reads; where
	// it does not exist SQLite goes on with fsync.
	driverlib.Fdatasync(true)
	c, err := connect(path, readWrite,
		"busy_timeout = 5000", "journal_mode = WAL", "synchronous = FULL", "wal_autocheckpoint = 0",
		"cache_size = -65536", "temp_store = MEMORY", fmt.Sprintf("max_page_count = %d", o.maxPages))
	if err != nil {
		return nil, err
	}
	// What a crash has left in the WAL may be in the kernel's memory alone, if
	// an fsync had failed: the kernel believes such pages to be clean. Nothing
	// is built on them before they are in the database file, written anew. (An
	// export that reads an old moment meanwhile puts this off, not the start.)
	if err = c.emptyWAL(); errors.Is(err, errReaders) {
		err = nil
	}
	var scripts []string
	if err == nil {
		scripts, err = migrations()
	}
	if err == nil {
		err = migrate(c, applicationID, scripts, time.Now())
	}
	if err == nil {
		err = endLeases(c)
	}
	if err != nil {
		return nil, errors.Join(err, c.close())
	}
	n := o.Readers
	if n <= 0 {
		n = DefaultReaders
	}
	db := &database{readers: make(chan *conn, n)}
	for range n {
		r, err := connect(path, readOnly, "busy_timeout = 5000", "cache_size = -16384", "temp_store = MEMORY")
		if err != nil {
			return nil, errors.Join(err, db.closeReaders(len(db.readers)), c.close())
		}
		db.readers <- r
	}
	db.writer = newWriter(c, o)
	return db, nil
}

// trueName follows symbolic links, for the lock and the WAL must stand beside
// the file itself whatever it is called by, and refuses hard links: SQLite would
// keep a WAL for each name.
func trueName(path string) (string, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return path, nil
	} else if err != nil {
		return "", err
	}
	if n := links(info); info.Mode().IsRegular() && n > 1 {
		return "", fmt.Errorf("%s has %d names (hard links), and a write-ahead log belongs to one name: keep one, copy with \"fairdice backup\"", path, n)
	}
	return filepath.EvalSymlinks(path)
}

// create makes an empty file that only its owner can read, and makes its name
// durable: a power cut must not lose a file whose first commits were acknowledged.
func create(path string) error {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, os.ErrExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	if err := f.Close(); err != nil {
		return fmt.Errorf("create file: %w", err)
	}
	return syncDir(filepath.Dir(path))
}

func syncDir(path string) error {
	dir, err := os.Open(path)
	if err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	if err := errors.Join(dir.Sync(), dir.Close()); err != nil {
		return fmt.Errorf("sync directory: %w", err)
	}
	return nil
}

// enter counts a View or Update in, so that Close can wait for it.
func (db *database) enter() error {
	db.mu.Lock()
	defer db.mu.Unlock()
	if db.closed {
		return fmt.Errorf("use database: %w", os.ErrClosed)
	}
	db.running.Add(1)
	return nil
}

func (db *database) Update(ctx context.Context, fn func(store.Tx) error) error {
	if err := db.enter(); err != nil {
		return err
	}
	defer db.running.Done()
	return storage(db.writer.update(ctx, fn))
}

func (db *database) View(ctx context.Context, fn func(store.Reader) error) error {
	if err := db.enter(); err != nil {
		return err
	}
	defer db.running.Done()
	if err := ctx.Err(); err != nil {
		return err
	}
	var c *conn
	select {
	case c = <-db.readers:
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() {
		c.fatal = nil
		c.exec("ROLLBACK") // nothing was written
		c.fatal = nil
		db.readers <- c
	}()
	// BEGIN takes no snapshot; the first statement does.
	if _, err := c.exec("BEGIN"); err != nil {
		return fmt.Errorf("begin view: %w", err)
	}
	return fn(&reader{conn: c, ctx: ctx})
}

func (db *database) Close() error {
	db.mu.Lock()
	if db.closed {
		db.mu.Unlock()
		return nil
	}
	db.closed = true
	db.mu.Unlock()
	db.running.Wait()
	db.writer.stop()
	// The writer goes last: closing the last connection empties the WAL into
	// the database, which a read-only one cannot.
	return errors.Join(db.closeReaders(cap(db.readers)), db.writer.conn.close(), db.lock.Close())
}

func (db *database) closeReaders(n int) error {
	var errs []error
	for range n {
		errs = append(errs, (<-db.readers).close())
	}
	return errors.Join(errs...)
}
