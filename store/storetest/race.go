package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"fairdice/store"
)

// together runs fn(0) to fn(n-1) in n goroutines and waits for all.
func together(n int, fn func(i int)) {
	var wg sync.WaitGroup
	start := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-start
			fn(i)
		})
	}
	close(start)
	wg.Wait()
}

func testCounter(t *testing.T, s store.Store) {
	const callers, times = 16, 12
	update(t, s, func(tx store.Tx) error { return tx.AddMatch(match("m")) })
	together(callers, func(int) {
		for range times {
			update(t, s, func(tx store.Tx) error {
				m, err := tx.Match("m")
				if err != nil {
					return err
				}
				m.Games++
				return tx.ReplaceMatch(m)
			})
		}
	})
	m := get(t, s, func(r store.Reader) (store.Match, error) { return r.Match("m") })
	if want := match("m").Games + callers*times; m.Games != want || m.Version != callers*times {
		t.Errorf("counted %d, version %d; want %d, version %d", m.Games, m.Version, want, callers*times)
	}
}

func testStaleVersion(t *testing.T, s store.Store) {
	update(t, s, func(tx store.Tx) error {
		if err := tx.AddMatch(match("m")); err != nil {
			return err
		}
		return tx.AddGame(game("m", 1))
	})
	m := get(t, s, func(r store.Reader) (store.Match, error) { return r.Match("m") })
	g := get(t, s, func(r store.Reader) (store.Game, error) { return r.Game("m", 1) })
	var mu sync.Mutex
	var won [2]int
	together(8, func(i int) {
		mine, my := m, g
		mine.Score[0], my.Lines = 1000+i, 1000+i
		for kind, replace := range []func(store.Tx) error{
			func(tx store.Tx) error { return tx.ReplaceMatch(mine) },
			func(tx store.Tx) error { return tx.ReplaceGame(my) },
		} {
			switch err := s.Update(context.Background(), replace); {
			case err == nil:
				mu.Lock()
				won[kind]++
				mu.Unlock()
			case !errors.Is(err, store.ErrConflict):
				t.Errorf("replace: %v", err)
			}
		}
	})
	if won != [2]int{1, 1} {
		t.Errorf("%v replacements of one version succeeded, want one each", won)
	}
	if m := get(t, s, func(r store.Reader) (store.Match, error) { return r.Match("m") }); m.Version != 1 {
		t.Errorf("version %d after one replacement", m.Version)
	}
}

func testLowestFreeRace(t *testing.T, s store.Store) {
	const n = 32
	update(t, s, func(tx store.Tx) error {
		for i := range uint64(n) {
			if err := tx.AddSequence(sequence(fmt.Sprint("q", i), i)); err != nil {
				return err
			}
		}
		return nil
	})
	var mu sync.Mutex
	taken := map[uint64]int{}
	together(n, func(i int) {
		var number uint64
		update(t, s, func(tx store.Tx) error {
			q, err := tx.LowestFree("club", "random")
			if err != nil {
				return err
			}
			number = q.Number
			q.State, q.Match = store.Assigned, fmt.Sprint("match ", i)
			return tx.ReplaceSequence(q, store.Free)
		})
		mu.Lock()
		defer mu.Unlock()
		taken[number]++
	})
	for i := range uint64(n) {
		if taken[i] != 1 {
			t.Errorf("sequence %d was assigned %d times", i, taken[i])
		}
	}
	missing(t, s, func(r store.Reader) (store.Sequence, error) { return r.LowestFree("club", "random") })
}

func testSpendRace(t *testing.T, s store.Store) {
	race(t, s, store.ErrExists, func(tx store.Tx, i int) error { return tx.Spend(hash("link")) })
}

func testEventsRace(t *testing.T, s store.Store) {
	race(t, s, store.ErrConflict, func(tx store.Tx, i int) error {
		return tx.AddEvents("m", 1, 1, []string{fmt.Sprint("first line by ", i), "second line"})
	})
	lines := get(t, s, func(r store.Reader) ([]string, error) { return r.Events("m", 1, 1) })
	if len(lines) != 2 {
		t.Errorf("the record is %q, want two lines by one writer", lines)
	}
}

// race runs fn in many goroutines; one wins, the others get lost.
func race(t *testing.T, s store.Store, lost error, fn func(tx store.Tx, i int) error) {
	t.Helper()
	var mu sync.Mutex
	won := 0
	together(24, func(i int) {
		switch err := s.Update(context.Background(), func(tx store.Tx) error { return fn(tx, i) }); {
		case err == nil:
			mu.Lock()
			won++
			mu.Unlock()
		case !errors.Is(err, lost):
			t.Errorf("loser %d got error %v, want %v", i, err, lost)
		}
	})
	if won != 1 {
		t.Errorf("%d updates won the race, want 1", won)
	}
}

func testLogRace(t *testing.T, s store.Store) {
	const callers, times = 12, 8
	var mu sync.Mutex
	seen := map[int64]int{}
	together(callers, func(int) {
		for range times {
			var index int64
			update(t, s, func(tx store.Tx) (err error) {
				index, err = appendEntry(tx)
				return err
			})
			mu.Lock()
			seen[index]++
			mu.Unlock()
		}
	})
	for i := range int64(callers * times) {
		if seen[i] != 1 {
			t.Errorf("index %d was given %d times", i, seen[i])
		}
	}
	same(t, get(t, s, store.Reader.LogHead), store.LogHead{Size: callers * times, Time: instant(callers*times - 1)})
}
