package export

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// writeFile leaves the sync to syncAll: one for thousands of files.
func writeFile(path string, data []byte) error { return os.WriteFile(path, data, 0o644) }

// syncAll puts everything that was written to the file system of a directory on
// the disk.
func syncAll(dir string) error {
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	if err := errors.Join(unix.Syncfs(int(d.Fd())), d.Close()); err != nil {
		return fmt.Errorf("sync %s: %w", dir, err)
	}
	return nil
}

// lockDir keeps a second export out; the kernel drops the lock with the process.
func lockDir(dir string) (unlock func(), err error) {
	f, err := os.OpenFile(filepath.Join(dir, ".lock"), os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		f.Close()
		return nil, fmt.Errorf("another export to %s is running: %w", dir, err)
	}
	return func() { f.Close() }, nil
}
