package house

import (
	"context"
	"fmt"
	"time"

	"fairdice/commitment"
	"fairdice/store"
)

// Observer is told what a house does, so that it can be counted; it is how the
// operator watches, and no part of any answer. Its methods are called
// from many goroutines, some while a match is locked: they must not wait. None of
// them learns of a match, a player or a secret.
type Observer interface {
	// Drawn: a roll that nobody had seen was committed, that long after it was
	// asked for. A roll that is answered again is not drawn again.
	Drawn(mode string, took time.Duration)
	// ToppedUp: the tenant's pool of the mode was filled, or could not be.
	ToppedUp(tenant, mode string, err error)
	// SigningFailed: a checkpoint was not signed or not kept; it is tried again.
	SigningFailed(err error)
	// Cosigned: a witness was asked for his signature; err is nil if he gave a good one.
	Cosigned(witness string, err error)
	// Fetched: a round of the beacon, public since then, was asked for; err is nil
	// if it was verified.
	Fetched(round uint64, public time.Time, err error)
	// Looked: deadlines were looked after. err is nil if nothing is left that had to end.
	Looked(done Swept, err error)
	// Told: an attempt was made to tell an endpoint of an event. Dead: it was the last one.
	Told(taken, dead bool)
}

// unobserved is a house that nobody watches.
type unobserved struct{}

func (unobserved) Drawn(string, time.Duration)      {}
func (unobserved) ToppedUp(string, string, error)   {}
func (unobserved) SigningFailed(error)              {}
func (unobserved) Cosigned(string, error)           {}
func (unobserved) Fetched(uint64, time.Time, error) {}
func (unobserved) Looked(Swept, error)              {}
func (unobserved) Told(bool, bool)                  {}

// Stats is where a house stands, for its operator.
type Stats struct {
	Logged   int64     // statements in the database
	Signed   int64     // statements in the last checkpoint this instance knows of
	SignedAt time.Time // when this instance learnt of it; zero: of none since it started
	Cosigned int64     // statements in the last checkpoint that met the quorum; 0 without witnesses
	Refused  bool      // nothing is signed, because it would be a fork
	Leading  bool      // this instance signs
	Epoch    int64     // of its last lease; 0: it never had one
	Pools    []PoolStats
	Outbox   store.Outbox
}

// PoolStats is the pool of one tenant and mode.
type PoolStats struct {
	Tenant, Mode string
	Sealed       uint64 // sequences ever
	Free         int
}

// Stats reads the head of the log, the pools and what is left in the outbox; it counts no table whose rows
// stay for ever. A pool that never had a sequence is left out.
func (h *House) Stats(ctx context.Context) (Stats, error) {
	var st Stats
	err := h.store.View(ctx, func(r store.Reader) error {
		head, err := r.LogHead()
		if err != nil {
			return err
		}
		st.Logged = head.Size
		if st.Outbox, err = r.Outbox(); err != nil {
			return err
		}
		tenants, err := r.Tenants()
		if err != nil {
			return err
		}
		for _, t := range tenants {
			for _, m := range commitment.Modes() {
				pool, err := r.Pool(t.Name, m.String())
				if err != nil {
					return err
				}
				if pool.Next > 0 {
					st.Pools = append(st.Pools, PoolStats{Tenant: t.Name, Mode: m.String(), Sealed: pool.Next, Free: pool.Free})
				}
			}
		}
		return nil
	})
	if err != nil {
		return Stats{}, fmt.Errorf("read statistics: %w", err)
	}
	h.signer.mu.Lock()
	st.Signed, st.SignedAt, st.Refused = h.signer.signed, h.signer.signedAt, h.signer.refusal != nil
	h.signer.mu.Unlock()
	st.Leading, st.Epoch = h.signer.leading.Load(), h.signer.epoch.Load()
	if h.cosigner != nil {
		st.Cosigned = h.cosigner.cosigned()
	}
	return st, nil
}
