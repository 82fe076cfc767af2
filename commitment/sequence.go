package commitment

import (
	"errors"
	"fmt"

	"fairdice/internal/phrase"
)

// A Sequence is everything that follows from a secret: dice, roll keys and the tree. It is a value of the past or of a
// sealed future; whoever holds one knows every roll.
type Sequence struct {
	mode    Mode
	lengths Lengths
	offsets [3]int // cards left out of block 0 in the deck modes
	keys    []Hash // in leaf order
	dice    []Dice // in leaf order; zero in mode live
	tree    *Tree
}

// Build computes the sequence with id under the cut: with NoCut for the commit's root, with the deal's cut for the game.
// The archive is needed in mode real, where it holds exactly n.Total() throws, and refused in every other mode.
// A tree of 528 leaves takes about a quarter of a millisecond.
func Build(s Secret, id string, m Mode, n Lengths, cut Cut, archive *Archive) (*Sequence, error) {
	if err := checkID(id); err != nil {
		return nil, phrase.Errorf("build sequence: id: %w", err)
	}
	if !m.Valid() {
		return nil, phrase.Errorf("build sequence: %s is no mode", m)
	}
	if err := n.Validate(); err != nil {
		return nil, phrase.Errorf("build sequence: %w", err)
	}
	if _, err := ParseCut(string(cut)); err != nil {
		return nil, phrase.Errorf("build sequence: %w", err)
	}
	switch {
	case m == Real && archive == nil:
		return nil, errors.New("build sequence: mode real needs its archive")
	case m == Real && archive.Len() != n.Total():
		return nil, phrase.Errorf("build sequence: archive of %d throws for %d rolls", archive.Len(), n.Total())
	case m != Real && archive != nil:
		return nil, phrase.Errorf("build sequence: mode %s has no archive", m)
	}

	g := newGenerator(GameKey(s, id, cut))
	q := &Sequence{mode: m, lengths: n, keys: make([]Hash, n.Total())}
	leaf := 0
	for _, st := range Streams() {
		for i := range n[st] {
			g.rollKey(&q.keys[leaf], st, i)
			leaf++
		}
	}
	q.dice = make([]Dice, n.Total())
	q.throw(g, cut, archive)
	var err error
	if q.tree, err = NewTree(q.keys, q.dice); err != nil {
		return nil, phrase.Errorf("build sequence: %w", err)
	}
	return q, nil
}

// Mode returns the mode.
func (q *Sequence) Mode() Mode { return q.mode }

// Lengths returns the lengths of the streams.
func (q *Sequence) Lengths() Lengths { return q.lengths }

// Root returns the root of the roll tree, the hash of the sequence.
func (q *Sequence) Root() Hash { return q.tree.Root() }

// Offset returns how many cards of block 0 of stream a or b are left out in the deck modes, 0 elsewhere.
func (q *Sequence) Offset(st Stream) int { return q.offsets[st] }

// Dice returns the dice of element i of a stream, zero in mode live. Like Key and Open it panics if there is none.
func (q *Sequence) Dice(st Stream, i int) Dice { return q.dice[q.leaf(st, i)] }

// Key returns the roll key K of element i of a stream.
func (q *Sequence) Key(st Stream, i int) Hash { return q.keys[q.leaf(st, i)] }

// Open discloses element i of a stream.
func (q *Sequence) Open(st Stream, i int) Opening {
	leaf := q.leaf(st, i)
	return Opening{Stream: st, Index: i, Dice: q.dice[leaf], Key: q.keys[leaf], Path: q.tree.Path(leaf)}
}

// Format keeps the unplayed dice out of logs, also those of a dereferenced copy.
func (q Sequence) Format(f fmt.State, _ rune) {
	fmt.Fprintf(f, "sequence %s %d, root %s", q.mode, q.lengths, q.Root())
}

func (q *Sequence) leaf(st Stream, i int) int {
	leaf, err := q.lengths.LeafIndex(st, i)
	if err != nil {
		panic("commitment: " + err.Error())
	}
	return leaf
}

// part returns the dice of one stream, to be filled.
func (q *Sequence) part(st Stream) []Dice {
	first, _ := q.lengths.LeafIndex(st, 0) // lengths are valid: no stream is empty
	return q.dice[first : first+q.lengths[st]]
}
