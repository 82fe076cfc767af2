//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fairdice/store"
	"fairdice/store/postgres/pgtest"
	"fairdice/store/storetest"

	"golang.org/x/sync/errgroup"
)

// instances are several stores on one database, used in turn: what storetest
// demands of one store they must do together.
type instances struct {
	stores []store.Store
	next   atomic.Int64
}

func (i *instances) pick() store.Store {
	return i.stores[i.next.Add(1)%int64(len(i.stores))]
}

func (i *instances) View(ctx context.Context, fn func(store.Reader) error) error {
	return i.pick().View(ctx, fn)
}

func (i *instances) Update(ctx context.Context, fn func(store.Tx) error) error {
	return i.pick().Update(ctx, fn)
}

func (i *instances) Close() error {
	var errs []error
	for _, s := range i.stores {
		errs = append(errs, s.Close())
	}
	return errors.Join(errs...)
}

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func() store.Store {
		address := pgtest.Database(t)
		return func() store.Store {
			two := &instances{stores: make([]store.Store, 2)}
			var opening errgroup.Group // at the same time: one of them migrates
			for i := range two.stores {
				opening.Go(func() (err error) {
					two.stores[i], err = Open(context.Background(), address, Options{Connections: 16})
					return err
				})
			}
			if err := opening.Wait(); err != nil {
				t.Fatal(err)
			}
			return two
		}
	})
}

// openTest opens a store on a database of its own.
func openTest(t testing.TB, address string, o Options) *database {
	t.Helper()
	s, err := Open(context.Background(), address, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s.(*database)
}

func addTenant(name string) func(store.Tx) error {
	return func(tx store.Tx) error { return tx.AddTenant(store.Tenant{Name: name}) }
}

func tenants(t testing.TB, s store.Store) (names []string) {
	t.Helper()
	err := s.View(context.Background(), func(r store.Reader) error {
		ts, err := r.Tenants()
		for _, v := range ts {
			names = append(names, v.Name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return names
}

func TestRefusedDatabases(t *testing.T) {
	server := pgtest.Start(t)
	ours := func(t testing.TB) string {
		address := server.Database(t)
		s, err := Open(t.Context(), address, Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		return address
	}
	for _, test := range []struct {
		name    string
		address func(t testing.TB) string
		sql     string
		want    string
	}{
		{"newer schema", ours, "INSERT INTO fairdice_schema VALUES (99, 0)", "schema version 99 is newer than"},
		{"database of another program", server.Database, "CREATE TABLE users (name text)", "another program, with 1 tables"},
		{"no such database", func(t testing.TB) string { return server.Database(t) + "&dbname=none" }, "", `database "none" does not exist`},
		{"no server", func(t testing.TB) string { return "postgres://postgres@/x?host=/nowhere" }, "", "/nowhere"},
		{"no address", func(t testing.TB) string { return "postgres://:bad port/" }, "", "read database address"},
	} {
		t.Run(test.name, func(t *testing.T) {
			address := test.address(t)
			if test.sql != "" {
				if err := server.Exec(address, test.sql); err != nil {
					t.Fatal(err)
				}
			}
			s, err := Open(t.Context(), address, Options{})
			if err == nil {
				s.Close()
			}
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one with %q", err, test.want)
			}
		})
	}
	t.Run("settings", func(t *testing.T) {
		address := ours(t)
		for _, sql := range []string{"ALTER ROLE postgres SET synchronous_commit = off", "ALTER SYSTEM SET fsync = off"} {
			if err := server.Exec(address, sql); err != nil {
				t.Fatal(err)
			}
		}
		db := openTest(t, address, Options{Connections: 1})
		c := <-db.slots
		var setting string
		if _, err := c.send(func(r *row) { setting = r.text(0) }, call{sql: "SELECT current_setting('synchronous_commit')"}); err != nil {
			t.Error(err)
		}
		db.slots <- c
		if setting != "on" {
			t.Errorf("synchronous_commit is %s, whatever is acknowledged must be on disk", setting)
		}
		server.Stop(t)
		server.Restart(t)
		_, err := Open(t.Context(), address, Options{})
		if err == nil || !strings.Contains(err.Error(), "fsync off") {
			t.Errorf("a server that does not write to its disk: error %v", err)
		}
	})
}

// TestPassword: no error shows the password of the address.
func TestPassword(t *testing.T) {
	for _, address := range []string{
		"postgres://fairdice:hunter2@/x?host=/nowhere",
		"postgres://fairdice:hunter2@localhost:notaport/x",
		"host=/nowhere user=fairdice password=hunter2 connect_timeout=bad",
	} {
		_, err := Open(t.Context(), address, Options{})
		if err == nil || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("open answers %v", err)
		}
	}
}

// TestMigrateSteps: a failed step leaves the version before it, whole.
func TestMigrateSteps(t *testing.T) {
	db := openTest(t, pgtest.Database(t), Options{Connections: 1})
	c := <-db.slots
	defer func() { db.slots <- c }()
	if err := c.script("CREATE SCHEMA empty; SET search_path = empty"); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		second  string
		fails   bool
		version int
	}{
		{"CREATE TABLE two (a bigint); INSERT INTO none VALUES (1)", true, 1},
		{"CREATE TABLE two (a bigint)", false, 2},
	} {
		err := migrate(c, []string{"CREATE TABLE one (a bigint)", test.second}, time.Now())
		if (err != nil) != test.fails {
			t.Errorf("%s: error %v", test.second, err)
		}
		if v, err := schemaVersion(c); err != nil || v != test.version {
			t.Errorf("version %d after it, error %v; want %d", v, err, test.version)
		}
	}
}

// TestStatements: what a transaction costs in messages to the server.
func TestStatements(t *testing.T) {
	var sent []string
	db := openTest(t, pgtest.Database(t), Options{Connections: 1})
	db.inject = func(_ *conn, sql string) error {
		sent = append(sent, strings.Fields(sql)[0])
		return nil
	}
	messages := func(fn func(store.Tx) error) string {
		sent = nil
		if err := db.Update(context.Background(), fn); err != nil {
			t.Fatal(err)
		}
		return strings.Join(sent, " ")
	}
	g := store.Game{Match: "m", Number: 1}
	for _, test := range []struct {
		name string
		fn   func(store.Tx) error
		want string
	}{
		{"nothing", func(store.Tx) error { return nil }, ""},
		{"add", func(tx store.Tx) error { return tx.AddGame(g) }, "BEGIN INSERT COMMIT"},
		{"draw", func(tx store.Tx) error { return draw(tx, &g) }, "BEGIN WITH INSERT WITH COMMIT"},
		{"append", func(tx store.Tx) error {
			head, err := tx.LockLog()
			if err != nil {
				return err
			}
			return tx.AppendEntry(store.Entry{Index: head.Size}, make([][32]byte, 1))
		}, "BEGIN LOCK SELECT WITH COMMIT"},
		{"taken", func(tx store.Tx) error {
			if err := tx.AddGame(g); !errors.Is(err, store.ErrExists) {
				return fmt.Errorf("a game was added twice: %w", err)
			}
			return nil
		}, "BEGIN INSERT BEGIN INSERT COMMIT"},
	} {
		if got := messages(test.fn); got != test.want {
			t.Errorf("%s: sent %q, want %q", test.name, got, test.want)
		}
	}
}
