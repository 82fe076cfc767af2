package house

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fairdice/commitment"
	"fairdice/store"
	"fairdice/translog"
)

// writer appends statements to the log inside the transaction of the state
// change they tell of (PROTOCOL.md §7). All statements of one transaction
// have one time, never before the last one's.
type writer struct {
	tx   store.Tx
	size int64
	at   time.Time
}

func (h *House) lockLog(tx store.Tx) (*writer, error) {
	head, err := tx.LockLog()
	if err != nil {
		return nil, fmt.Errorf("lock log: %w", err)
	}
	at, err := h.present()
	if err != nil {
		return nil, err
	}
	if at.Before(head.Time) { // the clock was set back
		at = head.Time
	}
	return &writer{tx: tx, size: head.Size, at: at}, nil
}

func (w *writer) append(s commitment.Statement) (int64, error) {
	text := s.Text()
	// Nothing goes into a log for ever that a strict reader would refuse.
	if _, err := commitment.Parse(text); err != nil {
		return 0, fmt.Errorf("append %s: %w", s.Type(), err)
	}
	index := w.size
	hashes, err := translog.NewHashes(w.tx, index, text)
	if err != nil {
		return 0, fmt.Errorf("append %s: %w", s.Type(), err)
	}
	if err := w.tx.AppendEntry(store.Entry{Index: index, Text: text, Time: w.at}, hashes); err != nil {
		return 0, fmt.Errorf("append %s: %w", s.Type(), err)
	}
	w.size++
	return index, nil
}

// checkSince refuses a size that was never signed, before the request has had
// any effect: a refusal changes nothing.
func (h *House) checkSince(ctx context.Context, since int64) error {
	if since < 0 {
		return refuse(Malformed, "since %d is no size of a log", since)
	}
	if since <= h.signer.size() {
		return nil
	}
	var latest store.Checkpoint
	err := h.store.View(ctx, func(r store.Reader) (err error) {
		latest, err = r.LatestCheckpoint() // another instance may have signed it
		return err
	})
	if err != nil && !errors.Is(err, store.ErrNotFound) {
		return fmt.Errorf("read checkpoint: %w", err)
	}
	if since > latest.Size {
		return refuse(Malformed, "since %d is beyond the last signed checkpoint, which has %d statements", since, latest.Size)
	}
	return nil
}

// published waits until a signed checkpoint contains all the statements and
// proves each of them in the first one that does, so that a repeated request
// gets the same bytes. since > 0 asks for a checkpoint of at least that size
// with its proof of consistency from there.
func (h *House) published(ctx context.Context, since int64, indexes ...int64) (Published, error) {
	var p Published
	size := max(since, slices.Max(indexes)+1)
	if err := h.signer.await(ctx, slices.Max(indexes)+1); err != nil {
		return p, err
	}
	err := h.store.View(ctx, func(r store.Reader) (err error) {
		p, err = proveAt(r, size, since, indexes)
		return err
	})
	if CodeOf(err) == Malformed && size > since {
		// await has seen a checkpoint of that size: the database has gone back.
		h.signer.poke()
		err = errRefused()
	}
	return p, err
}

// proveAt reads statements with their proofs in the smallest checkpoint of at least size.
func proveAt(r store.Reader, size, since int64, indexes []int64) (Published, error) {
	var p Published
	c, err := r.Checkpoint(size)
	if errors.Is(err, store.ErrNotFound) {
		return p, refuse(Malformed, "since %d is beyond the last signed checkpoint", since)
	} else if err != nil {
		return p, fmt.Errorf("read checkpoint: %w", err)
	}
	p.Checkpoint = c.Note
	for _, i := range indexes {
		s, err := prove(r, c.Size, i)
		if err != nil {
			return p, err
		}
		p.Statements = append(p.Statements, s)
	}
	if since > 0 {
		p.Since = since
		p.Consistency, err = translog.Consistency(since, c.Size, translog.Stored(r))
		if err != nil {
			return p, fmt.Errorf("prove consistency: %w", err)
		}
	}
	return p, nil
}

func prove(r store.Reader, size, index int64) (Statement, error) {
	e, err := r.Entry(index)
	if err != nil {
		return Statement{}, fmt.Errorf("read statement %d: %w", index, err)
	}
	path, err := translog.Inclusion(size, index, translog.Stored(r))
	if err != nil {
		return Statement{}, fmt.Errorf("prove statement %d: %w", index, err)
	}
	return Statement{Index: index, Text: string(e.Text), Path: path}, nil
}

// readStatement reads a statement of a known type back from the log.
func readStatement[S commitment.Statement](r store.Reader, index int64) (S, error) {
	var none S
	e, err := r.Entry(index)
	if err != nil {
		return none, fmt.Errorf("read statement %d: %w", index, err)
	}
	s, err := commitment.Parse(e.Text)
	if err != nil {
		return none, fmt.Errorf("read statement %d: %w", index, err)
	}
	t, ok := s.(S)
	if !ok {
		return none, fmt.Errorf("read statement %d: it is of type %s", index, s.Type())
	}
	return t, nil
}
