package house

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"

	"fairdice/commitment"
)

// MasterKey is what all keys of the house at rest are derived from. It lives
// in a file of its own, outside the database and its backups: whoever has
// only the database can compute no future die.
type MasterKey struct{ key [32]byte }

// NewMasterKey reads 32 random bytes.
func NewMasterKey(random io.Reader) (MasterKey, error) {
	var m MasterKey
	if _, err := io.ReadFull(random, m.key[:]); err != nil {
		return m, fmt.Errorf("read master key: %w", err)
	}
	return m, nil
}

const masterPrefix = "fairdice/v1 master "

// ParseMasterKey reads the text form of a key file: one line, as Text writes it.
func ParseMasterKey(text string) (MasterKey, error) {
	var m MasterKey
	digits, ok := strings.CutPrefix(strings.TrimSpace(text), masterPrefix)
	if !ok || len(digits) != 2*len(m.key) {
		return m, errors.New("parse master key: want one line of \"" + masterPrefix + "\" and 64 hex digits")
	}
	if _, err := hex.Decode(m.key[:], []byte(digits)); err != nil {
		return m, errors.New("parse master key: not hex")
	}
	return m, nil
}

// Text is what a key file holds.
func (m MasterKey) Text() string { return masterPrefix + hex.EncodeToString(m.key[:]) + "\n" }

// Format keeps the key out of every print.
func (MasterKey) Format(f fmt.State, _ rune) { io.WriteString(f, "[redacted]") }

// LogValue keeps the key out of every log.
func (MasterKey) LogValue() slog.Value { return slog.StringValue("[redacted]") }

// derive is HKDF-SHA256 with one info text per purpose, so that no key serves two.
func (m MasterKey) derive(info string) []byte {
	key, err := hkdf.Key(sha256.New, m.key[:], nil, info, 32)
	if err != nil { // only a length over 255 hashes can fail
		panic(err)
	}
	return key
}

// aead has one key per purpose and sequence, so a nonce can never meet its
// like under one key.
func (m MasterKey) aead(purpose, sequence string) (cipher.AEAD, error) {
	block, err := aes.NewCipher(m.derive("fairdice/v1 " + purpose + " " + sequence))
	if err != nil {
		return nil, err
	}
	return cipher.NewGCMWithRandomNonce(block)
}

const (
	forSecret  = "seal"
	forArchive = "archive"
	forWebhook = "webhook"
)

func (m MasterKey) encrypt(purpose string, plain []byte, sequence string) ([]byte, error) {
	aead, err := m.aead(purpose, sequence)
	if err != nil {
		return nil, fmt.Errorf("%s %s: %w", purpose, sequence, err)
	}
	return aead.Seal(nil, nil, plain, []byte(sequence)), nil
}

func (m MasterKey) decrypt(purpose string, sealed []byte, sequence string) ([]byte, error) {
	aead, err := m.aead(purpose, sequence)
	if err != nil {
		return nil, fmt.Errorf("open %s of %s: %w", purpose, sequence, err)
	}
	plain, err := aead.Open(nil, nil, sealed, []byte(sequence))
	if err != nil {
		return nil, fmt.Errorf("open %s of %s: wrong master key or damaged database: %w", purpose, sequence, err)
	}
	return plain, nil
}

// seal encrypts a secret for the store (PROTOCOL.md §2: AEAD, the sequence id
// as associated data).
func (m MasterKey) seal(s commitment.Secret, sequence string) ([]byte, error) {
	return m.encrypt(forSecret, s[:], sequence)
}

// openArchive decrypts an archive file sealed by encrypt(forArchive, …).
func (m MasterKey) openArchive(sealed []byte, sequence string) ([]byte, error) {
	return m.decrypt(forArchive, sealed, sequence)
}

// open is the inverse of seal. It fails under another master key, for another
// sequence, and for a blob that was changed.
func (m MasterKey) open(sealed []byte, sequence string) (commitment.Secret, error) {
	var s commitment.Secret
	plain, err := m.decrypt(forSecret, sealed, sequence)
	if err != nil {
		return s, err
	}
	if len(plain) != len(s) {
		return s, fmt.Errorf("open secret of %s: %d bytes, want %d", sequence, len(plain), len(s))
	}
	copy(s[:], plain)
	return s, nil
}

// viewToken is the 128-bit token that reads an unfinished match. It is
// derived, not stored: a repeated open answers the same one.
func (m MasterKey) viewToken(match string) string {
	mac := hmac.New(sha256.New, m.derive("fairdice/v1 view"))
	mac.Write([]byte(match))
	return base64.RawURLEncoding.EncodeToString(mac.Sum(nil)[:16])
}

func (m MasterKey) isViewToken(match, token string) bool {
	return hmac.Equal([]byte(m.viewToken(match)), []byte(token))
}
