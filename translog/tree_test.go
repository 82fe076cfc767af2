package translog

import (
	"fmt"
	"testing"

	"github.com/transparency-dev/merkle/compact"
	"github.com/transparency-dev/merkle/proof"
	"github.com/transparency-dev/merkle/rfc6962"
	"pgregory.net/rapid"
)

// Roots and proofs of any log are those that package merkle computes and accepts, and proofs with one bit flipped, a
// hash more or a hash less are accepted by neither.
func TestAgreesWithMerkle(t *testing.T) {
	const most = 200
	var texts []string
	for i := range most {
		texts = append(texts, fmt.Sprintf("statement %d\n", i))
	}
	r := Stored(newMemory(t, texts...))
	roots := make([]Hash, most+1)
	roots[0] = Hash(rfc6962.DefaultHasher.EmptyRoot())
	ranges := (&compact.RangeFactory{Hash: rfc6962.DefaultHasher.HashChildren}).NewEmptyRange(0)
	for i, text := range texts {
		if err := ranges.Append(rfc6962.DefaultHasher.HashLeaf([]byte(text)), nil); err != nil {
			t.Fatal(err)
		}
		root, err := ranges.GetRootHash(nil)
		if err != nil {
			t.Fatal(err)
		}
		roots[i+1] = Hash(root)
	}
	for size, want := range roots {
		if got, err := Root(int64(size), r); err != nil || got != want {
			t.Fatalf("root of size %d is %s (%v), want %s", size, got, err, want)
		}
	}
	bytesOf := func(list []Hash) [][]byte {
		var out [][]byte
		for _, h := range list {
			out = append(out, h[:])
		}
		return out
	}
	spoil := func(t *rapid.T, list []Hash) []Hash {
		list = append([]Hash{}, list...)
		if len(list) == 0 || rapid.Bool().Draw(t, "longer") {
			return append(list, Hash{})
		}
		if rapid.Bool().Draw(t, "shorter") {
			return list[:len(list)-1]
		}
		list[rapid.IntRange(0, len(list)-1).Draw(t, "hash")][rapid.IntRange(0, 31).Draw(t, "byte")] ^= 1 << rapid.IntRange(0, 7).Draw(t, "bit")
		return list
	}
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.Int64Range(1, most).Draw(t, "size")
		index := rapid.Int64Range(0, size-1).Draw(t, "index")
		path, err := Inclusion(size, index, r)
		if err != nil {
			t.Fatal(err)
		}
		leaf := LeafHash([]byte(texts[index]))
		if err := VerifyInclusion(leaf, index, size, path, roots[size]); err != nil {
			t.Fatal(err)
		}
		if err := proof.VerifyInclusion(rfc6962.DefaultHasher, uint64(index), uint64(size), leaf[:], bytesOf(path), roots[size][:]); err != nil {
			t.Fatal(err)
		}
		if VerifyInclusion(leaf, index, size, spoil(t, path), roots[size]) == nil {
			t.Fatal("a spoiled path was accepted")
		}
		old := rapid.Int64Range(1, size).Draw(t, "old size")
		cons, err := Consistency(old, size, r)
		if err != nil {
			t.Fatal(err)
		}
		if err := VerifyConsistency(old, roots[old], size, roots[size], cons); err != nil {
			t.Fatal(err)
		}
		if err := proof.VerifyConsistency(rfc6962.DefaultHasher, uint64(old), uint64(size), bytesOf(cons), roots[old][:], roots[size][:]); err != nil {
			t.Fatal(err)
		}
		if VerifyConsistency(old, roots[old], size, roots[size], spoil(t, cons)) == nil {
			t.Fatal("a spoiled proof was accepted")
		}
	})
}
