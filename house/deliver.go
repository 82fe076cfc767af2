package house

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"fairdice/store"
)

// Courier brings messages to endpoints (internal/webhook). It is safe for concurrent use.
type Courier interface {
	// Check refuses an address that nothing would ever be sent to.
	Check(address string, plain bool) error
	// Send makes one attempt, in bounded time.
	Send(ctx context.Context, p Parcel) Delivery
}

// Parcel is a message on its way.
type Parcel struct {
	Address string
	Plain   bool     // http is allowed
	Keys    []string // to sign with: the current one, and the one before while both count
	ID      string
	Body    []byte
}

// Delivery is what came of an attempt.
type Delivery struct {
	Status  int           // of HTTP, 0 without an answer
	Failure string        // "": the endpoint has taken it
	After   time.Duration // not before that; 0: no wish
	Gone    bool          // the endpoint wants nothing any more
}

const (
	// DeliverEvery is how often the outbox is looked at for what has become due.
	DeliverEvery = time.Second
	// PerEndpoint is how many messages are on their way to one endpoint at once:
	// one that hangs keeps only its own waiting.
	PerEndpoint = 4
	// MaxRetryAfter is the most that an endpoint may put off.
	MaxRetryAfter = 24 * time.Hour
	// KeptDelivered and KeptDead are how long messages can still be replayed.
	KeptDelivered = 30 * 24 * time.Hour
	KeptDead      = 90 * 24 * time.Hour

	// claimTime is how long a message belongs to the instance that has taken it: much
	// longer than an attempt may last. One that dies meanwhile has not told whether it
	// was sent, so it is sent again: at least once, not exactly.
	claimTime  = time.Minute
	pruneEvery = time.Hour
	pruneBatch = 1000
)

// delays come before each attempt: the schedule that Standard Webhooks
// proposes, some three days in all.
var delays = [...]time.Duration{0, 5 * time.Second, 5 * time.Minute, 30 * time.Minute, 2 * time.Hour, 5 * time.Hour,
	10 * time.Hour, 14 * time.Hour, 20 * time.Hour, 24 * time.Hour}

// MaxAttempts is how often a message is tried before it is dead.
const MaxAttempts = len(delays)

// pause is how long to wait after so many failed attempts, the delay of the
// schedule on average: jitter in [0, 1) spreads it over half to three halves, so that what
// failed together does not come back together. An endpoint may ask for longer. It is
// negative when there is no further attempt.
func pause(failed int, jitter float64, after time.Duration) time.Duration {
	if failed >= MaxAttempts {
		return -1
	}
	d := delays[failed]
	d = d/2 + time.Duration(jitter*float64(d))
	return max(d, min(after, MaxRetryAfter))
}

// deliveries are the messages on their way.
type deliveries struct {
	courier Courier
	kick    chan struct{}
	done    chan struct{}
	wg      sync.WaitGroup

	mu   sync.Mutex
	busy map[string]int // by endpoint
}

func (h *House) pokeDeliveries() {
	select {
	case h.deliveries.kick <- struct{}{}:
	default:
	}
}

// deliver empties the outbox until ctx ends.
func (h *House) deliver(ctx context.Context) {
	defer close(h.deliveries.done)
	defer h.deliveries.wg.Wait()
	tick := time.NewTicker(DeliverEvery)
	defer tick.Stop()
	var pruned time.Time
	for {
		err := h.dispatch(ctx)
		if now := h.now(); err == nil && now.Sub(pruned) >= pruneEvery {
			if err = h.prune(ctx, now); err == nil {
				pruned = now
			}
		}
		if err != nil && ctx.Err() == nil {
			h.log.Error("outbox not served", "error", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-h.deliveries.kick:
		case <-tick.C:
		}
	}
}

// dispatch starts an attempt at everything that is due and signed, as far as
// its endpoint has room.
func (h *House) dispatch(ctx context.Context) error {
	now, err := h.present()
	if err != nil {
		return err
	}
	signed := h.signer.size()
	var ready []string
	err = h.store.View(ctx, func(r store.Reader) (err error) {
		ready, err = r.Ready(now, signed)
		return err
	})
	var errs []error
	for _, id := range ready {
		d := &h.deliveries
		d.mu.Lock()
		room := PerEndpoint - d.busy[id]
		d.mu.Unlock()
		if room <= 0 {
			continue
		}
		e, messages, err := h.claim(ctx, id, now, signed, room)
		if err != nil {
			errs = append(errs, err)
			continue
		}
		for _, m := range messages {
			d.mu.Lock()
			d.busy[id]++
			d.mu.Unlock()
			d.wg.Go(func() {
				h.attempt(ctx, e, m)
				d.mu.Lock()
				if d.busy[id]--; d.busy[id] == 0 {
					delete(d.busy, id)
				}
				d.mu.Unlock()
				h.pokeDeliveries()
			})
		}
	}
	return errors.Join(append(errs, err)...)
}

// claim takes messages of an endpoint for this instance. Two that want the same
// replace the same rows, so one of them finds nothing.
func (h *House) claim(ctx context.Context, endpoint string, now time.Time, signed int64, n int) (e store.Endpoint, messages []store.Message, err error) {
	err = h.store.Update(ctx, func(tx store.Tx) (err error) {
		if e, err = tx.Endpoint(endpoint); err != nil {
			return err
		}
		if messages, err = tx.Due(endpoint, now, signed, n); err != nil {
			return err
		}
		for i := range messages {
			messages[i].Due = now.Add(claimTime)
			if err := tx.ReplaceMessage(messages[i]); err != nil {
				return err
			}
			messages[i].Version++
		}
		return nil
	})
	switch {
	case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrNotFound): // another one was faster, or it was removed
		return e, nil, nil
	case err != nil:
		return e, nil, fmt.Errorf("claim messages of %s: %w", endpoint, err)
	}
	return e, messages, nil
}

// attempt sends one message and writes down what came of it.
func (h *House) attempt(ctx context.Context, e store.Endpoint, m store.Message) {
	p, err := h.parcel(e, m.ID, m.Body)
	r := Delivery{Failure: "the signing key cannot be opened"}
	if err != nil {
		h.log.Error("endpoint not served", "endpoint", e.ID, "error", err)
	} else {
		r = h.deliveries.courier.Send(ctx, p)
	}
	if ctx.Err() != nil {
		return // nobody knows; the claim runs out
	}
	now := h.now()
	m.Attempts, m.Status, m.Failure = m.Attempts+1, r.Status, r.Failure
	switch d := pause(m.Attempts, rand.Float64(), r.After); {
	case r.Failure == "":
		m.State, m.Due = store.Delivered, now
	case d < 0 || r.Gone:
		m.State, m.Due = store.Dead, now
	default:
		m.Due = now.Add(d)
	}
	h.observer.Told(r.Failure == "", m.State == store.Dead)
	err = h.store.Update(ctx, func(tx store.Tx) error {
		if r.Gone {
			if err := disable(tx, e.ID, now, r.Failure); err != nil {
				return err
			}
		}
		return tx.ReplaceMessage(m)
	})
	switch {
	case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrNotFound): // it was replayed or removed meanwhile
	case err != nil:
		h.log.Error("delivery not noted, it will be repeated", "message", m.ID, "endpoint", e.ID, "error", err)
	case m.State == store.Dead:
		h.log.Warn("message given up", "message", m.ID, "endpoint", e.ID, "failure", m.Failure)
	}
}

func disable(tx store.Tx, endpoint string, now time.Time, why string) error {
	e, err := tx.Endpoint(endpoint)
	if err != nil || !e.Disabled.IsZero() {
		return err
	}
	e.Disabled, e.Reason = now, why
	return tx.ReplaceEndpoint(e)
}

// parcel addresses a message, with the keys that sign it now.
func (h *House) parcel(e store.Endpoint, id string, body []byte) (Parcel, error) {
	p := Parcel{Address: e.Address, Plain: e.Plain, ID: id, Body: body}
	sealed := [][]byte{e.Sealed}
	if e.OldSealed != nil && h.now().Before(e.OldEnds) {
		sealed = append(sealed, e.OldSealed)
	}
	for _, s := range sealed {
		key, err := h.master.decrypt(forWebhook, s, e.ID)
		if err != nil {
			return p, err
		}
		p.Keys = append(p.Keys, string(key))
	}
	return p, nil
}

// prune forgets what was told or given up long ago.
func (h *House) prune(ctx context.Context, now time.Time) error {
	for state, kept := range map[store.MessageState]time.Duration{store.Delivered: KeptDelivered, store.Dead: KeptDead} {
		for {
			n := 0
			err := h.store.Update(ctx, func(tx store.Tx) (err error) {
				n, err = tx.PruneMessages(state, now.Add(-kept), pruneBatch)
				return err
			})
			if err != nil {
				return fmt.Errorf("prune outbox: %w", err)
			}
			if n < pruneBatch {
				break
			}
		}
	}
	return nil
}
