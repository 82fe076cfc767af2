package storetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"fairdice/store"

	"github.com/google/go-cmp/cmp"
)

// RunMemory runs the tests of a witness's memory. It calls create for each, and
// create makes an empty memory and returns a function that opens it, and whether
// that can be done again after it was closed.
func RunMemory(t *testing.T, create func(t *testing.T) (open func() store.Memory, again bool)) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, m store.Memory)
	}{
		{"advance", testAdvance},
		{"refused", testRefused},
		{"race", testAdvanceRace},
	} {
		t.Run(test.name, func(t *testing.T) {
			open, _ := create(t)
			m := open()
			test.run(t, m)
			if err := m.Close(); err != nil {
				t.Error(err)
			}
		})
	}
	t.Run("reopen", func(t *testing.T) {
		open, again := create(t)
		if !again {
			t.Skip("it cannot be opened again")
		}
		m := open()
		want := witnessed("log", 3, 1)
		if ok, err := m.Advance(t.Context(), 0, want); !ok || err != nil {
			t.Fatal(ok, err)
		}
		if err := m.Close(); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Last(t.Context(), "log"); err == nil {
			t.Error("a closed memory answers")
		}
		m = open()
		defer m.Close()
		want.Cosigned = true
		equal(t, "last", want, must(t)(m.Last(t.Context(), "log")))
	})
}

func witnessed(origin string, size int64, root byte) store.Witnessed {
	return store.Witnessed{Origin: origin, Size: size, Root: [32]byte{root}, Note: fmt.Sprintf("%s %d %d", origin, size, root), Time: instant(int(size))}
}

func must(t *testing.T) func(store.Witnessed, error) store.Witnessed {
	return func(w store.Witnessed, err error) store.Witnessed {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return w
	}
}

func equal(t *testing.T, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("%s (-want +got):\n%s", what, d)
	}
}

func testAdvance(t *testing.T, m store.Memory) {
	ctx := t.Context()
	if _, err := m.Last(ctx, "log"); !errors.Is(err, store.ErrNotFound) {
		t.Errorf("last of an unknown log: %v", err)
	}
	for _, step := range []struct {
		from int64
		next store.Witnessed
		want bool
	}{
		{1, witnessed("log", 2, 1), false}, // nothing was cosigned
		{0, witnessed("log", 2, 1), true},
		{0, witnessed("log", 3, 1), false},  // stale
		{2, witnessed("log", 2, 1), false},  // not larger
		{2, witnessed("log", 1, 1), false},  // smaller
		{2, witnessed("log", 9, 1), true},   //
		{0, witnessed("other", 1, 7), true}, // each log for itself
		{2, witnessed("log", 10, 1), false}, // stale
		{9, witnessed("log", 10, 1), true},
	} {
		got, err := m.Advance(ctx, step.from, step.next)
		if err != nil || got != step.want {
			t.Errorf("advance from %d to %s: %v, %v; want %v", step.from, step.next.Note, got, err, step.want)
		}
	}
	want := witnessed("log", 10, 1)
	want.Cosigned = true
	equal(t, "last", want, must(t)(m.Last(ctx, "log")))
	logs, err := m.Watched(ctx)
	if err != nil {
		t.Fatal(err)
	}
	other := witnessed("other", 1, 7)
	other.Cosigned = true
	equal(t, "watched", []store.Watched{{Last: want, Cosigned: 3}, {Last: other, Cosigned: 1}}, logs)
}

func testRefused(t *testing.T, m store.Memory) {
	ctx := t.Context()
	keep := func(w store.Witnessed) {
		t.Helper()
		if err := m.Keep(ctx, w); err != nil {
			t.Fatal(err)
		}
	}
	advance := func(from int64, w store.Witnessed) store.Witnessed {
		t.Helper()
		if ok, err := m.Advance(ctx, from, w); !ok || err != nil {
			t.Fatal(ok, err)
		}
		w.Cosigned = true
		return w
	}
	five := advance(0, witnessed("log", 5, 1))
	keep(witnessed("log", 5, 1)) // it is cosigned and stays so
	keep(witnessed("log", 5, 2))
	keep(witnessed("log", 5, 2))
	keep(witnessed("log", 8, 3))
	keep(witnessed("log", 9, 3))
	nine := advance(5, witnessed("log", 9, 3)) // refused once, then proved
	eight := witnessed("log", 8, 3)
	bad := witnessed("log", 5, 2)
	refused, err := m.Refused(ctx)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "refused", []store.Witnessed{bad, eight}, refused)
	same, err := m.OfSize(ctx, "log", 5)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "of one size", []store.Witnessed{five, bad}, same)
	splits, err := m.Splits(ctx)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "splits", [][2]store.Witnessed{{five, bad}}, splits)
	logs, err := m.Watched(ctx)
	if err != nil {
		t.Fatal(err)
	}
	equal(t, "watched", []store.Watched{{Last: nine, Cosigned: 2, Refused: 2}}, logs)
	for n := range store.MaxRefused + 10 {
		keep(witnessed("log", int64(100+n), 1))
	}
	if logs, err = m.Watched(ctx); err != nil || logs[0].Refused != store.MaxRefused {
		t.Errorf("%d refused are kept, want %d: %v", logs[0].Refused, store.MaxRefused, err)
	}
}

// testAdvanceRace: of many that go on from one checkpoint one is the next.
func testAdvanceRace(t *testing.T, m store.Memory) {
	for size := int64(0); size < 20; size++ {
		var won atomic.Int64
		var wg sync.WaitGroup
		for n := range 8 {
			wg.Go(func() {
				ok, err := m.Advance(t.Context(), size, witnessed("log", size+1, byte(n)))
				if err != nil {
					t.Error(err)
				}
				if ok {
					won.Add(1)
				}
			})
		}
		wg.Wait()
		if won.Load() != 1 {
			t.Fatalf("%d of 8 went on from size %d", won.Load(), size)
		}
	}
}
