//go:build !unix

package sqlite

import (
	"fmt"
	"os"
	"runtime"
)

// lock refuses: without a lock that ends with its process, a second service on
// the same file could not be kept out, and both would sign log heads.
func lock(path string) (*os.File, error) {
	return nil, fmt.Errorf("lock %s: not supported on %s", path, runtime.GOOS)
}

// links is how many names a file has; elsewhere nobody says.
func links(os.FileInfo) int { return 1 }
