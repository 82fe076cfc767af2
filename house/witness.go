package house

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"fairdice/commitment"
	"fairdice/store"
	"fairdice/translog"
)

// Witness is somebody else who cosigns checkpoints that extend the last one he
// has seen, so that nobody can be shown another log (C2SP tlog-witness).
type Witness interface {
	// Name is for logs and errors.
	Name() string
	// Cosign asks for the signature lines for a signed checkpoint. old is the
	// size of the one the witness is believed to have cosigned last, 0 for none,
	// proof the consistency from there. If the witness remembers another size
	// the error is a *StaleError.
	Cosign(ctx context.Context, old int64, proof []commitment.Hash, checkpoint string) (lines string, err error)
}

// StaleError says which size the witness has cosigned last.
type StaleError struct{ Size int64 }

func (e *StaleError) Error() string {
	return fmt.Sprintf("the witness has cosigned size %d last", e.Size)
}

// WitnessPatience is how long one round of asking the witnesses may take.
// Those that are slower are asked again for a later checkpoint.
const WitnessPatience = 5 * time.Second

// cosigner collects the witnesses' cosignatures of what the signer has signed.
// It works behind the signer: a checkpoint is answered when the log has signed
// it, and gains its cosignatures, all at once, when the quorum is met. A crash in
// between loses only lines that can be asked for again.
type cosigner struct {
	signer    *signer
	witnesses []Witness
	policy    *translog.Policy
	last      []int64 // per witness: the size it cosigned last

	kick chan struct{}
	done chan struct{}

	mu    sync.Mutex
	size  int64 // of the largest checkpoint that meets the quorum
	grown chan struct{}
}

func newCosigner(ctx context.Context, s *signer, c Config) (*cosigner, error) {
	w := &cosigner{signer: s, witnesses: c.Witnesses, policy: c.Policy, last: make([]int64, len(c.Witnesses)),
		kick: make(chan struct{}, 1), done: make(chan struct{}), grown: make(chan struct{})}
	err := c.Store.View(ctx, func(r store.Reader) error {
		cp, err := r.LatestCosigned()
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		w.size = cp.Size
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read last cosigned checkpoint: %w", err)
	}
	return w, nil
}

func (w *cosigner) start(ctx context.Context) {
	go func() {
		defer close(w.done)
		w.poke()
		for {
			select {
			case <-ctx.Done():
				return
			case <-w.kick:
			}
			if err := w.cosign(ctx); err != nil && ctx.Err() == nil {
				w.signer.log.Warn("witnesses did not cosign", "error", err)
				select { // a witness may be back soon, whether or not the log grows
				case <-ctx.Done():
					return
				case <-time.After(time.Second):
					w.poke()
				}
			}
		}
	}()
}

func (w *cosigner) wait() { <-w.done }

func (w *cosigner) poke() {
	select {
	case w.kick <- struct{}{}:
	default:
	}
}

// cosign asks every witness for the latest checkpoint.
func (w *cosigner) cosign(ctx context.Context) error {
	var cp store.Checkpoint
	err := w.signer.store.View(ctx, func(r store.Reader) (err error) {
		cp, err = r.LatestCheckpoint()
		return err
	})
	if errors.Is(err, store.ErrNotFound) || err == nil && cp.Cosigned != "" {
		return nil
	} else if err != nil {
		return fmt.Errorf("read checkpoint: %w", err)
	}
	asking, cancel := context.WithTimeout(ctx, WitnessPatience)
	defer cancel()
	lines := make([]string, len(w.witnesses))
	errs := make([]error, len(w.witnesses))
	var wg sync.WaitGroup
	for i := range w.witnesses {
		wg.Go(func() { lines[i], errs[i] = w.ask(asking, i, cp) })
	}
	wg.Wait()
	var given []string
	for i, l := range lines {
		if errs[i] == nil {
			given = append(given, l)
		}
	}
	signed, err := translog.AddLines(cp.Note, given...)
	if err != nil {
		return fmt.Errorf("add cosignatures: %w", err)
	}
	if err := w.policy.Check(signed, -1); err != nil {
		return errors.Join(err, errors.Join(errs...))
	}
	err = w.signer.store.Update(ctx, func(tx store.Tx) error { return tx.SetCosigned(cp.Size, signed) })
	if err != nil && !errors.Is(err, store.ErrExists) {
		return fmt.Errorf("store cosigned checkpoint: %w", err)
	}
	w.mu.Lock()
	w.size = max(w.size, cp.Size)
	close(w.grown)
	w.grown = make(chan struct{})
	w.mu.Unlock()
	return nil
}

// ask asks one witness, again from where he stands if that is elsewhere.
func (w *cosigner) ask(ctx context.Context, i int, cp store.Checkpoint) (string, error) {
	for try := 0; ; try++ {
		old := w.last[i]
		var proof []commitment.Hash
		if old > 0 {
			err := w.signer.store.View(ctx, func(r store.Reader) (err error) {
				proof, err = translog.Consistency(old, cp.Size, translog.Stored(r))
				return err
			})
			if err != nil {
				return "", fmt.Errorf("witness %s: %w", w.witnesses[i].Name(), err)
			}
		}
		lines, err := w.witnesses[i].Cosign(ctx, old, proof, cp.Note)
		var stale *StaleError
		if errors.As(err, &stale) && try == 0 && stale.Size <= cp.Size {
			w.last[i] = stale.Size
			continue
		}
		if err != nil {
			return "", fmt.Errorf("witness %s: %w", w.witnesses[i].Name(), err)
		}
		w.last[i] = cp.Size
		return lines, nil
	}
}

func (w *cosigner) cosigned() int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.size
}

// await waits, not for ever, until the quorum has cosigned a checkpoint of at
// least size entries, and reports whether it has.
func (w *cosigner) await(ctx context.Context, size int64) bool {
	patience := time.NewTimer(WitnessPatience)
	defer patience.Stop()
	for {
		w.mu.Lock()
		have, grown := w.size, w.grown
		w.mu.Unlock()
		if have >= size {
			return true
		}
		select {
		case <-grown:
		case <-ctx.Done():
			return false
		case <-w.done:
			return false
		case <-patience.C:
			return false
		}
	}
}
