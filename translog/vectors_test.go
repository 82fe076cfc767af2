package translog

import (
	"encoding/hex"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"fairdice/commitment"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/mod/sumdb/note"
)

type proofVector struct {
	What         string
	Text         *string
	TextHex      *string `json:"text_hex"`
	Index, Size  int64
	Size1, Size2 int64
	Root         Hash
	Root1, Root2 Hash
	Path, Proof  []Hash
}

type checkpointVectors struct {
	Origin string
	Keys   []struct {
		What        string
		VerifierKey string `json:"verifier_key"`
		SignerKey   string `json:"signer_key"`
	}
	Statements  []string
	LeafHashes  []Hash `json:"leaf_hashes"`
	Checkpoints []struct {
		Size       int64
		Root       Hash
		Text, Note string
	}
	Inclusion          []proofVector
	Consistency        []proofVector
	InclusionInvalid   []proofVector `json:"inclusion_invalid"`
	ConsistencyInvalid []proofVector `json:"consistency_invalid"`
	TlogProofs         []struct {
		Index int64
		Text  string
	} `json:"tlog_proofs"`
	NotesValid   []struct{ What, Note string }        `json:"notes_valid"`
	NotesInvalid []struct{ What, Note, Check string } `json:"notes_invalid"`
}

func readVectors(t testing.TB, name string, v any) {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, v); err != nil {
		t.Fatal(err)
	}
}

// memory keeps the hashes of a log in a slice.
type memory struct{ hashes [][32]byte }

func (m *memory) LogHashes(indexes []int64) ([][32]byte, error) {
	var out [][32]byte
	for _, i := range indexes {
		out = append(out, m.hashes[i])
	}
	return out, nil
}

func newMemory(t testing.TB, texts ...string) *memory {
	t.Helper()
	m := &memory{}
	for i, text := range texts {
		hashes, err := NewHashes(m, int64(i), []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		m.hashes = append(m.hashes, hashes...)
	}
	return m
}

func (v checkpointVectors) log(t testing.TB) note.Verifier {
	t.Helper()
	log, err := commitment.ParseVerifier(v.Keys[0].VerifierKey)
	if err != nil {
		t.Fatal(err)
	}
	return log
}

func TestCheckpointVectors(t *testing.T) {
	var v checkpointVectors
	readVectors(t, "checkpoint.json", &v)
	if len(v.Checkpoints) != 8 || len(v.Statements) != 7 || len(v.NotesValid) == 0 || len(v.NotesInvalid) == 0 {
		t.Fatal("a list is empty")
	}
	log := v.log(t)
	signer, err := commitment.NewSigner(v.Keys[0].SignerKey)
	if err != nil {
		t.Fatal(err)
	}
	m := newMemory(t, v.Statements...)
	for i, s := range v.Statements {
		if LeafHash([]byte(s)) != v.LeafHashes[i] {
			t.Errorf("leaf hash %d differs", i)
		}
	}
	for _, c := range v.Checkpoints {
		root, err := Root(c.Size, Stored(m))
		if err != nil {
			t.Fatal(err)
		}
		want := Checkpoint{v.Origin, c.Size, c.Root}
		if root != c.Root || want.Text() != c.Text {
			t.Errorf("size %d: root %s, want %s", c.Size, root, c.Root)
		}
		signed, err := SignCheckpoint(want, signer)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.Note, signed); d != "" {
			t.Errorf("size %d: -want +got\n%s", c.Size, d)
		}
		got, err := OpenCheckpoint(c.Note, log)
		if err != nil || got != want {
			t.Errorf("size %d: opened %v, %v", c.Size, got, err)
		}
	}
	for _, c := range v.NotesValid {
		if _, err := OpenCheckpoint(c.Note, log); err != nil {
			t.Errorf("%s: %v", c.What, err)
		}
	}
	for _, c := range v.NotesInvalid {
		_, err := OpenCheckpoint(c.Note, log)
		if err == nil {
			t.Errorf("accepted: %s", c.What)
		} else if got := errors.Is(err, ErrSignature); got != (c.Check == "log.signature") {
			t.Errorf("%s: %v, want check %s", c.What, err, c.Check)
		}
	}
}

func TestSignCheckpointRefuses(t *testing.T) {
	var v checkpointVectors
	readVectors(t, "checkpoint.json", &v)
	signer, err := commitment.NewSigner(v.Keys[0].SignerKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []Checkpoint{{"example.org/other", 1, Hash{}}, {v.Origin, -1, Hash{}}, {v.Origin, 1 << 60, Hash{}}} {
		if signed, err := SignCheckpoint(c, signer); err == nil {
			t.Errorf("signed %q", signed)
		}
	}
}

func TestProofVectors(t *testing.T) {
	var v checkpointVectors
	readVectors(t, "checkpoint.json", &v)
	r := Stored(newMemory(t, v.Statements...))
	root := func(size int64) Hash { return v.Checkpoints[size].Root }
	for _, c := range v.Inclusion {
		path, err := Inclusion(c.Size, c.Index, r)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.Path, path); d != "" {
			t.Errorf("inclusion of %d in %d: -want +got\n%s", c.Index, c.Size, d)
		}
		if err := VerifyInclusion(v.LeafHashes[c.Index], c.Index, c.Size, c.Path, root(c.Size)); err != nil {
			t.Error(err)
		}
	}
	for _, c := range v.Consistency {
		proof, err := Consistency(c.Size1, c.Size2, r)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.Proof, proof); d != "" {
			t.Errorf("consistency of %d and %d: -want +got\n%s", c.Size1, c.Size2, d)
		}
		if err := VerifyConsistency(c.Size1, root(c.Size1), c.Size2, root(c.Size2), c.Proof); err != nil {
			t.Error(err)
		}
	}
	for _, c := range v.InclusionInvalid {
		text, err := hex.DecodeString(*c.TextHex)
		if err != nil {
			t.Fatal(err)
		}
		if VerifyInclusion(LeafHash(text), c.Index, c.Size, c.Path, c.Root) == nil {
			t.Errorf("inclusion verified: %s", c.What)
		}
	}
	for _, c := range v.ConsistencyInvalid {
		if VerifyConsistency(c.Size1, c.Root1, c.Size2, c.Root2, c.Proof) == nil {
			t.Errorf("consistency verified: %s", c.What)
		}
	}
	if _, err := Consistency(0, 7, r); err == nil {
		t.Error("consistency with size 0 was proved")
	}
	for _, c := range v.TlogProofs {
		p, err := ParseProof(c.Text)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.Text, p.Text()); d != "" {
			t.Errorf("proof of %d: -want +got\n%s", c.Index, d)
		}
		path, err := Inclusion(7, c.Index, r)
		if err != nil {
			t.Fatal(err)
		}
		if made := (Proof{Index: c.Index, Path: path, Checkpoint: p.Checkpoint}); made.Text() != c.Text {
			t.Errorf("proof of %d made anew differs", c.Index)
		}
		cp, err := p.Verify([]byte(v.Statements[c.Index]), v.log(t))
		if err != nil || cp.Size != 7 {
			t.Errorf("proof of %d: %v %v", c.Index, cp, err)
		}
		if _, err := p.Verify([]byte(v.Statements[(c.Index+1)%7]), v.log(t)); err == nil {
			t.Errorf("proof of %d proves another statement", c.Index)
		}
	}
}

func TestParseProofRefuses(t *testing.T) {
	var v checkpointVectors
	readVectors(t, "checkpoint.json", &v)
	good := v.TlogProofs[0].Text
	withExtra := strings.Replace(good, "index", "extra aGVsbG8=\nindex", 1)
	if p, err := ParseProof(withExtra); err != nil || p.Text() != withExtra || string(p.Extra) != "hello" {
		t.Errorf("extra data: %v %v", p, err)
	}
	for _, c := range []struct{ what, from, to string }{
		{"version 2", "@v1", "@v2"},
		{"no index", "index 0\n", ""},
		{"index 00", "index 0", "index 00"},
		{"index -1", "index 0", "index -1"},
		{"no empty line", "\n\nexample", "\nexample"},
		{"spare bits in the path", "EXk=", "EXl="},
		{"a hash in hex", "gnBBpyhIZq0jFpFUMvdhWXF2r3QZ4gsvSB13E63lEXk=", strings.Repeat("0", 64)},
		{"CRLF", "index 0\n", "index 0\r\n"},
		{"empty extra", "index 0", "extra \nindex 0"},
		{"extra after the index", "index 0", "index 0\nextra aGVsbG8="},
		{"checkpoint without signature", good[strings.Index(good, "\n\n—"):], "\n"},
	} {
		if !strings.Contains(good, c.from) {
			t.Fatalf("%s: %q is not in the proof", c.what, c.from)
		}
		if _, err := ParseProof(strings.Replace(good, c.from, c.to, 1)); err == nil {
			t.Errorf("parsed: %s", c.what)
		}
	}
}
