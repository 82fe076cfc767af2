//go:build unix

package transfer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"fairdice/store"
	"fairdice/store/postgres"
	"fairdice/store/postgres/pgtest"
	"fairdice/store/sqlite"
	"fairdice/translog"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

var modes = []string{"random", "real"}

func openSQLite(t *testing.T) store.Store {
	t.Helper()
	s, err := sqlite.Open(filepath.Join(t.TempDir(), "test.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func openPostgres(t *testing.T) store.Store {
	t.Helper()
	s, err := postgres.Open(t.Context(), pgtest.Database(t), postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func hash(format string, args ...any) [32]byte {
	return sha256.Sum256(fmt.Appendf(nil, format, args...))
}

// filled fills a store with rows of every kind, more of some than a batch.
func filled(t *testing.T, s store.Store) {
	t.Helper()
	rng := rand.New(rand.NewPCG(1, 2))
	at := time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)
	err := s.Update(t.Context(), func(tx store.Tx) error {
		if _, err := tx.LockLog(); err != nil {
			return err
		}
		for i := range int64(batch + 77) {
			text := fmt.Appendf(nil, "statement %d", i)
			hashes, err := translog.NewHashes(tx, i, text)
			if err != nil {
				return err
			}
			if err := tx.AppendEntry(store.Entry{Index: i, Text: text, Time: at.Add(time.Duration(i) * time.Second)}, hashes); err != nil {
				return err
			}
			if i%50 == 0 {
				if err := tx.AddCheckpoint(store.Checkpoint{Size: i + 1, Note: fmt.Sprint("note ", i)}); err != nil {
					return err
				}
			}
		}
		if err := tx.SetCosigned(51, "note 50 cosigned"); err != nil {
			return err
		}
		for _, tenant := range []string{"b", "a"} {
			if err := tx.AddTenant(store.Tenant{Name: tenant, Created: at}); err != nil {
				return err
			}
			k := store.APIKey{Hash: hash("key %s", tenant), Tenant: tenant, Label: "ключ", Prefix: "fd_" + tenant, Scopes: []string{"draw", "read"}, Created: at,
				Expires: at.Add(time.Hour), Used: at.Add(time.Minute), Replaces: hash("key before %s", tenant)}
			if err := tx.AddAPIKey(k); err != nil {
				return err
			}
			for _, mode := range modes {
				for n := range uint64(batch + 3) {
					id := fmt.Sprint(tenant, mode, n)
					q := store.Sequence{ID: id, Tenant: tenant, Mode: mode, Number: n, Rolls: [3]int{16, 256, 256}, Sealed: []byte("sealed " + id),
						SecretHash: hash("secret %s", id), Root: hash("root %s", id), State: store.SequenceState(n % 4), Index: int64(n), Committed: at, End: int64(n)}
					if err := tx.AddSequence(q); err != nil {
						return err
					}
					if mode == "real" && n < 3 {
						if err := tx.AddArchive(store.Archive{Hash: hash("archive %s", id), Sequence: id, Sealed: []byte(id)}); err != nil {
							return err
						}
					}
				}
			}
		}
		for _, t := range []store.Tally{{Tenant: "b", Mode: "random", Sums: []byte("sums")}, {Tenant: "a", Mode: "real", Sums: []byte("more")}} {
			if err := tx.SetTally(t); err != nil {
				return err
			}
		}
		if err := tx.SetCounting(store.Counting{Done: 7, Until: 99}); err != nil {
			return err
		}
		for _, id := range []string{"e2", "e1"} {
			e := store.Endpoint{ID: id, Tenant: "a", Address: "https://a.example/", Events: []string{"game.closed", "pool.low"}, Plain: true,
				Sealed: []byte("key"), OldSealed: []byte("old key"), OldEnds: at, Created: at, Disabled: at, Reason: "gone", Version: 3}
			if err := tx.AddEndpoint(e); err != nil {
				return err
			}
			for n := range batch + 2 {
				m := store.Message{Endpoint: id, ID: fmt.Sprint("msg_", n), Type: "pool.low", Entry: int64(n - 1), Body: []byte("{}"), Created: at,
					State: store.MessageState(n % 3), Attempts: n, Due: at, Status: 500, Failure: "HTTP 500", Version: 2}
				if err := tx.AddMessage(m); err != nil {
					return err
				}
			}
		}
		for i := range batch + 5 {
			id := fmt.Sprintf("match-%d", i)
			m := store.Match{ID: id, Tenant: "a", Open: int64(i), Games: 1, Tip: [2][32]byte{hash("tip %d", i)}, Finish: -1, Version: int64(rng.IntN(9))}
			g := store.Game{Match: id, Number: 1, State: store.Closed, Segments: 1, Rolls: [3]int{1, 2, 0}, Lines: 2, Head: hash("head %d", i), End: 9, Version: 4}
			if i%2 == 0 {
				g.Receipt, g.Throw[1] = []byte("receipt"), []byte("throw")
			}
			seg := store.Segment{Match: id, Game: 1, Segment: 1, Sequence: fmt.Sprint("arandom", i), Assign: 3, Round: 77, Deal: -1, Cut: "-"}
			for _, err := range []error{tx.AddMatch(m), tx.AddGame(g), tx.AddSegment(seg), tx.Spend(hash("link %d", i)),
				tx.AddEvents(id, 1, 1, []string{"opening 6 1", "move A -"})} {
				if err != nil {
					return err
				}
			}
			for n := range 3 {
				r := store.Roll{Match: id, Game: 1, Segment: 1, Stream: "a", Index: n, Ordinal: n, Line: n + 1, Receipt: "— receipt\n"}
				if err := tx.AddRoll(r); err != nil {
					return err
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestCopy copies there and back again.
func TestCopy(t *testing.T) {
	first, middle, last := openSQLite(t), openPostgres(t), openSQLite(t)
	filled(t, first)
	there, err := Copy(t.Context(), first, middle, modes)
	if err != nil {
		t.Fatal(err)
	}
	back, err := Copy(t.Context(), middle, last, modes)
	if err != nil {
		t.Fatal(err)
	}
	want := store.Counts{Tenants: 2, APIKeys: 2, Sequences: 4 * (batch + 3), Archives: 6, Matches: batch + 5, Games: batch + 5,
		Segments: batch + 5, Rolls: 3 * (batch + 5), Events: 2 * (batch + 5), Spent: batch + 5, Entries: batch + 77, Hashes: 2*(batch+77) - 3, Checkpoints: 12, Tallies: 2, Endpoints: 2, Messages: 2 * (batch + 2)}
	if there != want || back != want {
		t.Errorf("copied %+v and %+v, want %+v", there, back, want)
	}
}

// careless is a store that gets one thing wrong.
type careless struct {
	store.Store
	wrong func(store.Tx) store.Tx
}

func (c careless) Update(ctx context.Context, fn func(store.Tx) error) error {
	return c.Store.Update(ctx, func(tx store.Tx) error { return fn(c.wrong(tx)) })
}

type forgetful struct{ store.Tx }

func (f forgetful) Spend(v [32]byte) error {
	if v == hash("link 7") {
		return nil
	}
	return f.Tx.Spend(v)
}

type confused struct{ store.Tx }

func (c confused) AddRoll(r store.Roll) error {
	if r.Match == "match-3" {
		r.Receipt += " "
	}
	return c.Tx.AddRoll(r)
}

type rewriting struct{ store.Tx }

func (r rewriting) AppendEntry(e store.Entry, hashes [][32]byte) error {
	if e.Index == 511 { // it completes the tree of 512
		hashes = append(slices.Clone(hashes[:9]), hash("another tree"))
	}
	return r.Tx.AppendEntry(e, hashes)
}

func TestCopyRefused(t *testing.T) {
	from := openSQLite(t)
	filled(t, from)
	t.Run("not empty", func(t *testing.T) {
		if _, err := Copy(t.Context(), openSQLite(t), from, modes); !errors.Is(err, ErrNotEmpty) {
			t.Errorf("got error %v, want %v", err, ErrNotEmpty)
		}
	})
	t.Run("in use", func(t *testing.T) {
		used := openPostgres(t)
		if err := used.Update(t.Context(), func(tx store.Tx) error {
			_, err := tx.TakeLease("signer", "somebody", time.Minute)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		if _, err := Copy(t.Context(), used, openSQLite(t), modes); err == nil || !strings.Contains(err.Error(), "a service is running") {
			t.Errorf("got error %v", err)
		}
	})
	t.Run("a mode is left out", func(t *testing.T) {
		if _, err := Copy(t.Context(), from, openSQLite(t), modes[:1]); err == nil || !strings.Contains(err.Error(), "the copy has") {
			t.Errorf("got error %v", err)
		}
	})
	for name, test := range map[string]struct {
		wrong func(store.Tx) store.Tx
		want  string
	}{
		"a row is lost":          {func(tx store.Tx) store.Tx { return forgetful{tx} }, "the copy has"},
		"a value is changed":     {func(tx store.Tx) store.Tx { return confused{tx} }, "not as in the original"},
		"the log is another one": {func(tx store.Tx) store.Tx { return rewriting{tx} }, "has root"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := Copy(t.Context(), from, careless{openSQLite(t), test.wrong}, modes)
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got error %v, want one with %q", err, test.want)
			}
		})
	}
}
