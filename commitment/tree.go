package commitment

import (
	"crypto/sha256"
	"errors"
	"fmt"
)

// A Tree is the roll tree of a sequence: an RFC 6962 tree whose leaf data are K ‖ d1 ‖ d2 (PROTOCOL.md §2).
type Tree struct {
	size  int
	nodes []Hash // level by level, leaf hashes first; a lone last node of a level is promoted unchanged
}

// NewTree builds the tree of the given roll keys. Without dice every leaf is K ‖ 0 ‖ 0, as in mode live; otherwise
// there must be as many dice as keys.
func NewTree(keys []Hash, dice []Dice) (*Tree, error) {
	if len(keys) == 0 || len(keys) > MaxRolls {
		return nil, fmt.Errorf("build roll tree: %d leaves, want 1 to %d", len(keys), MaxRolls)
	}
	if dice != nil && len(dice) != len(keys) {
		return nil, fmt.Errorf("build roll tree: %d dice for %d keys", len(dice), len(keys))
	}
	count := len(keys)
	for w := len(keys); w > 1; w = (w + 1) / 2 {
		count += (w + 1) / 2
	}
	t := &Tree{size: len(keys), nodes: make([]Hash, len(keys), count)}
	for i := range keys {
		var d Dice
		if dice != nil {
			d = dice[i]
		}
		t.nodes[i] = leafHash(&keys[i], d)
	}
	for level := t.nodes; len(level) > 1; {
		start := len(t.nodes)
		for i := 0; i+1 < len(level); i += 2 {
			t.nodes = append(t.nodes, nodeHash(&level[i], &level[i+1]))
		}
		if len(level)%2 == 1 {
			t.nodes = append(t.nodes, level[len(level)-1])
		}
		level = t.nodes[start:]
	}
	return t, nil
}

// Size returns the number of leaves.
func (t *Tree) Size() int { return t.size }

// Root returns the root hash.
func (t *Tree) Root() Hash { return t.nodes[len(t.nodes)-1] }

// Path returns the audit path of a leaf, from the leaf to the root: about log2(Size) hashes. It panics if the tree has no
// such leaf.
func (t *Tree) Path(leaf int) []Hash {
	if leaf < 0 || leaf >= t.size {
		panic(fmt.Sprintf("commitment: leaf %d of a tree of %d", leaf, t.size))
	}
	path := make([]Hash, 0, 17)
	start := 0
	for w := t.size; w > 1; w = (w + 1) / 2 {
		if sibling := leaf ^ 1; sibling < w {
			path = append(path, t.nodes[start+sibling])
		}
		start += w
		leaf /= 2
	}
	return path
}

func leafHash(key *Hash, d Dice) Hash {
	var b [1 + len(*key) + 2]byte // prefix 0x00 of RFC 6962
	copy(b[1:], key[:])
	b[len(b)-2], b[len(b)-1] = d.D1, d.D2
	return sha256.Sum256(b[:])
}

func nodeHash(left, right *Hash) Hash {
	var b [1 + 2*len(*left)]byte
	b[0] = 0x01
	copy(b[1:], left[:])
	copy(b[1+len(left):], right[:])
	return sha256.Sum256(b[:])
}

var errPath = errors.New("audit path has the wrong length")

// rootOf follows an audit path upwards (RFC 9162 §2.1.3.2). The path must have exactly the length that index and size
// demand: a longer or shorter one would let inner nodes pose as leaves.
func rootOf(hash Hash, index, size int, path []Hash) (Hash, error) {
	for w := size; w > 1; w = (w + 1) / 2 {
		sibling := index ^ 1
		if sibling < w {
			if len(path) == 0 {
				return Hash{}, errPath
			}
			if index%2 == 0 {
				hash = nodeHash(&hash, &path[0])
			} else {
				hash = nodeHash(&path[0], &hash)
			}
			path = path[1:]
		}
		index /= 2
	}
	if len(path) != 0 {
		return Hash{}, errPath
	}
	return hash, nil
}
