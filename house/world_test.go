package house_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
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

// watcher is a witness, asked over HTTP, that can be out of reach or talk nonsense.
type watcher struct {
	*witness.Client
	down, mad atomic.Bool
}

func (w *watcher) Cosign(ctx context.Context, old int64, proof []commitment.Hash, checkpoint string) (string, error) {
	switch {
	case w.down.Load():
		return "", errors.New("no route to host")
	case w.mad.Load():
		return "— mad.example AAAAAAAA\n", nil
	}
	return w.AddCheckpoint(ctx, old, proof, checkpoint)
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
	server := httptest.NewServer(w)
	t.Cleanup(server.Close)
	asked, err := witness.NewClient(server.URL, vkey, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &watcher{Client: asked}, vkey
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
