package commitment

import (
	"testing"

	"pgregory.net/rapid"
)

const testID = "01970000-0000-7000-8000-000000000001"

// drawSequence builds a sequence of any mode under any cut.
func drawSequence(t *rapid.T, m Mode, n Lengths, cut Cut) *Sequence {
	s := Secret(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "secret"))
	var archive *Archive
	if m == Real {
		var throws []Dice
		for range n.Total() {
			throws = append(throws, pair(rapid.IntRange(0, pairs-1).Draw(t, "throw")))
		}
		var err error
		if archive, err = NewArchive(Hash{1}, throws); err != nil {
			t.Fatal(err)
		}
	}
	q, err := Build(s, testID, m, n, cut, archive)
	if err != nil {
		t.Fatal(err)
	}
	return q
}

var drawLengths = rapid.Custom(func(t *rapid.T) Lengths {
	return Lengths{rapid.IntRange(1, 5).Draw(t, "opening"), rapid.IntRange(1, 260).Draw(t, "a"), rapid.IntRange(1, 260).Draw(t, "b")}
})

// Every mode keeps its law for every secret and cut and for every number of throws drawn so far, all dice are dice, and
// each opening verifies.
func TestModeLaws(t *testing.T) {
	for _, m := range Modes() {
		t.Run(m.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				n := drawLengths.Draw(t, "lengths")
				cut := NoCut
				if rapid.Bool().Draw(t, "cut") {
					cut = NewCut(testID, 1, 1, &Hash{byte(rapid.IntRange(0, 255).Draw(t, "link"))}, nil, nil)
				}
				q := drawSequence(t, m, n, cut)
				for _, st := range Streams() {
					i := rapid.IntRange(0, n[st]-1).Draw(t, "opened")
					if err := q.Open(st, i).Verify(q.Root(), n); err != nil {
						t.Fatal(err)
					}
					for _, d := range q.part(st) {
						if d.Valid() == (m == Live) {
							t.Fatalf("dice %s in stream %s", d, st)
						}
					}
				}
				if m == Live {
					return
				}
				a := q.part(StreamA)[:rapid.IntRange(0, n[StreamA]).Draw(t, "drawn a")]
				b := q.part(StreamB)[:rapid.IntRange(0, n[StreamB]).Draw(t, "drawn b")]
				if err := CheckLaw(m, q.Offset(StreamA), q.Offset(StreamB), a, b); err != nil {
					t.Fatal(err)
				}
			})
		})
	}
}

// The law of every block mode is sharp: the same dice with one throw of a full block replaced break it.
func TestLawIsSharp(t *testing.T) {
	for _, m := range []Mode{Balanced, Twofold, Triple, Equal} {
		t.Run(m.String(), func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) {
				q := drawSequence(t, m, Lengths{1, 240, 240}, NoCut)
				a := append([]Dice{}, q.part(StreamA)...)
				first, size := 0, equalBlock
				if m != Equal {
					first, size = pairs*m.Deck()-q.Offset(StreamA), pairs*m.Deck()
				}
				i := first + rapid.IntRange(0, size-1).Draw(t, "throw")
				a[i] = pair((a[i].card() + rapid.IntRange(1, pairs-1).Draw(t, "shift")) % pairs)
				if err := CheckLaw(m, q.Offset(StreamA), q.Offset(StreamB), a, q.part(StreamB)); err == nil {
					t.Fatal("the law holds all the same")
				}
			})
		})
	}
	six := make([]Dice, 6)
	low, high := append([]Dice{}, six...), append([]Dice{}, six...)
	for i := range six {
		low[i], high[i] = Dice{1, 2}, Dice{3, 2}
	}
	if err := CheckLaw(Levelled, 0, 0, low, high); err == nil {
		t.Error("levelled: 12 pips apart")
	}
	if err := CheckLaw(Levelled, 0, 0, low[:5], high[:5]); err != nil {
		t.Errorf("levelled: a part of a block has no law: %v", err)
	}
	for i := range 2 {
		low[i], high[i] = Dice{2, 4}, Dice{2, 2}
	}
	for i := 2; i < 6; i++ {
		low[i], high[i] = Dice{1, 2}, Dice{1, 2}
	}
	if err := CheckLaw(Levelled, 0, 0, low, high); err == nil {
		t.Error("levelled: two doubles more")
	}
}

// A cut changes keys, dice and root (the dice not in live, which has none yet, and real only turns its archive).
func TestCutChangesDice(t *testing.T) {
	for _, m := range Modes() {
		t.Run(m.String(), func(t *testing.T) {
			n := DefaultLengths()
			var archive *Archive
			if m == Real {
				q, err := Build(Secret{9}, testID, Random, n, NoCut, nil)
				if err != nil {
					t.Fatal(err)
				}
				if archive, err = NewArchive(Hash{1}, q.dice); err != nil {
					t.Fatal(err)
				}
			}
			roots, dice := map[Hash]bool{}, map[string]bool{}
			const cuts = 20
			for i := range cuts {
				cut := NewCut(testID, 1, 1, nil, &Hash{byte(i)}, nil)
				q, err := Build(Secret{1}, testID, m, n, cut, archive)
				if err != nil {
					t.Fatal(err)
				}
				again, err := Build(Secret{1}, testID, m, n, cut, archive)
				if err != nil || again.Root() != q.Root() {
					t.Fatalf("built twice: %v, root %s and %s", err, q.Root(), again.Root())
				}
				roots[q.Root()] = true
				dice[words(q.dice)] = true
			}
			if len(roots) != cuts {
				t.Errorf("%d roots from %d cuts", len(roots), cuts)
			}
			if want := cuts - 2; m != Live && len(dice) < want {
				t.Errorf("%d rows of dice from %d cuts", len(dice), cuts)
			}
		})
	}
}
