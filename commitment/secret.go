package commitment

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"fmt"
	"io"

	"fairdice/internal/phrase"
)

// A Secret is the 32 random bytes S that everything in a sequence follows from. Whoever reads it knows all the dice, so
// no formatting verb, logger or encoder prints it: Reveal is the only way to its text.
type Secret [32]byte

const redacted = "[secret]"

// NewSecret reads a secret from r, which is the operating system's generator (crypto/rand.Reader) everywhere but in tests.
func NewSecret(r io.Reader) (Secret, error) {
	var s Secret
	if _, err := io.ReadFull(r, s[:]); err != nil {
		return Secret{}, fmt.Errorf("read secret: %w", err)
	}
	return s, nil
}

// ParseSecret reads 64 lower-case hex digits. The error never repeats the input.
func ParseSecret(text string) (Secret, error) {
	var s Secret
	if err := decodeHex(s[:], text); err != nil {
		return Secret{}, phrase.Errorf("parse secret: not %d lower-case hex digits", 2*len(s))
	}
	return s, nil
}

// Hash returns H("fairdice/v1 secret\n" ‖ S), the `secret-hash` of a commit.
func (s Secret) Hash() Hash {
	const domain = "fairdice/v1 secret\n"
	var b [len(domain) + len(s)]byte
	copy(b[:], domain)
	copy(b[len(domain):], s[:])
	return sha256.Sum256(b[:])
}

// Equal compares in constant time.
func (s Secret) Equal(t Secret) bool { return subtle.ConstantTimeCompare(s[:], t[:]) == 1 }

// Reveal returns the hex digits of the secret, for the statement that publishes it.
func (s Secret) Reveal() string { return hex.EncodeToString(s[:]) }

// Format redacts the secret for every verb of package fmt.
func (s Secret) Format(f fmt.State, _ rune) { io.WriteString(f, redacted) }

// String redacts the secret.
func (s Secret) String() string { return redacted }

// MarshalText redacts the secret in log/slog, in JSON and in other encodings of package encoding.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redacted), nil }
