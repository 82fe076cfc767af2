package commitment

import (
	"crypto/ed25519"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"fairdice/internal/phrase"
)

// Algorithm is the type byte of a key in C2SP signed notes.
type Algorithm byte

// The two algorithms of the protocol. Both are Ed25519; the byte keeps a witness from signing as a log and a log from
// signing as a witness.
const (
	AlgSignature   Algorithm = 0x01 // logs and receipts
	AlgCosignature Algorithm = 0x04 // witnesses (C2SP tlog-cosignature/v1)
)

// A VerifierKey is a public key in the form "name+hash+base64".
type VerifierKey struct {
	Name      string
	Algorithm Algorithm
	Public    [ed25519.PublicKeySize]byte
}

// ParseVerifierKey reads a C2SP verifier key. Only the canonical spelling passes: lower-case key hash that fits name
// and key, canonical base64, 32 key bytes. One key with two spellings would be two keys to whoever compares texts.
// A file of a log's secret key and one of its verifier key are easily confused, so the secret one is told apart, and not repeated.
func ParseVerifierKey(vkey string) (VerifierKey, error) {
	if strings.HasPrefix(vkey, signerPrefix) {
		return VerifierKey{}, errors.New(`parse verifier key: this is the secret key, which nobody but its service may have; "fairdice keys show" prints the verifier key`)
	}
	name, rest, _ := strings.Cut(vkey, "+")
	_, encoded, ok := strings.Cut(rest, "+")
	if !ok {
		return VerifierKey{}, errors.New("parse verifier key: not name+hash+key")
	}
	if err := CheckName(name); err != nil {
		return VerifierKey{}, phrase.Errorf("parse verifier key: %w", err)
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || len(raw) != 1+ed25519.PublicKeySize {
		return VerifierKey{}, errors.New("parse verifier key: not base64 of a type byte and 32 key bytes")
	}
	k := VerifierKey{Name: name, Algorithm: Algorithm(raw[0]), Public: [ed25519.PublicKeySize]byte(raw[1:])}
	if k.Algorithm != AlgSignature && k.Algorithm != AlgCosignature {
		return VerifierKey{}, phrase.Errorf("parse verifier key: unknown type %#02x", raw[0])
	}
	if k.String() != vkey {
		return VerifierKey{}, phrase.Errorf("parse verifier key: key hash does not fit, or the spelling is not canonical: want %s", k)
	}
	return k, nil
}

// KeyHash returns the first four bytes of SHA-256(name "\n" type key), big-endian.
func (k VerifierKey) KeyHash() uint32 {
	h := sha256.New()
	io.WriteString(h, k.Name)
	h.Write([]byte{'\n', byte(k.Algorithm)})
	h.Write(k.Public[:])
	return binary.BigEndian.Uint32(h.Sum(nil))
}

// String returns the verifier key's text.
func (k VerifierKey) String() string {
	return fmt.Sprintf("%s+%08x+%s", k.Name, k.KeyHash(),
		base64.StdEncoding.EncodeToString(append([]byte{byte(k.Algorithm)}, k.Public[:]...)))
}

// A SignerKey is a private key. Formatting it prints the public half alone; Reveal is the text to be stored.
type SignerKey struct {
	name      string
	algorithm Algorithm
	seed      [ed25519.SeedSize]byte
}

// NewSignerKey reads a fresh key's 32 bytes from seed, which is crypto/rand.Reader everywhere but in tests.
func NewSignerKey(name string, alg Algorithm, seed io.Reader) (SignerKey, error) {
	k := SignerKey{name: name, algorithm: alg}
	if err := CheckName(name); err != nil {
		return SignerKey{}, fmt.Errorf("make signer key: %w", err)
	}
	if alg != AlgSignature && alg != AlgCosignature {
		return SignerKey{}, fmt.Errorf("make signer key: unknown type %#02x", byte(alg))
	}
	if _, err := io.ReadFull(seed, k.seed[:]); err != nil {
		return SignerKey{}, fmt.Errorf("make signer key: %w", err)
	}
	return k, nil
}

const signerPrefix = "PRIVATE+KEY+"

// ParseSignerKey reads "PRIVATE+KEY+name+hash+base64" in canonical spelling. The error never repeats the input.
func ParseSignerKey(skey string) (SignerKey, error) {
	malformed := errors.New("parse signer key: not a canonical PRIVATE+KEY+name+hash+key")
	rest, ok := strings.CutPrefix(skey, signerPrefix)
	if !ok {
		return SignerKey{}, malformed
	}
	name, rest, _ := strings.Cut(rest, "+")
	_, encoded, _ := strings.Cut(rest, "+")
	raw, err := base64.StdEncoding.Strict().DecodeString(encoded)
	if err != nil || len(raw) != 1+ed25519.SeedSize {
		return SignerKey{}, malformed
	}
	k, err := NewSignerKey(name, Algorithm(raw[0]), strings.NewReader(string(raw[1:])))
	if err != nil || k.Reveal() != skey {
		return SignerKey{}, malformed
	}
	return k, nil
}

// Reveal returns the private key's text.
func (k SignerKey) Reveal() string {
	return fmt.Sprintf("%s%s+%08x+%s", signerPrefix, k.name, k.Verifier().KeyHash(),
		base64.StdEncoding.EncodeToString(append([]byte{byte(k.algorithm)}, k.seed[:]...)))
}

// Verifier returns the public half.
func (k SignerKey) Verifier() VerifierKey {
	public := ed25519.NewKeyFromSeed(k.seed[:]).Public().(ed25519.PublicKey)
	return VerifierKey{Name: k.name, Algorithm: k.algorithm, Public: [ed25519.PublicKeySize]byte(public)}
}

// Private returns the Ed25519 key.
func (k SignerKey) Private() ed25519.PrivateKey { return ed25519.NewKeyFromSeed(k.seed[:]) }

// Format prints the public half for every verb of package fmt.
func (k SignerKey) Format(f fmt.State, _ rune) { io.WriteString(f, k.Verifier().String()) }

// NewKey makes an Ed25519 key pair for a log or for receipts: the signer's text skey, which is secret, and the verifier's vkey.
func NewKey(name string, seed io.Reader) (skey, vkey string, err error) {
	k, err := NewSignerKey(name, AlgSignature, seed)
	if err != nil {
		return "", "", err
	}
	return k.Reveal(), k.Verifier().String(), nil
}

// NewSigner makes the signer of a log or of receipts. A witness's key is refused.
func NewSigner(skey string) (note.Signer, error) {
	k, err := ParseSignerKey(skey)
	if err != nil {
		return nil, err
	}
	if k.algorithm != AlgSignature {
		return nil, fmt.Errorf("make signer: %s is a witness key", k)
	}
	s, err := note.NewSigner(skey)
	if err != nil {
		return nil, fmt.Errorf("make signer: %w", err)
	}
	return s, nil
}

// ParseVerifier makes the verifier of a log or of receipts from a canonical verifier key. A witness's key is refused.
func ParseVerifier(vkey string) (note.Verifier, error) {
	if err := checkSignatureKey(vkey); err != nil {
		return nil, err
	}
	v, err := note.NewVerifier(vkey)
	if err != nil {
		return nil, phrase.Errorf("parse verifier key: %w", err)
	}
	return v, nil
}

func checkSignatureKey(vkey string) error {
	k, err := ParseVerifierKey(vkey)
	if err != nil {
		return err
	}
	if k.Algorithm != AlgSignature {
		return phrase.Errorf("parse verifier key: type %#02x, want %#02x", byte(k.Algorithm), byte(AlgSignature))
	}
	return nil
}
