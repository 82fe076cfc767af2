package house

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"fairdice/store"
)

// What a table has in memory may be older than the store: another instance has
// gone on with the match, or a commit was not confirmed. Nothing wrong can
// come of it, because every change replaces the row of the game or the match
// and so fails on another version of it; but a request must not be refused for what
// only this instance believes. So a use case runs again on what the store holds
// now, and its second word counts.

// visit is one run of a use case.
type visit struct {
	reload bool // do not believe the memory
	fresh  bool // the table was read from the store in this run
}

type visitKey struct{}

// maxRuns bounds the runs of a use case that loses to another instance each time.
const maxRuns = 12

func again[T any](ctx context.Context, h *House, use func(context.Context) (T, error)) (T, error) {
	var v visit
	ctx = context.WithValue(ctx, visitKey{}, &v)
	for run := 1; ; run++ {
		answer, err := use(ctx)
		switch {
		case err == nil || run == maxRuns || ctx.Err() != nil:
			return answer, err
		case changedMeanwhile(err):
			time.Sleep(rand.N(time.Duration(run) * time.Millisecond))
		case h.shared && !v.fresh && dependsOnMatch(CodeOf(err)):
			v.reload = true
		default:
			return answer, err
		}
	}
}

func changedMeanwhile(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.changed
}

// dependsOnMatch reports whether a refusal would be another one, or none, if
// the match stood elsewhere.
func dependsOnMatch(c Code) bool {
	switch c {
	case NotFound, OtherContent, OutOfOrder, NotDue, Illegal, AwaitingLink, NotPublic, WrongLink, GameEnded, MatchEnded:
		return true
	}
	return false
}

// current is table for a use case that only reads: it compares what is in
// memory with the store first.
func (h *House) current(ctx context.Context, match string) (*table, error) {
	var v visit
	t, err := h.table(context.WithValue(ctx, visitKey{}, &v), match)
	if err != nil || !h.shared || v.fresh {
		return t, err
	}
	same := false
	if err = h.store.View(ctx, func(r store.Reader) (err error) {
		same, err = t.unchanged(r)
		return err
	}); err == nil && !same {
		err = t.load(ctx)
	}
	if err != nil {
		t.unlock()
		return nil, fmt.Errorf("load match %s: %w", match, err)
	}
	return t, nil
}

// unchanged compares the versions of the match and of its last game: every
// change of a match is one of these rows too.
func (t *table) unchanged(r store.Reader) (bool, error) {
	row, err := r.Match(t.id)
	if err != nil || row.Version != t.row.Version {
		return false, err
	}
	if t.game == nil {
		return true, nil
	}
	g, err := r.Game(t.id, t.game.row.Number)
	return err == nil && g.Version == t.game.row.Version, err
}

// update runs a transaction whose function looks for its own effect first: an
// outcome that nobody knows is learnt by asking again.
func (h *House) update(ctx context.Context, fn func(store.Tx) error) error {
	err := h.store.Update(ctx, fn)
	if errors.Is(err, store.ErrUncertain) {
		h.log.Error("commit uncertain", "error", err)
		err = h.store.Update(ctx, fn)
	}
	if errors.Is(err, store.ErrUncertain) { // again
		return &Error{Code: Unavailable, Message: "the storage did not confirm the change; repeat the request", RetryAfter: time.Second}
	}
	return err
}
