package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"fairdice/store"
	"fairdice/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func() store.Store {
		path := filepath.Join(t.TempDir(), "test.db")
		return func() store.Store {
			s, err := Open(path, Options{})
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	})
}

// TestLeaseOfBefore: the process that held a lease is gone when another one
// can open the database, so nobody waits for its end.
func TestLeaseOfBefore(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	for i, holder := range []string{"first", "second"} {
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		err = s.Update(context.Background(), func(tx store.Tx) error {
			l, err := tx.TakeLease("signer", holder, time.Hour)
			if err == nil && l.Epoch != int64(i+1) {
				t.Errorf("%s has epoch %d", holder, l.Epoch)
			}
			return err
		})
		if err := errors.Join(err, s.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestOneReader: with one connection to read, views wait for each other, and a
// view that waits leaves with its context.
func TestOneReader(t *testing.T) {
	s, _ := openTest(t, Options{Readers: 1})
	ctx, cancel := context.WithCancel(context.Background())
	err := s.View(context.Background(), func(store.Reader) error {
		time.AfterFunc(10*time.Millisecond, cancel)
		return s.View(ctx, func(store.Reader) error { return nil })
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
	err = s.View(context.Background(), func(r store.Reader) error {
		_, err := r.Tenants()
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

// TestViewCannotWrite: the connections that read refuse to write.
func TestViewCannotWrite(t *testing.T) {
	s, _ := openTest(t, Options{})
	err := s.View(context.Background(), func(r store.Reader) error {
		_, err := r.(*reader).conn.exec("INSERT INTO tenants (name, created) VALUES ('a', 0)")
		return err
	})
	if err == nil || !strings.Contains(err.Error(), "readonly") {
		t.Errorf("got error %v", err)
	}
	want(t, tenants(t, s))
}

// TestCancelledView: a long view that nobody waits for ends at its next read.
func TestCancelledView(t *testing.T) {
	s, _ := openTest(t, Options{})
	ctx, cancel := context.WithCancel(context.Background())
	err := s.View(ctx, func(r store.Reader) error {
		if _, err := r.Tenants(); err != nil {
			t.Error(err)
		}
		cancel()
		_, err := r.Tenants()
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got error %v, want %v", err, context.Canceled)
	}
}

// TestPath: characters that mean something in a database URI are part of the name.
func TestPath(t *testing.T) {
	for _, name := range []string{"plain.db", "with space.db", "q?mode=memory.db", "100%25.db", "a#b&c;d.db", "игра.db"} {
		path := filepath.Join(t.TempDir(), name)
		s, err := Open(path, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Update(context.Background(), addTenant("a")); err != nil {
			t.Error(err)
		}
		for _, suffix := range []string{"", "-wal", ".lock"} {
			info, err := os.Stat(path + suffix)
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if info.Mode().Perm() != 0o600 {
				t.Errorf("%s%s has mode %v, want only its owner to read it", name, suffix, info.Mode())
			}
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestRefusedFiles(t *testing.T) {
	create := func(script string) func(path string) error {
		return func(path string) error {
			if err := create(path); err != nil {
				return err
			}
			c, err := connect(path, readWrite)
			if err != nil {
				return err
			}
			return errors.Join(c.once(script), c.close())
		}
	}
	for _, test := range []struct {
		name    string
		prepare func(path string) error
		want    string
	}{
		{"newer schema", func(path string) error {
			s, err := Open(path, Options{})
			if err != nil {
				return err
			}
			return errors.Join(s.Close(), create("INSERT INTO schema (version, applied) VALUES (99, 0)")(path))
		}, "schema version 99 is newer than"},
		{"database of another program", create("CREATE TABLE users (name TEXT)"), "another program"},
		{"marked by another program", create("PRAGMA application_id = 7"), "application id 0x7"},
		{"not a database", func(path string) error {
			return os.WriteFile(path, []byte(strings.Repeat("not a database\n", 100)), 0o600)
		}, "not a database"},
		{"directory", func(path string) error { return os.Mkdir(path, 0o700) }, "unable to open"},
	} {
		t.Run(test.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "test.db")
			if err := test.prepare(path); err != nil {
				t.Fatal(err)
			}
			_, err := Open(path, Options{})
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("got error %v, want one with %q and the path", err, test.want)
			}
			if _, err = Open(path, Options{}); errors.Is(err, ErrLocked) {
				t.Errorf("a database that could not be opened stays locked: %v", err)
			}
		})
	}
	t.Run("no directory", func(t *testing.T) {
		if _, err := Open(filepath.Join(t.TempDir(), "none", "test.db"), Options{}); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("got error %v, want %v", err, os.ErrNotExist)
		}
	})
}

// TestMigrateSteps: a failed step leaves the version before it, whole.
func TestMigrateSteps(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	c, err := connect(path, readWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	version := func() int {
		v, err := schemaVersion(c, applicationID)
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	one := "CREATE TABLE one (a INTEGER)"
	if err := migrate(c, applicationID, []string{one, "CREATE TABLE two (a INTEGER); INSERT INTO none VALUES (1)"}, time.Now()); err == nil {
		t.Fatal("a broken migration succeeded")
	}
	if v := version(); v != 1 {
		t.Errorf("version %d after the second migration failed, want 1", v)
	}
	if err := migrate(c, applicationID, []string{one, "CREATE TABLE two (a INTEGER)"}, time.Now()); err != nil {
		t.Fatal(err)
	}
	if v := version(); v != 2 {
		t.Errorf("version %d, want 2", v)
	}
}

// A key from before keys had ends is still the same key, and has none.
func TestMigrateKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	c, err := connect(path, readWrite)
	if err != nil {
		t.Fatal(err)
	}
	scripts, err := migrations()
	if err == nil {
		err = migrate(c, applicationID, scripts[:2], time.Now())
	}
	if err == nil {
		_, err = c.exec(`INSERT INTO api_keys (hash, tenant, label, prefix, scopes, created, revoked)
			VALUES (zeroblob(32), 'club', 'phone', 'fd_club_a', 'match draw', 5, 0)`)
	}
	if err := errors.Join(err, c.close()); err != nil {
		t.Fatal(err)
	}
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var got []store.APIKey
	if err := s.View(t.Context(), func(r store.Reader) (err error) {
		got, err = r.APIKeys("club")
		return err
	}); err != nil {
		t.Fatal(err)
	}
	want := []store.APIKey{{Tenant: "club", Label: "phone", Prefix: "fd_club_a", Scopes: []string{"match", "draw"}, Created: time.Unix(5, 0).UTC()}}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// child runs this test binary with one test as another process.
func child(t *testing.T, test, path string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(os.Args[0], "-test.run=^"+test+"$", "-test.v=false")
	cmd.Env = append(os.Environ(), "FAIRDICE_TEST_DB="+path)
	return cmd
}

// TestSecondProcess: two processes never have one database open.
func TestSecondProcess(t *testing.T) {
	if path := os.Getenv("FAIRDICE_TEST_DB"); path != "" {
		_, err := Open(path, Options{})
		fmt.Println("child:", err, errors.Is(err, ErrLocked))
		return
	}
	s, path := openTest(t, Options{})
	out, err := child(t, "TestSecondProcess", path).CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("process %d has %s open true", os.Getpid(), path); !strings.Contains(string(out), want) {
		t.Errorf("the second process said %q, want %q", out, want)
	}
	if _, err := Open(path, Options{}); !errors.Is(err, ErrLocked) {
		t.Errorf("opened twice by one process: error %v, want %v", err, ErrLocked)
	}
	if err := s.Update(context.Background(), addTenant("still here")); err != nil {
		t.Error(err)
	}
}

// TestOtherNames: whatever name a second process calls the file by, it does
// not get it; a file with a second name of its own is not opened at all, for
// SQLite would keep a write-ahead log beside each.
func TestOtherNames(t *testing.T) {
	s, path := openTest(t, Options{})
	linked := filepath.Join(t.TempDir(), "linked.db")
	if err := os.Symlink(path, linked); err != nil {
		t.Fatal(err)
	}
	out, err := child(t, "TestSecondProcess", linked).CombinedOutput()
	if err != nil || !strings.Contains(string(out), fmt.Sprintf("process %d has %s open true", os.Getpid(), path)) {
		t.Errorf("through a symbolic link: %v, %s", err, out)
	}
	hard := path + ".hard"
	if err := os.Link(path, hard); err != nil {
		t.Fatal(err)
	}
	out, err = child(t, "TestSecondProcess", hard).CombinedOutput()
	if err != nil || !strings.Contains(string(out), "has 2 names") {
		t.Errorf("through a hard link: %v, %s", err, out)
	}
	if err := errors.Join(os.Remove(hard), s.Update(context.Background(), addTenant("a")), s.Close()); err != nil {
		t.Error(err)
	}
	// Opened by its other name it is the same database.
	if s, err = Open(linked, Options{}); err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	want(t, tenants(t, s), "a")
}

// A database that is older than the tallies has everything yet to be counted.
func TestCountingOfOlderDatabases(t *testing.T) {
	path := filepath.Join(t.TempDir(), "test.db")
	if err := create(path); err != nil {
		t.Fatal(err)
	}
	c, err := connect(path, readWrite)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	scripts, err := migrations()
	if err != nil {
		t.Fatal(err)
	}
	before := slices.IndexFunc(scripts, func(s string) bool { return strings.Contains(s, "CREATE TABLE tallies") })
	if err := migrate(c, applicationID, scripts[:before], time.Now()); err != nil {
		t.Fatal(err)
	}
	if err := c.once("INSERT INTO entries (number, time, text) VALUES (0, 1, x'00'), (1, 1, x'00'), (2, 1, x'00')"); err != nil {
		t.Fatal(err)
	}
	if err := migrate(c, applicationID, scripts, time.Now()); err != nil {
		t.Fatal(err)
	}
	r := &reader{conn: c}
	if got, err := r.Counting(); err != nil || got != (store.Counting{Until: 3}) {
		t.Errorf("%+v, %v", got, err)
	}
}
