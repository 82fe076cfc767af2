//go:build unix

package sqlite

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"
)

// lock takes the database for this process. SQLite alone would let a second
// service write to the same file, and both would sign log heads. The kernel
// drops the lock with the process, so a crash leaves nothing to clean up; the
// file stays, for removing it would let two processes lock two files of one name.
func lock(path string) (*os.File, error) {
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("open lock file: %w", err)
	}
	err = syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
	if errors.Is(err, syscall.EWOULDBLOCK) {
		holder := "another process"
		if b, _ := io.ReadAll(io.LimitReader(f, 20)); len(b) > 0 {
			holder = "process " + strings.TrimSpace(string(b))
		}
		f.Close()
		return nil, fmt.Errorf("%w: %s has %s open", ErrLocked, holder, path)
	}
	if err == nil {
		err = f.Truncate(0)
	}
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("lock %s: %w", path, err)
	}
	return f, nil
}

// links is how many names a file has.
func links(info os.FileInfo) int {
	if s, ok := info.Sys().(*syscall.Stat_t); ok {
		return int(s.Nlink)
	}
	return 1
}
