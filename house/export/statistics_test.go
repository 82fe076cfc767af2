package export_test

import (
	"path/filepath"
	"sync"
	"testing"

	"fairdice/audit"
	"fairdice/audit/archive"
	"fairdice/audit/stats"
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/house/export"
	"fairdice/store"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/google/uuid"
)

// TestStatistics: what the house counts while games end is what an auditor
// counts who has only the archive; and so is what it counts again afterwards,
// as it does with a database that is older than the counting.
func TestStatistics(t *testing.T) {
	s := newService(t, false)
	ctx := t.Context()
	for _, mode := range []string{"random", "balanced", "equal", "levelled", "live"} {
		s.seal(mode, map[string]int{"random": 40}[mode]+12)
	}
	throws := make([]commitment.Dice, 2*(16+128+128))
	for i := range throws {
		throws[i] = commitment.Dice{D1: uint8(1 + i%6), D2: uint8(1 + i/6%6)}
	}
	if _, err := s.ImportThrows(ctx, "club", throws); err != nil {
		t.Fatal(err)
	}
	for i, mode := range []string{"random", "balanced", "equal", "levelled", "real"} {
		m := s.open(terms{"short", mode, series, mode == "equal"}, uint64(i))
		m.game(1, 0)
		m.game(2, 9) // aborted
	}
	m := s.open(terms{"long-classic", "random", series, true}, 9)
	m.game(1, 1) // aborted after its opening draw
	// Aborted while it waits for links: nobody knows what would have been dealt.
	if _, err := m.NextGame(ctx, everything, m.id, 2, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := m.AbortGame(ctx, everything, m.id, 2, "gone", 0); err != nil {
		t.Fatal(err)
	}
	s.diceOnly()
	for range 22 { // enough for a test of their luck
		if _, err := s.Retire(ctx, everything, s.free("random"), "audit", 0); err != nil {
			t.Fatal(err)
		}
	}
	for _, mode := range []string{"live", "balanced"} {
		if _, err := s.Retire(ctx, everything, s.free(mode), "audit", 0); err != nil {
			t.Fatal(err)
		}
	}
	dir := filepath.Join(t.TempDir(), "archive")
	if _, err := export.Directory(ctx, s.source(), dir); err != nil {
		t.Fatal(err)
	}
	r, err := archive.Verify(ctx, readDir(t, dir), archive.Options{Trust: audit.Trust{Key: s.key}})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.Findings {
		if f.ID != audit.RulesMoves && f.ID != audit.ResultCheck { // of the dice-only game
			t.Errorf("finding: %+v", f)
		}
	}
	want := make(map[stats.Group]stats.Tally)
	for _, row := range r.Counted.Rows {
		if row.Group.Tenant != "" && row.Group.Key == "" {
			want[row.Group] = row.Tally
		}
	}
	compare := func(when string) {
		t.Helper()
		st, err := s.Statistics(ctx, "", "")
		if err != nil {
			t.Fatal(err)
		}
		got := make(map[stats.Group]stats.Tally)
		for _, g := range st.Groups {
			got[stats.Group{Tenant: g.Tenant, Mode: g.Mode}] = g.Tally
		}
		if d := cmp.Diff(want, got); d != "" || st.Uncounted != 0 {
			t.Errorf("%s, %d uncounted: (-archive +house)\n%s", when, st.Uncounted, d)
		}
		// With one tenant and one receipt key the tests of both are the same.
		if d := cmp.Diff(r.Stats, st.Report, cmpopts.IgnoreUnexported(stats.Test{})); d != "" || len(st.Report.Tests) == 0 {
			t.Errorf("%s: %d tests (-archive +house)\n%s", when, len(st.Report.Tests), d)
		}
	}
	compare("counted as games ended")

	one, err := s.Statistics(ctx, "club", "equal")
	if err != nil || len(one.Groups) != 1 || one.Groups[0].Tally.Games != [3]int64{1, 1, 0} {
		t.Errorf("mode equal: %+v, %v", one.Groups, err)
	}
	if none, err := s.Statistics(ctx, "nobody", ""); err != nil || len(none.Groups) != 0 || len(none.Report.Tests) != 0 {
		t.Errorf("a tenant without games: %+v, %v", none, err)
	}

	// A database from before: no sums, and everything yet to be counted.
	var size int64
	if err := s.store.Update(ctx, func(tx store.Tx) error {
		head, err := tx.LockLog()
		if err != nil {
			return err
		}
		rows, err := tx.Tallies()
		if err != nil {
			return err
		}
		for _, row := range rows {
			row.Sums = nil
			if err := tx.SetTally(row); err != nil {
				return err
			}
		}
		size = head.Size
		return tx.SetCounting(store.Counting{Until: head.Size})
	}); err != nil {
		t.Fatal(err)
	}
	if st, err := s.Statistics(ctx, "", ""); err != nil || st.Uncounted != size {
		t.Fatalf("%d uncounted of %d: %v", st.Uncounted, size, err)
	}
	// Games end while older ones are counted, and several instances count at once.
	var all sync.WaitGroup
	for range 3 {
		all.Go(func() {
			for more := true; more; {
				var err error
				if more, err = s.Count(ctx); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	all.Wait()
	compare("counted afterwards")
}

// diceOnly plays a game whose record the platform keeps.
func (s *service) diceOnly() {
	s.t.Helper()
	ctx := s.t.Context()
	fail := func(err error) {
		s.t.Helper()
		if err != nil {
			s.t.Fatal(err)
		}
	}
	id := uuid.Must(uuid.NewV7()).String()
	_, err := s.OpenMatch(ctx, everything, house.OpenRequest{Match: id, Variant: "short", Mode: "random", Profile: "dice-only", Options: single, A: "ann", B: "bob"})
	fail(err)
	_, err = s.NextGame(ctx, everything, id, 1, 0)
	fail(err)
	var lines []string
	draw := func(stream, words string, index int) [2]int {
		a, err := s.Draw(ctx, everything, id, 1, 1, stream, index)
		fail(err)
		lines = append(lines, words+" "+string('0'+rune(a.Dice[0]))+" "+string('0'+rune(a.Dice[1])))
		return a.Dice
	}
	index := 0
	for {
		d := draw("opening", "opening", index)
		if d[0] != d[1] {
			break
		}
		index++
	}
	for i := range 5 { // the moves are the platform's word, whatever they are
		draw("a", "roll A", i)
		draw("b", "roll B", i)
	}
	_, err = s.CloseGame(ctx, everything, id, 1, append(lines, "timeout A", "end B 1"), 0)
	fail(err)
}
