package commitment

import (
	"crypto/rand"
	"fmt"
	"testing"
)

// The tree of 528 leaves alone: keys and dice are there.
func BenchmarkTree(b *testing.B) {
	q, err := Build(Secret{1}, testID, Random, DefaultLengths(), NoCut, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := NewTree(q.keys, q.dice); err != nil {
			b.Fatal(err)
		}
	}
}

// Everything that follows from a secret: game key, 528 roll keys, dice and tree.
func BenchmarkBuild(b *testing.B) {
	for _, m := range Modes() {
		b.Run(m.String(), func(b *testing.B) {
			var archive *Archive
			if m == Real {
				throws := make([]Dice, DefaultLengths().Total())
				for i := range throws {
					throws[i] = pair(i % pairs)
				}
				var err error
				if archive, err = NewArchive(Hash{}, throws); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Build(Secret{1}, testID, m, DefaultLengths(), NoCut, archive); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// What sealing costs: a fresh secret, its hash, the sequence and its root.
func BenchmarkSeal(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		s, err := NewSecret(rand.Reader)
		if err != nil {
			b.Fatal(err)
		}
		q, err := Build(s, testID, Random, DefaultLengths(), NoCut, nil)
		if err != nil {
			b.Fatal(err)
		}
		if s.Hash() == q.Root() {
			b.Fatal("impossible")
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "sealed/s")
}

func BenchmarkOpeningVerify(b *testing.B) {
	q, err := Build(Secret{1}, testID, Random, DefaultLengths(), NoCut, nil)
	if err != nil {
		b.Fatal(err)
	}
	o := q.Open(StreamA, 100)
	b.ReportAllocs()
	for b.Loop() {
		if err := o.Verify(q.Root(), q.Lengths()); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParse(b *testing.B) {
	var v statementVectors
	readVectors(b, "statements.json.gz", &v)
	for _, c := range v.Valid[:1] {
		b.Run(fmt.Sprintf("%s of %d bytes", c.Type, len(c.Text)), func(b *testing.B) {
			text := []byte(c.Text)
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Parse(text); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkLiveDice(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		LiveDice(Hash{1}, Hash{2}, Hash{3})
	}
}
