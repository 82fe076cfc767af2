package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// TestBackup copies a database while it is written to: the copy is what it was
// at one moment, not before the call and not after it.
func TestBackup(t *testing.T) {
	s, path := openTest(t, Options{checkpointPages: 20})
	stop := make(chan struct{})
	var writer sync.WaitGroup
	writer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				return
			default:
			}
			if err := s.Update(context.Background(), addTenant(fmt.Sprintf("%05d", i))); err != nil {
				t.Error(err)
				return
			}
		}
	})
	dir := t.TempDir()
	for n := range 5 {
		before := len(tenants(t, s))
		to := filepath.Join(dir, fmt.Sprint("backup ", n))
		if err := Backup(path, to); err != nil {
			t.Fatal(err)
		}
		after := len(tenants(t, s))
		if info, err := os.Stat(to); err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("backup has mode %v, error %v", info.Mode(), err)
		}
		copied, err := Open(to, Options{})
		if err != nil {
			t.Fatal(err)
		}
		names := tenants(t, copied)
		if len(names) < before || len(names) > after {
			t.Errorf("backup has %d rows; there were %d before and %d after it", len(names), before, after)
		}
		for i, name := range names {
			if name != fmt.Sprintf("%05d", i) {
				t.Fatalf("row %d is %s", i, name)
			}
		}
		if err := copied.Close(); err != nil {
			t.Error(err)
		}
	}
	close(stop)
	writer.Wait()
}

func TestBackupRefused(t *testing.T) {
	_, path := openTest(t, Options{})
	dir := t.TempDir()
	taken := filepath.Join(dir, "taken")
	if err := os.WriteFile(taken, []byte("an older backup"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := Backup(path, taken); !errors.Is(err, os.ErrExist) {
		t.Errorf("over a file that exists: error %v, want %v", err, os.ErrExist)
	}
	if b, err := os.ReadFile(taken); err != nil || string(b) != "an older backup" {
		t.Errorf("the older backup is now %q, error %v", b, err)
	}
	if err := Backup(path, filepath.Join(dir, "none", "backup")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("into a directory that does not exist: error %v, want %v", err, os.ErrNotExist)
	}
	for name, text := range map[string]string{"text": "not a database, but long enough to look at", "missing": ""} {
		from := filepath.Join(dir, name)
		if text != "" {
			if err := os.WriteFile(from, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if err := Backup(from, filepath.Join(dir, "backup")); err == nil {
			t.Errorf("of %s: no error", name)
		}
	}
	left, err := filepath.Glob(filepath.Join(dir, "*backup*"))
	if err != nil || len(left) != 0 {
		t.Errorf("refused backups left %v, error %v", left, err)
	}
}
