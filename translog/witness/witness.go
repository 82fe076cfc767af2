// Package witness is somebody else who watches a log: he cosigns a checkpoint
// only if it extends the last one of that log he has cosigned, and so nobody
// who trusts him can be shown a fork (C2SP tlog-witness, tlog-cosignature/v1;
// PROTOCOL.md §7).
//
//	w, err := witness.New(cosigner, logKeys, memory)
//	http.ListenAndServe(address, w)
//
// His promise hangs on what he remembers (store.Memory): compare and store are
// one step, so of two requests at once one is the next; and he remembers before
// he signs, so a crash in between costs a signature that is asked for again.
// What he remembers is the whole checkpoint as the log signed it. Two of one
// size with different roots prove to everybody that the log has two histories.
package witness

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"fairdice/commitment"
	"fairdice/store"
	"fairdice/translog"

	"golang.org/x/mod/sumdb/note"
)

var (
	// ErrUnknownLog: the witness does not watch a log of that origin.
	ErrUnknownLog = errors.New("unknown log")
	// ErrInconsistent: the checkpoint does not extend the last one; both are signed by the log.
	ErrInconsistent = translog.ErrInconsistent
	// ErrMalformed: the request is none (C2SP tlog-witness, 400).
	ErrMalformed = errors.New("malformed request")
)

// ConflictError says which size was cosigned last, if the caller assumed another.
type ConflictError = translog.StaleError

// Witness cosigns. It is safe for concurrent use.
type Witness struct {
	cosigner *translog.Cosigner
	logs     map[string]note.Verifier
	memory   store.Memory
	now      func() time.Time
	log      *slog.Logger
}

// New makes a witness of the logs with these verifiers.
func New(c *translog.Cosigner, logs []note.Verifier, m store.Memory) (*Witness, error) {
	w := &Witness{cosigner: c, logs: map[string]note.Verifier{}, memory: m, now: time.Now, log: slog.Default()}
	for _, l := range logs {
		if _, twice := w.logs[l.Name()]; twice {
			return nil, fmt.Errorf("make witness: two keys for log %s", l.Name())
		}
		w.logs[l.Name()] = l
	}
	return w, nil
}

// AddCheckpoint cosigns a signed checkpoint. old is the size the caller
// believes was cosigned last, proof the consistency from there (empty from 0).
// The answer is the witness's signature line. Errors wrap ErrMalformed,
// ErrUnknownLog, translog.ErrSignature, *ConflictError or ErrInconsistent; the
// last two together if the log has signed another root for the size that was
// cosigned last.
func (w *Witness) AddCheckpoint(ctx context.Context, old int64, proof []commitment.Hash, signed string) (string, error) {
	cp, next, err := w.open(signed)
	if err != nil {
		return "", fmt.Errorf("add checkpoint: %w", err)
	}
	if old < 0 || old > cp.Size {
		return "", fmt.Errorf("add checkpoint: %w: the old size %d is larger than the new size %d", ErrMalformed, old, cp.Size)
	}
	for {
		last, err := w.memory.Last(ctx, cp.Origin)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return "", fmt.Errorf("add checkpoint: %w", err)
		}
		if err := extends(last, old, proof, cp); err != nil {
			return "", errors.Join(fmt.Errorf("add checkpoint: %w", err), w.keep(ctx, next, err))
		}
		if cp.Size == last.Size {
			break // cosigned again, at the time of now
		}
		advanced, err := w.memory.Advance(ctx, last.Size, next)
		if err != nil {
			return "", fmt.Errorf("add checkpoint: %w", err)
		}
		if advanced {
			break
		}
		// Another request was faster; the caller's old size is wrong by now.
	}
	line, err := w.cosigner.Line(cp.Text())
	if err != nil {
		return "", fmt.Errorf("add checkpoint: %w", err)
	}
	return line, nil
}

// open verifies the log's signature. What is remembered bears the log's lines
// only: anybody could have added others.
func (w *Witness) open(signed string) (translog.Checkpoint, store.Witnessed, error) {
	read, err := translog.ReadCheckpoint(signed)
	if err != nil {
		return read, store.Witnessed{}, fmt.Errorf("%w: %w", ErrMalformed, err)
	}
	v, ok := w.logs[read.Origin]
	if !ok {
		return read, store.Witnessed{}, fmt.Errorf("%w %s", ErrUnknownLog, read.Origin)
	}
	cp, err := translog.OpenCheckpoint(signed, v)
	if err != nil {
		return cp, store.Witnessed{}, err
	}
	n, err := commitment.OpenNote(signed, v)
	if err != nil {
		return cp, store.Witnessed{}, err
	}
	own, err := note.Sign(&note.Note{Text: n.Text, Sigs: n.Sigs[:1]})
	if err != nil {
		return cp, store.Witnessed{}, fmt.Errorf("copy checkpoint: %w", err)
	}
	return cp, store.Witnessed{
		Origin: cp.Origin, Size: cp.Size, Root: cp.Root, Note: string(own), Time: w.now().UTC().Truncate(time.Second),
	}, nil
}

func extends(last store.Witnessed, old int64, proof []commitment.Hash, cp translog.Checkpoint) error {
	switch {
	case old != last.Size:
		return &ConflictError{Size: last.Size}
	case old == 0 && len(proof) != 0:
		return fmt.Errorf("%w: a proof from size 0 is empty", ErrInconsistent)
	case cp.Size == 0 && cp.Root != translog.EmptyRoot:
		return fmt.Errorf("%w: the root of an empty log is %s", ErrInconsistent, translog.EmptyRoot)
	case old == 0:
		return nil
	case cp.Size == last.Size && cp.Root != commitment.Hash(last.Root):
		return fmt.Errorf("%w: %w: two roots for size %d", ErrInconsistent, &ConflictError{Size: last.Size}, cp.Size)
	}
	if err := translog.VerifyConsistency(last.Size, last.Root, cp.Size, cp.Root, proof); err != nil {
		return fmt.Errorf("%w: %w", ErrInconsistent, err)
	}
	return nil
}

// keep remembers a refused checkpoint if it may prove something: it came with a
// proof that does not fit, or has another root than one of its size. One that
// only met a later or earlier request is nothing.
func (w *Witness) keep(ctx context.Context, next store.Witnessed, why error) error {
	same, err := w.memory.OfSize(ctx, next.Origin, next.Size)
	if err != nil {
		return err
	}
	split := false
	for _, s := range same {
		split = split || s.Root != next.Root
	}
	if !split && !errors.Is(why, ErrInconsistent) {
		return nil
	}
	if split {
		w.log.ErrorContext(ctx, "the log has signed two histories", "origin", next.Origin, "size", next.Size)
	} else {
		w.log.WarnContext(ctx, "checkpoint refused", "origin", next.Origin, "size", next.Size, "cause", why)
	}
	return w.memory.Keep(ctx, next)
}
