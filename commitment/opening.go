package commitment

import (
	"errors"

	"fairdice/internal/phrase"
)

// An Opening discloses one roll of a dealt sequence and nothing else: its key, its dice and the audit path to the root.
type Opening struct {
	Stream Stream
	Index  int    // in the stream, from 0
	Dice   Dice   // as in the leaf: zero in mode live, where the dice follow from Key and the links (LiveDice)
	Key    Hash   // K
	Path   []Hash // from the leaf to the root
}

// ErrRoot says that an opening does not lead to the root: key, dice, place or path are not those of the deal.
var ErrRoot = errors.New("roll does not belong to the root")

// Verify checks the opening against the root and the lengths of its sequence. Whether zero dice are in order is the
// caller's knowledge of the mode.
func (o Opening) Verify(root Hash, n Lengths) error {
	if err := n.Validate(); err != nil {
		return phrase.Errorf("verify opening: %w", err)
	}
	leaf, err := n.LeafIndex(o.Stream, o.Index)
	if err != nil {
		return phrase.Errorf("verify opening: %w", err)
	}
	if !o.Dice.Valid() && o.Dice != (Dice{}) {
		return phrase.Errorf("verify opening: %s are no dice", o.Dice)
	}
	got, err := rootOf(leafHash(&o.Key, o.Dice), leaf, n.Total(), o.Path)
	if err != nil {
		return phrase.Errorf("verify opening %s %d: %w", o.Stream, o.Index, err)
	}
	if got != root {
		return phrase.Errorf("verify opening %s %d: %w", o.Stream, o.Index, ErrRoot)
	}
	return nil
}

// FitsSomeLengths reports whether the roll opens the root for any lengths that a sequence may have: all that can be said
// while its commit is not known. The path says on which side of each node the leaf lies, and so, for each size of the
// tree, which leaf it is; that leaf must be able to be this element of this stream.
func (o Opening) FitsSomeLengths(root Hash) bool {
	if len(o.Path) > maxPath || o.Index < 0 {
		return false
	}
	right := make([]bool, len(o.Path))
	if !o.climb(leafHash(&o.Key, o.Dice), root, right) {
		return false
	}
	for size := 3; size <= MaxRolls; size++ {
		leaf, ok := leafOf(right, size)
		if !ok {
			continue
		}
		before, after := leaf-o.Index, size-leaf-1 // leaves of the streams before, and behind this element
		switch {
		case o.Stream == StreamOpening && before == 0 && after >= 2,
			o.Stream == StreamA && before >= 1 && after >= 1,
			o.Stream == StreamB && before >= 2:
			return true
		}
	}
	return false
}

// climb tries both sides at every step from hash to root, 2^17 hashes at most, and notes in right, leaf first, where the
// climber stood to the right of the path.
func (o Opening) climb(hash, root Hash, right []bool) bool {
	if len(right) == 0 {
		return hash == root
	}
	sibling := &o.Path[len(o.Path)-len(right)]
	right[0] = false
	if o.climb(nodeHash(&hash, sibling), root, right[1:]) {
		return true
	}
	right[0] = true
	return o.climb(nodeHash(sibling, &hash), root, right[1:])
}

// leafOf is the leaf of a tree of that size whose path has these sides. A node at the right edge without a sibling has no
// step in the path.
func leafOf(right []bool, size int) (int, bool) {
	var widths [maxPath + 2]int // of the levels from the leaves up
	levels := 0
	for w := size; w > 1; w = (w + 1) / 2 {
		widths[levels] = w
		levels++
	}
	index := 0
	for level := levels - 1; level >= 0; level-- {
		index *= 2
		if index+1 == widths[level] {
			continue
		}
		if len(right) == 0 {
			return 0, false
		}
		if right[len(right)-1] {
			index++
		}
		right = right[:len(right)-1]
	}
	return index, len(right) == 0
}

// maxPath is the length of a path in a tree of MaxRolls leaves.
const maxPath = 16

// LiveDice returns the dice of a live throw from its roll key and the links both players released for it
// (PROTOCOL.md §6).
func LiveDice(key, linkA, linkB Hash) Dice {
	g := newGenerator(key)
	return g.blocks("fairdice/v1 live " + linkA.String() + " " + linkB.String() + " ").pair()
}
