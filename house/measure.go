package house

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"fairdice/audit"
	"fairdice/audit/stats"
	"fairdice/commitment"
	"fairdice/replay"
	"fairdice/store"
)

// measure counts the dice of a game that ends with the state of row, as an
// audit will that has only the published secrets and the receipts. Lines are
// those of its record that the store does not have yet.
func (h *House) measure(r store.Reader, open commitment.Open, row store.Game, lines []string) (stats.Tally, error) {
	g := stats.Game{Mode: open.Mode, Lot: stats.Finished, Dealt: map[int]*commitment.Sequence{}, White: -1}
	if row.State == store.Aborted {
		g.Lot = stats.Dropped
	}
	segments, err := r.Segments(row.Match, row.Number)
	if err != nil {
		return stats.Tally{}, fmt.Errorf("read segments: %w", err)
	}
	for _, s := range segments {
		q, err := h.dealt(r, open, row, s, len(segments))
		if err != nil {
			return stats.Tally{}, err
		}
		switch {
		case q == nil:
		case s.Deal >= 0:
			g.Dealt[s.Segment] = q
		default:
			g.First = q
		}
	}
	if q := g.Dealt[1]; q != nil {
		g.First = q
	}
	rolls, err := r.Rolls(row.Match, row.Number)
	if err != nil {
		return stats.Tally{}, fmt.Errorf("read rolls: %w", err)
	}
	for _, roll := range rolls {
		// The house has signed it itself, so the signature is not asked again.
		n, err := commitment.ParseNote(roll.Receipt)
		if err != nil {
			return stats.Tally{}, fmt.Errorf("read receipt: %w", err)
		}
		receipt, err := commitment.ParseReceipt([]byte(n.Text))
		if err != nil {
			return stats.Tally{}, fmt.Errorf("read receipt: %w", err)
		}
		g.Served = append(g.Served, audit.Throw{Segment: receipt.Segment, Stream: receipt.Stream, Index: receipt.Index, Dice: receipt.Dice})
	}
	if len(lines) == 0 {
		if lines, err = r.Events(row.Match, row.Number, 1); err != nil {
			return stats.Tally{}, fmt.Errorf("read record: %w", err)
		}
	}
	g.White = white(lines)
	return stats.Measure(g), nil
}

// dealt rebuilds the dice of a segment. Of a game that was aborted before its
// first deal they are what the deal would have been, if the house has received
// everything that it hung on: then it could have looked before it aborted
// (docs/statistics.md §5). Else there are none.
func (h *House) dealt(r store.Reader, open commitment.Open, row store.Game, s store.Segment, segments int) (*commitment.Sequence, error) {
	cut := commitment.Cut(s.Cut)
	if s.Deal < 0 {
		missing := (open.AnchorA != nil) != (s.Links[0] != nil) || (open.AnchorB != nil) != (s.Links[1] != nil) || open.Beacon != (s.Signature != nil)
		if row.State != store.Aborted || segments != 1 || missing {
			return nil, nil
		}
		cut = commitment.NewCut(s.Match, s.Game, s.Segment, linkOf(s.Links[0]), linkOf(s.Links[1]), s.Signature)
	}
	q, err := r.Sequence(s.Sequence)
	if err != nil {
		return nil, fmt.Errorf("read sequence %s: %w", s.Sequence, err)
	}
	return h.rebuilt(r, q, cut)
}

// rebuilt is a sequence with its dice under a cut.
func (h *House) rebuilt(r store.Reader, q store.Sequence, cut commitment.Cut) (*commitment.Sequence, error) {
	mode, err := commitment.ParseMode(q.Mode)
	if err != nil {
		return nil, fmt.Errorf("read sequence %s: %w", q.ID, err)
	}
	var archive *commitment.Archive
	if mode == commitment.Real {
		if archive, err = h.archiveOf(r, q.ID); err != nil {
			return nil, err
		}
	}
	secret, err := h.master.open(q.Sealed, q.ID)
	if err != nil {
		return nil, err
	}
	seq, err := commitment.Build(secret, q.ID, mode, q.Rolls, cut, archive)
	if err != nil {
		return nil, fmt.Errorf("build sequence %s: %w", q.ID, err)
	}
	return seq, nil
}

// white is the seat that the opening draws of a record give White, -1 if they do not.
func white(lines []string) int {
	for _, line := range lines {
		e, err := replay.ParseEvent(line)
		switch {
		case err != nil || e.Kind != replay.Opening:
			return -1
		case e.Dice.A > e.Dice.B:
			return 0
		case e.Dice.A < e.Dice.B:
			return 1
		}
	}
	return -1
}

// measureEnd measures a game that is about to end, outside of the transaction
// that ends it: rebuilding its dice would keep the writer of the store waiting.
func (t *table) measureEnd(ctx context.Context, row store.Game, lines []string) (tally stats.Tally, err error) {
	err = t.house.store.View(ctx, func(r store.Reader) (err error) {
		tally, err = t.house.measure(r, t.open, row, lines)
		return err
	})
	if err != nil {
		return tally, fmt.Errorf("measure game %d: %w", row.Number, err)
	}
	return tally, nil
}

// measureUnused measures a sequence that is retired.
func (h *House) measureUnused(r store.Reader, q store.Sequence) (stats.Tally, error) {
	mode, err := commitment.ParseMode(q.Mode)
	if err != nil {
		return stats.Tally{}, fmt.Errorf("read sequence %s: %w", q.ID, err)
	}
	seq, err := h.rebuilt(r, q, commitment.NoCut)
	if err != nil {
		return stats.Tally{}, err
	}
	return stats.Measure(stats.Game{Mode: mode, Lot: stats.Unused, First: seq, White: -1}), nil
}

// addTally adds to what was counted of a tenant and mode; the log is locked.
func addTally(tx store.Tx, tenant, mode string, more stats.Tally) error {
	row, err := tx.Tally(tenant, mode)
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return err
	}
	sums, err := readTally(row)
	if err != nil {
		return err
	}
	sums.Add(&more)
	data, err := json.Marshal(sums)
	if err != nil {
		return fmt.Errorf("write tally of %s %s: %w", tenant, mode, err)
	}
	return tx.SetTally(store.Tally{Tenant: tenant, Mode: mode, Sums: data})
}

// readTally reads the sums of a row; one that is not there yet has none.
func readTally(row store.Tally) (sums stats.Tally, err error) {
	if len(row.Sums) == 0 {
		return sums, nil
	}
	if err := json.Unmarshal(row.Sums, &sums); err != nil {
		return sums, fmt.Errorf("read tally of %s %s: %w", row.Tenant, row.Mode, err)
	}
	return sums, nil
}
