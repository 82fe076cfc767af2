package translog

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"fairdice/commitment"

	"github.com/transparency-dev/merkle/testonly"
	"golang.org/x/mod/sumdb/tlog"
)

// A public log that has nothing to do with this program, Certificate
// Transparency's Argon 2020, is read with the same functions: an entry and an
// earlier tree are proved, and every bit of both proofs counts.
func TestPublicLog(t *testing.T) {
	read := func(name string, v any) {
		t.Helper()
		b, err := os.ReadFile(filepath.Join("testdata", "argon2020", name))
		if err == nil {
			err = json.Unmarshal(b, v)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	var head struct {
		Size int64     `json:"tree_size"`
		Root tlog.Hash `json:"sha256_root_hash"`
	}
	var entries struct {
		Entries []struct {
			Leaf []byte `json:"leaf_input"`
		}
	}
	var inclusion struct {
		Path []tlog.Hash `json:"audit_path"`
	}
	var consistency struct {
		Proof []tlog.Hash `json:"consistency"`
	}
	read("sth.json", &head)
	read("entries.json", &entries)
	read("proof.json", &inclusion)
	read("consistency.json", &consistency)
	const index, oldSize = 10_000, 3_654_490
	old, err := tlog.ParseHash("AuIZ5V6sDUj1vn3Y1K85oOaQ7y+FJJKtyRTl1edIKBQ=")
	if err != nil {
		t.Fatal(err)
	}
	root, oldRoot := Hash(head.Root), Hash(old)
	leaf := LeafHash(entries.Entries[0].Leaf)
	path, proof := fromTlog(inclusion.Path), fromTlog(consistency.Proof)
	if err := VerifyInclusion(leaf, index, head.Size, path, root); err != nil {
		t.Error(err)
	}
	if err := VerifyConsistency(oldSize, oldRoot, head.Size, root, proof); err != nil {
		t.Error(err)
	}
	refuseSpoiled(t, leaf, index, head.Size, path, root)
	refuseSpoiledConsistency(t, oldSize, oldRoot, head.Size, root, proof)
}

// The tree of RFC 6962 as transparency-dev/merkle tests it: eight leaves, the
// root of each size, every node.
func TestMerkleVectors(t *testing.T) {
	var texts []string
	for _, l := range testonly.LeafInputs() {
		texts = append(texts, string(l))
	}
	m := newMemory(t, texts...)
	r := Stored(m)
	roots := []Hash{EmptyRoot}
	if !bytes.Equal(EmptyRoot[:], testonly.EmptyRootHash()) {
		t.Error("the root of the empty tree is another")
	}
	for i, want := range testonly.RootHashes() {
		root, err := Root(int64(i), r)
		if err != nil || !bytes.Equal(root[:], want) {
			t.Errorf("root of size %d is %s (%v), want %x", i, root, err, want)
		}
		if i > 0 {
			roots = append(roots, root)
		}
	}
	for level, nodes := range testonly.NodeHashes() {
		for n, want := range nodes {
			if (n+1)<<level > len(texts) {
				continue // not a node of stored subtrees, which are full
			}
			got, err := m.LogHashes([]int64{tlog.StoredHashIndex(level, int64(n))})
			if err != nil || !bytes.Equal(got[0][:], want) {
				t.Errorf("node %d of level %d is %x (%v), want %x", n, level, got, err, want)
			}
		}
	}
	for size := int64(1); size <= int64(len(texts)); size++ {
		for index := range size {
			path, err := Inclusion(size, index, r)
			if err != nil {
				t.Fatal(err)
			}
			leaf := LeafHash([]byte(texts[index]))
			if err := VerifyInclusion(leaf, index, size, path, roots[size]); err != nil {
				t.Error(err)
			}
			refuseSpoiled(t, leaf, index, size, path, roots[size])
		}
		for old := int64(1); old <= size; old++ {
			proof, err := Consistency(old, size, r)
			if err != nil {
				t.Fatal(err)
			}
			if err := VerifyConsistency(old, roots[old], size, roots[size], proof); err != nil {
				t.Error(err)
			}
			refuseSpoiledConsistency(t, old, roots[old], size, roots[size], proof)
		}
	}
}

// The examples of RFC 6962 §2.1.3, by the names it gives the nodes of the tree of seven.
func TestRFC6962Example(t *testing.T) {
	r := Stored(newMemory(t, "d0", "d1", "d2", "d3", "d4", "d5", "d6"))
	node := func(a, b Hash) Hash { return Hash(tlog.NodeHash(tlog.Hash(a), tlog.Hash(b))) }
	leaf := func(s string) Hash { return LeafHash([]byte(s)) }
	a, b, c, d, e, f, j := leaf("d0"), leaf("d1"), leaf("d2"), leaf("d3"), leaf("d4"), leaf("d5"), leaf("d6")
	g, h, i := node(a, b), node(c, d), node(e, f)
	k := node(g, h)
	l := node(i, j)
	root := node(k, l)
	if got, err := Root(7, r); err != nil || got != root {
		t.Fatalf("root %s, %v", got, err)
	}
	for _, x := range []struct {
		index int64
		want  []Hash
	}{{0, []Hash{b, h, l}}, {3, []Hash{c, g, l}}, {4, []Hash{f, j, k}}, {6, []Hash{i, k}}} {
		if got, err := Inclusion(7, x.index, r); err != nil || !same(got, x.want) {
			t.Errorf("path of %d is %v (%v), want %v", x.index, got, err, x.want)
		}
	}
	for _, x := range []struct {
		old  int64
		want []Hash
	}{{3, []Hash{c, d, g, l}}, {4, []Hash{l}}, {6, []Hash{i, j, k}}} {
		if got, err := Consistency(x.old, 7, r); err != nil || !same(got, x.want) {
			t.Errorf("proof from %d is %v (%v), want %v", x.old, got, err, x.want)
		}
	}
}

func same(a, b []Hash) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// spoiled are proofs that nobody may accept in the place of a good one.
func spoiled(good []Hash) map[string][]Hash {
	extra := commitment.Hash{1}
	bad := map[string][]Hash{
		"one more at the end":   append(append([]Hash{}, good...), extra),
		"one more at the start": append([]Hash{extra}, good...),
		"the zero hash more":    append(append([]Hash{}, good...), Hash{}),
	}
	if len(good) > 0 {
		bad["one less at the end"] = good[:len(good)-1]
		bad["one less at the start"] = good[1:]
		bad["none"] = nil
		bad["the last twice"] = append(append([]Hash{}, good...), good[len(good)-1])
		for i := range good {
			flipped := append([]Hash{}, good...)
			flipped[i][31] ^= 1
			bad["a bit of "+string(rune('a'+i))] = flipped
		}
	}
	if len(good) > 1 && good[0] != good[1] {
		swapped := append([]Hash{}, good...)
		swapped[0], swapped[1] = swapped[1], swapped[0]
		bad["the first two swapped"] = swapped
	}
	return bad
}

func refuseSpoiled(t *testing.T, leaf Hash, index, size int64, path []Hash, root Hash) {
	t.Helper()
	refuse := func(what string, leaf Hash, index, size int64, path []Hash, root Hash) {
		t.Helper()
		if VerifyInclusion(leaf, index, size, path, root) == nil {
			t.Errorf("inclusion of %d in %d is accepted with %s", index, size, what)
		}
	}
	for what, p := range spoiled(path) {
		refuse(what, leaf, index, size, p, root)
	}
	other := leaf
	other[0] ^= 1
	refuse("another leaf", other, index, size, path, root)
	refuse("the root as leaf", root, index, size, append([]Hash{{}}, path...), root)
	other = root
	other[0] ^= 1
	refuse("another root", leaf, index, size, path, other)
	refuse("the empty root", leaf, index, size, path, EmptyRoot)
	for _, n := range []int64{-1, index - 1, index + 1, index ^ 2, size, size + index, 1 << 62} {
		if n != index {
			refuse("another index", leaf, n, size, path, root)
		}
	}
	for _, n := range []int64{-1, 0, index} { // sizes that have no such leaf
		refuse("a size that is too small", leaf, index, n, path, root)
	}
	refuse("twice the size", leaf, index, 2*size, path, root)
}

func refuseSpoiledConsistency(t *testing.T, old int64, oldRoot Hash, size int64, root Hash, proof []Hash) {
	t.Helper()
	refuse := func(what string, old int64, oldRoot Hash, size int64, root Hash, proof []Hash) {
		t.Helper()
		if VerifyConsistency(old, oldRoot, size, root, proof) == nil {
			t.Errorf("consistency of %d and %d is accepted with %s", old, size, what)
		}
	}
	for what, p := range spoiled(proof) {
		refuse(what, old, oldRoot, size, root, p)
	}
	bad := oldRoot
	bad[5] ^= 4
	refuse("another old root", old, bad, size, root, proof)
	bad = root
	bad[5] ^= 4
	refuse("another root", old, oldRoot, size, bad, proof)
	refuse("size 0", 0, EmptyRoot, size, root, proof)
	refuse("size 0 and no proof", 0, EmptyRoot, size, root, nil)
	refuse("a negative size", -1, oldRoot, size, root, proof)
	if old != size {
		refuse("the sizes swapped", size, root, old, oldRoot, proof)
		refuse("the roots swapped", old, root, size, oldRoot, proof)
		refuse("equal sizes", size, oldRoot, size, root, proof)
		refuse("equal sizes and no proof", size, oldRoot, size, root, nil)
		refuse("no proof", old, oldRoot, size, root, nil)
	}
}
