package house

import (
	"fmt"

	"fairdice/commitment"

	"golang.org/x/mod/sumdb/note"
)

// keyring finds the signer of each receipt key. A match signs to its end with
// the key its open names, for that is what every verifier of it checks
// (PROTOCOL.md §5); only new matches get the newest key.
func keyring(c Config) (map[string]note.Signer, error) {
	ring := make(map[string]note.Signer, 1+len(c.OldReceipts))
	for _, k := range append([]ReceiptKey{{c.Receipts, c.ReceiptKey}}, c.OldReceipts...) {
		v, err := commitment.ParseVerifier(k.Public)
		if err != nil {
			return nil, fmt.Errorf("configure receipt key: %w", err)
		}
		if want := c.Origin + "/receipts"; v.Name() != want || k.Signer.Name() != want {
			return nil, fmt.Errorf("configure receipt key: it is named %q, the origin %q needs %q", k.Signer.Name(), c.Origin, want)
		}
		if v.KeyHash() != k.Signer.KeyHash() {
			return nil, fmt.Errorf("configure receipt key: %s is not the public half of the signer", k.Public)
		}
		if _, twice := ring[k.Public]; twice {
			return nil, fmt.Errorf("configure receipt key: %s is there twice", k.Public)
		}
		ring[k.Public] = k.Signer
	}
	return ring, nil
}

// signReceipt signs with the key that the match was opened with.
func (t *table) signReceipt(r commitment.Receipt) (string, error) {
	s, ok := t.house.receipts[t.open.ReceiptKey]
	if !ok {
		t.house.log.Error("receipt key missing", "match", t.id, "key", t.open.ReceiptKey)
		return "", &Error{Code: Unavailable, Message: "the receipt key of this match is not in use any more; the operator has to put it back"}
	}
	signed, err := r.Sign(s)
	if err != nil {
		return "", fmt.Errorf("sign receipt: %w", err)
	}
	return signed, nil
}
