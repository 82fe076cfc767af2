// Package transfer copies everything a store holds into an empty one of
// another kind, and proves that it has.
//
//	counts, err := transfer.Copy(ctx, old, new, []string{"random", "live"})
//
// The copy is made through the words of package store, row by row from one
// moment of the old store. Then both are read again from end to end: the numbers
// of rows, every value of every row, and the root of the log must be the same. A copy
// that was interrupted leaves a store that is not empty, which a second one refuses.
package transfer

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/bits"

	"fairdice/store"
	"fairdice/translog"
)

// batch is how many rows are read, and how many are written, at once.
const batch = 500

// event is the lines of a game's record.
type event struct {
	match string
	game  int
	lines []string
}

// entry is a statement with the hashes it completes.
type entry struct {
	store.Entry
	hashes [][32]byte
}

// ErrNotEmpty: there is something in the store that was to be filled.
var ErrNotEmpty = errors.New("the database is not empty")

// Copy copies one store into another. Modes are those that sequences may have.
// Nobody else may use either store meanwhile: it fails if an instance of the
// service holds a lease in the old one.
func Copy(ctx context.Context, from, to store.Store, modes []string) (store.Counts, error) {
	var want store.Counts
	had, err := look(ctx, to)
	if err == nil && had != (store.Counts{}) {
		err = ErrNotEmpty
	}
	if err != nil {
		return want, fmt.Errorf("copy database: %w", err)
	}
	w := writer{ctx: ctx, to: to}
	var source [sha256.Size]byte
	var root translog.Hash
	err = from.View(ctx, func(r store.Reader) (err error) {
		if l, err := r.Lease("signer"); err == nil && l.Left > 0 {
			return fmt.Errorf("a service is running on the old database: its lease ends in %v", l.Left)
		}
		if want, err = r.Counts(); err != nil {
			return err
		}
		if root, err = logRoot(r); err != nil {
			return err
		}
		d := sha256.New()
		err = walk(r, modes, func(row any) error {
			fmt.Fprintf(d, "%T %+v\n", row, row)
			return w.add(row)
		})
		d.Sum(source[:0])
		return err
	})
	if err == nil {
		err = w.flush()
	}
	if err != nil {
		return want, fmt.Errorf("copy database: %w", err)
	}
	err = to.View(ctx, func(r store.Reader) error {
		counts, err := r.Counts()
		if err != nil {
			return err
		}
		if counts != want {
			return fmt.Errorf("the copy has %+v, the original %+v", counts, want)
		}
		copied, err := logRoot(r)
		if err != nil {
			return err
		}
		if copied != root {
			return fmt.Errorf("the log of the copy has root %s, the original %s", copied, root)
		}
		d := sha256.New()
		if err := walk(r, modes, func(row any) error { fmt.Fprintf(d, "%T %+v\n", row, row); return nil }); err != nil {
			return err
		}
		if [sha256.Size]byte(d.Sum(nil)) != source {
			return errors.New("a row of the copy is not as in the original")
		}
		return nil
	})
	if err != nil {
		return want, fmt.Errorf("verify copy: %w", err)
	}
	return want, nil
}

func look(ctx context.Context, s store.Store) (c store.Counts, err error) {
	err = s.View(ctx, func(r store.Reader) (err error) {
		c, err = r.Counts()
		return err
	})
	return c, err
}

func logRoot(r store.Reader) (translog.Hash, error) {
	head, err := r.LogHead()
	if err != nil {
		return translog.Hash{}, err
	}
	return translog.Root(head.Size, translog.Stored(r))
}

// walk shows every row, in an order that does not depend on the kind of store.
// Entries come first, for other rows name their index.
func walk(r store.Reader, modes []string, show func(any) error) error {
	for _, of := range []func(store.Reader, []string, func(any) error) error{walkLog, walkTenants, walkMatches, walkSpent, walkTallies, walkOutbox} {
		if err := of(r, modes, show); err != nil {
			return err
		}
	}
	return nil
}

func walkLog(r store.Reader, _ []string, show func(any) error) error {
	head, err := r.LogHead()
	if err != nil {
		return err
	}
	for first := int64(0); first < head.Size; first += batch {
		entries, err := r.Entries(first, min(first+batch, head.Size))
		if err != nil {
			return err
		}
		for _, e := range entries {
			places := make([]int64, 1+bits.TrailingZeros64(^uint64(e.Index)))
			for i := range places {
				places[i] = 2*e.Index - int64(bits.OnesCount64(uint64(e.Index))) + int64(i)
			}
			hashes, err := r.LogHashes(places)
			if err == nil {
				err = show(entry{e, hashes})
			}
			if err != nil {
				return err
			}
		}
	}
	for size := int64(0); ; {
		c, err := r.Checkpoint(size)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err == nil {
			err = show(c)
		}
		if err != nil {
			return err
		}
		size = c.Size + 1
	}
}

func walkTenants(r store.Reader, modes []string, show func(any) error) error {
	tenants, err := r.Tenants()
	if err != nil {
		return err
	}
	for _, t := range tenants {
		if err := show(t); err != nil {
			return err
		}
		keys, err := r.APIKeys(t.Name)
		if err != nil {
			return err
		}
		for _, k := range keys {
			if err := show(k); err != nil {
				return err
			}
		}
		for _, mode := range modes {
			if err := walkSequences(r, t.Name, mode, show); err != nil {
				return err
			}
		}
	}
	return nil
}

func walkSequences(r store.Reader, tenant, mode string, show func(any) error) error {
	for from := uint64(0); ; {
		sequences, err := r.Sequences(tenant, mode, from, batch)
		if err != nil || len(sequences) == 0 {
			return err
		}
		for _, q := range sequences {
			if err := show(q); err != nil {
				return err
			}
			a, err := r.ArchiveOf(q.ID)
			if errors.Is(err, store.ErrNotFound) {
				continue
			}
			if err == nil {
				err = show(a)
			}
			if err != nil {
				return err
			}
		}
		from = sequences[len(sequences)-1].Number + 1
	}
}

func walkMatches(r store.Reader, _ []string, show func(any) error) error {
	for after := ""; ; {
		matches, err := r.Matches(after, batch)
		if err != nil || len(matches) == 0 {
			return err
		}
		for _, m := range matches {
			if err := show(m); err != nil {
				return err
			}
			games, err := r.Games(m.ID)
			if err != nil {
				return err
			}
			for _, g := range games {
				if err := walkGame(r, g, show); err != nil {
					return err
				}
			}
			after = m.ID
		}
	}
}

func walkGame(r store.Reader, g store.Game, show func(any) error) error {
	if err := show(g); err != nil {
		return err
	}
	segments, err := r.Segments(g.Match, g.Number)
	if err != nil {
		return err
	}
	for _, s := range segments {
		if err := show(s); err != nil {
			return err
		}
	}
	rolls, err := r.Rolls(g.Match, g.Number)
	if err != nil {
		return err
	}
	for _, v := range rolls {
		if err := show(v); err != nil {
			return err
		}
	}
	lines, err := r.Events(g.Match, g.Number, 1)
	if err != nil || len(lines) == 0 {
		return err
	}
	return show(event{g.Match, g.Number, lines})
}

func walkSpent(r store.Reader, _ []string, show func(any) error) error {
	for after := ([32]byte{}); ; {
		values, err := r.Spent(after, batch)
		if err != nil || len(values) == 0 {
			return err
		}
		for _, v := range values {
			if err := show(v); err != nil {
				return err
			}
			after = v
		}
	}
}

func walkTallies(r store.Reader, _ []string, show func(any) error) error {
	tallies, err := r.Tallies()
	if err != nil {
		return err
	}
	for _, t := range tallies {
		if err := show(t); err != nil {
			return err
		}
	}
	counting, err := r.Counting()
	if err != nil {
		return err
	}
	return show(counting)
}

func walkOutbox(r store.Reader, _ []string, show func(any) error) error {
	endpoints, err := r.Endpoints()
	if err != nil {
		return err
	}
	for _, e := range endpoints {
		if err := show(e); err != nil {
			return err
		}
		for after := ""; ; {
			messages, err := r.Messages(e.ID, after, batch)
			if err != nil {
				return err
			}
			if len(messages) == 0 {
				break
			}
			for _, m := range messages {
				if err := show(m); err != nil {
					return err
				}
				after = m.ID
			}
		}
	}
	return nil
}

// writer fills a store, some rows at a time.
type writer struct {
	ctx  context.Context
	to   store.Store
	rows []any
}

func (w *writer) add(row any) error {
	w.rows = append(w.rows, row)
	if len(w.rows) < batch {
		return nil
	}
	return w.flush()
}

func (w *writer) flush() error {
	rows := w.rows
	w.rows = nil
	return w.to.Update(w.ctx, func(tx store.Tx) error {
		for _, row := range rows {
			if err := put(tx, row); err != nil {
				return err
			}
		}
		return nil
	})
}

func put(tx store.Tx, row any) error {
	switch row := row.(type) {
	case entry:
		if _, err := tx.LockLog(); err != nil {
			return err
		}
		return tx.AppendEntry(row.Entry, row.hashes)
	case store.Checkpoint:
		return tx.AddCheckpoint(row)
	case store.Tenant:
		return tx.AddTenant(row)
	case store.APIKey:
		return tx.AddAPIKey(row)
	case store.Sequence:
		return tx.AddSequence(row)
	case store.Archive:
		return tx.AddArchive(row)
	case store.Match:
		return tx.AddMatch(row)
	case store.Game:
		return tx.AddGame(row)
	case store.Segment:
		return tx.AddSegment(row)
	case store.Roll:
		return tx.AddRoll(row)
	case event:
		return tx.AddEvents(row.match, row.game, 1, row.lines)
	case [32]byte:
		return tx.Spend(row)
	case store.Endpoint:
		return tx.AddEndpoint(row)
	case store.Message:
		return tx.AddMessage(row)
	case store.Tally:
		return underLock(tx, func() error { return tx.SetTally(row) })
	case store.Counting:
		return underLock(tx, func() error { return tx.SetCounting(row) })
	}
	return fmt.Errorf("no place for a %T", row)
}

// underLock keeps the promise that tallies change only under the lock of the log.
func underLock(tx store.Tx, set func() error) error {
	if _, err := tx.LockLog(); err != nil {
		return err
	}
	return set()
}
