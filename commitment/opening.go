package commitment

import (
	"errors"
	"fmt"
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
		return fmt.Errorf("verify opening: %w", err)
	}
	leaf, err := n.LeafIndex(o.Stream, o.Index)
	if err != nil {
		return fmt.Errorf("verify opening: %w", err)
	}
	if !o.Dice.Valid() && o.Dice != (Dice{}) {
		return fmt.Errorf("verify opening: %s are no dice", o.Dice)
	}
	got, err := rootOf(leafHash(&o.Key, o.Dice), leaf, n.Total(), o.Path)
	if err != nil {
		return fmt.Errorf("verify opening %s %d: %w", o.Stream, o.Index, err)
	}
	if got != root {
		return fmt.Errorf("verify opening %s %d: %w", o.Stream, o.Index, ErrRoot)
	}
	return nil
}

// Somewhere reports whether the roll opens the root as some leaf, whichever:
// all that can be said while the lengths of the streams are not known. It tries
// both sides at every step of the path, 2^17 hashes at most.
func (o Opening) Somewhere(root Hash) bool {
	if len(o.Path) > maxPath {
		return false
	}
	var climb func(hash Hash, path []Hash) bool
	climb = func(hash Hash, path []Hash) bool {
		if len(path) == 0 {
			return hash == root
		}
		return climb(nodeHash(&hash, &path[0]), path[1:]) || climb(nodeHash(&path[0], &hash), path[1:])
	}
	return climb(leafHash(&o.Key, o.Dice), o.Path)
}

// maxPath is the length of a path in a tree of MaxRolls leaves.
const maxPath = 16

// LiveDice returns the dice of a live throw from its roll key and the links both players released for it
// (PROTOCOL.md §6).
func LiveDice(key, linkA, linkB Hash) Dice {
	g := newGenerator(key)
	return g.blocks("fairdice/v1 live " + linkA.String() + " " + linkB.String() + " ").pair()
}
