package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"fairdice/store"
)

// TestSyncFails: when fsync fails nobody knows what the disk holds. The
// callers are told so, and nothing is written any more until the database is
// opened again. The WAL's descriptor is replaced by the null device, which
// accepts writes and refuses fsync.
func TestSyncFails(t *testing.T) {
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
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer null.Close()
	replaced := 0
	for fd := range 100 {
		if name, _ := os.Readlink(fmt.Sprint("/proc/self/fd/", fd)); name == path+"-wal" {
			if err := syscall.Dup3(int(null.Fd()), fd, syscall.O_CLOEXEC); err != nil {
				t.Fatal(err)
			}
			replaced++
		}
	}
	if replaced == 0 {
		t.Fatal("the WAL is not open")
	}
	for i, err := range group(s, addTenant("a"), addTenant("b")) {
		if !errors.Is(err, store.ErrUncertain) {
			t.Errorf("update %d: got error %v, want %v", i, err, store.ErrUncertain)
		}
	}
	err = s.Update(context.Background(), func(store.Tx) error {
		t.Error("an update was run after fsync had failed")
		return nil
	})
	if !errors.Is(err, store.ErrUncertain) {
		t.Errorf("next update: got error %v, want %v", err, store.ErrUncertain)
	}
	s.Close() // may fail: it tries to fsync too
	s = open()
	defer s.Close()
	want(t, tenants(t, s), "before")
	if err := s.Update(context.Background(), addTenant("next")); err != nil {
		t.Fatal(err)
	}
	want(t, tenants(t, s), "before", "next")
}
