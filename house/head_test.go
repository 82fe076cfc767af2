package house_test

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/store/sqlite"
	"fairdice/translog"

	"golang.org/x/mod/sumdb/note"
)

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
		{"the head file cannot be written", func(t *testing.T, w *world, p *place) {
			away := p.dir + ".away"
			if err := os.Rename(p.dir, away); err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
			defer cancel()
			before := w.signed(p)
			if _, err := p.Seal(ctx, everyScope, "random", w.next(p), 0); err == nil {
				t.Error("a statement was answered whose head is not kept")
			}
			if got := w.signed(p); got != before {
				t.Errorf("%d statements are signed, were %d", got, before)
			}
			if err := os.Rename(away, p.dir); err != nil {
				t.Fatal(err)
			}
			w.grow(p, 1) // and goes on by itself
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
