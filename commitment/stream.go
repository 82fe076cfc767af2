package commitment

import (
	"fmt"

	"fairdice/internal/phrase"
)

// A Stream is one of the three rows of dice of a sequence; its value is its place in Lengths and in the roll tree.
type Stream uint8

// The streams, in the order of the leaves.
const (
	StreamOpening Stream = iota // opening draws: first die seat A's, second die seat B's
	StreamA                     // personal rolls of seat A
	StreamB                     // personal rolls of seat B
)

var streamNames = [...]string{"opening", "a", "b"}

// Streams lists the streams in leaf order.
func Streams() [3]Stream { return [3]Stream{StreamOpening, StreamA, StreamB} }

// Valid reports whether st is one of the three streams.
func (st Stream) Valid() bool { return st <= StreamB }

// String returns "opening", "a" or "b", which is also the label of the stream's bytes.
func (st Stream) String() string {
	if !st.Valid() {
		return fmt.Sprintf("stream(%d)", uint8(st))
	}
	return streamNames[st]
}

// ParseStream reads "opening", "a" or "b".
func ParseStream(s string) (Stream, error) {
	for _, st := range Streams() {
		if streamNames[st] == s {
			return st, nil
		}
	}
	return 0, phrase.Errorf("parse stream: %q is none of opening, a, b", clip(s))
}

// Limits and defaults of a sequence (PROTOCOL.md §2).
const (
	DefaultOpening  = 16     // opening draws of a sequence
	DefaultPersonal = 256    // personal rolls of each seat
	MaxRolls        = 65_536 // all streams of one sequence together
	MaxSegments     = 30     // sequences of one game
)

// Lengths are the numbers of rolls of the streams opening, a and b: the `rolls` of a commit.
type Lengths [3]int

// DefaultLengths returns 16 256 256.
func DefaultLengths() Lengths { return Lengths{DefaultOpening, DefaultPersonal, DefaultPersonal} }

// Total returns the number of leaves of the roll tree.
func (n Lengths) Total() int { return n[0] + n[1] + n[2] }

// Validate refuses an empty stream and more than MaxRolls rolls in all.
func (n Lengths) Validate() error {
	for st, k := range n {
		if k < 1 || k > MaxRolls {
			return phrase.Errorf("check lengths: stream %s has %d rolls, want 1 to %d", Stream(st), k, MaxRolls)
		}
	}
	if n.Total() > MaxRolls {
		return phrase.Errorf("check lengths: %d rolls in all, at most %d", n.Total(), MaxRolls)
	}
	return nil
}

// LeafIndex returns the leaf of element i of a stream: the leaves are opening, then a, then b.
func (n Lengths) LeafIndex(st Stream, i int) (int, error) {
	if !st.Valid() {
		return 0, fmt.Errorf("find leaf: %s is no stream", st)
	}
	if i < 0 || i >= n[st] {
		return 0, phrase.Errorf("find leaf: stream %s has no element %d, it has %d", st, i, n[st])
	}
	for s := range st {
		i += n[s]
	}
	return i, nil
}
