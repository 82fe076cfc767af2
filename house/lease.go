package house

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairdice/store"
)

// signerLease is held by the one instance of several that signs.
const signerLease = "signer"

// DefaultLease is how long after the last sign of life of the instance that
// signs another one takes over: longer than a pause that is nothing, shorter
// than what a waiting request bears (SignerPatience).
const DefaultLease = 3 * time.Second

// lead takes the lease if it is free, or keeps it, and sets s.leading.
func (s *signer) lead(ctx context.Context) error {
	if s.leading.Load() && time.Now().Before(s.renew) {
		return nil
	}
	if !s.leading.Load() {
		var l store.Lease
		err := s.store.View(ctx, func(r store.Reader) (err error) {
			l, err = r.Lease(signerLease)
			return err
		})
		switch {
		case err != nil && !errors.Is(err, store.ErrNotFound):
			return err
		case err == nil && l.Left > 0 && l.Holder != s.holder:
			return nil
		}
	}
	asked := time.Now()
	var l store.Lease
	err := s.store.Update(ctx, func(tx store.Tx) (err error) {
		l, err = tx.TakeLease(signerLease, s.holder, s.term)
		return err
	})
	switch {
	case errors.Is(err, store.ErrConflict):
		s.leading.Store(false)
		return nil
	case err != nil:
		return err
	case l.Epoch != s.lease.Epoch:
		s.log.Info("this instance signs", "epoch", l.Epoch)
	}
	s.lease, s.renew = l, asked.Add(s.term/3)
	s.epoch.Store(l.Epoch)
	if !s.leading.Swap(true) {
		s.onSigned() // the one before may have signed a checkpoint that nobody has cosigned
	}
	return nil
}

// resign lets another instance sign at once.
func (s *signer) resign() error {
	if !s.leading.Load() {
		return nil
	}
	s.leading.Store(false)
	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	err := s.store.Update(ctx, func(tx store.Tx) error {
		_, err := tx.TakeLease(signerLease, s.holder, 0)
		return err
	})
	if errors.Is(err, store.ErrConflict) { // it has taken it
		return nil
	}
	if err != nil {
		return fmt.Errorf("give up lease: %w", err)
	}
	return nil
}
