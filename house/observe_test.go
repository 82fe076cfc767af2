package house_test

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/store"
	"fairdice/store/sqlite"
)

// logbook counts what a house tells its observer.
type logbook struct {
	mu    sync.Mutex
	count map[string]int
}

func (l *logbook) note(what string, err error) {
	if err != nil {
		what += " failed"
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.count == nil {
		l.count = map[string]int{}
	}
	l.count[what]++
}

func (l *logbook) Drawn(mode string, _ time.Duration)      { l.note("drawn "+mode, nil) }
func (l *logbook) ToppedUp(tenant, mode string, err error) { l.note("topped up "+tenant+" "+mode, err) }
func (l *logbook) SigningFailed(err error)                 { l.note("signing", err) }
func (l *logbook) Cosigned(witness string, err error)      { l.note("witness "+witness, err) }
func (l *logbook) Fetched(_ uint64, at time.Time, err error) {
	l.note("round of "+at.Format(time.TimeOnly), err)
}
func (l *logbook) Told(taken, dead bool)           { l.note(fmt.Sprint("told ", taken, " ", dead), nil) }
func (l *logbook) Looked(_ house.Swept, err error) { l.note("looked", err) }

func (l *logbook) has(what string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.count[what]
}

// await waits until it was told that.
func (l *logbook) await(t *testing.T, what string) {
	t.Helper()
	for range 1000 {
		if l.has(what) > 0 {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	t.Fatalf("%q was never told, but %v", what, l.count)
}

// Who watches a house learns of every failure of those it relies on, and where it stands.
func TestObserver(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	told := &logbook{}
	w.config.Observer = told
	w.watchers[1].down.Store(true)
	dir := t.TempDir()
	db, err := sqlite.Open(filepath.Join(dir, "test.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	disk := &faulty{Store: db}
	p := w.mustStart(dir, disk)
	if err := p.AddTenant(t.Context(), "default"); err != nil {
		t.Fatal(err)
	}
	if err := p.TopUp(t.Context(), "default", "random", 3); err != nil {
		t.Fatal(err)
	}
	w.cosigned(p)
	told.await(t, "witness "+w.watchers[0].Name())
	told.await(t, "witness "+w.watchers[1].Name()+" failed")
	told.await(t, "topped up default random")
	told.await(t, "looked")
	if n := told.has("signing failed") + told.has("witness "+w.watchers[1].Name()); n > 0 {
		t.Errorf("%d things were told that never were", n)
	}
	w.watchers[1].down.Store(false)
	disk.fail.Store(true)
	sealed := make(chan error)
	go func() { sealed <- w.seal(p) }()
	told.await(t, "signing failed")
	st, err := p.Stats(t.Context())
	if err != nil || st.Logged != 4 || st.Signed != 3 || st.Cosigned != 3 || st.Refused {
		t.Errorf("while nothing can be signed: %+v, %v", st, err)
	}
	disk.fail.Store(false)
	if err := <-sealed; err != nil {
		t.Fatal(err)
	}
	w.cosigned(p)
	told.await(t, "witness "+w.watchers[1].Name())
	st, err = p.Stats(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if st.SignedAt.IsZero() {
		t.Error("nobody knows when it was signed")
	}
	st.SignedAt = time.Time{}
	diff(t, "statistics", house.Stats{Logged: 4, Signed: 4, Cosigned: st.Cosigned, Leading: true, Epoch: 1,
		Pools: []house.PoolStats{{Tenant: "default", Mode: "random", Sealed: 4, Free: 4}}}, st)
}

// narrow is a store that answers a scrape only what it may ask for; anything
// else is a nil pointer.
type narrow struct{ store.Store }

type scraping struct{}

type narrowReader struct {
	store.Reader
	all store.Reader
}

func (r narrowReader) Outbox() (store.Outbox, error)                { return r.all.Outbox() }
func (r narrowReader) LogHead() (store.LogHead, error)              { return r.all.LogHead() }
func (r narrowReader) Tenants() ([]store.Tenant, error)             { return r.all.Tenants() }
func (r narrowReader) Pool(tenant, mode string) (store.Pool, error) { return r.all.Pool(tenant, mode) }

func (n narrow) View(ctx context.Context, fn func(store.Reader) error) error {
	return n.Store.View(ctx, func(r store.Reader) error {
		if ctx.Value(scraping{}) != nil {
			r = narrowReader{all: r}
		}
		return fn(r)
	})
}

// Statistics ask for the head of the log, the pools and what is left in the outbox, and nothing else: a
// million games that are stored cost a scrape nothing.
func TestStatsAreCheap(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	m := b.open("short", single, nil, nil)
	m.begin(1)
	b.stop()
	b.database = func() (store.Store, error) {
		db, err := sqlite.Open(filepath.Join(b.dir, "test.db"), sqlite.Options{})
		return narrow{db}, err
	}
	b.start()
	st, err := b.Stats(context.WithValue(t.Context(), scraping{}, true))
	if err != nil || st.Logged == 0 || len(st.Pools) != len(commitment.Modes())-1 {
		t.Errorf("%+v, %v", st, err)
	}
}
