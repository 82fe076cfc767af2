package postgres

import (
	"fmt"
	"math"
	"time"

	"fairdice/store"
)

const selectSequence = `SELECT id, tenant, mode, number, rolls_o, rolls_a, rolls_b, sealed, secret_hash, root,
	state, entry, committed, match, game, segment, ended FROM sequences `

func scanSequence(r *row) store.Sequence {
	return store.Sequence{
		ID: r.text(0), Tenant: r.text(1), Mode: r.text(2), Number: uint64(r.int64(3)),
		Rolls: [3]int{r.int(4), r.int(5), r.int(6)}, Sealed: r.blob(7), SecretHash: r.hash(8), Root: r.hash(9),
		State: store.SequenceState(r.int(10)), Index: r.int64(11), Committed: r.time(12),
		Match: r.text(13), Game: r.int(14), Segment: r.int(15), End: r.int64(16),
	}
}

func (r *reader) Sequence(id string) (store.Sequence, error) {
	s, err := one(r, scanSequence, selectSequence+"WHERE id = $1", id)
	return s, wrap(err, "read sequence %s", id)
}

func (r *reader) LowestFree(tenant, mode string) (store.Sequence, error) {
	s, err := one(r, scanSequence,
		selectSequence+"WHERE tenant = $1 AND mode = $2 AND state = 0 ORDER BY number LIMIT 1", tenant, mode)
	return s, wrap(err, "find free sequence of %s %s", tenant, mode)
}

func (r *reader) Pool(tenant, mode string) (store.Pool, error) {
	p, err := one(r, func(r *row) store.Pool {
		return store.Pool{Next: uint64(r.int64(0)), Free: r.int(1)}
	}, `SELECT coalesce((SELECT max(number) + 1 FROM sequences WHERE tenant = $1 AND mode = $2), 0),
		(SELECT count(*) FROM sequences WHERE tenant = $1 AND mode = $2 AND state = 0)`, tenant, mode)
	return p, wrap(err, "count sequences of %s %s", tenant, mode)
}

func (r *reader) Sequences(tenant, mode string, from uint64, limit int) ([]store.Sequence, error) {
	ss, err := list(r, scanSequence,
		selectSequence+"WHERE tenant = $1 AND mode = $2 AND number >= $3 ORDER BY number LIMIT $4",
		tenant, mode, int64(min(from, math.MaxInt64)), max(limit, 0))
	return ss, wrap(err, "list sequences of %s %s", tenant, mode)
}

func (r *reader) Unused(before time.Time, from int64, limit int) ([]store.Sequence, error) {
	ss, err := list(r, scanSequence,
		selectSequence+"WHERE state = 0 AND committed < $1 AND entry >= $2 ORDER BY committed, entry LIMIT $3", before, from, max(limit, 0))
	return ss, wrap(err, "list unused sequences")
}

// sequenceValues are the columns after the id.
func sequenceValues(s store.Sequence) ([]any, error) {
	if s.Number > math.MaxInt64 {
		return nil, fmt.Errorf("number %d is too large", s.Number)
	}
	sealed := s.Sealed
	if sealed == nil {
		sealed = []byte{}
	}
	return []any{s.Tenant, s.Mode, int64(s.Number), s.Rolls[0], s.Rolls[1], s.Rolls[2], sealed, s.SecretHash, s.Root,
		uint8(s.State), s.Index, s.Committed, s.Match, s.Game, s.Segment, s.End}, nil
}

func (t *tx) AddSequence(s store.Sequence) error {
	values, err := sequenceValues(s)
	if err == nil {
		err = t.add(`INSERT INTO sequences (id, tenant, mode, number, rolls_o, rolls_a, rolls_b, sealed, secret_hash, root,
			state, entry, committed, match, game, segment, ended) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17)`,
			append([]any{s.ID}, values...)...)
	}
	return wrap(err, "add sequence %s", s.ID)
}

// ReplaceSequence looks for another row with a value that must be unique
// before the server would find it.
func (t *tx) ReplaceSequence(s store.Sequence, from store.SequenceState) error {
	values, err := sequenceValues(s)
	if err != nil {
		return wrap(err, "replace sequence %s", s.ID)
	}
	replaced, err := t.write(`UPDATE sequences SET tenant = $1, mode = $2, number = $3, rolls_o = $4, rolls_a = $5, rolls_b = $6, sealed = $7,
			secret_hash = $8, root = $9, state = $10, entry = $11, committed = $12, match = $13, game = $14, segment = $15, ended = $16
		WHERE id = $17 AND state = $18
			AND NOT EXISTS (SELECT 1 FROM sequences o WHERE o.secret_hash = $8 AND o.id <> $17)
			AND NOT EXISTS (SELECT 1 FROM sequences o WHERE o.tenant = $1 AND o.mode = $2 AND o.number = $3 AND o.id <> $17)`,
		append(values, s.ID, uint8(from))...)
	if err == nil && !replaced {
		var old store.SequenceState
		old, err = one(&t.reader, func(r *row) store.SequenceState { return store.SequenceState(r.int(0)) },
			"SELECT state FROM sequences WHERE id = $1", s.ID)
		switch {
		case err == nil && old == from:
			err = store.ErrExists
		case err == nil:
			err = store.ErrConflict
		}
	}
	return wrap(err, "replace sequence %s", s.ID)
}

func (t *tx) Spend(value [32]byte) error {
	return wrap(t.add("INSERT INTO spent (value) VALUES ($1)", value), "spend %x", value)
}

func (r *reader) Spent(after [32]byte, limit int) ([][32]byte, error) {
	vs, err := list(r, func(r *row) [32]byte { return r.hash(0) },
		"SELECT value FROM spent WHERE value > $1 ORDER BY value LIMIT $2", after, max(limit, 0))
	return vs, wrap(err, "list spent values")
}
