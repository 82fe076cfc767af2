package sqlite

import (
	"errors"
	"fmt"
	"io"
)

// Lock takes the database for this process, as Open does, and changes nothing
// in it: ErrLocked while a service has it.
func Lock(path string) (io.Closer, error) {
	path, err := trueName(path)
	if err != nil {
		return nil, fmt.Errorf("lock database: %w", err)
	}
	f, err := lock(path)
	if err != nil {
		return nil, fmt.Errorf("lock database: %w", err)
	}
	return f, nil
}

// Check reads the whole file and fails if SQLite finds anything wrong in it. It
// works beside the service that uses it, and takes as long as the file is large.
func Check(path string) (err error) {
	c, err := connect(path, readOnly, "busy_timeout = 5000")
	if err != nil {
		return fmt.Errorf("check database: %w", err)
	}
	defer func() { err = errors.Join(err, c.close()) }()
	var found []error
	if _, err := schemaVersion(c, applicationID); err != nil {
		return fmt.Errorf("check database: %w", err)
	}
	err = c.query(func(r *row) { found = append(found, errors.New(r.text(0))) }, "PRAGMA integrity_check(10)")
	if err != nil {
		return fmt.Errorf("check database: %w", err)
	}
	if len(found) == 1 && found[0].Error() == "ok" {
		return nil
	}
	return fmt.Errorf("check database: it is damaged: %w", errors.Join(found...))
}
