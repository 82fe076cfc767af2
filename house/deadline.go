package house

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairdice/commitment"
	"fairdice/replay"
	"fairdice/store"
)

// The time limits of PROTOCOL.md §7. What misses one is shown by every audit
// for ever, so the house acts a margin before.
const (
	AssignedLimit = 72 * time.Hour      // from an assign to the close or abort of its game
	FreeLimit     = 90 * 24 * time.Hour // from a commit to its assign or retire

	assignedMargin = time.Hour
	freeMargin     = 24 * time.Hour
)

// SweepEvery is how often the house looks for deadlines.
const SweepEvery = time.Minute

// sweepBatch is how much one pass does of each kind; what is left comes next time.
const sweepBatch = 200

// Swept counts what a sweep has ended, and what it should have.
type Swept struct {
	Closed, Aborted int // games
	Retired         int // sequences

	LeftGames, LeftSequences int // that could not be ended
}

// sweep keeps the deadlines until ctx ends.
func (h *House) sweep(ctx context.Context) {
	defer close(h.sweepDone)
	tick := time.NewTicker(SweepEvery)
	defer tick.Stop()
	for {
		done, err := h.Sweep(ctx)
		if ctx.Err() == nil {
			h.observer.Looked(done, err)
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			h.log.Error("deadlines not kept", "error", err)
		case done != Swept{}:
			h.log.Info("deadlines kept", "closed", done.Closed, "aborted", done.Aborted, "retired", done.Retired)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

// Sweep ends what is about to miss its deadline: a game whose record has its
// end line is closed, another one aborted with all that was received for it,
// and a sequence that was free for too long is retired. One that fails does
// not keep the others from being ended.
func (h *House) Sweep(ctx context.Context) (Swept, error) {
	var games []store.Game
	var sequences []store.Sequence
	var warnings []func(store.Tx) error
	now, err := h.present()
	if err != nil {
		return Swept{}, err
	}
	err = h.store.View(ctx, func(r store.Reader) (err error) {
		if games, err = r.Unended(now.Add(assignedMargin-AssignedLimit), 0, sweepBatch); err != nil {
			return fmt.Errorf("find overdue games: %w", err)
		}
		if sequences, err = r.Unused(now.Add(freeMargin-FreeLimit), 0, sweepBatch); err != nil {
			return err
		}
		warnings, err = h.warnOverdue(r, now)
		return err
	})
	if err != nil {
		return Swept{}, err
	}
	var done Swept
	var errs []error
	if len(warnings) > 0 {
		err := h.store.Update(ctx, func(tx store.Tx) error {
			for _, warn := range warnings {
				if err := warn(tx); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("announce games that are overdue soon: %w", err))
		}
		h.pokeDeliveries()
	}
	for _, g := range games {
		closed, err := again(ctx, h, func(ctx context.Context) (bool, error) { return h.endOverdue(ctx, g) })
		switch {
		case err != nil:
			done.LeftGames++
			errs = append(errs, fmt.Errorf("end game %d of %s: %w", g.Number, g.Match, err))
		case closed:
			done.Closed++
		default:
			done.Aborted++
		}
	}
	left := make(map[[2]string]bool) // pools that have lost some
	for _, q := range sequences {
		if _, err := h.retire(ctx, q.ID, q.Tenant, "expired"); err != nil {
			done.LeftSequences++
			errs = append(errs, fmt.Errorf("retire %s: %w", q.ID, err))
			continue
		}
		done.Retired++
		left[[2]string{q.Tenant, q.Mode}] = true
	}
	for pool := range left { // before the next assign finds it dry
		h.refillIfLow(pool[0], pool[1])
	}
	if done.Closed+done.Aborted+done.Retired > 0 {
		h.signer.poke()
	}
	return done, errors.Join(errs...)
}

// endOverdue closes a game that is over and aborts one that is not.
func (h *House) endOverdue(ctx context.Context, row store.Game) (closed bool, err error) {
	t, err := h.table(ctx, row.Match)
	if err != nil {
		return false, err
	}
	defer t.unlock()
	g, err := t.at(ctx, row.Number)
	if err != nil {
		return false, err
	}
	// A result that only lacks its line is not thrown away.
	if due, ok := g.state.EndDue(); ok && g.row.State == store.Playing {
		if err := t.appendLines(ctx, g, []replay.Event{due}, []string{due.String()}); err != nil {
			return false, err
		}
	}
	switch g.row.State {
	case store.Over:
		return true, t.close(ctx, g, g.row, g.state.Result(), nil)
	case store.Playing:
		return false, t.abort(ctx, g, "house", "deadline")
	}
	return g.row.State == store.Closed, nil // ended meanwhile
}

// retire publishes the secret of a tenant's free sequence and answers the log
// index of the statement; one retired before is left as it is.
func (h *House) retire(ctx context.Context, sequence, tenant, reason string) (index int64, err error) {
	err = h.update(ctx, func(tx store.Tx) error {
		row, err := tx.Sequence(sequence)
		if errors.Is(err, store.ErrNotFound) || err == nil && row.Tenant != tenant {
			return refuse(NotFound, "no sequence %s", sequence)
		} else if err != nil {
			return fmt.Errorf("read sequence: %w", err)
		}
		switch row.State {
		case store.Retired:
			index = row.End
			return nil
		case store.Assigned, store.Published:
			return refuse(NotDue, "sequence %s is assigned to match %s", sequence, row.Match)
		}
		secret, err := h.master.open(row.Sealed, row.ID)
		if err != nil {
			return err
		}
		w, err := h.lockLog(tx)
		if err != nil {
			return err
		}
		if index, err = w.append(commitment.Retire{Sequence: sequence, Reason: reason, Secret: secret, Time: w.at}); err != nil {
			return err
		}
		tally, err := h.measureUnused(tx, row)
		if err != nil {
			return err
		}
		if err := addTally(tx, row.Tenant, row.Mode, tally); err != nil {
			return err
		}
		row.State, row.End = store.Retired, index
		return tx.ReplaceSequence(row, store.Free)
	})
	return index, err
}
