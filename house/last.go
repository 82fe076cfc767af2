package house

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairdice/commitment"
	"fairdice/store"
)

// EndLog brings the log to its end, for a log key is replaced only together
// with its log: every sequence that is left is retired with its secret, so that
// no audit finds one overdue for ever, and the last checkpoint is signed and, if
// there are witnesses, cosigned. Games that have not ended must be closed or
// aborted before. It answers that checkpoint. Nobody may use the house
// afterwards; the caller sees to that. Ending a log twice changes nothing.
func (h *House) EndLog(ctx context.Context, reason string) (checkpoint string, err error) {
	if !isToken(reason) {
		return "", refuse(Malformed, "reason %q is not 1 to 64 of A-Z a-z 0-9 . _ -", reason)
	}
	h.refills.Lock()
	h.ended = true
	h.refills.Unlock()
	h.topUps.Wait()                       // what they seal is retired with the rest
	always := h.now().AddDate(1000, 0, 0) // later than any statement
	for more := true; more; {
		err := h.store.Update(ctx, func(tx store.Tx) error {
			running, err := tx.Unended(always, 0, 1)
			if err != nil {
				return fmt.Errorf("find games: %w", err)
			}
			if len(running) > 0 {
				return refuse(NotDue, "game %d of match %s has not ended; close or abort it first", running[0].Number, running[0].Match)
			}
			left, err := tx.Unused(always, 0, SealBatch)
			if err != nil {
				return fmt.Errorf("find sequences: %w", err)
			}
			more = len(left) == SealBatch
			return h.retireAll(tx, left, reason)
		})
		if err != nil {
			return "", err
		}
	}
	var head store.LogHead
	if err := h.store.View(ctx, func(r store.Reader) (err error) {
		head, err = r.LogHead()
		return err
	}); err != nil {
		return "", fmt.Errorf("read log head: %w", err)
	}
	if head.Size == 0 {
		return "", refuse(NotFound, "the log is empty")
	}
	if err := h.signer.await(ctx, head.Size); err != nil {
		return "", err
	}
	if h.cosigner != nil && !h.cosigner.await(ctx, head.Size) {
		return "", &Error{Code: Unavailable, Message: "the witnesses have not cosigned the last checkpoint yet; ask again when they can be reached", RetryAfter: time.Minute}
	}
	err = h.store.View(ctx, func(r store.Reader) error {
		c, err := r.LatestCosigned()
		if errors.Is(err, store.ErrNotFound) || err == nil && c.Size < head.Size {
			c, err = r.LatestCheckpoint()
		}
		checkpoint = noteOf(c)
		return err
	})
	return checkpoint, err
}

// retireAll retires free sequences of whatever tenant.
func (h *House) retireAll(tx store.Tx, rows []store.Sequence, reason string) error {
	if len(rows) == 0 {
		return nil
	}
	w, err := h.lockLog(tx)
	if err != nil {
		return err
	}
	for _, row := range rows {
		secret, err := h.master.open(row.Sealed, row.ID)
		if err != nil {
			return err
		}
		if row.End, err = w.append(commitment.Retire{Sequence: row.ID, Reason: reason, Secret: secret, Time: w.at}); err != nil {
			return err
		}
		tally, err := h.measureUnused(tx, row)
		if err != nil {
			return err
		}
		if err := addTally(tx, row.Tenant, row.Mode, tally); err != nil {
			return err
		}
		row.State = store.Retired
		if err := tx.ReplaceSequence(row, store.Free); err != nil {
			return fmt.Errorf("retire sequence: %w", err)
		}
	}
	return nil
}
