package translog

import (
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/tlog"

	"fairdice/internal/phrase"
)

// A HashReader reads stored hashes by their index (tlog.StoredHashIndex). See Stored.
type HashReader = tlog.HashReader

// EmptyRoot is the root of the tree of size 0: SHA-256 of nothing.
var EmptyRoot = Hash{0xe3, 0xb0, 0xc4, 0x42, 0x98, 0xfc, 0x1c, 0x14, 0x9a, 0xfb, 0xf4, 0xc8, 0x99, 0x6f, 0xb9, 0x24,
	0x27, 0xae, 0x41, 0xe4, 0x64, 0x9b, 0x93, 0x4c, 0xa4, 0x95, 0x99, 0x1b, 0x78, 0x52, 0xb8, 0x55}

// LeafHash returns the hash of a statement's bytes as a leaf: H(0x00 ‖ text).
func LeafHash(text []byte) Hash { return Hash(tlog.RecordHash(text)) }

// Root returns the root of the first size statements.
func Root(size int64, r HashReader) (Hash, error) {
	if size == 0 {
		return EmptyRoot, nil
	}
	h, err := tlog.TreeHash(size, r)
	if err != nil {
		return Hash{}, fmt.Errorf("compute root of size %d: %w", size, err)
	}
	return Hash(h), nil
}

// Inclusion returns the audit path of statement index in the tree of size, from the leaf to the root.
func Inclusion(size, index int64, r HashReader) ([]Hash, error) {
	p, err := tlog.ProveRecord(size, index, r)
	if err != nil {
		return nil, fmt.Errorf("prove inclusion of %d in size %d: %w", index, size, err)
	}
	return fromTlog(p), nil
}

// Consistency returns the proof that the tree of size1 is the beginning of the tree of size2, 1 ≤ size1 ≤ size2. For equal
// sizes it is empty.
func Consistency(size1, size2 int64, r HashReader) ([]Hash, error) {
	if size1 < 1 || size1 > size2 {
		return nil, fmt.Errorf("prove consistency of sizes %d and %d: want 1 ≤ first ≤ second", size1, size2)
	}
	p, err := tlog.ProveTree(size2, size1, r)
	if err != nil {
		return nil, fmt.Errorf("prove consistency of sizes %d and %d: %w", size1, size2, err)
	}
	return fromTlog(p), nil
}

// VerifyInclusion checks that leaf is number index of the tree of size with that root.
func VerifyInclusion(leaf Hash, index, size int64, path []Hash, root Hash) error {
	if index < 0 || index >= size {
		return phrase.Errorf("verify inclusion: no index %d in a tree of size %d", index, size)
	}
	if err := tlog.CheckRecord(toTlog(path), size, tlog.Hash(root), index, tlog.Hash(leaf)); err != nil {
		return phrase.Errorf("verify inclusion of %d in size %d: %w", index, size, err)
	}
	return nil
}

// VerifyConsistency checks that the tree of size1 with root1 is the beginning of the tree of size2 with root2. Equal
// sizes need equal roots and an empty proof. Size 0 is the beginning of everything and proves nothing: it is refused
// (PROTOCOL.md §1).
func VerifyConsistency(size1 int64, root1 Hash, size2 int64, root2 Hash, proof []Hash) error {
	switch {
	case size1 < 1:
		return phrase.Errorf("verify consistency: nothing follows from size %d", size1)
	case size1 > size2:
		return phrase.Errorf("verify consistency: the tree cannot shrink from size %d to %d", size1, size2)
	case size1 == size2 && len(proof) != 0:
		return errors.New("verify consistency: equal sizes have an empty proof")
	case size1 == size2 && root1 != root2:
		return phrase.Errorf("verify consistency: two roots for size %d: %s and %s", size1, root1, root2)
	case size1 == size2:
		return nil
	}
	if err := tlog.CheckTree(toTlog(proof), size2, tlog.Hash(root2), size1, tlog.Hash(root1)); err != nil {
		return phrase.Errorf("verify consistency of sizes %d and %d: %w", size1, size2, err)
	}
	return nil
}

func fromTlog(list []tlog.Hash) []Hash {
	out := make([]Hash, len(list))
	for i, h := range list {
		out[i] = Hash(h)
	}
	return out
}

func toTlog(list []Hash) []tlog.Hash {
	out := make([]tlog.Hash, len(list))
	for i, h := range list {
		out[i] = tlog.Hash(h)
	}
	return out
}
