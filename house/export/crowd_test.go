package export_test

import (
	"path/filepath"
	"sync"
	"testing"

	"fairdice/audit"
	"fairdice/house/export"
)

// TestThousandMatches: so many matches at once, in one process, leave an
// archive in which an auditor finds every one of them whole.
func TestThousandMatches(t *testing.T) {
	t.Parallel()
	matches := 1000
	if testing.Short() { // under the race detector
		matches = 150
	}
	s := newService(t, false)
	s.seal("random", matches)
	tables := make([]*table, matches)
	all := func(do func(i int)) {
		var wg sync.WaitGroup
		for i := range tables {
			wg.Go(func() { do(i) })
		}
		wg.Wait()
		if t.Failed() {
			t.FailNow()
		}
	}
	all(func(i int) {
		tables[i] = s.open(terms{"short", "random", single, i%10 == 0}, uint64(i))
		tables[i].player.GiveUp = 0.3 // so that games are short
	})
	all(func(i int) {
		stop := 0
		if i%7 == 0 {
			stop = 1 // and then aborted
		}
		tables[i].game(1, stop)
	})
	s.signed()
	dir := filepath.Join(t.TempDir(), "archive")
	sum, err := export.Directory(t.Context(), s.source(), dir)
	if err != nil {
		t.Fatal(err)
	}
	r := s.verify(readDir(t, dir))
	if r.Verdict != audit.Verified || r.Size != sum.Size || sum.Games != int64(matches) {
		t.Errorf("verdict %s: %v; %d statements of %d, %d games", r.Verdict, r.Sentences, r.Size, sum.Size, sum.Games)
	}
}
