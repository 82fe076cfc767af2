//go:build unix

package postgres

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairdice/store"
	"fairdice/store/postgres/pgtest"
)

// gathered starts updates while no connection is free, and gives it free when
// all of them wait for a group or have one.
func gathered(t *testing.T, db *database, fns []func(store.Tx) error) []error {
	t.Helper()
	c := <-db.slots
	errs := make([]error, len(fns))
	var wg sync.WaitGroup
	for i, fn := range fns {
		wg.Go(func() { errs[i] = db.Update(t.Context(), fn) })
		if i < groupsAtOnce {
			await(db, func(g *groups) bool { return g.running == i+1 && len(g.waiting) == 0 })
		}
	}
	await(db, func(g *groups) bool { return len(g.waiting) == len(fns)-groupsAtOnce })
	db.slots <- c
	wg.Wait()
	return errs
}

func await(db *database, so func(*groups) bool) {
	for is := false; !is; time.Sleep(time.Millisecond) {
		db.groups.mu.Lock()
		is = so(&db.groups)
		db.groups.mu.Unlock()
	}
}

// TestGroup: updates that only write share transactions, and one that finds
// another row than it had to spoils nobody's but its own.
func TestGroup(t *testing.T) {
	const n, stale = 40, 17
	db := openTest(t, pgtest.Database(t), Options{Connections: 1})
	games := make([]store.Game, n)
	for i := range games {
		games[i] = store.Game{Match: fmt.Sprintf("%02d", i), Number: 1}
		if err := db.Update(t.Context(), func(tx store.Tx) error { return tx.AddGame(games[i]) }); err != nil {
			t.Fatal(err)
		}
	}
	draws := func() (fns []func(store.Tx) error) {
		for i := range games {
			fns = append(fns, func(tx store.Tx) error { return draw(tx, &games[i]) })
		}
		return fns
	}
	begins := 0
	db.inject = func(_ *conn, sql string) error {
		if strings.HasPrefix(sql, "BEGIN") {
			begins++
		}
		return nil
	}
	if err := errors.Join(gathered(t, db, draws())...); err != nil {
		t.Fatal(err)
	}
	// The first two may be alone, each in the first group of its runner.
	if begins > 4 {
		t.Errorf("%d updates made %d transactions", n, begins)
	}
	for i := range games {
		games[i].Version++
		games[i].Lines++
		games[i].Rolls[1]++
	}
	games[stale].Version = 9
	for i, err := range gathered(t, db, draws()) {
		if i != stale && err != nil || i == stale && !errors.Is(err, store.ErrConflict) {
			t.Errorf("update %d: %v", i, err)
		}
	}
	db.inject = nil
	err := db.View(t.Context(), func(r store.Reader) error {
		for i, g := range games {
			rolls, err := r.Rolls(g.Match, 1)
			if err != nil {
				return err
			}
			if want := 2 - len(rolls); want != 0 && i != stale || i == stale && want != 1 {
				t.Errorf("game %d has %d rolls", i, len(rolls))
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// TestGroupUncertain: if nobody knows what has become of a group, all of its callers hear so.
func TestGroupUncertain(t *testing.T) {
	const n = 12
	for _, committed := range []bool{false, true} {
		db := openTest(t, pgtest.Database(t), Options{Connections: 1})
		var names []string
		var fns []func(store.Tx) error
		for i := range n {
			names = append(names, fmt.Sprintf("%02d", i))
			fns = append(fns, addTenant(names[i]))
		}
		// The writes of a group and its COMMIT are one message: the network
		// fails before it or, as far as the store can tell, in the middle of it.
		db.inject = func(c *conn, sql string) error {
			if sql != commit {
				return nil
			}
			if committed {
				var calls []call
				for _, name := range names {
					calls = append(calls, call{"INSERT INTO tenants (name, created) VALUES ($1, $2) ON CONFLICT DO NOTHING", []any{name, 0}})
				}
				for _, one := range calls {
					if _, err := c.send(nil, one); err != nil {
						t.Error(err)
					}
				}
			}
			c.pg.Conn().Close()
			if err := c.script("SELECT 1"); err == nil {
				t.Error("a closed connection works")
			}
			return errors.New("the line went dead")
		}
		errs := gathered(t, db, fns)
		db.inject = nil
		for i, err := range errs {
			if !errors.Is(err, store.ErrUncertain) {
				t.Errorf("committed %v: update %d: error %v, want %v", committed, i, err, store.ErrUncertain)
			}
		}
		want := []string(nil)
		if committed {
			want = names
		}
		if got := tenants(t, db); !slices.Equal(got, want) {
			t.Errorf("committed %v: there are %v", committed, got)
		}
	}
}

// TestGroupLeft: an update leaves with its context while no group has it.
func TestGroupLeft(t *testing.T) {
	db := openTest(t, pgtest.Database(t), Options{Connections: 1})
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var fns []func(store.Tx) error
	for i := range 2 * groupsAtOnce {
		fns = append(fns, func(tx store.Tx) error {
			if i == 0 {
				cancel()
			}
			return tx.AddTenant(store.Tenant{Name: fmt.Sprint(i)})
		})
	}
	c := <-db.slots
	var busy sync.WaitGroup
	for i := range groupsAtOnce { // groups that wait for the connection
		busy.Go(func() { db.Update(t.Context(), addTenant("first")) })
		await(db, func(g *groups) bool { return g.running == i+1 && len(g.waiting) == 0 })
	}
	for i, fn := range fns {
		if err := db.Update(ctx, fn); !errors.Is(err, context.Canceled) {
			t.Errorf("update %d: error %v, want %v", i, err, context.Canceled)
		}
	}
	db.slots <- c
	busy.Wait()
	if got := tenants(t, db); !slices.Equal(got, []string{"first"}) {
		t.Errorf("there are %v", got)
	}
}
