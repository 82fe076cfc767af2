package storetest

import (
	"fmt"
	"reflect"
	"testing"
	"time"

	"fairdice/store"
)

// filled is a T whose every field, elements of arrays too, has a value of its
// own and none is zero.
func filled[T any](t *testing.T) T {
	var v T
	n := 0
	fill(t, reflect.ValueOf(&v).Elem(), &n)
	return v
}

func fill(t *testing.T, v reflect.Value, n *int) {
	t.Helper()
	*n++
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(instant(*n)))
		return
	case [32]byte:
		v.Set(reflect.ValueOf(hash("field %d", *n)))
		return
	case []byte:
		v.SetBytes(fmt.Appendf(nil, "bytes of field %d", *n))
		return
	case store.SequenceState, store.GameState:
		v.SetUint(3)
		return
	case store.MessageState:
		v.SetUint(2)
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i), n)
		}
	case reflect.Array:
		for i := range v.Len() {
			fill(t, v.Index(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(t, v.Index(0), n)
		fill(t, v.Index(1), n)
	case reflect.String:
		v.SetString(fmt.Sprintf("field%d", *n))
	case reflect.Int, reflect.Int64:
		v.SetInt(1000 + int64(*n))
	case reflect.Uint8, reflect.Uint64:
		v.SetUint(100 + uint64(*n))
	case reflect.Bool:
		v.SetBool(true)
	default:
		t.Fatalf("no value for a field of type %v", v.Type())
	}
}

// testEveryField stores one row of each kind with a value in each field, and
// then replaces it by one with zero in each field but its address: a field
// that a store forgets is found, also one that package store gets later.
func testEveryField(t *testing.T, s store.Store) {
	tenant, key, roll := filled[store.Tenant](t), filled[store.APIKey](t), filled[store.Roll](t)
	sequence, match := filled[store.Sequence](t), filled[store.Match](t)
	game, segment := filled[store.Game](t), filled[store.Segment](t)
	update(t, s, func(tx store.Tx) error {
		for _, err := range []error{
			tx.AddTenant(tenant), tx.AddAPIKey(key), tx.AddSequence(sequence), tx.AddMatch(match), tx.AddGame(game),
			tx.AddSegment(segment), tx.AddRoll(roll),
		} {
			if err != nil {
				return err
			}
		}
		return nil
	})
	same(t, get(t, s, func(r store.Reader) (store.Tenant, error) { return r.Tenant(tenant.Name) }), tenant)
	same(t, get(t, s, func(r store.Reader) (store.APIKey, error) { return r.APIKey(key.Hash) }), key)
	same(t, get(t, s, func(r store.Reader) (store.Roll, error) {
		return r.Roll(roll.Match, roll.Game, roll.Segment, roll.Stream, roll.Index)
	}), roll)
	rows := func(want ...store.Segment) {
		t.Helper()
		same(t, get(t, s, readSequence(sequence.ID)), sequence)
		same(t, get(t, s, func(r store.Reader) (store.Match, error) { return r.Match(match.ID) }), match)
		same(t, get(t, s, func(r store.Reader) (store.Game, error) { return r.Game(game.Match, game.Number) }), game)
		same(t, get(t, s, func(r store.Reader) ([]store.Segment, error) {
			return r.Segments(segment.Match, segment.Game)
		}), want)
	}
	rows(segment)

	from := sequence.State
	sequence = store.Sequence{ID: sequence.ID}
	match = store.Match{ID: match.ID, Version: match.Version}
	game = store.Game{Match: game.Match, Number: game.Number, Version: game.Version}
	undealt := segment // the row itself is dealt, so a second one is replaced
	undealt.Segment++
	undealt.Deal = -1
	empty := store.Segment{Match: undealt.Match, Game: undealt.Game, Segment: undealt.Segment}
	update(t, s, func(tx store.Tx) error {
		for _, err := range []error{
			tx.ReplaceSequence(sequence, from), tx.ReplaceMatch(match), tx.ReplaceGame(game),
			tx.AddSegment(undealt), tx.ReplaceSegment(empty),
		} {
			if err != nil {
				return err
			}
		}
		return nil
	})
	match.Version++
	game.Version++
	rows(segment, empty)
	same(t, get(t, s, store.Reader.Counts), store.Counts{
		Tenants: 1, APIKeys: 1, Sequences: 1, Matches: 1, Games: 1, Segments: 2, Rolls: 1,
	})
}
