package audit

import (
	"testing"

	"fairdice/commitment"
)

// longGame is one finished L2 game of about 120 rolls under default lengths.
func longGame(b *testing.B) (data []byte, bundle *Bundle, key string) {
	b.Helper()
	d := newDealer(b, terms{
		Variant: "short", Mode: commitment.Random, Options: singleGame, Rolls: commitment.DefaultLengths(), Anchored: true, StopAt: 120,
	})
	d.Play()
	bundle = d.bundle()
	data, err := bundle.Encode()
	if err != nil {
		b.Fatal(err)
	}
	if r := Verify(data, Trust{Key: d.Key}); r.Verdict != Verified {
		b.Fatal(r.Text(TextStyle{}))
	}
	return data, bundle, d.Key
}

// BenchmarkVerify verifies the bundle of that game.
func BenchmarkVerify(b *testing.B) {
	data, bundle, key := longGame(b)
	b.ReportMetric(float64(len(bundle.Games[0].Receipts)), "rolls")
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		Verify(data, Trust{Key: key})
	}
}

// BenchmarkParts is what no verifier of that game can do without.
func BenchmarkParts(b *testing.B) {
	_, bundle, key := longGame(b)
	work := parts(b, bundle, key)
	for b.Loop() {
		work()
	}
}

// parts returns that work: two roll trees and one Ed25519 verification for each
// note.
func parts(b *testing.B, bundle *Bundle, key string) func() {
	b.Helper()
	e, err := readEvidence(bundle)
	if err != nil {
		b.Fatal(err)
	}
	e.attach()
	logKey, err := commitment.ParseVerifier(key)
	if err != nil {
		b.Fatal(err)
	}
	receiptKey, err := commitment.ParseVerifier(e.open.ReceiptKey)
	if err != nil {
		b.Fatal(err)
	}
	type signed struct{ text, sig []byte }
	open := func(raw string) signed {
		n, err := commitment.ParseNote(raw)
		if err != nil {
			b.Fatal(err)
		}
		return signed{[]byte(n.Text), commitment.SignatureBytes(n.UnverifiedSigs[0])}
	}
	checkpoint := open(bundle.Log.Checkpoint)
	var receipts []signed
	for _, raw := range bundle.Games[0].Receipts {
		receipts = append(receipts, open(raw))
	}
	s := e.games[0].log.segments[0]
	secret := e.games[0].log.secrets()[0]
	return func() {
		for _, cut := range []commitment.Cut{commitment.NoCut, s.deal.S.Cut} {
			if _, err := commitment.Build(secret.Secret, secret.Sequence, s.commit.S.Mode, s.commit.S.Rolls, cut, nil); err != nil {
				b.Fatal(err)
			}
		}
		ok := logKey.Verify(checkpoint.text, checkpoint.sig)
		for _, r := range receipts {
			ok = receiptKey.Verify(r.text, r.sig) && ok
		}
		if !ok {
			b.Fatal("a signature is bad")
		}
	}
}
