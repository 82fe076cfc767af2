package commitment

import (
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

type recordVectors struct {
	ReceiptKey string `json:"receipt_key"`
	Receipts   []struct {
		Note, Text string
		Hash       Hash
	}
	ReceiptsInvalid []struct{ What, Text string } `json:"receipts_invalid"`
}

func TestReceiptVectors(t *testing.T) {
	var v recordVectors
	readVectors(t, "records.json", &v)
	if len(v.Receipts) == 0 || len(v.ReceiptsInvalid) == 0 {
		t.Fatal("a list is empty")
	}
	skey := newTestKey(t, "example.org/fairdice/test/receipts", 8)
	signer, err := NewSigner(skey)
	if err != nil {
		t.Fatal(err)
	}
	for i, c := range v.Receipts {
		r, err := OpenReceipt(c.Note, v.ReceiptKey)
		if err != nil {
			t.Fatalf("receipt %d: %v", i, err)
		}
		if d := cmp.Diff(c.Text, string(r.Text())); d != "" {
			t.Errorf("receipt %d: -want +got\n%s", i, d)
		}
		if r.Hash() != c.Hash {
			t.Errorf("receipt %d: hash %s, want %s", i, r.Hash(), c.Hash)
		}
		signed, err := r.Sign(signer)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(c.Note, signed); d != "" {
			t.Errorf("receipt %d signed: -want +got\n%s", i, d)
		}
	}
	for _, c := range v.ReceiptsInvalid {
		var perr *ParseError
		if _, err := ParseReceipt([]byte(c.Text)); !errors.As(err, &perr) {
			t.Errorf("%s: error %v, want a *ParseError", c.What, err)
		}
	}
}

func TestOpenReceiptTellsSignatureFromFormat(t *testing.T) {
	var v recordVectors
	readVectors(t, "records.json", &v)
	good := v.Receipts[0].Note
	_, other, err := NewKey("example.org/fairdice/test/receipts", strings.NewReader(strings.Repeat("x", 32)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		what, note, key string
		signature       bool
	}{
		{"another die", strings.Replace(good, "dice 2 3", "dice 2 4", 1), v.ReceiptKey, true},
		{"another key of the same name", good, other, true},
		{"no text", "\n\n" + good, v.ReceiptKey, false},
		{"die 7", strings.Replace(good, "dice 2 3", "dice 2 7", 1), v.ReceiptKey, false},
		{"spare bits of the base64", strings.Replace(good, "wI=\n", "wJ=\n", 1), v.ReceiptKey, false},
		{"no signature", good[:strings.Index(good, "—")], v.ReceiptKey, false},
		{"key of no type", good, "x+00000000+AA==", false},
	} {
		if c.note == good && c.key == v.ReceiptKey {
			t.Fatalf("%s: nothing was changed", c.what)
		}
		r, err := OpenReceipt(c.note, c.key)
		if err == nil || errors.Is(err, ErrSignature) != c.signature {
			t.Errorf("%s: %v, want a signature error: %t", c.what, err, c.signature)
		}
		if c.signature && r.Match == "" {
			t.Errorf("%s: the receipt is missing beside the signature error", c.what)
		}
	}
	// A second, forged line of the known key must not hide behind a good one.
	line := good[strings.Index(good, "—"):]
	bad, err := OpenReceipt(good+strings.Replace(line, "8bnNcq", "8bnNcr", 1), v.ReceiptKey)
	if !errors.Is(err, ErrSignature) {
		t.Errorf("a forged second line: %v %v", bad, err)
	}
}

func TestReceiptSignRefuses(t *testing.T) {
	signer, err := NewSigner(newTestKey(t, "example.org/receipts", 1))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := (Receipt{}).Sign(signer); err == nil {
		t.Error("an empty receipt was signed")
	}
}
