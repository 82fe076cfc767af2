//go:build unix

package main

import (
	"fmt"
	"os"
	"syscall"
)

// lockFile keeps a second process from a player's state: two that read the
// same state would release one link for two segments. The lock lies beside
// the file, which is replaced whenever it is written, and dies with the process.
func lockFile(path string) (unlock func(), err error) {
	if _, err := os.Stat(path); err != nil {
		return nil, describe(err)
	}
	f, err := os.OpenFile(path+".lock", os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, describe(err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX); err != nil {
		f.Close()
		return nil, fmt.Errorf("lock: %w: %s", err, path)
	}
	return func() { f.Close() }, nil
}
