package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Backup writes a copy of the database at path to a new file, which holds one
// moment of it and is durable when Backup returns. The database may be in use,
// by another process too, and goes on working. Secrets are in it only sealed;
// the key that seals them is not (PROTOCOL.md §2).
//
// The copy is read back before it gets its name, so neither a backup that was
// interrupted nor one that the disk has spoiled is taken for one.
func Backup(path, to string) (err error) {
	partial := to + ".partial"
	defer func() {
		if err != nil {
			err = fmt.Errorf("back up %s to %s: %w", path, to, err)
		}
	}()
	if _, err := os.Lstat(to); !errors.Is(err, os.ErrNotExist) {
		return errors.Join(os.ErrExist, err)
	}
	if err := os.Remove(partial); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := create(partial); err != nil {
		return err
	}
	if err := copyTo(path, partial); err != nil {
		return errors.Join(err, os.Remove(partial))
	}
	if err := os.Rename(partial, to); err != nil {
		return err
	}
	return syncDir(filepath.Dir(to))
}

func copyTo(path, partial string) error {
	c, err := connect(path, readOnly, "busy_timeout = 5000")
	if err != nil {
		return err
	}
	_, err = schemaVersion(c, applicationID)
	if err == nil {
		_, err = c.exec("VACUUM INTO ?", partial)
	}
	if err := errors.Join(err, c.close()); err != nil {
		return err
	}
	f, err := os.OpenFile(partial, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil { // VACUUM leaves that to its caller
		return err
	}
	return Check(partial)
}

// Check reads the whole of a database, also beside the service that uses it,
// and demands that it is one of this kind, of a schema that this program knows or can bring up
// to date, with every page and index as it must be.
func Check(path string) (err error) {
	if _, err := os.Stat(path); err != nil {
		return fmt.Errorf("check database: %w", err)
	}
	scripts, err := migrations()
	if err != nil {
		return err
	}
	c, err := connect(path, readOnly, "busy_timeout = 5000", "cache_size = -16384")
	if err != nil {
		return fmt.Errorf("check database: %w", err)
	}
	defer func() { err = errors.Join(err, c.close()) }()
	version, err := schemaVersion(c, applicationID)
	switch {
	case err != nil:
		return fmt.Errorf("check database: %w", err)
	case version == 0:
		return errors.New("check database: the file is empty")
	case version > len(scripts):
		return fmt.Errorf("check database: schema version %d is newer than %d, the newest this program knows", version, len(scripts))
	}
	var said []string
	err = c.query(func(r *row) { said = append(said, r.text(0)) }, fmt.Sprintf("PRAGMA integrity_check(%d)", faultsShown))
	if err == nil && !slices.Equal(said, []string{"ok"}) {
		err = fmt.Errorf("it is damaged: %s", strings.Join(said, "; "))
	}
	if err != nil {
		return fmt.Errorf("check database: %w", err)
	}
	return nil
}

// faultsShown is how many faults of a damaged database an error names.
const faultsShown = 5
