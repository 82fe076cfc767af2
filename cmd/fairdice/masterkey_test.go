//go:build linux && amd64

package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// copied is a data directory like another.
func copied(t *testing.T, data string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "data")
	if err := os.CopyFS(dir, os.DirFS(data)); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"log.key", "receipts.key", "master.key"} { // CopyFS adds rights
		if err := os.Chmod(filepath.Join(dir, key), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// Wherever a move of the master key is cut off, a key that opens the database is
// in the place that counts, and the same command again ends with one file.
func TestMoveMasterFaults(t *testing.T) {
	data, _ := stopped(t, func(string) {})
	counts := func(t *testing.T, dir string) {
		t.Helper()
		c := testConfig(dir)
		if err := c.followMaster(); err != nil {
			t.Fatal(err)
		}
		if _, err := c.fits(t.Context(), c.master); err != nil {
			t.Errorf("the key that counts: %v", err)
		}
	}
	strike(t, func(t *testing.T) (string, []string) {
		dir := copied(t, data)
		if err := os.Mkdir(filepath.Join(dir, "vault"), 0o700); err != nil {
			t.Fatal(err)
		}
		return dir, []string{"keys", "move-master", filepath.Join(dir, "vault", "m.key"), "--data", dir}
	}, func(t *testing.T, dir string, done bool) {
		counts(t, dir)
		first, vault := filepath.Join(dir, "master.key"), filepath.Join(dir, "vault", "m.key")
		if out, err := run(t, "keys", "move-master", vault, "--data", dir); err != nil {
			t.Fatalf("move again: %v\n%s", err, out)
		}
		counts(t, dir)
		if _, err := os.Stat(first); !os.IsNotExist(err) {
			t.Errorf("the old file: %v", err)
		}
		// And back: the settings name that place, so no note is left.
		if out, err := run(t, "keys", "move-master", first, "--data", dir); err != nil {
			t.Fatalf("move back: %v\n%s", err, out)
		}
		counts(t, dir)
		for _, gone := range []string{vault, filepath.Join(dir, "master.moved")} {
			if _, err := os.Stat(gone); !os.IsNotExist(err) {
				t.Errorf("%s: %v", gone, err)
			}
		}
	})
}

// A master key is not moved under a running service, onto another key, or
// if it is not the one of the database.
func TestMoveMasterRefused(t *testing.T) {
	s, _ := startService(t)
	dir := s.config.data
	to := filepath.Join(t.TempDir(), "m.key")
	refused := func(dir, to, want string) {
		t.Helper()
		if out, err := run(t, "keys", "move-master", to, "--data", dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, %s; want %q", err, out, want)
		}
	}
	refused(dir, to, "in use")
	if _, err := os.Stat(to); !os.IsNotExist(err) {
		t.Errorf("something was made: %v", err)
	}
	other, foreign := t.TempDir(), filepath.Join(t.TempDir(), "m.key")
	if out, err := run(t, "keys", "create", "--data", filepath.Join(other, "data"), "--master-key", foreign); err != nil {
		t.Fatalf("create: %v\n%s", err, out)
	}
	if out, err := run(t, "keys", "create", "--data", filepath.Join(other, "data"), "--master-key", foreign); err == nil {
		t.Errorf("keys were created twice: %s", out)
	}
	if err := s.house.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	refused(dir, foreign, "another key")
	if text, err := os.ReadFile(foreign); err != nil || os.WriteFile(filepath.Join(dir, "master.key"), text, 0o600) != nil {
		t.Fatal(err)
	}
	refused(dir, to, "not the key the database was sealed under")
}
