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
	// proof the consistency from there. If the witness remembers another size the
	// error is a *StaleError; if he remembers another log it wraps
	// translog.ErrInconsistent.
	Cosign(ctx context.Context, old int64, proof []commitment.Hash, checkpoint string) (lines string, err error)
}

// StaleError says which size the witness has cosigned last.
type StaleError = translog.StaleError

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

	asking sync.Mutex // guards last
	last   []int64    // per witness: the size it cosigned last

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
	if errors.Is(err, store.ErrNotFound) || err == nil && (cp.Cosigned != "" || !w.signer.leading.Load()) {
		return nil
	} else if err != nil {
		return fmt.Errorf("read checkpoint: %w", err)
	}
	signed, errs, err := w.collect(ctx, cp)
	if errors.Is(err, errFork) {
		w.signer.doubt.Store(true) // nothing is signed before the witnesses were asked again
		w.signer.refuse(err)
	}
	if err != nil {
		return err
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

// collect asks every witness at once. errs has one place for each of them.
func (w *cosigner) collect(ctx context.Context, cp store.Checkpoint) (signed string, errs []error, err error) {
	asking, cancel := context.WithTimeout(ctx, WitnessPatience)
	defer cancel()
	lines := make([]string, len(w.witnesses))
	errs = make([]error, len(w.witnesses))
	w.asking.Lock()
	defer w.asking.Unlock()
	var wg sync.WaitGroup
	for i := range w.witnesses {
		wg.Go(func() { lines[i], errs[i] = w.ask(asking, i, cp) })
	}
	wg.Wait()
	signed = cp.Note
	if ctx.Err() == nil {
		defer func() {
			for i, err := range errs {
				w.signer.observer.Cosigned(w.witnesses[i].Name(), err)
			}
		}()
	}
	for i, l := range lines {
		if errors.Is(errs[i], errFork) {
			return "", errs, errs[i]
		}
		if errs[i] != nil {
			continue
		}
		// One witness who answers nonsense must not spoil the others' lines.
		more, err := translog.AddLines(signed, l)
		if err == nil {
			_, err = w.policy.Cosigned(more)
		}
		if err != nil {
			errs[i] = fmt.Errorf("witness %s: %w", w.witnesses[i].Name(), err)
			continue
		}
		signed = more
	}
	return signed, errs, nil
}

// ask asks one witness, again from where he stands if that is elsewhere. The
// error wraps errFork if he has cosigned another log than this one, and
// *StaleError if he is ahead of the checkpoint.
func (w *cosigner) ask(ctx context.Context, i int, cp store.Checkpoint) (string, error) {
	name := w.witnesses[i].Name()
	for try := 0; ; try++ {
		old := w.last[i]
		var proof []commitment.Hash
		switch {
		case old > cp.Size: // another signer was faster
			return "", fmt.Errorf("witness %s: %w", name, &StaleError{Size: old})
		case old > 0:
			err := w.signer.store.View(ctx, func(r store.Reader) (err error) {
				proof, err = translog.Consistency(old, cp.Size, translog.Stored(r))
				return err
			})
			if err != nil {
				return "", fmt.Errorf("witness %s: %w", name, err)
			}
		}
		lines, err := w.witnesses[i].Cosign(ctx, old, proof, cp.Note)
		var stale *StaleError
		switch {
		case errors.As(err, &stale) && stale.Size == old && old == cp.Size,
			errors.Is(err, translog.ErrInconsistent):
			return "", fmt.Errorf("%w: witness %s has cosigned another log of this name than the database holds: two histories were signed", errFork, name)
		case errors.As(err, &stale) && try == 0 && stale.Size <= cp.Size:
			w.last[i] = stale.Size
			continue
		case err != nil:
			return "", fmt.Errorf("witness %s: %w", name, err)
		}
		w.last[i] = cp.Size
		return lines, nil
	}
}

// confirm asks the witnesses about the last checkpoint that the signer knows
// of, before it signs its first one: the quorum must know it, or a beginning
// of it, and nobody more. Witnesses who do not answer only delay the start.
func (w *cosigner) confirm(ctx context.Context, cp store.Checkpoint) error {
	signed, errs, err := w.collect(ctx, cp)
	if err != nil {
		return err
	}
	for i, err := range errs {
		var stale *StaleError
		if errors.As(err, &stale) && stale.Size > cp.Size {
			return &aheadError{witness: w.witnesses[i].Name(), size: stale.Size}
		}
	}
	if err := w.policy.Check(signed, -1); err != nil {
		return fmt.Errorf("ask witnesses before the first signature: %w", errors.Join(append(errs, err)...))
	}
	return nil
}

// aheadError: a witness has cosigned more than the signer knows of.
type aheadError struct {
	witness string
	size    int64
}

func (e *aheadError) Error() string {
	return fmt.Sprintf("witness %s has cosigned a log of %d statements", e.witness, e.size)
}

// covers reports whether a cosigned checkpoint contains the statement with that
// index, also if another instance has collected its cosignatures.
func (w *cosigner) covers(ctx context.Context, index int64) (bool, error) {
	if index < w.cosigned() || !w.signer.shared {
		return index < w.cosigned(), nil
	}
	covered := false
	err := w.signer.store.View(ctx, func(r store.Reader) error {
		_, err := r.Cosigned(index + 1)
		covered = err == nil
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	return covered, err
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
	var look <-chan time.Time // for what another instance has collected
	for {
		w.mu.Lock()
		have, grown := w.size, w.grown
		w.mu.Unlock()
		if have >= size {
			return true
		}
		if w.signer.shared {
			look = time.After(lookLast)
		}
		select {
		case <-grown:
		case <-look:
			if covered, err := w.covers(ctx, size-1); err == nil && covered {
				return true
			}
		case <-ctx.Done():
			return false
		case <-w.done:
			return false
		case <-patience.C:
			return false
		}
	}
}
