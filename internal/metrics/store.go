package metrics

import (
	"context"
	"errors"
	"time"

	"fairdice/store"
)

// Store is a store whose updates are counted and timed.
func (m *Metrics) Store(s store.Store) store.Store { return counted{s, m} }

// Committed notes how many updates shared a commit.
func (m *Metrics) Committed(updates int) { m.groups.Observe(float64(updates)) }

type counted struct {
	store.Store
	metrics *Metrics
}

// Update runs fn as the store does. A store may run it more than once, never at
// the same time.
func (c counted) Update(ctx context.Context, fn func(store.Tx) error) error {
	started, runs := time.Now(), 0
	err := c.Store.Update(ctx, func(tx store.Tx) error {
		runs++
		return fn(tx)
	})
	c.metrics.writing.Observe(time.Since(started).Seconds())
	if runs > 1 {
		c.metrics.reruns.Add(float64(runs - 1))
	}
	c.metrics.updates.WithLabelValues(outcome(err)).Inc()
	return err
}

// outcome is what became of an update. What its own function has refused is no
// failure of the store.
func outcome(err error) string {
	switch {
	case err == nil:
		return ok
	case errors.Is(err, store.ErrUncertain):
		return "uncertain"
	case errors.Is(err, store.ErrStorage):
		return "storage"
	case errors.Is(err, store.ErrConflict):
		return "conflict"
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return "canceled"
	}
	return "refused"
}
