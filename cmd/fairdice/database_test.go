package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairdice/client"
	"fairdice/store"
	"fairdice/store/postgres/pgtest"
)

func run(t *testing.T, args ...string) (string, error) {
	t.Helper()
	var out bytes.Buffer
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(&out)
	root.SetErr(&out)
	err := root.ExecuteContext(t.Context())
	return out.String(), err
}

// TestMigrate moves a service to PostgreSQL and back: it goes on where it was,
// under the keys and the head of its data directory.
func TestMigrate(t *testing.T) {
	server := pgtest.Start(t)
	dir, address, key, known := t.TempDir(), server.Database(t), "", 0
	file, again := filepath.Join(dir, "fairdice.db"), filepath.Join(dir, "again.db")
	for i, database := range []string{"", address, again} {
		if i > 0 {
			from := []string{file, address}[i-1]
			out, err := run(t, "migrate", from, database)
			if err != nil || !strings.Contains(out, "copied and verified") {
				t.Fatalf("migrate %s: %v\n%s", from, err, out)
			}
			if out, err := run(t, "migrate", from, database); err == nil || !strings.Contains(err.Error(), "not empty") {
				t.Errorf("migrate a second time: %v\n%s", err, out)
			}
		}
		s, made := startService(t, func(c *config) { c.data, c.master, c.db = dir, filepath.Join(dir, "master.key"), database })
		if key == "" {
			key = made
		} else if made != "" {
			t.Error("a migrated service made a new tenant")
		}
		c, err := client.New(s.url(), client.WithKey(key))
		if err != nil {
			t.Fatal(err)
		}
		id := openBench(t, c)
		known++
		var matches []store.Match
		err = s.store.View(t.Context(), func(r store.Reader) (err error) {
			matches, err = r.Matches("", 9)
			return err
		})
		if err != nil || len(matches) != known {
			t.Errorf("%d matches, want %d; error %v", len(matches), known, err)
		}
		if _, err := c.NextGame(t.Context(), id, 1, 0); err != nil {
			t.Fatal(err)
		}
		if _, err := c.DrawBytes(t.Context(), id, 1, 1, client.StreamOpening, 0); err != nil {
			t.Fatal(err)
		}
		if err := s.stop(); err != nil {
			t.Fatal(err)
		}
	}
}

// TestJoin: two services on one PostgreSQL database are one service. The
// second needs the keys of the first.
func TestJoin(t *testing.T) {
	address := pgtest.Start(t).Database(t)
	shared := func(dir string) func(c *config) {
		return func(c *config) { c.data, c.master, c.db = dir, filepath.Join(dir, "master.key"), address }
	}
	one, other := t.TempDir(), t.TempDir()
	first, key := startService(t, shared(one))

	c := testConfig(other)
	shared(other)(&c)
	if s, err := openService(t.Context(), c, first.log); err == nil || !strings.Contains(err.Error(), "copy log.key") {
		t.Errorf("without the keys: %v, %v", s, err)
	}
	for _, name := range []string{"log.key", "receipts.key", "master.key"} {
		b, err := os.ReadFile(filepath.Join(one, name))
		if err == nil {
			err = os.WriteFile(filepath.Join(other, name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	second, _ := startService(t, shared(other))
	var clients [2]*client.Client
	for i, s := range []*service{first, second} {
		var err error
		if clients[i], err = client.New(s.url(), client.WithKey(key)); err != nil {
			t.Fatal(err)
		}
	}
	id := openBench(t, clients[0])
	for i := range 6 {
		c := clients[i%2]
		if i == 0 {
			if _, err := clients[1].NextGame(t.Context(), id, 1, 0); err != nil {
				t.Fatal(err)
			}
		}
		a, err := c.DrawBytes(t.Context(), id, 1, 1, client.StreamOpening, 0)
		if err != nil {
			t.Fatal(err)
		}
		if b, err := clients[(i+1)%2].DrawBytes(t.Context(), id, 1, 1, client.StreamOpening, 0); err != nil || !bytes.Equal(a, b) {
			t.Errorf("two services answer one draw with %s and %s (%v)", a, b, err)
		}
	}
}

func TestDatabaseAddress(t *testing.T) {
	const secret = "postgres://fairdice:hunter2@db.example/fairdice?password=hunter3"
	out, err := run(t, "config", "print", "--config", "testdata/none.yaml")
	if err == nil {
		t.Errorf("a settings file that is not there: %s", out)
	}
	t.Setenv("FAIRDICE_DATABASE", secret)
	if out, err = run(t, "config", "print"); err != nil || strings.Contains(out, "hunter") || !strings.Contains(out, "db.example") {
		t.Errorf("the database is printed as %s (%v)", out, err)
	}
	for _, command := range []string{"backup", "restore"} {
		if out, err := run(t, command, filepath.Join(t.TempDir(), "file")); err == nil || !strings.Contains(err.Error(), "pg_dump") {
			t.Errorf("%s of a PostgreSQL database: %v\n%s", command, err, out)
		}
	}
	if out, err := run(t, "migrate", filepath.Join(t.TempDir(), "none.db"), secret); err == nil || strings.Contains(err.Error(), "hunter") {
		t.Errorf("migrate a file that is not there: %v\n%s", err, out)
	}
}
