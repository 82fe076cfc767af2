package sqlite

import (
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
