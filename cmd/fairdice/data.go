package main

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
)

func (c config) logKey() string     { return filepath.Join(c.data, "log.key") }
func (c config) receiptKey() string { return filepath.Join(c.data, "receipts.key") }
func (c config) headFile() string   { return filepath.Join(c.data, "head") }

// beginning is a file that is there from before the first key is made until
// the first database is: while it is, the keys have signed and sealed nothing.
func (c config) beginning() string { return filepath.Join(c.data, "first-start") }

func present(path string) (bool, error) {
	_, err := os.Lstat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	} else if err != nil {
		return false, fmt.Errorf("look for files: %w", err)
	}
	return true, nil
}

// errNoDirectory refuses a data directory that is not there, before a key file
// in it is missed.
func (c config) errNoDirectory() error {
	info, err := os.Stat(c.data)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("no service there: the data directory %s does not exist", c.data)
	case err != nil:
		return fmt.Errorf("look for the service: %w", err)
	case !info.IsDir():
		return fmt.Errorf("no service there: %s is not a directory", c.data)
	}
	return nil
}

// errNoService refuses to work on a directory in which no service was started:
// only serve and demo make one.
func (c config) errNoService() error {
	if err := c.errNoDirectory(); err != nil {
		return err
	}
	if isShared(c.database()) {
		return nil
	}
	there, err := present(c.database())
	if err == nil && !there {
		err = fmt.Errorf("no service there: %s holds no database %s", c.data, filepath.Base(c.database()))
	}
	return err
}

// fresh reports whether a service may begin here: nothing of one is there, or
// its first start was interrupted. Keys or a head without their database are
// what a lost disk leaves, and to begin again over them would be a second
// history under the same name.
func (c config) fresh() (bool, error) {
	if isShared(c.database()) { // joins has looked into it
		there, err := present(c.logKey())
		return !there, err
	}
	if there, err := present(c.database()); there || err != nil {
		return false, err
	}
	if begun, err := present(c.beginning()); begun || err != nil {
		return begun, err
	}
	var left []string
	for _, file := range []string{c.logKey(), c.receiptKey(), c.master, c.headFile()} {
		there, err := present(file)
		if err != nil {
			return false, err
		}
		if there {
			left = append(left, file)
		}
	}
	if len(left) > 0 {
		return false, fmt.Errorf(`the database %s is missing, but not %s: put a backup in its place with "fairdice restore"; a new log needs a new data directory, and a new master key file`,
			c.database(), strings.Join(left, ", "))
	}
	return true, nil
}

// headless reports whether the head file is missing although there is a log:
// the house makes it again from what the database says.
func (c config) headless() (bool, error) {
	log, err := present(c.database())
	if !log || err != nil {
		return false, err
	}
	head, err := present(c.headFile())
	return !head, err
}

// begun ends a first start, and says so if the head file had to be made again.
func (c config) begun(headless bool, log *slog.Logger) error {
	if headless {
		again, err := present(c.headFile())
		if err != nil {
			return err
		}
		if again {
			log.Warn("the head file was missing and was made again from the last checkpoint in the database: if that is an old backup, only the witnesses can tell; put back the file if you have it, and compare the checkpoint with one that was published",
				"file", c.headFile())
		}
	}
	if err := os.Remove(c.beginning()); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("end first start: %w", err)
	}
	return syncDir(c.data)
}
