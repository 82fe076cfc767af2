package commitment

import (
	"fmt"
	"testing"
)

// Upper 0.1 % points of χ². The seeds are fixed, so what passes once passes always.
const (
	chi35 = 66.62 // 36 pairs
	chi9  = 27.88 // ten places
)

// manySequences is how many secrets each mode is tried with.
const manySequences = 10_000

// chi2 is Pearson's statistic of counts that should all be equal.
func chi2(counts []int) float64 {
	total := 0
	for _, c := range counts {
		total += c
	}
	want, x := float64(total)/float64(len(counts)), 0.0
	for _, c := range counts {
		d := float64(c) - want
		x += d * d / want
	}
	return x
}

// TestManySequences: over 10,000 secrets, half of them cut, every mode keeps its
// exact law in each sequence and deals each pair equally often in all of them
// together. In levelled the twelve throws of a block are drawn again until both players
// are close, so great and small throws are rarer than others; there the law is
// that neither player gets more of them.
func TestManySequences(t *testing.T) {
	for _, m := range Modes() {
		if m == Real {
			continue // deals what was recorded: see TestManyRotations
		}
		t.Run(m.String(), func(t *testing.T) {
			t.Parallel()
			n := Lengths{1, 120, 120}
			var a, b [pairs]int
			for i := range manySequences {
				cut := NoCut
				if i%2 == 1 {
					link := Sum(fmt.Appendf(nil, "link %d", i))
					cut = NewCut(testID, 1, 1, &link, nil, nil)
				}
				q, err := Build(Secret(Sum(fmt.Appendf(nil, "secret %d", i))), testID, m, n, cut, nil)
				if err != nil {
					t.Fatal(err)
				}
				if m == Live {
					for k := range n[StreamA] {
						link := Sum(fmt.Appendf(nil, "throw %d %d", i, k))
						a[LiveDice(q.Key(StreamA, k), link, LinkHash(link)).card()]++
						b[LiveDice(q.Key(StreamB, k), link, LinkHash(link)).card()]++
					}
					continue
				}
				if err := CheckLaw(m, q.Offset(StreamA), q.Offset(StreamB), q.part(StreamA), q.part(StreamB)); err != nil {
					t.Fatalf("secret %d: %v", i, err)
				}
				for k := range n[StreamA] {
					a[q.Dice(StreamA, k).card()]++
					b[q.Dice(StreamB, k).card()]++
				}
			}
			if m == Levelled {
				x := 0.0 // of two samples
				for k := range a {
					d := float64(a[k] - b[k])
					x += d * d / float64(a[k]+b[k])
				}
				if x > chi35 {
					t.Errorf("χ² between the players is %.1f, more than %.2f", x, chi35)
				}
				return
			}
			for seat, counts := range map[string][]int{"a": a[:], "b": b[:]} {
				if x := chi2(counts); x > chi35 {
					t.Errorf("χ² of stream %s is %.1f, more than %.2f: %v", seat, x, chi35, counts)
				}
			}
		})
	}
}

// TestManyRotations: the cut decides where an archive begins, every place equally often.
func TestManyRotations(t *testing.T) {
	n := Lengths{1, 5, 4}
	var throws []Dice
	for i := range n.Total() {
		throws = append(throws, pair(i))
	}
	archive, err := NewArchive(Hash{1}, throws)
	if err != nil {
		t.Fatal(err)
	}
	counts := make([]int, n.Total())
	for i := range manySequences {
		link := Sum(fmt.Appendf(nil, "link %d", i))
		q, err := Build(Secret{1}, testID, Real, n, NewCut(testID, 1, 1, &link, nil, nil), archive)
		if err != nil {
			t.Fatal(err)
		}
		first := q.Dice(StreamOpening, 0).card()
		counts[first]++
		for k := range n[StreamA] { // and goes on in recorded order
			if got := q.Dice(StreamA, k).card(); got != (first+1+k)%n.Total() {
				t.Fatalf("cut %d: throw %d is card %d after a start at %d", i, k+1, got, first)
			}
		}
	}
	if x := chi2(counts); x > chi9 {
		t.Errorf("χ² of the rotations is %.1f, more than %.2f: %v", x, chi9, counts)
	}
}
