package board_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/internal/board"
	"fairdice/rules"
)

// A prime is six points that the other colour cannot enter, side by side as he
// meets them.
func TestPrimes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, variant, position string
		want                    [][]int // points of the primes in the numbers of the owner, White
	}{
		{"five are none", "short", "3:3 4:3 5:3 6:3 7:3 | 24:15", nil},
		{"six with two checkers each", "short", "2:2 3:2 4:2 5:2 6:2 7:5 | 24:15", [][]int{{2, 3, 4, 5, 6, 7}}},
		{"a single checker can be hit", "short", "2:2 3:2 4:1 5:2 6:2 7:6 | 24:15", nil},
		{"one checker holds a point of a long game", "long-classic", "1:10 3:1 4:1 5:1 6:1 7:1 | 13:15", nil},
		{"six of a long game", "long-classic", "1:9 3:1 4:1 5:1 6:1 7:1 8:1 | 13:15", [][]int{{3, 4, 5, 6, 7, 8}}},
		{"no wall past the end of the other's path", "long-classic", "1:9 9:1 10:1 11:1 12:1 14:1 15:1 | 13:15", nil},
		{"seven are one", "long-classic", "14:9 15:1 16:1 17:1 18:1 19:1 20:1 | 13:15", [][]int{{14, 15, 16, 17, 18, 19, 20}}},
		{"who is pinned holds nothing", "plakoto", "1:4 2:2 3:2 4:1p 5:2 6:2 7:2 | 13:14 21:1", nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			v, err := rules.Lookup(c.variant)
			if err != nil {
				t.Fatal(err)
			}
			p, err := rules.ParsePosition(v.Rules, c.position)
			if err != nil {
				t.Fatal(err)
			}
			var got [][]int
			for _, wall := range board.Primes(p, v.Rules, rules.White) {
				var points []int
				for _, idx := range wall {
					points = append(points, v.Rules.PointNumber(rules.White, idx))
				}
				got = append(got, points)
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}
