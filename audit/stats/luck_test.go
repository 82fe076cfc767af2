package stats

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"fairdice/commitment"
)

func roll(r *rand.Rand) commitment.Dice {
	return commitment.Dice{D1: uint8(1 + r.IntN(6)), D2: uint8(1 + r.IntN(6))}
}

// TestLuckIntervals asks fair dice: at least 95 of 100 players lie in the
// intervals, and shares are spread evenly.
func TestLuckIntervals(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 12, 60, 700} {
		const players = 500
		var inPips, inDoubles int
		var share float64
		for range players {
			dice := make([]commitment.Dice, n)
			for i := range dice {
				dice[i] = roll(r)
			}
			l := LuckOf(dice)
			if l.Pips.Within() {
				inPips++
			}
			if l.Doubles.Within() {
				inDoubles++
			}
			share += (l.Pips.AtMost + 100 - l.Pips.AtLeast) / 2 / players
		}
		for name, in := range map[string]int{"pips": inPips, "doubles": inDoubles} {
			if got := float64(in) / players; got < 0.92 {
				t.Errorf("%d rolls: %.3f of the players lie in the interval of %s", n, got, name)
			}
		}
		if math.Abs(share-50) > 5 {
			t.Errorf("%d rolls: the mean share is %.1f", n, share)
		}
	}
}

func TestLuckWords(t *testing.T) {
	sixes := make([]commitment.Dice, 12)
	for i := range sixes {
		sixes[i] = commitment.Dice{D1: 6, D2: 6}
	}
	tests := []struct {
		name string
		dice []commitment.Dice
		want string
	}{
		{"none", nil, "No roll"},
		{"sixes", sixes, "288 pips in 12 rolls, 190.0 more than the 98.0"},
		{"sixes, doubles", sixes, "12 doubles in 12 rolls, 10.0 more than the 2.0"},
		{"rare", sixes, "Less than 0.01 of 100 have at least as many"},
		{"ordinary", []commitment.Dice{{D1: 3, D2: 5}}, "this is one of them"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if got := strings.Join(LuckOf(test.dice).Words(), "\n"); !strings.Contains(got, test.want) {
				t.Errorf("%q does not say %q", got, test.want)
			}
		})
	}
}
