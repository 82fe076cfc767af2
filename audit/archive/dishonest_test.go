package archive_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"fairdice/audit"
	"fairdice/audit/archive"
	"fairdice/audit/stats"
	"fairdice/commitment"
	"fairdice/internal/dealer"
)

// favoursA reports whether the first ten rolls of a game, five of each seat,
// are better for seat A.
func favoursA(q *commitment.Sequence) bool {
	sum := 0
	for i := range 5 {
		sum += q.Dice(commitment.StreamA, i).Pips() - q.Dice(commitment.StreamB, i).Pips()
	}
	return sum > 0
}

// TestDroppedGames lets a house drop three in ten of the games whose first ten
// rolls favour seat A. Every statement, root and receipt is in order, so no
// check of a single game can say anything; the statistics do. The same house
// dropping games at random is left in peace.
func TestDroppedGames(t *testing.T) {
	games := max(1200, size(t))
	how := dealer.Terms{Variant: "hyper", Mode: commitment.Random, Options: dealer.SingleGame, Rolls: short, StopAt: 4}
	for _, dishonest := range []bool{true, false} {
		h := dealer.New(t, 5)
		random := rand.New(rand.NewPCG(1, 2))
		for range games {
			m := h.Open(how)
			m.Drop = func(q *commitment.Sequence) (int, bool) {
				return 2, random.Float64() < 0.3 && (favoursA(q) || !dishonest)
			}
			m.Play()
			m.Finish()
		}
		r := verify(t, files(h.Archive()), h, archive.Options{})
		alarmed := slices.ContainsFunc(r.Stats.Alarms(stats.Alarm), func(t stats.Test) bool { return t.Name == "luck of aborted games" })
		if alarmed != dishonest || (r.Verdict == audit.Failed) != dishonest {
			t.Errorf("dishonest %v: alarmed %v\n%s", dishonest, alarmed, r.Text())
		}
		if dishonest && (len(r.Findings) > 0 || !strings.Contains(r.Text(), "at the alarm level")) {
			t.Errorf("the report of the dishonest house:\n%s", r.Text())
		}
	}
}
