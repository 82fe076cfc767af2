// Package storetest checks that a store keeps the promises of package store.
//
//	func TestStore(t *testing.T) {
//		storetest.Run(t, func(t *testing.T) func() store.Store {
//			path := filepath.Join(t.TempDir(), "test.db")
//			return func() store.Store { return open(t, path) }
//		})
//	}
//
// A backend that passes may be used by the house; one that keeps a promise by
// luck does not pass for long, for the races are run by many goroutines.
package storetest

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"testing"
	"time"

	"fairdice/store"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// Run runs the tests. It calls create for each, and create makes an empty
// database and returns a function that opens it; a database is opened again
// only after it was closed.
func Run(t *testing.T, create func(t *testing.T) func() store.Store) {
	for _, test := range []struct {
		name string
		run  func(t *testing.T, s store.Store)
	}{
		{"every field", testEveryField},
		{"tenants", testTenants},
		{"API keys", testAPIKeys},
		{"sequences", testSequences},
		{"sequence uniqueness", testSequenceUniqueness},
		{"sequence states", testSequenceStates},
		{"pool", testPool},
		{"unused sequences", testUnused},
		{"matches", testMatches},
		{"opened", testOpened},
		{"games", testGames},
		{"unended games", testUnended},
		{"segments", testSegments},
		{"rolls", testRolls},
		{"events", testEvents},
		{"spend", testSpend},
		{"times", testTimes},
		{"empty", testEmpty},
		{"log", testLog},
		{"log order", testLogOrder},
		{"log hashes", testLogHashes},
		{"checkpoints", testCheckpoints},
		{"archives", testArchives},
		{"awaiting beacon", testAwaitingBeacon},
		{"tallies", testTallies},
		{"tally race", testTallyRace},
		{"endpoints", testEndpoints},
		{"messages", testMessages},
		{"announce", testAnnounce},
		{"due", testDue},
		{"claim race", testClaimRace},
		{"lease", testLease},
		{"lease race", testLeaseRace},
		{"own writes", testOwnWrites},
		{"failed call", testFailedCall},
		{"rollback", testRollback},
		{"panic", testPanic},
		{"goexit", testGoexit},
		{"neighbours", testNeighbours},
		{"view panic", testViewPanic},
		{"snapshot", testSnapshot},
		{"no half update", testNoHalfUpdate},
		{"counter", testCounter},
		{"stale version", testStaleVersion},
		{"lowest free race", testLowestFreeRace},
		{"spend race", testSpendRace},
		{"events race", testEventsRace},
		{"log race", testLogRace},
		{"ended context", testEndedContext},
		{"cancelled updates", testCancelledUpdates},
		{"close", testClose},
		{"close waits", testCloseWaits},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := create(t)()
			t.Cleanup(func() {
				if err := s.Close(); err != nil {
					t.Errorf("close: %v", err)
				}
			})
			test.run(t, s)
		})
	}
	t.Run("reopen", func(t *testing.T) { testReopen(t, create(t)) })
}

// update must succeed.
func update(t *testing.T, s store.Store, fn func(store.Tx) error) {
	t.Helper()
	if err := s.Update(context.Background(), fn); err != nil {
		t.Fatalf("update: %v", err)
	}
}

// refused is an Update whose function fails with want.
func refused(t *testing.T, s store.Store, want error, fn func(store.Tx) error) {
	t.Helper()
	if err := s.Update(context.Background(), fn); !errors.Is(err, want) {
		t.Errorf("update: got error %v, want %v", err, want)
	}
}

// get reads one value, or fails.
func get[T any](t *testing.T, s store.Store, fn func(store.Reader) (T, error)) (v T) {
	t.Helper()
	err := s.View(context.Background(), func(r store.Reader) (err error) {
		v, err = fn(r)
		return err
	})
	if err != nil {
		t.Fatalf("view: %v", err)
	}
	return v
}

// missing checks that fn finds nothing.
func missing[T any](t *testing.T, s store.Store, fn func(store.Reader) (T, error)) {
	t.Helper()
	err := s.View(context.Background(), func(r store.Reader) error {
		_, err := fn(r)
		return err
	})
	if !errors.Is(err, store.ErrNotFound) {
		t.Errorf("view: got error %v, want %v", err, store.ErrNotFound)
	}
}

// same compares; an empty list equals a nil one.
func same(t *testing.T, got, want any) {
	t.Helper()
	if d := cmp.Diff(want, got, cmpopts.EquateEmpty()); d != "" {
		t.Errorf("stored value differs (-want +got):\n%s", d)
	}
}

// instant is the time n seconds into the tests.
func instant(n int) time.Time {
	return time.Date(2026, 11, 29, 21, 52, 6, 0, time.UTC).Add(time.Duration(n) * time.Second)
}

// hash is a value of 32 bytes that only this name has.
func hash(format string, args ...any) [32]byte {
	return sha256.Sum256(fmt.Appendf(nil, format, args...))
}

func sequence(id string, number uint64) store.Sequence {
	return store.Sequence{
		ID: id, Tenant: "club", Mode: "random", Number: number, Rolls: [3]int{16, 256, 255},
		Sealed: []byte("sealed " + id), SecretHash: hash("secret %s", id), Root: hash("root %s", id),
		Index: int64(number) + 7, Committed: instant(int(number)),
	}
}

func match(id string) store.Match {
	return store.Match{
		ID: id, Tenant: "club", Open: 12, Games: 3, Score: [2]int{4, 5}, Links: [2]int{6, 7},
		Tip: [2][32]byte{hash("tip a"), hash("tip b")}, Finish: -1,
	}
}

func game(match string, number int) store.Game {
	return store.Game{
		Match: match, Number: number, Segments: 1, Rolls: [3]int{1, 20, 21}, Receipt: []byte("receipt hash"),
		Lines: 44, Head: hash("head %d", number), Score: [2]int{2, 3}, Crawford: true, End: -1,
	}
}

func segment(match string, game, n int) store.Segment {
	return store.Segment{
		Match: match, Game: game, Segment: n, Sequence: fmt.Sprintf("sequence-%s-%d-%d", match, game, n),
		Assign: 17, Deal: -1,
	}
}

func roll(match string, game, ordinal int) store.Roll {
	stream := [...]string{"opening", "a", "b"}[ordinal%3]
	return store.Roll{
		Match: match, Game: game, Segment: 1, Stream: stream, Index: ordinal / 3, Ordinal: ordinal, Line: ordinal + 1,
		Receipt: fmt.Sprintf("fairdice/v1/roll\nmatch %s\nindex %d\n\n— log/receipts AAAA\n", match, ordinal),
	}
}
