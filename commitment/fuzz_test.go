package commitment

import (
	"bytes"
	"errors"
	"testing"
)

// The fuzz tests below state one law: whatever a parser accepts prints back byte for byte. A text with two spellings
// would be one statement with two leaf hashes, or one receipt with two links in its chain.

func FuzzParse(f *testing.F) {
	var v statementVectors
	readVectors(f, "statements.json.gz", &v)
	for _, c := range v.Valid {
		f.Add([]byte(c.Text))
	}
	for _, c := range v.Invalid {
		if c.Text != nil {
			f.Add([]byte(*c.Text))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		s, err := Parse(text)
		if err != nil {
			var perr *ParseError
			if !errors.As(err, &perr) || perr.Code == "" || perr.Why == nil {
				t.Fatalf("error %#v is no complete *ParseError", err)
			}
			return
		}
		if got := s.Text(); !bytes.Equal(got, text) {
			t.Fatalf("parsed %q, printed %q", text, got)
		}
		if got, err := Encode(s); err != nil || !bytes.Equal(got, text) {
			t.Fatalf("parsed %q, encoded %q: %v", text, got, err)
		}
	})
}

func FuzzParseReceipt(f *testing.F) {
	var v recordVectors
	readVectors(f, "records.json", &v)
	for _, c := range v.Receipts {
		f.Add([]byte(c.Text))
	}
	for _, c := range v.ReceiptsInvalid {
		f.Add([]byte(c.Text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := ParseReceipt(text)
		if err != nil {
			return
		}
		if got := r.Text(); !bytes.Equal(got, text) {
			t.Fatalf("parsed %q, printed %q", text, got)
		}
	})
}

func FuzzParseArchive(f *testing.F) {
	var v sequenceVectors
	readVectors(f, "sequences.json.gz", &v)
	for _, c := range v.ArchivesInvalid {
		f.Add([]byte(c.Text))
	}
	f.Add([]byte("53ab5f1cd0dba95a82016b2371a7b9089a1f0d9a3359b0973dd368da2fe80b72\n1 3\n4 5\n1 3\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		a, err := ParseArchive(text)
		if err != nil {
			return
		}
		if got := a.Text(); !bytes.Equal(got, text) {
			t.Fatalf("parsed %q, printed %q", text, got)
		}
		if a.Hash() != Sum(text) {
			t.Fatal("the archive's hash is not that of its file")
		}
	})
}

func FuzzParseVerifierKey(f *testing.F) {
	f.Add("example.org/fairdice/test+c90ecb27+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs")
	f.Add("witness.example.org/w1+54be6546+BGa+fjMsekUzMr2dCn99sFX1xe8aBq2mbZizn7aBDEc6")
	f.Add("example.org/fairdice/test+C90ECB27+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs")
	f.Add("PRIVATE+KEY+example.org/fairdice/test+c90ecb27+AQcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcH")
	f.Fuzz(func(t *testing.T, text string) {
		if k, err := ParseVerifierKey(text); err == nil && k.String() != text {
			t.Fatalf("parsed %q, printed %q", text, k)
		}
		if k, err := ParseSignerKey(text); err == nil && k.Reveal() != text {
			t.Fatalf("parsed the signer key %q, printed another", text)
		}
	})
}

func FuzzParseNote(f *testing.F) {
	var v recordVectors
	readVectors(f, "records.json", &v)
	for _, c := range v.Receipts[:3] {
		f.Add(c.Note)
	}
	f.Fuzz(func(t *testing.T, signed string) {
		n, err := ParseNote(signed)
		if err != nil {
			return
		}
		text := n.Text + "\n"
		for _, s := range n.UnverifiedSigs {
			text += "— " + s.Name + " " + s.Base64 + "\n"
		}
		if text != signed {
			t.Fatalf("parsed %q, which is %q", signed, text)
		}
		if _, err := OpenReceipt(signed, v.ReceiptKey); err == nil {
			good := false
			for _, c := range v.Receipts {
				good = good || c.Text == n.Text
			}
			if !good {
				t.Fatalf("a forged receipt verifies: %q", signed)
			}
		}
	})
}

func FuzzCheckOptions(f *testing.F) {
	f.Add("long-classic", "raise=mars stake=win series=points:5 crawford=off head55=off")
	f.Add("short", "raise=cube stake=unborne series=combined:25 crawford=on")
	f.Fuzz(func(t *testing.T, variant, options string) {
		if CheckOptions(variant, options) != nil {
			return
		}
		if !bytes.HasPrefix([]byte(options), []byte("raise=")) || bytes.ContainsAny([]byte(options), "\n\r\t") || bytes.Contains([]byte(options), []byte("  ")) {
			t.Fatalf("accepted %q", options)
		}
	})
}
