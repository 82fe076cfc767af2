package house_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/store"
	"fairdice/store/sqlite"
	"fairdice/translog"
	"fairdice/translog/witness"

	"golang.org/x/mod/sumdb/note"
)

// watcher is a witness that can be out of reach or talk nonsense.
type watcher struct {
	asWitness
	down, mad atomic.Bool
}

func (w *watcher) Cosign(ctx context.Context, old int64, proof []commitment.Hash, checkpoint string) (string, error) {
	switch {
	case w.down.Load():
		return "", errors.New("no route to host")
	case w.mad.Load():
		return "— mad.example AAAAAAAA\n", nil
	}
	return w.asWitness.Cosign(ctx, old, proof, checkpoint)
}

func newWatcher(t testing.TB, seed byte, log note.Verifier) (*watcher, string) {
	t.Helper()
	skey, vkey, err := translog.NewWitnessKey("witness.example/"+string('a'+rune(seed)), rand.NewChaCha8([32]byte{seed}))
	if err != nil {
		t.Fatal(err)
	}
	c, err := translog.NewCosigner(skey, time.Now)
	if err != nil {
		t.Fatal(err)
	}
	w, err := witness.New(c, []note.Verifier{log}, witness.InMemory())
	if err != nil {
		t.Fatal(err)
	}
	return &watcher{asWitness: asWitness{w}}, vkey
}

// place is a machine in the fault table: a database and a head file of its own.
type place struct {
	*house.House
	store store.Store
	dir   string
}

// world is a log, those who watch it, and everything anybody has seen of it.
type world struct {
	*bench
	watchers []*watcher
	config   house.Config
	seen     []string // checkpoints
}

func newWorld(t testing.TB) *world {
	t.Helper()
	b := newBench(t)
	b.stop()
	w := &world{bench: b, config: b.config}
	var keys []string
	for n := range 2 {
		one, key := newWatcher(t, byte(n), b.config.LogVerifier)
		w.watchers = append(w.watchers, one)
		w.config.Witnesses = append(w.config.Witnesses, one)
		keys = append(keys, key)
	}
	policy, err := translog.ParsePolicy("log " + b.config.LogKey + "\nwitness w1 " + keys[0] + "\nwitness w2 " + keys[1] + "\ngroup g any w1 w2\nquorum g\n")
	if err != nil {
		t.Fatal(err)
	}
	w.config.Policy = policy
	return w
}

// start runs a house in dir; share is a store another instance has open.
func (w *world) start(dir string, share store.Store) (*place, error) {
	w.t.Helper()
	p := &place{store: share, dir: dir}
	if share == nil {
		var err error
		if p.store, err = sqlite.Open(filepath.Join(dir, "test.db"), sqlite.Options{}); err != nil {
			w.t.Fatal(err)
		}
	}
	cfg := w.config
	cfg.Store, cfg.HeadFile, cfg.Shared = p.store, filepath.Join(dir, "head"), true
	h, err := house.New(context.Background(), cfg)
	if err != nil {
		if share == nil {
			p.store.Close()
		}
		return nil, err
	}
	p.House = h
	w.t.Cleanup(func() { p.stop() })
	return p, nil
}

func (p *place) stop() {
	p.House.Close()
	p.store.Close()
}

func (w *world) mustStart(dir string, share store.Store) *place {
	w.t.Helper()
	p, err := w.start(dir, share)
	if err != nil {
		w.t.Fatal(err)
	}
	return p
}

// grow adds statements and waits until they are signed.
func (w *world) grow(p *place, n int) {
	w.t.Helper()
	for range n {
		if err := w.seal(p); err != nil {
			w.t.Fatal(err)
		}
	}
	w.look(p)
}

func (w *world) seal(p *place) error {
	var pool store.Pool
	if err := p.store.View(context.Background(), func(r store.Reader) (err error) {
		pool, err = r.Pool("default", "random")
		return err
	}); err != nil {
		return err
	}
	_, err := p.Seal(context.Background(), everyScope, "random", pool.Next, 0)
	return err
}

// look verifies the log of a place from outside: the statements alone hash to
// what is signed, and everything anybody has ever seen is a beginning of it.
func (w *world) look(p *place) {
	w.t.Helper()
	err := p.store.View(context.Background(), func(r store.Reader) error {
		c, err := r.LatestCheckpoint()
		if err != nil {
			return err
		}
		if len(w.seen) == 0 || w.seen[len(w.seen)-1] != c.Note {
			w.seen = append(w.seen, c.Note)
		}
		entries, err := r.Entries(0, c.Size)
		if err != nil {
			return err
		}
		var m hashes
		for _, e := range entries {
			more, err := translog.NewHashes(&m, e.Index, e.Text)
			if err != nil {
				return err
			}
			m = append(m, more...)
		}
		for _, s := range w.seen {
			old, err := translog.OpenCheckpoint(s, w.config.LogVerifier)
			if err != nil {
				return err
			}
			root, err := translog.Root(old.Size, translog.Stored(&m))
			if err != nil {
				return err
			}
			if root != old.Root {
				w.t.Errorf("two heads: size %d was signed with root %s, the log of %d statements has %s there", old.Size, old.Root, c.Size, root)
			}
		}
		return nil
	})
	if err != nil {
		w.t.Fatal(err)
	}
}

type hashes [][32]byte

func (h *hashes) LogHashes(indexes []int64) ([][32]byte, error) {
	out := make([][32]byte, len(indexes))
	for i, n := range indexes {
		out[i] = (*h)[n]
	}
	return out, nil
}

// copyTo makes a copy of a place's database, as a backup or a replica that
// lags is; with its head file if head is set.
func (w *world) copyTo(p *place, head bool) string {
	w.t.Helper()
	dir := w.t.TempDir()
	if err := sqlite.Backup(filepath.Join(p.dir, "test.db"), filepath.Join(dir, "test.db")); err != nil {
		w.t.Fatal(err)
	}
	if head {
		w.copyHead(p.dir, dir)
	}
	return dir
}

func (w *world) copyHead(from, to string) {
	w.t.Helper()
	b, err := os.ReadFile(filepath.Join(from, "head"))
	if err == nil {
		err = os.WriteFile(filepath.Join(to, "head"), b, 0o600)
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// cosigned waits until the witnesses know the last checkpoint.
func (w *world) cosigned(p *place) {
	w.t.Helper()
	for range 500 {
		var last, cosigned store.Checkpoint
		p.store.View(context.Background(), func(r store.Reader) error {
			last, _ = r.LatestCheckpoint()
			cosigned, _ = r.LatestCosigned()
			return nil
		})
		if last.Size > 0 && last.Size == cosigned.Size {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
	w.t.Fatal("the last checkpoint is not cosigned")
}

// TestNeverTwoHeads mounts every way to a second history that an operator can
// stumble into; after each step the log is verified from outside.
func TestNeverTwoHeads(t *testing.T) {
	refused := func(t *testing.T, w *world, dir, want string) {
		t.Helper()
		_, err := w.start(dir, nil)
		if err == nil || !strings.Contains(err.Error(), "refuse to sign") || !strings.Contains(err.Error(), want) {
			t.Errorf("got error %v, want a refusal that says %q", err, want)
		}
	}
	for _, test := range []struct {
		name string
		run  func(t *testing.T, w *world, p *place)
	}{
		{"an old backup, the head file kept", func(t *testing.T, w *world, p *place) {
			old := w.copyTo(p, false)
			w.grow(p, 3)
			w.copyHead(p.dir, old)
			w.watchers[0].down.Store(true)
			w.watchers[1].down.Store(true)
			refused(t, w, old, "new origin")
			w.grow(p, 1)
		}},
		{"an old backup, the head file lost or as old", func(t *testing.T, w *world, p *place) {
			for _, head := range []bool{false, true} {
				old := w.copyTo(p, head)
				w.grow(p, 3)
				w.cosigned(p)
				refused(t, w, old, "has cosigned a log of")
				w.grow(p, 1)
			}
		}},
		{"everything lost but the keys", func(t *testing.T, w *world, p *place) {
			w.cosigned(p)
			refused(t, w, t.TempDir(), "has cosigned a log of")
			w.grow(p, 1)
		}},
		{"another history, as long, witnesses reached late", func(t *testing.T, w *world, p *place) {
			// The old copy may take statements before a witness answers, and grow
			// beyond what was signed; it must not sign even then.
			old, before := w.copyTo(p, true), w.signed(p)
			w.grow(p, 2)
			w.cosigned(p)
			for _, one := range w.watchers {
				one.down.Store(true)
			}
			q := w.mustStart(old, nil)
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			for range 6 {
				if _, err := q.Seal(ctx, everyScope, "random", w.next(q), 0); err == nil {
					t.Fatal("a statement was answered that no witness was asked about")
				}
				if ctx.Err() != nil { // what is appended next is not waited for
					ctx, cancel = context.WithTimeout(t.Context(), 20*time.Millisecond)
					defer cancel()
				}
			}
			for _, one := range w.watchers {
				one.down.Store(false)
			}
			for range 2000 {
				if q.Ready(t.Context()) != nil {
					break
				}
				time.Sleep(5 * time.Millisecond)
			}
			if err := q.Ready(t.Context()); err == nil || !strings.Contains(err.Error(), "has cosigned") {
				t.Errorf("ready: %v", err)
			}
			code(t, w.seal(q), house.Unavailable)
			if got := w.signed(q); got != before {
				t.Errorf("%d statements are signed, were %d", got, before)
			}
			w.grow(p, 1)
		}},
		{"another history under the head file", func(t *testing.T, w *world, p *place) {
			old := w.copyTo(p, true)
			lonely := *w
			lonely.config.Witnesses, lonely.config.Policy = nil, nil
			lonely.seen = nil
			q := lonely.mustStart(old, nil) // whoever runs without witnesses can do this
			lonely.grow(q, 5)
			q.stop()
			w.grow(p, 2)
			w.copyHead(p.dir, old)
			refused(t, w, old, "another history")
			refusedAlone := func() {
				_, err := lonely.start(old, nil)
				if err == nil || !strings.Contains(err.Error(), "another history") {
					t.Errorf("got error %v", err)
				}
			}
			refusedAlone()
			// With its own head file the fork looks whole; the witnesses know better.
			w.cosigned(p)
			if err := os.Remove(filepath.Join(old, "head")); err != nil {
				t.Fatal(err)
			}
			refused(t, w, old, "witness")
		}},
		{"several instances on one database", func(t *testing.T, w *world, p *place) {
			q := w.mustStart(t.TempDir(), p.store)
			defer q.House.Close()
			for range 5 {
				w.grow(p, 1)
				w.grow(q, 1)
			}
			var wg sync.WaitGroup
			for _, one := range []*place{p, q} {
				wg.Go(func() {
					for range 20 {
						if err := w.seal(one); err != nil && house.CodeOf(err) != house.OutOfOrder && house.CodeOf(err) != house.OtherContent && house.CodeOf(err) != house.Unavailable {
							t.Error(err)
						}
					}
				})
			}
			wg.Wait()
			w.grow(q, 1)
			w.grow(p, 1)
			// Each has the last head in a file of its own.
			for _, dir := range []string{p.dir, q.dir} {
				b, err := os.ReadFile(filepath.Join(dir, "head"))
				if err != nil {
					t.Fatal(err)
				}
				cp, err := translog.OpenCheckpoint(string(b), w.config.LogVerifier)
				if err != nil || cp.Size < int64(len(w.seen)) {
					t.Errorf("head file of %s: %v, %v", dir, cp, err)
				}
			}
		}},
		{"a replica is promoted that lacks the end", func(t *testing.T, w *world, p *place) {
			q := w.mustStart(t.TempDir(), p.store)
			w.grow(q, 1)
			lag := w.copyTo(p, false)
			q.House.Close()
			w.grow(p, 3)
			w.cosigned(p)
			// The other instance comes up on the replica with its own, older head.
			w.copyHead(q.dir, lag)
			refused(t, w, lag, "has cosigned a log of")
			w.grow(p, 1)
		}},
		{"a crash between signature and commit", func(t *testing.T, w *world, p *place) {
			w.grow(p, 1)
			dir := w.copyTo(p, true)
			// The head file has a checkpoint that the database has not.
			s, err := sqlite.Open(filepath.Join(dir, "test.db"), sqlite.Options{})
			if err != nil {
				t.Fatal(err)
			}
			f := &faulty{Store: s}
			f.fail.Store(true)
			p.stop()
			q, err := w.start(dir, f)
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if _, err := q.Seal(ctx, everyScope, "random", w.next(q), 0); err == nil {
				t.Error("a statement was answered whose checkpoint is not stored")
			}
			q.stop()
			q = w.mustStart(dir, nil)
			w.look(q)
			w.grow(q, 1)
		}},
		{"witnesses out of reach", func(t *testing.T, w *world, p *place) {
			w.cosigned(p)
			p.stop()
			for _, one := range w.watchers {
				one.down.Store(true)
			}
			q := w.mustStart(p.dir, nil)
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if _, err := q.Seal(ctx, everyScope, "random", w.next(q), 0); err == nil {
				t.Error("signed without having asked")
			}
			w.watchers[1].down.Store(false) // the quorum is any one
			w.grow(q, 1)
			w.watchers[1].down.Store(true) // and once confirmed it need not be there
			w.grow(q, 2)
		}},
		{"one witness talks nonsense", func(t *testing.T, w *world, p *place) {
			p.stop()
			w.watchers[0].mad.Store(true)
			q := w.mustStart(p.dir, nil)
			w.grow(q, 2)
			w.cosigned(q)
		}},
		{"another log key", func(t *testing.T, w *world, p *place) {
			p.stop()
			skey, vkey, err := commitment.NewKey(origin, rand.NewChaCha8([32]byte{99}))
			if err != nil {
				t.Fatal(err)
			}
			signer, err := commitment.NewSigner(skey)
			if err != nil {
				t.Fatal(err)
			}
			verifier, err := commitment.ParseVerifier(vkey)
			if err != nil {
				t.Fatal(err)
			}
			v := *w
			v.config.Log, v.config.LogVerifier, v.config.LogKey = signer, verifier, vkey
			if _, err := v.start(p.dir, nil); err == nil || !strings.Contains(err.Error(), "keeps its key for ever") {
				t.Errorf("with the head file: %v", err)
			}
			if err := os.Remove(filepath.Join(p.dir, "head")); err != nil {
				t.Fatal(err)
			}
			refused(t, &v, p.dir, "keeps its key for ever")
			q := w.mustStart(p.dir, nil)
			w.grow(q, 1)
		}},
		{"another origin", func(t *testing.T, w *world, p *place) {
			p.stop()
			const other = "other.example/log"
			key := func(name string) (note.Signer, note.Verifier, string) {
				skey, vkey, err := commitment.NewKey(name, rand.NewChaCha8([32]byte{98}))
				if err != nil {
					t.Fatal(err)
				}
				s, err := commitment.NewSigner(skey)
				if err != nil {
					t.Fatal(err)
				}
				v, err := commitment.ParseVerifier(vkey)
				if err != nil {
					t.Fatal(err)
				}
				return s, v, vkey
			}
			v := *w
			v.config.Origin = other
			v.config.Log, v.config.LogVerifier, v.config.LogKey = key(other)
			v.config.Receipts, _, v.config.ReceiptKey = key(other + "/receipts")
			if err := os.Remove(filepath.Join(p.dir, "head")); err != nil {
				t.Fatal(err)
			}
			refused(t, &v, p.dir, "new origin needs a new data directory")
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			p := w.mustStart(w.dir, nil)
			w.grow(p, 2)
			test.run(t, w, p)
		})
	}
}

func (w *world) next(p *place) uint64 {
	w.t.Helper()
	var pool store.Pool
	if err := p.store.View(context.Background(), func(r store.Reader) (err error) {
		pool, err = r.Pool("default", "random")
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
	return pool.Next
}

// signed is the size of the last checkpoint in the database.
func (w *world) signed(p *place) int64 {
	w.t.Helper()
	var c store.Checkpoint
	if err := p.store.View(context.Background(), func(r store.Reader) (err error) {
		c, err = r.LatestCheckpoint()
		return err
	}); err != nil {
		w.t.Fatal(err)
	}
	return c.Size
}

// faulty is a store whose checkpoints do not get through.
type faulty struct {
	store.Store
	fail atomic.Bool
}

type faultyTx struct {
	store.Tx
	f *faulty
}

func (f *faulty) Update(ctx context.Context, fn func(store.Tx) error) error {
	return f.Store.Update(ctx, func(tx store.Tx) error { return fn(&faultyTx{tx, f}) })
}

func (t *faultyTx) AddCheckpoint(c store.Checkpoint) error {
	if t.f.fail.Load() {
		return io.ErrUnexpectedEOF
	}
	return t.Tx.AddCheckpoint(c)
}
