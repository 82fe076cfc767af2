package translog

import (
	"fmt"

	"golang.org/x/mod/sumdb/tlog"
)

// Hashes is where the hashes of a log are stored: LogHashes answers, in the
// order asked for, hashes by their storage index in the sense of package tlog.
type Hashes interface {
	LogHashes(indexes []int64) ([][32]byte, error)
}

// Stored reads the hashes of a log from its store.
func Stored(h Hashes) HashReader { return stored{h} }

type stored struct{ Hashes }

// ReadHashes implements tlog.HashReader.
func (s stored) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	if len(indexes) == 0 {
		return nil, nil
	}
	got, err := s.LogHashes(indexes)
	if err != nil {
		return nil, err
	}
	if len(got) != len(indexes) {
		return nil, fmt.Errorf("read hashes: got %d, want %d", len(got), len(indexes))
	}
	out := make([]tlog.Hash, len(got))
	for i, h := range got {
		out[i] = h
	}
	return out, nil
}

// NewHashes are the hashes that a statement completes when it becomes entry
// index: its leaf, and every node of the tree whose right-most leaf it is.
func NewHashes(h Hashes, index int64, text []byte) ([][32]byte, error) {
	got, err := tlog.StoredHashes(index, text, Stored(h))
	if err != nil {
		return nil, fmt.Errorf("hash statement %d: %w", index, err)
	}
	out := make([][32]byte, len(got))
	for i, h := range got {
		out[i] = h
	}
	return out, nil
}
