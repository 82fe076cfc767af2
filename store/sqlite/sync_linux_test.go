package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
	"testing"
	"time"

	"fairdice/store"
)

// blindWAL replaces the WAL's descriptor by the null device, which accepts
// writes and refuses fsync, until it is put back.
func blindWAL(t *testing.T, path string) (back func()) {
	t.Helper()
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	open, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	// All are found before any is copied: the number of the directory that was
	// read is in the list, and free for a copy by now.
	var wal []int
	for _, e := range open {
		if name, _ := os.Readlink("/proc/self/fd/" + e.Name()); name != path+"-wal" {
			continue
		}
		fd, err := strconv.Atoi(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		wal = append(wal, fd)
	}
	saved := map[int]int{}
	for _, fd := range wal {
		if saved[fd], err = syscall.Dup(fd); err == nil {
			err = syscall.Dup3(int(null.Fd()), fd, syscall.O_CLOEXEC)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(saved) == 0 {
		t.Fatal("the WAL is not open")
	}
	return func() {
		for fd, kept := range saved {
			if err := syscall.Dup3(kept, fd, syscall.O_CLOEXEC); err != nil {
				t.Error(err)
			}
			syscall.Close(kept)
		}
	}
}

// TestSyncFails: when fsync fails nobody knows what the disk holds. The
// callers are told so, and nothing is written any more until all that was
// committed is in the database file, written and synced anew: by this process
// when the disk is well again, or by the next one that opens the file.
func TestSyncFails(t *testing.T) {
	for _, restart := range []bool{false, true} {
		t.Run(fmt.Sprint("restart ", restart), func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "test.db")
			open := func() store.Store {
				s, err := Open(path, Options{})
				if err != nil {
					t.Fatal(err)
				}
				return s
			}
			s := open()
			if err := s.Update(context.Background(), addTenant("before")); err != nil {
				t.Fatal(err)
			}
			back := blindWAL(t, path)
			for i, err := range group(s, addTenant("a"), addTenant("b")) {
				if !errors.Is(err, store.ErrUncertain) {
					t.Errorf("update %d: got error %v, want %v", i, err, store.ErrUncertain)
				}
			}
			for range 2 {
				err := s.Update(context.Background(), func(store.Tx) error {
					t.Error("an update was run after fsync had failed")
					return nil
				})
				if !errors.Is(err, store.ErrUncertain) {
					t.Errorf("next update: got error %v, want %v", err, store.ErrUncertain)
				}
				s.(*database).writer.tried = time.Time{} // as if more time had passed
			}
			if restart {
				s.Close() // may fail: it tries to fsync too
				back()
				s = open()
			} else {
				back()
			}
			if err := s.Update(context.Background(), addTenant("next")); err != nil {
				t.Fatal(err)
			}
			want(t, tenants(t, s), "before", "next")
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			s = open()
			defer s.Close()
			want(t, tenants(t, s), "before", "next")
		})
	}
}

// TestRecoveredWALIsCopied: what a killed process has left in the WAL is in the
// database file before anything is built on it, whatever the kernel said of it.
func TestRecoveredWALIsCopied(t *testing.T) {
	s, path := openTest(t, Options{})
	if err := s.Update(context.Background(), addTenant("a")); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir() // as a crash leaves it
	left := filepath.Join(dir, "test.db")
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + suffix)
		if err == nil {
			err = os.WriteFile(left+suffix, b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	again, err := Open(left, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	// The file alone, without what is in the WAL now.
	b, err := os.ReadFile(left)
	if err == nil {
		err = os.WriteFile(filepath.Join(dir, "alone.db"), b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	alone, err := Open(filepath.Join(dir, "alone.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer alone.Close()
	want(t, tenants(t, alone), "a")
}
