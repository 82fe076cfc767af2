package storetest

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"fairdice/store"
)

func testTenants(t *testing.T, s store.Store) {
	b, a := store.Tenant{Name: "b", Created: instant(1)}, store.Tenant{Name: "a", Created: instant(2)}
	update(t, s, func(tx store.Tx) error { return tx.AddTenant(b) })
	update(t, s, func(tx store.Tx) error { return tx.AddTenant(a) })
	refused(t, s, store.ErrExists, func(tx store.Tx) error { return tx.AddTenant(b) })
	same(t, get(t, s, func(r store.Reader) (store.Tenant, error) { return r.Tenant("b") }), b)
	same(t, get(t, s, store.Reader.Tenants), []store.Tenant{a, b})
	missing(t, s, func(r store.Reader) (store.Tenant, error) { return r.Tenant("B") })
}

func testAPIKeys(t *testing.T, s store.Store) {
	first := store.APIKey{
		Hash: hash("first"), Tenant: "club", Label: "main server, ключ № 1", Prefix: "fd_club_a",
		Scopes: []string{"match", "draw"}, Created: instant(1),
	}
	second := store.APIKey{Hash: hash("second"), Tenant: "club", Created: instant(2)}
	other := store.APIKey{
		Hash: hash("other"), Tenant: "café", Created: instant(3), Revoked: instant(4),
		Expires: instant(5), Used: instant(3), Replaces: first.Hash, Withdrawn: true,
	}
	for _, k := range []store.APIKey{second, other, first} {
		update(t, s, func(tx store.Tx) error { return tx.AddAPIKey(k) })
	}
	refused(t, s, store.ErrExists, func(tx store.Tx) error { return tx.AddAPIKey(first) })
	read := func(h [32]byte) func(store.Reader) (store.APIKey, error) {
		return func(r store.Reader) (store.APIKey, error) { return r.APIKey(h) }
	}
	same(t, get(t, s, read(first.Hash)), first)
	same(t, get(t, s, read(other.Hash)), other)
	missing(t, s, read(hash("none")))
	same(t, get(t, s, func(r store.Reader) ([]store.APIKey, error) { return r.APIKeys("club") }),
		[]store.APIKey{first, second})

	for _, final := range []bool{false, true} {
		update(t, s, func(tx store.Tx) error { return tx.RevokeAPIKey(first.Hash, instant(9), final) })
		first.Revoked, first.Withdrawn = instant(9), final
		same(t, get(t, s, read(first.Hash)), first)
	}
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error { return tx.RevokeAPIKey(hash("none"), instant(9), true) })

	// Several instances note the use of one key, each when it comes to it.
	for _, at := range []int{7, 6, 8, 8} {
		update(t, s, func(tx store.Tx) error { return tx.UseAPIKey(first.Hash, instant(at)) })
	}
	first.Used = instant(8)
	same(t, get(t, s, read(first.Hash)), first)
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error { return tx.UseAPIKey(hash("none"), instant(9)) })
}

func readSequence(id string) func(store.Reader) (store.Sequence, error) {
	return func(r store.Reader) (store.Sequence, error) { return r.Sequence(id) }
}

func testSequences(t *testing.T, s store.Store) {
	// 9 and 10, and 1<<53-1: the order is of numbers, not of their digits.
	numbers := []uint64{10, 1<<53 - 1, 9, 0}
	for _, n := range numbers {
		update(t, s, func(tx store.Tx) error { return tx.AddSequence(sequence(fmt.Sprint("q", n), n)) })
	}
	other := sequence("other", 0)
	other.Mode, other.State, other.Match, other.Game, other.Segment = "equal", store.Published, "m", 2, 3
	update(t, s, func(tx store.Tx) error { return tx.AddSequence(other) })
	same(t, get(t, s, readSequence("q9")), sequence("q9", 9))
	same(t, get(t, s, readSequence("other")), other)
	missing(t, s, readSequence("q"))

	for _, test := range []struct {
		from  uint64
		limit int
		want  []uint64
	}{
		{0, 10, []uint64{0, 9, 10, 1<<53 - 1}},
		{1, 10, []uint64{9, 10, 1<<53 - 1}},
		{9, 2, []uint64{9, 10}},
		{1 << 53, 10, nil},
		{0, 0, nil},
	} {
		var got []uint64
		for _, q := range get(t, s, func(r store.Reader) ([]store.Sequence, error) {
			return r.Sequences("club", "random", test.from, test.limit)
		}) {
			got = append(got, q.Number)
		}
		same(t, got, test.want)
	}
}

func testSequenceUniqueness(t *testing.T, s store.Store) {
	update(t, s, func(tx store.Tx) error { return tx.AddSequence(sequence("q", 5)) })
	for name, change := range map[string]func(*store.Sequence){
		"id":          func(q *store.Sequence) { q.ID = "q" },
		"secret hash": func(q *store.Sequence) { q.SecretHash = hash("secret q") },
		"number":      func(q *store.Sequence) { q.Number = 5 },
	} {
		t.Run(name, func(t *testing.T) {
			q := sequence("q2", 6)
			change(&q)
			refused(t, s, store.ErrExists, func(tx store.Tx) error { return tx.AddSequence(q) })
		})
	}
	for name, change := range map[string]func(*store.Sequence){
		"other tenant": func(q *store.Sequence) { q.Tenant = "café" },
		"other mode":   func(q *store.Sequence) { q.Mode = "live" },
	} {
		t.Run(name, func(t *testing.T) {
			q := sequence(name, 5)
			change(&q)
			update(t, s, func(tx store.Tx) error { return tx.AddSequence(q) })
		})
	}
}

func testSequenceStates(t *testing.T, s store.Store) {
	q := sequence("q", 0)
	update(t, s, func(tx store.Tx) error { return tx.AddSequence(q) })
	assigned := q
	assigned.State, assigned.Match, assigned.Game, assigned.Segment = store.Assigned, "m", 1, 1
	update(t, s, func(tx store.Tx) error { return tx.ReplaceSequence(assigned, store.Free) })
	same(t, get(t, s, readSequence("q")), assigned)

	stolen := assigned
	stolen.Match = "other"
	refused(t, s, store.ErrConflict, func(tx store.Tx) error { return tx.ReplaceSequence(stolen, store.Free) })
	same(t, get(t, s, readSequence("q")), assigned)

	published := assigned
	published.State = store.Published
	update(t, s, func(tx store.Tx) error { return tx.ReplaceSequence(published, store.Assigned) })
	same(t, get(t, s, readSequence("q")), published)
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error {
		return tx.ReplaceSequence(sequence("none", 1), store.Free)
	})
}

func testPool(t *testing.T, s store.Store) {
	pool := func(mode string) store.Pool {
		return get(t, s, func(r store.Reader) (store.Pool, error) { return r.Pool("club", mode) })
	}
	lowest := func(r store.Reader) (store.Sequence, error) { return r.LowestFree("club", "random") }
	same(t, pool("random"), store.Pool{})
	missing(t, s, lowest)
	for _, n := range []uint64{0, 1, 2, 3} {
		update(t, s, func(tx store.Tx) error { return tx.AddSequence(sequence(fmt.Sprint("q", n), n)) })
	}
	stranger := sequence("stranger", 0)
	stranger.Tenant = "café"
	update(t, s, func(tx store.Tx) error { return tx.AddSequence(stranger) })
	same(t, pool("random"), store.Pool{Next: 4, Free: 4})
	same(t, pool("equal"), store.Pool{})
	use := func(id string, n uint64, state store.SequenceState) {
		q := sequence(id, n)
		q.State = state
		update(t, s, func(tx store.Tx) error { return tx.ReplaceSequence(q, store.Free) })
	}
	use("q1", 1, store.Retired)
	same(t, get(t, s, lowest), sequence("q0", 0))
	use("q0", 0, store.Assigned)
	same(t, get(t, s, lowest), sequence("q2", 2))
	use("q3", 3, store.Published)
	same(t, pool("random"), store.Pool{Next: 4, Free: 1})
	use("q2", 2, store.Assigned)
	missing(t, s, lowest)
	same(t, pool("random"), store.Pool{Next: 4})
}

func testUnused(t *testing.T, s store.Store) {
	for _, n := range []uint64{2, 0, 3, 1} {
		update(t, s, func(tx store.Tx) error { return tx.AddSequence(sequence(fmt.Sprint("q", n), n)) })
	}
	q := sequence("q1", 1)
	q.State = store.Assigned
	update(t, s, func(tx store.Tx) error { return tx.ReplaceSequence(q, store.Free) })
	unused := func(n int, from int64, limit int) (ids []string) {
		for _, q := range get(t, s, func(r store.Reader) ([]store.Sequence, error) { return r.Unused(instant(n), from, limit) }) {
			ids = append(ids, q.ID)
		}
		return ids
	}
	same(t, unused(3, 0, 10), []string{"q0", "q2"})
	same(t, unused(4, 0, 10), []string{"q0", "q2", "q3"})
	same(t, unused(4, 0, 1), []string{"q0"})
	same(t, unused(0, 0, 10), []string(nil))
}

func testMatches(t *testing.T, s store.Store) {
	read := func(r store.Reader) (store.Match, error) { return r.Match("m") }
	missing(t, s, read)
	m := match("m")
	update(t, s, func(tx store.Tx) error { return tx.AddMatch(m) })
	refused(t, s, store.ErrExists, func(tx store.Tx) error { return tx.AddMatch(m) })
	same(t, get(t, s, read), m)

	m.Games, m.Score, m.Links, m.Tip[1], m.Finish = 4, [2]int{7, 5}, [2]int{8, 9}, hash("new tip"), 99
	update(t, s, func(tx store.Tx) error { return tx.ReplaceMatch(m) })
	m.Version++
	same(t, get(t, s, read), m)
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error { return tx.ReplaceMatch(match("none")) })

	for _, id := range []string{"n", "M", "m1"} {
		update(t, s, func(tx store.Tx) error { return tx.AddMatch(match(id)) })
	}
	after := func(id string, limit int) (ids []string) {
		for _, m := range get(t, s, func(r store.Reader) ([]store.Match, error) { return r.Matches(id, limit) }) {
			ids = append(ids, m.ID)
		}
		return ids
	}
	same(t, after("", 9), []string{"M", "m", "m1", "n"})
	same(t, after("m", 9), []string{"m1", "n"})
	same(t, after("", 2), []string{"M", "m"})
	same(t, after("n", 2), []string(nil))
}

// testOpened: a tenant's matches come in the order of the log, both ways.
func testOpened(t *testing.T, s store.Store) {
	for i, id := range []string{"d", "b", "other", "a", "c"} {
		m := match(id)
		m.Open = int64(9 + i) // of two digits and of one
		if id == "other" {
			m.Tenant = "café"
		}
		update(t, s, func(tx store.Tx) error { return tx.AddMatch(m) })
	}
	for _, test := range []struct {
		from   int64
		newest bool
		limit  int
		want   []string
	}{
		{0, false, 9, []string{"d", "b", "a", "c"}},
		{10, false, 2, []string{"b", "a"}},
		{14, false, 9, nil},
		{1 << 53, true, 9, []string{"c", "a", "b", "d"}},
		{12, true, 2, []string{"a", "b"}},
		{11, true, 9, []string{"b", "d"}},
		{8, true, 9, nil},
		{0, false, 0, nil},
	} {
		var got []string
		for _, m := range get(t, s, func(r store.Reader) ([]store.Match, error) {
			return r.Opened("club", test.from, test.newest, test.limit)
		}) {
			got = append(got, m.ID)
		}
		same(t, got, test.want)
	}
}

func testGames(t *testing.T, s store.Store) {
	for _, n := range []int{10, 9, 1} {
		update(t, s, func(tx store.Tx) error { return tx.AddGame(game("m", n)) })
	}
	update(t, s, func(tx store.Tx) error { return tx.AddGame(game("other", 1)) })
	refused(t, s, store.ErrExists, func(tx store.Tx) error { return tx.AddGame(game("m", 9)) })
	read := func(n int) func(store.Reader) (store.Game, error) {
		return func(r store.Reader) (store.Game, error) { return r.Game("m", n) }
	}
	same(t, get(t, s, read(9)), game("m", 9))
	missing(t, s, read(2))
	same(t, get(t, s, func(r store.Reader) ([]store.Game, error) { return r.Games("m") }),
		[]store.Game{game("m", 1), game("m", 9), game("m", 10)})

	g := game("m", 9)
	g.State, g.Segments, g.Rolls, g.Receipt, g.Lines = store.Aborted, 2, [3]int{2, 3, 4}, nil, 50
	g.Head, g.Score, g.Crawford, g.End = hash("other head"), [2]int{8, 8}, false, 1000
	update(t, s, func(tx store.Tx) error { return tx.ReplaceGame(g) })
	g.Version++
	got := get(t, s, read(9))
	same(t, got, g)
	if got.Receipt != nil {
		t.Errorf("receipt is %q, want nil before the first", got.Receipt)
	}
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error { return tx.ReplaceGame(game("m", 2)) })
}

func testUnended(t *testing.T, s store.Store) {
	appendEntries(t, s, 6) // at instants 0 to 5
	for n, state := range []store.GameState{store.Playing, store.Closed, store.Over, store.Aborted, store.Playing} {
		g, first, second := game("m", n+1), segment("m", n+1, 1), segment("m", n+1, 2)
		g.State, first.Assign, second.Assign = state, int64(4-n), 5
		update(t, s, func(tx store.Tx) error {
			for _, err := range []error{tx.AddGame(g), tx.AddSegment(first), tx.AddSegment(second)} {
				if err != nil {
					return err
				}
			}
			return nil
		})
	}
	unended := func(n int, from int64, limit int) (numbers []int) {
		for _, g := range get(t, s, func(r store.Reader) ([]store.Game, error) { return r.Unended(instant(n), from, limit) }) {
			numbers = append(numbers, g.Number)
		}
		return numbers
	}
	same(t, unended(9, 0, 10), []int{5, 3, 1})
	same(t, unended(9, 0, 2), []int{5, 3})
	same(t, unended(4, 0, 10), []int{5, 3})
	same(t, unended(0, 0, 10), []int(nil))
	same(t, unended(9, 2, 10), []int{3, 1})
	same(t, unended(9, 3, 10), []int{1})
}

func testSegments(t *testing.T, s store.Store) {
	for _, n := range []int{10, 9} {
		update(t, s, func(tx store.Tx) error { return tx.AddSegment(segment("m", 1, n)) })
	}
	refused(t, s, store.ErrExists, func(tx store.Tx) error { return tx.AddSegment(segment("m", 1, 9)) })
	read := func(r store.Reader) ([]store.Segment, error) { return r.Segments("m", 1) }
	same(t, get(t, s, read), []store.Segment{segment("m", 1, 9), segment("m", 1, 10)})

	linked := segment("m", 1, 9)
	linked.Links[1] = []byte("link of b")
	update(t, s, func(tx store.Tx) error { return tx.ReplaceSegment(linked) })
	got := get(t, s, read)
	same(t, got, []store.Segment{linked, segment("m", 1, 10)})
	if got[0].Links[0] != nil {
		t.Errorf("link of A is %q, want nil before it is released", got[0].Links[0])
	}
	dealt := linked
	dealt.Links[0], dealt.Last, dealt.Deal, dealt.Root, dealt.Cut = []byte("link of a"), 1, 0, hash("deal"), "-"
	update(t, s, func(tx store.Tx) error { return tx.ReplaceSegment(dealt) })
	same(t, get(t, s, read), []store.Segment{dealt, segment("m", 1, 10)})

	refused(t, s, store.ErrConflict, func(tx store.Tx) error { return tx.ReplaceSegment(linked) })
	refused(t, s, store.ErrConflict, func(tx store.Tx) error { return tx.ReplaceSegment(dealt) })
	refused(t, s, store.ErrNotFound, func(tx store.Tx) error { return tx.ReplaceSegment(segment("m", 2, 9)) })
	same(t, get(t, s, read), []store.Segment{dealt, segment("m", 1, 10)})
}

func testRolls(t *testing.T, s store.Store) {
	long := roll("m", 1, 12)
	long.Receipt += strings.Repeat("x", 5000)
	want := []store.Roll{roll("m", 1, 0), roll("m", 1, 2), roll("m", 1, 10), roll("m", 1, 11), long}
	for _, i := range []int{3, 1, 4, 0, 2} {
		update(t, s, func(tx store.Tx) error { return tx.AddRoll(want[i]) })
	}
	update(t, s, func(tx store.Tx) error { return tx.AddRoll(roll("m", 2, 0)) })
	again := want[2]
	again.Ordinal, again.Receipt = 77, "another answer"
	refused(t, s, store.ErrExists, func(tx store.Tx) error { return tx.AddRoll(again) })
	same(t, get(t, s, func(r store.Reader) ([]store.Roll, error) { return r.Rolls("m", 1) }), want)
	v := want[2]
	same(t, get(t, s, func(r store.Reader) (store.Roll, error) {
		return r.Roll(v.Match, v.Game, v.Segment, v.Stream, v.Index)
	}), v)
	missing(t, s, func(r store.Reader) (store.Roll, error) { return r.Roll("m", 1, 2, v.Stream, v.Index) })
}

func testEvents(t *testing.T, s store.Store) {
	read := func(game, first int) []string {
		return get(t, s, func(r store.Reader) ([]string, error) { return r.Events("m", game, first) })
	}
	add := func(first int, lines ...string) func(store.Tx) error {
		return func(tx store.Tx) error { return tx.AddEvents("m", 1, first, lines) }
	}
	refused(t, s, store.ErrConflict, add(2, "gap"))
	refused(t, s, store.ErrConflict, add(0, "before the first"))
	update(t, s, add(1, "opening 6 1"))
	update(t, s, add(2, "move A 13/7 8/7", "roll B 5 5"))
	refused(t, s, store.ErrConflict, add(1, "opening 6 1"))
	refused(t, s, store.ErrConflict, add(3, "roll B 6 6", "move B -"))
	refused(t, s, store.ErrConflict, add(5, "gap"))
	update(t, s, func(tx store.Tx) error { return tx.AddEvents("m", 2, 1, []string{"another game"}) })
	same(t, read(1, 1), []string{"opening 6 1", "move A 13/7 8/7", "roll B 5 5"})
	same(t, read(1, 3), []string{"roll B 5 5"})
	same(t, read(1, 4), []string(nil))
	same(t, read(2, 1), []string{"another game"})

	// A record uploaded as a whole, past the digits of 9, 99 and 999.
	var lines []string
	for i := range 2000 {
		lines = append(lines, fmt.Sprint("line ", i+1))
	}
	update(t, s, func(tx store.Tx) error { return tx.AddEvents("m", 3, 1, lines) })
	same(t, read(3, 1), lines)
}

func testSpend(t *testing.T, s store.Store) {
	spend := func(name string) func(store.Tx) error {
		return func(tx store.Tx) error { return tx.Spend(hash("%s", name)) }
	}
	update(t, s, spend("link 1"))
	update(t, s, spend("link 2"))
	refused(t, s, store.ErrExists, spend("link 1"))
	refused(t, s, store.ErrExists, func(tx store.Tx) error {
		if err := spend("link 3")(tx); err != nil {
			return err
		}
		return spend("link 3")(tx)
	})
	update(t, s, spend("link 3")) // for that update was undone

	want := [][32]byte{hash("link 1"), hash("link 2"), hash("link 3")}
	slices.SortFunc(want, func(a, b [32]byte) int { return bytes.Compare(a[:], b[:]) })
	spent := func(after [32]byte, limit int) [][32]byte {
		return get(t, s, func(r store.Reader) ([][32]byte, error) { return r.Spent(after, limit) })
	}
	same(t, spent([32]byte{}, 9), want)
	same(t, spent([32]byte{}, 2), want[:2])
	same(t, spent(want[0], 9), want[1:])
}

func testTimes(t *testing.T, s store.Store) {
	zone := time.FixedZone("Yerevan", 4*3600)
	update(t, s, func(tx store.Tx) error {
		return tx.AddTenant(store.Tenant{Name: "zone", Created: instant(0).In(zone).Add(999 * time.Millisecond)})
	})
	update(t, s, func(tx store.Tx) error { return tx.AddTenant(store.Tenant{Name: "zero"}) })
	got := get(t, s, store.Reader.Tenants)
	same(t, got, []store.Tenant{{Name: "zero"}, {Name: "zone", Created: instant(0)}})
	if !got[0].Created.IsZero() || got[1].Created.Location() != time.UTC {
		t.Errorf("read times %v, %v; want the zero time, and UTC", got[0].Created, got[1].Created)
	}
}

// testEmpty reads every list of an empty database.
func testEmpty(t *testing.T, s store.Store) {
	lengths := get(t, s, func(r store.Reader) (n []int, err error) {
		defer func() {
			if e := recover(); e != nil {
				err = fmt.Errorf("panic: %v", e)
			}
		}()
		n = append(n, length(r.Tenants()), length(r.APIKeys("club")), length(r.Sequences("club", "random", 0, 9)),
			length(r.Unused(instant(0), 0, 9)), length(r.Games("m")), length(r.Unended(instant(0), 0, 9)),
			length(r.Segments("m", 1)), length(r.Matches("", 9)), length(r.Opened("club", 0, false, 9)), length(r.Spent([32]byte{}, 9)), length(r.Rolls("m", 1)), length(r.Events("m", 1, 1)), length(r.Entries(0, 9)),
			length(r.LogHashes(nil)), length(r.Tallies()))
		return n, nil
	})
	if i := slices.IndexFunc(lengths, func(n int) bool { return n != 0 }); i >= 0 {
		t.Errorf("list %d of an empty database has %d rows", i, lengths[i])
	}
	same(t, get(t, s, store.Reader.LogHead), store.LogHead{})
	same(t, get(t, s, store.Reader.Counts), store.Counts{})
	same(t, get(t, s, store.Reader.Counting), store.Counting{})
	missing(t, s, store.Reader.LatestCheckpoint)
}

func length[T any](list []T, err error) int {
	if err != nil {
		panic(err)
	}
	return len(list)
}

func testAwaitingBeacon(t *testing.T, s store.Store) {
	add := func(match string, round uint64, deal int64, state store.GameState) {
		update(t, s, func(tx store.Tx) error {
			if err := tx.AddGame(store.Game{Match: match, Number: 1, State: state, Segments: 1}); err != nil {
				return err
			}
			return tx.AddSegment(store.Segment{Match: match, Game: 1, Segment: 1, Sequence: match, Round: round, Deal: deal})
		})
	}
	add("late", 9, -1, store.Playing)
	add("none", 0, -1, store.Playing)
	add("dealt", 3, 7, store.Playing)
	add("closed", 3, -1, store.Closed)
	add("aborted", 3, -1, store.Aborted)
	add("early", 4, -1, store.Over)
	awaiting := func(limit int) []string {
		names := []string{}
		for _, v := range get(t, s, func(r store.Reader) ([]store.Segment, error) { return r.AwaitingBeacon(limit) }) {
			names = append(names, v.Match)
		}
		return names
	}
	same(t, awaiting(9), []string{"early", "late"})
	same(t, awaiting(1), []string{"early"})
}
