package commitment

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// Every element of every tree is found again from its path alone, and an
// element that no lengths could give the leaf is not.
func TestFitsSomeLengths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := Lengths{rapid.IntRange(1, 20).Draw(t, "opening"), rapid.IntRange(1, 70).Draw(t, "a"), rapid.IntRange(1, 70).Draw(t, "b")}
		seq, err := Build(Secret{3}, testID, Random, n, NoCut, nil)
		if err != nil {
			t.Fatal(err)
		}
		st := Stream(rapid.IntRange(0, 2).Draw(t, "stream"))
		o := seq.Open(st, rapid.IntRange(0, n[st]-1).Draw(t, "index"))
		if !o.FitsSomeLengths(seq.Root()) {
			t.Fatalf("%s %d of %v does not fit", o.Stream, o.Index, n)
		}
		for name, bad := range map[string]Opening{
			"other dice":     {o.Stream, o.Index, Dice{7 - o.Dice.D1, o.Dice.D2}, o.Key, o.Path},
			"other key":      {o.Stream, o.Index, o.Dice, Hash{1}, o.Path},
			"a longer path":  {o.Stream, o.Index, o.Dice, o.Key, append(slices.Clone(o.Path), Hash{})},
			"a shorter path": {o.Stream, o.Index, o.Dice, o.Key, o.Path[:len(o.Path)-1]},
			"a late element": {o.Stream, MaxRolls, o.Dice, o.Key, o.Path},
			"a negative one": {o.Stream, -1, o.Dice, o.Key, o.Path},
		} {
			if bad.FitsSomeLengths(seq.Root()) {
				t.Fatalf("%s fits", name)
			}
		}
		if o.Stream == StreamOpening {
			o.Index++
			if o.FitsSomeLengths(seq.Root()) {
				t.Fatal("an opening draw fits as its neighbour")
			}
		}
	})
}

// The sides of a path lead to the leaf they came from, in trees of every size.
func TestLeafOf(t *testing.T) {
	for size := 1; size <= 200; size++ {
		for leaf := range size {
			var right []bool
			index := leaf
			for w := size; w > 1; w = (w + 1) / 2 {
				if index^1 < w {
					right = append(right, index%2 == 1)
				}
				index /= 2
			}
			if got, ok := leafOf(right, size); !ok || got != leaf {
				t.Fatalf("leaf %d of %d is found as %d, %v", leaf, size, got, ok)
			}
		}
	}
	if _, ok := leafOf(make([]bool, maxPath), MaxRolls); !ok {
		t.Error("the first leaf of the largest tree")
	}
}
