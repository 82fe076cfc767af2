package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Backup writes a copy of the database at path to a new file, which holds one
// moment of it and is durable when Backup returns. The database may be in use,
// by another process too, and goes on working. Secrets are in it only sealed;
// the key that seals them is not (PROTOCOL.md §2).
//
// The copy gets its name last, so a backup that was interrupted is never taken
// for one.
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
	return errors.Join(f.Sync(), f.Close()) // VACUUM leaves that to its caller
}
