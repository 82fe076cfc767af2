package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"fairdice/store"
)

func endpoint(id, tenant string, events ...string) store.Endpoint {
	return store.Endpoint{ID: id, Tenant: tenant, Address: "https://" + id + ".example/", Events: events, Sealed: []byte("sealed " + id), Created: instant(1)}
}

func message(endpoint, id string, due int) store.Message {
	return store.Message{Endpoint: endpoint, ID: id, Type: "game.closed", Entry: int64(due), Body: []byte("body " + id), Created: instant(0), Due: instant(due)}
}

func testEndpoints(t *testing.T, s store.Store) {
	read := func(r store.Reader) (store.Endpoint, error) { return r.Endpoint("e") }
	missing(t, s, read)
	e := filled[store.Endpoint](t)
	e.ID, e.Version = "e", 3
	update(t, s, func(tx store.Tx) error { return tx.AddEndpoint(e) })
	refused(t, s, store.ErrExists, func(tx store.Tx) error { return tx.AddEndpoint(e) })
	same(t, get(t, s, read), e)

	bare := store.Endpoint{ID: "e", Version: 3}
	update(t, s, func(tx store.Tx) error { return tx.ReplaceEndpoint(bare) })
	bare.Version++
	got := get(t, s, read)
	same(t, got, bare)
	if got.OldSealed != nil {
		t.Errorf("the old key is %q, want nil", got.OldSealed)
	}
	refused(t, s, store.ErrConflict, func(tx store.Tx) error { return tx.ReplaceEndpoint(e) })
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error { return tx.ReplaceEndpoint(endpoint("none", "club")) })
	same(t, get(t, s, read), bare)

	for _, e := range []store.Endpoint{endpoint("b", "club"), endpoint("a", "club"), endpoint("c", "café")} {
		update(t, s, func(tx store.Tx) error { return tx.AddEndpoint(e) })
	}
	var ids []string
	for _, e := range get(t, s, store.Reader.Endpoints) {
		ids = append(ids, e.ID)
	}
	same(t, ids, []string{"e", "c", "a", "b"})
	for _, endpoint := range []string{"a", "b"} {
		update(t, s, func(tx store.Tx) error { return tx.AddMessage(message(endpoint, "m", 1)) })
	}
	update(t, s, func(tx store.Tx) error { return tx.RemoveEndpoint("a") })
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error { return tx.RemoveEndpoint("a") })
	same(t, get(t, s, store.Reader.Counts), store.Counts{Endpoints: 3, Messages: 1})
}

func testMessages(t *testing.T, s store.Store) {
	read := func(r store.Reader) (store.Message, error) { return r.Message("e", "m") }
	missing(t, s, read)
	m := filled[store.Message](t)
	m.Endpoint, m.ID, m.Version = "e", "m", 5
	update(t, s, func(tx store.Tx) error { return tx.AddMessage(m) })
	refused(t, s, store.ErrExists, func(tx store.Tx) error { return tx.AddMessage(m) })
	same(t, get(t, s, read), m)

	bare := store.Message{Endpoint: "e", ID: "m", Version: 5}
	update(t, s, func(tx store.Tx) error { return tx.ReplaceMessage(bare) })
	bare.Version++
	same(t, get(t, s, read), bare)
	refused(t, s, store.ErrConflict, func(tx store.Tx) error { return tx.ReplaceMessage(m) })
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error { return tx.ReplaceMessage(message("e", "none", 1)) })
	same(t, get(t, s, read), bare)

	for _, id := range []string{"n", "l", "m1"} {
		update(t, s, func(tx store.Tx) error { return tx.AddMessage(message("e", id, 1)) })
	}
	update(t, s, func(tx store.Tx) error { return tx.AddMessage(message("other", "m", 1)) })
	after := func(id string, limit int) []string {
		return idsOf(get(t, s, func(r store.Reader) ([]store.Message, error) { return r.Messages("e", id, limit) }))
	}
	same(t, after("", 9), []string{"l", "m", "m1", "n"})
	same(t, after("m", 9), []string{"m1", "n"})
	same(t, after("", 2), []string{"l", "m"})
}

func idsOf(ms []store.Message) (ids []string) {
	for _, m := range ms {
		ids = append(ids, m.ID)
	}
	return ids
}

// testAnnounce: every endpoint of the tenant that takes the type gets the message, once.
func testAnnounce(t *testing.T, s store.Store) {
	disabled := endpoint("disabled", "club")
	disabled.Disabled = instant(2)
	for _, e := range []store.Endpoint{
		endpoint("all", "club"), endpoint("some", "club", "match.opened", "game.closed"), disabled,
		endpoint("others", "club", "game.closed.not", "game", "pool.low"), endpoint("stranger", "café"),
	} {
		update(t, s, func(tx store.Tx) error { return tx.AddEndpoint(e) })
	}
	m := filled[store.Message](t)
	m.ID, m.Type, m.State = "m", "game.closed", store.Waiting
	update(t, s, func(tx store.Tx) error { return tx.Announce("club", m) })
	same(t, get(t, s, store.Reader.Counts), store.Counts{Endpoints: 5, Messages: 2})
	for _, id := range []string{"all", "some"} {
		m.Endpoint = id
		same(t, get(t, s, func(r store.Reader) (store.Message, error) { return r.Message(id, "m") }), m)
	}
	again := m
	again.Attempts, again.Body = 0, []byte("other")
	update(t, s, func(tx store.Tx) error { return tx.Announce("club", again) })
	same(t, get(t, s, func(r store.Reader) (store.Message, error) { return r.Message("some", "m") }), m)

	refused(t, s, context.Canceled, func(tx store.Tx) error {
		again.ID = "m2"
		return errors.Join(tx.Announce("club", again), context.Canceled)
	})
	same(t, get(t, s, store.Reader.Counts), store.Counts{Endpoints: 5, Messages: 2})
}

func testDue(t *testing.T, s store.Store) {
	disabled := endpoint("off", "club")
	disabled.Disabled = instant(1)
	for _, e := range []store.Endpoint{endpoint("a", "club"), endpoint("b", "café"), disabled, endpoint("idle", "club")} {
		update(t, s, func(tx store.Tx) error { return tx.AddEndpoint(e) })
	}
	add := func(m store.Message) { update(t, s, func(tx store.Tx) error { return tx.AddMessage(m) }) }
	add(message("a", "m3", 3))
	add(message("a", "m1", 1))
	add(message("a", "m2", 2))
	add(message("b", "m4", 4))
	add(message("off", "m1", 1))
	for i, state := range []store.MessageState{store.Delivered, store.Dead, store.Delivered} {
		m := message("a", fmt.Sprint("ended", i), i)
		m.State = state
		add(m)
	}
	ready := func(at int, signed int64) []string {
		return get(t, s, func(r store.Reader) ([]string, error) { return r.Ready(instant(at), signed) })
	}
	due := func(at int, signed int64, limit int) []string {
		return idsOf(get(t, s, func(r store.Reader) ([]store.Message, error) { return r.Due("a", instant(at), signed, limit) }))
	}
	same(t, ready(9, 9), []string{"a", "b"})
	same(t, ready(3, 9), []string{"a"})
	same(t, ready(9, 4), []string{"a"})
	same(t, ready(9, 1), []string(nil))
	same(t, ready(0, 9), []string(nil))
	same(t, due(9, 9, 9), []string{"m1", "m2", "m3"})
	same(t, due(2, 9, 9), []string{"m1", "m2"})
	same(t, due(9, 3, 9), []string{"m1", "m2"})
	same(t, due(9, 9, 1), []string{"m1"})
	same(t, get(t, s, store.Reader.Outbox), store.Outbox{Waiting: 5, Dead: 1})

	prune := func(state store.MessageState, before, limit int) (n int) {
		update(t, s, func(tx store.Tx) (err error) {
			n, err = tx.PruneMessages(state, instant(before), limit)
			return err
		})
		return n
	}
	same(t, prune(store.Waiting, 99, 9), 0)
	same(t, prune(store.Delivered, 0, 9), 0)
	same(t, prune(store.Delivered, 9, 1), 1)
	same(t, prune(store.Delivered, 9, 9), 1)
	same(t, prune(store.Delivered, 9, 9), 0)
	same(t, prune(store.Dead, 2, 9), 1)
	same(t, get(t, s, store.Reader.Outbox), store.Outbox{Waiting: 5})
}

// testClaimRace: of several instances that take what is due, each message goes to one.
func testClaimRace(t *testing.T, s store.Store) {
	const workers, messages = 6, 40
	update(t, s, func(tx store.Tx) error {
		err := tx.AddEndpoint(endpoint("e", "club"))
		for i := range messages {
			err = errors.Join(err, tx.AddMessage(message("e", fmt.Sprint("m", i), 0)))
		}
		return err
	})
	var all sync.WaitGroup
	var taken atomic.Int64
	errs := make([]error, workers)
	for i := range workers {
		all.Go(func() {
			for {
				n := 0
				err := s.Update(context.Background(), func(tx store.Tx) error {
					due, err := tx.Due("e", instant(1), 9, 3)
					if err != nil {
						return err
					}
					n = len(due)
					for _, m := range due {
						m.Due = instant(60)
						if err := tx.ReplaceMessage(m); err != nil {
							return err
						}
					}
					return nil
				})
				if errors.Is(err, store.ErrConflict) {
					continue
				}
				if errs[i] = err; err != nil || n == 0 {
					return
				}
				taken.Add(int64(n))
			}
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	if taken.Load() != messages {
		t.Errorf("%d messages were taken %d times", messages, taken.Load())
	}
}
