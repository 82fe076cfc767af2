package commitment

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"fairdice/internal/phrase"
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
		return nil, phrase.Errorf("parse note: %d bytes, at most %d", len(signed), MaxNote)
	}
	if n := parseSingle(signed); n != nil {
		return n, nil
	}
	_, err := note.Open([]byte(signed), nil)
	var unverified *note.UnverifiedNoteError
	if !errors.As(err, &unverified) {
		return nil, phrase.Errorf("parse note: want UTF-8 text, an empty line, and at least one line \"— name base64\", all ended by LF: %w", err)
	}
	n := unverified.Note
	for _, s := range n.UnverifiedSigs {
		if _, err := base64.StdEncoding.Strict().DecodeString(s.Base64); err != nil {
			return nil, phrase.Errorf("parse note: signature of %s is not canonical base64", clip(s.Name))
		}
	}
	again, err := note.Sign(n)
	if err != nil {
		return nil, phrase.Errorf("parse note: %w", err)
	}
	if string(again) != signed {
		return nil, errors.New("parse note: it does not re-encode to itself")
	}
	return n, nil
}

// parseSingle reads what nearly every note is, a receipt above all: printable
// ASCII with one signature line. It returns nil for everything else, good or
// bad, and agrees with package note on the rest.
func parseSingle(signed string) *note.Note {
	const blank, prefix = "\n\n", "— "
	split := strings.LastIndex(signed, blank)
	if split < 0 {
		return nil
	}
	for i := range split {
		if c := signed[i]; (c < ' ' || c > '~') && c != '\n' {
			return nil
		}
	}
	line, ok := strings.CutSuffix(signed[split+len(blank):], "\n")
	if !ok || !strings.HasPrefix(line, prefix) {
		return nil
	}
	name, sig, _ := strings.Cut(line[len(prefix):], " ")
	var raw [128]byte
	if CheckName(name) != nil || base64.StdEncoding.DecodedLen(len(sig)) > len(raw) || strings.ContainsAny(sig, "\r\n") {
		return nil
	}
	n, err := base64.StdEncoding.Strict().Decode(raw[:], []byte(sig))
	if err != nil || n < 5 {
		return nil
	}
	return &note.Note{
		Text:           signed[:split+1],
		UnverifiedSigs: []note.Signature{{Name: name, Hash: binary.BigEndian.Uint32(raw[:4]), Base64: sig}},
	}
}

// OpenNote reads a signed note and verifies every line under the verifier's name and key hash: at least one must be
// there, and none may be bad. Package note looks at the first line of a key only, so that a forged second one would
// pass unseen. Lines of other keys are left in UnverifiedSigs. When the error wraps ErrSignature the note is returned too.
func OpenNote(signed string, v note.Verifier) (*note.Note, error) {
	n, err := ParseNote(signed)
	if err != nil {
		return nil, err
	}
	return n, VerifyNote(n, v)
}

// VerifyNote is the second half of OpenNote, for a note that ParseNote has read. It moves the good lines of v to Sigs.
func VerifyNote(n *note.Note, v note.Verifier) error {
	var others []note.Signature
	for _, s := range n.UnverifiedSigs {
		if s.Name != v.Name() || s.Hash != v.KeyHash() {
			others = append(others, s)
			continue
		}
		if !v.Verify([]byte(n.Text), SignatureBytes(s)) {
			return phrase.Errorf("open note: %w: bad line of %s+%08x", ErrSignature, s.Name, s.Hash)
		}
		n.Sigs = append(n.Sigs, s)
	}
	if len(n.Sigs) == 0 {
		return phrase.Errorf("open note: %w: no line of %s+%08x", ErrSignature, v.Name(), v.KeyHash())
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
