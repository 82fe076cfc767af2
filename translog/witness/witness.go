// Package witness is somebody else who watches a log: he cosigns a checkpoint
// only if it extends the last one of that log he has cosigned, and so nobody
// who trusts him can be shown a fork (C2SP tlog-witness, tlog-cosignature/v1;
// PROTOCOL.md §7).
//
//	w, err := witness.New(cosigner, logKeys, memory)
//	lines, err := w.AddCheckpoint(ctx, old, proof, checkpoint)
//
// What he remembers is kept behind Memory, whose one promise is that compare
// and store are one step: two requests at once must not both be the next one.
package witness

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"fairdice/commitment"
	"fairdice/translog"

	"golang.org/x/mod/sumdb/note"
)

var (
	// ErrUnknownLog: the witness does not watch a log of that origin.
	ErrUnknownLog = errors.New("unknown log")
	// ErrInconsistent: the checkpoint does not extend the last one; both are signed by the log.
	ErrInconsistent = translog.ErrInconsistent
)

// ConflictError says which size was cosigned last, if the caller assumed another.
type ConflictError = translog.StaleError

// Memory keeps the last cosigned checkpoint of each log.
type Memory interface {
	// Last is the last checkpoint of the log as it was signed, "" for none.
	Last(ctx context.Context, origin string) (string, error)
	// Advance stores next if the last checkpoint still is last, durably and in one
	// step, and reports whether it was.
	Advance(ctx context.Context, origin, last, next string) (bool, error)
}

// Witness cosigns. It is safe for concurrent use.
type Witness struct {
	cosigner *translog.Cosigner
	logs     map[string]note.Verifier
	memory   Memory
}

// New makes a witness of the logs with these verifiers.
func New(c *translog.Cosigner, logs []note.Verifier, m Memory) (*Witness, error) {
	w := &Witness{cosigner: c, logs: map[string]note.Verifier{}, memory: m}
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
// The answer is the witness's signature line. Errors wrap ErrUnknownLog,
// translog.ErrSignature, *ConflictError or ErrInconsistent.
func (w *Witness) AddCheckpoint(ctx context.Context, old int64, proof []commitment.Hash, signed string) (string, error) {
	read, err := translog.ReadCheckpoint(signed)
	if err != nil {
		return "", fmt.Errorf("add checkpoint: %w", err)
	}
	v, ok := w.logs[read.Origin]
	if !ok {
		return "", fmt.Errorf("add checkpoint: %w %s", ErrUnknownLog, read.Origin)
	}
	cp, err := translog.OpenCheckpoint(signed, v)
	if err != nil {
		return "", fmt.Errorf("add checkpoint: %w", err)
	}
	last, err := w.memory.Last(ctx, cp.Origin)
	if err != nil {
		return "", fmt.Errorf("add checkpoint: %w", err)
	}
	if err := extends(last, v, old, proof, cp); err != nil {
		return "", fmt.Errorf("add checkpoint: %w", err)
	}
	// Remember first, sign then: a crash in between costs a signature that is
	// asked for again, the other order could cost the promise.
	if last != signed {
		stored, err := w.memory.Advance(ctx, cp.Origin, last, signed)
		if err != nil {
			return "", fmt.Errorf("add checkpoint: %w", err)
		}
		if !stored {
			return w.AddCheckpoint(ctx, old, proof, signed)
		}
	}
	line, err := w.cosigner.Line(cp.Text())
	if err != nil {
		return "", fmt.Errorf("add checkpoint: %w", err)
	}
	return line, nil
}

func extends(last string, v note.Verifier, old int64, proof []commitment.Hash, cp translog.Checkpoint) error {
	var have translog.Checkpoint
	if last != "" {
		var err error
		if have, err = translog.OpenCheckpoint(last, v); err != nil {
			return fmt.Errorf("read memory: %w", err)
		}
	}
	switch {
	case old != have.Size:
		return &ConflictError{Size: have.Size}
	case old > cp.Size:
		return fmt.Errorf("%w: it has %d entries, %d were cosigned", ErrInconsistent, cp.Size, old)
	case old == 0 && len(proof) != 0:
		return fmt.Errorf("%w: a proof from size 0 is empty", ErrInconsistent)
	case old == 0:
		return nil
	}
	if err := translog.VerifyConsistency(have.Size, have.Root, cp.Size, cp.Root, proof); err != nil {
		return fmt.Errorf("%w: %w", ErrInconsistent, err)
	}
	return nil
}

// InMemory is a Memory for tests and demonstrations; it forgets when the process ends.
func InMemory() Memory { return &inMemory{last: map[string]string{}} }

type inMemory struct {
	mu   sync.Mutex
	last map[string]string
}

func (m *inMemory) Last(_ context.Context, origin string) (string, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.last[origin], nil
}

func (m *inMemory) Advance(_ context.Context, origin, last, next string) (bool, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.last[origin] != last {
		return false, nil
	}
	m.last[origin] = next
	return true, nil
}
