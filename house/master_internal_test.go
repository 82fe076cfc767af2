package house

import (
	"bytes"
	"crypto/rand"
	"testing"

	"fairdice/commitment"
)

// What is sealed for one sequence opens in no other row, for no other purpose,
// under no other master key, and not when a bit of it has changed.
func TestSealedBelongsToItsRow(t *testing.T) {
	m, err := NewMasterKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewMasterKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	const a, b = "01940c3e-7b4a-7c1d-9a52-3f6d0b8e2c11", "01940c3e-7b4a-7c1d-9a52-3f6d0b8e2c12"
	s := commitment.Secret{1, 2, 3}
	blob, err := m.seal(s, a)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := m.open(blob, a); err != nil || got != s {
		t.Fatal(got, err)
	}
	if bytes.Contains(blob, s[:]) {
		t.Error("the secret stands in its ciphertext")
	}
	if again, err := m.seal(s, a); err != nil || bytes.Equal(again, blob) {
		t.Errorf("sealed twice it is the same, %v", err)
	}
	if _, err := m.open(blob, b); err == nil {
		t.Error("it opens in the row of another sequence")
	}
	if _, err := m.openArchive(blob, a); err == nil {
		t.Error("a secret opens as an archive")
	}
	if _, err := other.open(blob, a); err == nil {
		t.Error("it opens under another master key")
	}
	for i := range blob {
		changed := bytes.Clone(blob)
		changed[i] ^= 1
		if _, err := m.open(changed, a); err == nil {
			t.Errorf("it opens with byte %d changed", i)
		}
	}
	if _, err := m.open(blob[:len(blob)-1], a); err == nil {
		t.Error("it opens without its last byte")
	}
}
