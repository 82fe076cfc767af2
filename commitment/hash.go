package commitment

import (
	"crypto/sha256"
	"encoding/hex"

	"fairdice/internal/phrase"
)

// A Hash is a SHA-256 value: the only hash of the protocol (PROTOCOL.md §1). Roots, heads, links, anchors and roll
// keys are Hashes too: 32 bytes that texts show as 64 lower-case hex digits.
type Hash [sha256.Size]byte

// Sum returns H(data).
func Sum(data []byte) Hash { return sha256.Sum256(data) }

// String returns the 64 hex digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// ParseHash reads exactly 64 lower-case hex digits.
func ParseHash(s string) (Hash, error) {
	var h Hash
	if err := decodeHex(h[:], s); err != nil {
		return Hash{}, phrase.Errorf("parse hash: %w", err)
	}
	return h, nil
}

// MarshalText makes a Hash the hex string of the JSON views.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText is ParseHash.
func (h *Hash) UnmarshalText(text []byte) error {
	var v Hash
	if err := decodeHex(v[:], text); err != nil {
		return phrase.Errorf("parse hash: %w", err)
	}
	*h = v
	return nil
}

// decodeHex fills dst from 2·len(dst) lower-case hex digits. Package hex accepts upper case as well, which would give
// one value two spellings and so one statement two leaf hashes.
func decodeHex[T string | []byte](dst []byte, s T) error {
	if len(s) != 2*len(dst) {
		return phrase.Errorf("want %d hex digits, got %d characters", 2*len(dst), len(s))
	}
	for i := range dst {
		high, low := hexValues[s[2*i]], hexValues[s[2*i+1]]
		if (high|low)&notHex != 0 {
			at := 2 * i
			if high&notHex == 0 {
				at++
			}
			return phrase.Errorf("character %q at %d is not a lower-case hex digit", s[at], at)
		}
		dst[i] = high<<4 | low
	}
	return nil
}

// notHex marks the bytes that are no lower-case hex digits in hexValues: half of
// what a verifier reads is hex.
const notHex = 0x80

var hexValues = func() (table [256]byte) {
	for c := range table {
		v, ok := hexDigit(byte(c))
		if !ok {
			v = notHex
		}
		table[c] = v
	}
	return table
}()

func hexDigit(c byte) (byte, bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c && c <= 'f':
		return c - 'a' + 10, true
	}
	return 0, false
}
