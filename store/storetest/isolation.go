package storetest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"testing"

	"fairdice/store"
)

func testOwnWrites(t *testing.T, s store.Store) {
	update(t, s, func(tx store.Tx) error {
		m := match("m")
		if err := tx.AddMatch(m); err != nil {
			return err
		}
		m.Score = [2]int{1, 0}
		if err := tx.ReplaceMatch(m); err != nil {
			return err
		}
		m.Version++
		got, err := tx.Match("m")
		if err != nil {
			return err
		}
		same(t, got, m)
		m.Score = [2]int{1, 1}
		if err := tx.ReplaceMatch(m); err != nil {
			return err
		}
		if err := tx.AddEvents("m", 1, 1, []string{"one"}); err != nil {
			return err
		}
		if err := tx.AddEvents("m", 1, 2, []string{"two"}); err != nil {
			return err
		}
		lines, err := tx.Events("m", 1, 1)
		same(t, lines, []string{"one", "two"})
		if err != nil {
			return err
		}
		if err := tx.AddSequence(sequence("q", 0)); err != nil {
			return err
		}
		q, err := tx.LowestFree("club", "random")
		same(t, q, sequence("q", 0))
		if err != nil {
			return err
		}
		for want := range int64(4) {
			if i, err := appendEntry(tx); err != nil || i != want {
				return fmt.Errorf("append: index %d, error %v; want %d", i, err, want)
			}
		}
		hashes, err := tx.LogHashes([]int64{6})
		if err != nil {
			return err
		}
		same(t, hashes, [][32]byte{hash("entry 3 level 2")})
		return nil
	})
}

// testFailedCall: a call that was refused has changed nothing, and its Update
// may go on and commit.
func testFailedCall(t *testing.T, s store.Store) {
	update(t, s, func(tx store.Tx) error { return tx.AddMatch(match("m")) })
	type answer struct{ got, want error }
	var answers []answer // of the run that was committed
	update(t, s, func(tx store.Tx) error {
		stale := match("m")
		stale.Version = 7
		_, none := tx.Game("m", 1)
		answers = []answer{
			{tx.AddMatch(match("m")), store.ErrExists},
			{tx.ReplaceMatch(stale), store.ErrConflict},
			{tx.AddEvents("m", 1, 2, []string{"gap"}), store.ErrConflict},
			{none, store.ErrNotFound},
		}
		return tx.AddEvents("m", 1, 1, []string{"line"})
	})
	for _, a := range answers {
		if !errors.Is(a.got, a.want) {
			t.Errorf("got error %v, want %v", a.got, a.want)
		}
	}
	same(t, get(t, s, func(r store.Reader) ([]string, error) { return r.Events("m", 1, 1) }), []string{"line"})
	same(t, get(t, s, func(r store.Reader) (store.Match, error) { return r.Match("m") }), match("m"))
}

// spoil writes rows of every kind that an Update about to fail could leave behind.
func spoil(tx store.Tx, id string) error {
	if _, err := appendEntry(tx); err != nil {
		return err
	}
	for _, err := range []error{
		tx.AddTenant(store.Tenant{Name: id}), tx.AddMatch(match(id)), tx.AddGame(game(id, 1)), tx.AddRoll(roll(id, 1, 0)),
		tx.AddEvents(id, 1, 1, []string{"line"}), tx.Spend(hash("%s", id)), tx.AddSegment(segment(id, 1, 1)),
	} {
		if err != nil {
			return err
		}
	}
	return nil
}

// unspoilt checks that nothing of spoil is there, by doing it.
func unspoilt(t *testing.T, s store.Store, id string) {
	t.Helper()
	same(t, get(t, s, store.Reader.LogHead), store.LogHead{})
	missing(t, s, func(r store.Reader) (store.Match, error) { return r.Match(id) })
	update(t, s, func(tx store.Tx) error { return spoil(tx, id) })
}

func testRollback(t *testing.T, s store.Store) {
	cause := errors.New("the caller changed his mind")
	refused(t, s, cause, func(tx store.Tx) error {
		if err := spoil(tx, "m"); err != nil {
			return err
		}
		return cause
	})
	unspoilt(t, s, "m")
}

func testPanic(t *testing.T, s store.Store) {
	type value struct{ n int }
	func() {
		defer func() {
			if got := recover(); got != (value{7}) {
				t.Errorf("recovered %v, want the value of the panic", got)
			}
		}()
		s.Update(context.Background(), func(tx store.Tx) error {
			if err := spoil(tx, "m"); err != nil {
				t.Error(err)
			}
			panic(value{7})
		})
		t.Error("Update returned from a panic")
	}()
	unspoilt(t, s, "m")
}

// testGoexit: t.Fatal inside an Update ends the goroutine of its caller, and
// nothing else.
func testGoexit(t *testing.T, s store.Store) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.Update(context.Background(), func(tx store.Tx) error {
			if err := spoil(tx, "m"); err != nil {
				t.Error(err)
			}
			runtime.Goexit()
			return nil
		})
		t.Error("Update returned from Goexit")
	}()
	<-done
	unspoilt(t, s, "m")
}

// testNeighbours: updates that fail and panic leave those they share a commit
// with untouched.
func testNeighbours(t *testing.T, s store.Store) {
	const n = 48
	cause := errors.New("refused")
	together(n, func(i int) {
		defer func() {
			if v := recover(); v != nil && i%3 != 1 {
				t.Errorf("update %d panicked: %v", i, v)
			}
		}()
		err := s.Update(context.Background(), func(tx store.Tx) error {
			if err := tx.AddMatch(match(fmt.Sprint(i))); err != nil {
				return err
			}
			switch i % 3 {
			case 1:
				panic("at the disco")
			case 2:
				return cause
			}
			return nil
		})
		if i%3 == 0 && err != nil || i%3 == 2 && !errors.Is(err, cause) {
			t.Errorf("update %d: %v", i, err)
		}
	})
	for i := range n {
		read := func(r store.Reader) (store.Match, error) { return r.Match(fmt.Sprint(i)) }
		if i%3 == 0 {
			same(t, get(t, s, read), match(fmt.Sprint(i)))
		} else {
			missing(t, s, read)
		}
	}
}

func testViewPanic(t *testing.T, s store.Store) {
	for range 20 { // more often than there are connections
		func() {
			defer func() { recover() }()
			s.View(context.Background(), func(r store.Reader) error {
				r.Tenants()
				panic("in a view")
			})
		}()
	}
	same(t, get(t, s, store.Reader.LogHead), store.LogHead{})
}

func testSnapshot(t *testing.T, s store.Store) {
	update(t, s, func(tx store.Tx) error { return tx.AddMatch(match("m")) })
	err := s.View(context.Background(), func(r store.Reader) error {
		before, err := r.Match("m")
		if err != nil {
			return err
		}
		update(t, s, func(tx store.Tx) error {
			m := match("m")
			m.Score = [2]int{99, 0}
			if err := tx.ReplaceMatch(m); err != nil {
				return err
			}
			return tx.AddGame(game("m", 1))
		})
		after, err := r.Match("m")
		if err != nil {
			return err
		}
		same(t, after, before)
		if _, err := r.Game("m", 1); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("a view sees a game added after it began (error %v)", err)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if m := get(t, s, func(r store.Reader) (store.Match, error) { return r.Match("m") }); m.Score[0] != 99 {
		t.Errorf("a new view sees the score %v, want what was committed", m.Score)
	}
}

// testNoHalfUpdate moves points between two matches while views add them up.
func testNoHalfUpdate(t *testing.T, s store.Store) {
	both := func(r store.Reader) (m [2]store.Match, err error) {
		for i, id := range []string{"left", "right"} {
			if m[i], err = r.Match(id); err != nil {
				return m, err
			}
		}
		return m, nil
	}
	update(t, s, func(tx store.Tx) error {
		left, right := match("left"), match("right")
		left.Score, right.Score = [2]int{100, 0}, [2]int{0, 0}
		if err := tx.AddMatch(left); err != nil {
			return err
		}
		return tx.AddMatch(right)
	})
	together(6, func(i int) {
		for n := range 25 {
			if i >= 3 {
				m := get(t, s, both)
				if sum := m[0].Score[0] + m[1].Score[0]; sum != 100 {
					t.Errorf("a view sees %d points, want 100", sum)
				}
				continue
			}
			update(t, s, func(tx store.Tx) error {
				m, err := both(tx)
				if err != nil {
					return err
				}
				m[0].Score[0] -= n
				m[1].Score[0] += n
				if err := tx.ReplaceMatch(m[0]); err != nil {
					return err
				}
				return tx.ReplaceMatch(m[1])
			})
		}
	})
}
