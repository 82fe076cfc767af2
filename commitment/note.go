package commitment

import (
	"encoding/base64"
	"errors"
	"fmt"

	"golang.org/x/mod/sumdb/note"
)

// MaxNote bounds a signed note: a text of MaxStatement bytes and a hundred signatures fit.
const MaxNote = 64 << 10

// ErrSignature says that a well-formed note is not signed by the key that is asked for, or that a line under that key's
// name and hash is bad. Every other error of OpenNote, OpenReceipt and translog.OpenCheckpoint means malformed input.
var ErrSignature = errors.New("signature does not verify")

// ParseNote reads a C2SP signed note without verifying anything: the text and all signature lines, in order. A note
// that does not re-encode to itself is malformed: base64 has spare bits, and whoever may set them could give one receipt
// or checkpoint many spellings.
func ParseNote(signed string) (*note.Note, error) {
	if len(signed) > MaxNote {
		return nil, fmt.Errorf("parse note: %d bytes, at most %d", len(signed), MaxNote)
	}
	_, err := note.Open([]byte(signed), nil)
	var unverified *note.UnverifiedNoteError
	if !errors.As(err, &unverified) {
		return nil, fmt.Errorf("parse note: want UTF-8 text, an empty line, and at least one line \"— name base64\", all ended by LF: %w", err)
	}
	n := unverified.Note
	for _, s := range n.UnverifiedSigs {
		if _, err := base64.StdEncoding.Strict().DecodeString(s.Base64); err != nil {
			return nil, fmt.Errorf("parse note: signature of %s is not canonical base64", clip(s.Name))
		}
	}
	again, err := note.Sign(n)
	if err != nil {
		return nil, fmt.Errorf("parse note: %w", err)
	}
	if string(again) != signed {
		return nil, errors.New("parse note: it does not re-encode to itself")
	}
	return n, nil
}

// OpenNote reads a signed note and verifies every line under the verifier's name and key hash: at least one must be
// there, and none may be bad. Package note looks at the first line of a key only, so that a forged second one would
// pass unseen. Lines of other keys are left in UnverifiedSigs. When the error wraps ErrSignature the note is returned too.
func OpenNote(signed string, v note.Verifier) (*note.Note, error) {
	n, err := ParseNote(signed)
	if err != nil {
		return nil, err
	}
	return n, verifyNote(n, v)
}

// verifyNote moves the good lines of v to Sigs.
func verifyNote(n *note.Note, v note.Verifier) error {
	var others []note.Signature
	for _, s := range n.UnverifiedSigs {
		if s.Name != v.Name() || s.Hash != v.KeyHash() {
			others = append(others, s)
			continue
		}
		if !v.Verify([]byte(n.Text), SignatureBytes(s)) {
			return fmt.Errorf("open note: %w: bad line of %s+%08x", ErrSignature, s.Name, s.Hash)
		}
		n.Sigs = append(n.Sigs, s)
	}
	if len(n.Sigs) == 0 {
		return fmt.Errorf("open note: %w: no line of %s+%08x", ErrSignature, v.Name(), v.KeyHash())
	}
	n.UnverifiedSigs = others
	return nil
}

// SignatureBytes returns the signature of a line of a parsed note, without the key hash in front.
func SignatureBytes(s note.Signature) []byte {
	raw, err := base64.StdEncoding.DecodeString(s.Base64)
	if err != nil || len(raw) < 4 {
		return nil
	}
	return raw[4:]
}
