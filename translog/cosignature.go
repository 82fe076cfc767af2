package translog

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strconv"
	"time"

	"golang.org/x/mod/sumdb/note"

	"fairdice/commitment"
	"fairdice/internal/phrase"
)

// cosignatureSize is a timestamp of 8 bytes and an Ed25519 signature.
const cosignatureSize = 8 + ed25519.SignatureSize

// A Witness is the public key of a witness: type 0x04 of C2SP tlog-cosignature/v1.
type Witness struct{ key commitment.VerifierKey }

// ParseWitness reads the canonical verifier key of a witness. The key of a log is refused.
func ParseWitness(vkey string) (Witness, error) {
	k, err := commitment.ParseVerifierKey(vkey)
	if err != nil {
		return Witness{}, phrase.Errorf("parse witness key: %w", err)
	}
	if k.Algorithm != commitment.AlgCosignature {
		return Witness{}, phrase.Errorf("parse witness key: type %#02x, want %#02x", byte(k.Algorithm), byte(commitment.AlgCosignature))
	}
	return Witness{k}, nil
}

// Name returns the key's name.
func (w Witness) Name() string { return w.key.Name }

// Hash returns the key's hash as signature lines have it, 8 hex digits.
func (w Witness) Hash() string { return fmt.Sprintf("%08x", w.key.KeyHash()) }

// String returns the verifier key.
func (w Witness) String() string { return w.key.String() }

// cosigned returns the message that a witness signs: two lines and the whole text of the checkpoint.
func cosigned(seconds uint64, text string) []byte {
	b := append(make([]byte, 0, 64+len(text)), "cosignature/v1\ntime "...)
	b = append(strconv.AppendUint(b, seconds, 10), '\n')
	return append(b, text...)
}

// Cosigned looks for the witness's cosignature in a signed checkpoint. ok is false when no line bears its name and key
// hash, which is no fault. If there are several, the earliest time counts, and a single bad one is an error that wraps
// ErrSignature (vectors, C7); any other error means that the note is malformed.
func (w Witness) Cosigned(signed string) (seconds int64, ok bool, err error) {
	n, err := commitment.ParseNote(signed)
	if err != nil {
		return 0, false, phrase.Errorf("read cosignature: %w", err)
	}
	hash := w.key.KeyHash()
	for _, s := range n.UnverifiedSigs {
		if s.Name != w.key.Name || s.Hash != hash {
			continue
		}
		at, err := w.verify(n.Text, commitment.SignatureBytes(s))
		if err != nil {
			return 0, false, phrase.Errorf("read cosignature of %s: %w", w.key.Name, err)
		}
		if !ok || at < seconds {
			seconds, ok = at, true
		}
	}
	return seconds, ok, nil
}

func (w Witness) verify(text string, sig []byte) (int64, error) {
	if len(sig) != cosignatureSize {
		return 0, phrase.Errorf("%w: %d bytes, want %d", ErrSignature, len(sig), cosignatureSize)
	}
	seconds := binary.BigEndian.Uint64(sig)
	if seconds > math.MaxInt64 {
		return 0, phrase.Errorf("%w: its time is above 2^63 - 1", ErrSignature)
	}
	if !ed25519.Verify(w.key.Public[:], cosigned(seconds, text), sig[8:]) {
		return 0, ErrSignature
	}
	return int64(seconds), nil
}

// A Cosigner signs checkpoints as a witness. Which checkpoints deserve it, consistent with everything it signed before, is
// for its owner to know.
type Cosigner struct {
	witness Witness
	private ed25519.PrivateKey
	now     func() time.Time
}

// NewWitnessKey makes the key pair of a witness from 32 bytes of seed: skey is secret.
func NewWitnessKey(name string, seed io.Reader) (skey, vkey string, err error) {
	k, err := commitment.NewSignerKey(name, commitment.AlgCosignature, seed)
	if err != nil {
		return "", "", err
	}
	return k.Reveal(), k.Verifier().String(), nil
}

// NewCosigner makes a cosigner from the secret key of a witness and a clock.
func NewCosigner(skey string, now func() time.Time) (*Cosigner, error) {
	k, err := commitment.ParseSignerKey(skey)
	if err != nil {
		return nil, fmt.Errorf("make cosigner: %w", err)
	}
	w, err := ParseWitness(k.Verifier().String())
	if err != nil {
		return nil, fmt.Errorf("make cosigner: %w", err)
	}
	return &Cosigner{witness: w, private: k.Private(), now: now}, nil
}

// Format prints the public key for every verb of package fmt, also of a dereferenced copy.
func (c Cosigner) Format(f fmt.State, _ rune) { io.WriteString(f, c.witness.String()) }

// Witness returns the public key.
func (c *Cosigner) Witness() Witness { return c.witness }

// Line returns the signature line of a C2SP tlog-witness answer for the text of a checkpoint: "— name base64\n".
func (c *Cosigner) Line(text string) (string, error) {
	if _, err := ParseCheckpoint(text); err != nil {
		return "", fmt.Errorf("cosign: %w", err)
	}
	seconds := c.now().Unix()
	if seconds < 0 {
		return "", fmt.Errorf("cosign: the clock says %d s before 1970", -seconds)
	}
	sig := binary.BigEndian.AppendUint32(nil, c.witness.key.KeyHash())
	sig = binary.BigEndian.AppendUint64(sig, uint64(seconds))
	sig = append(sig, ed25519.Sign(c.private, cosigned(uint64(seconds), text))...)
	return "— " + c.witness.key.Name + " " + base64.StdEncoding.EncodeToString(sig) + "\n", nil
}

// Cosign returns the signed checkpoint with one more line. An older line of the same witness stays: the earliest counts.
func (c *Cosigner) Cosign(signed string) (string, error) {
	n, err := commitment.ParseNote(signed)
	if err != nil {
		return "", fmt.Errorf("cosign: %w", err)
	}
	line, err := c.Line(n.Text)
	if err != nil {
		return "", err
	}
	return AddLines(signed, line)
}

// AddLines appends signature lines, such as a witness answered them, to a signed checkpoint. Lines that are there
// already are not repeated. None is verified.
func AddLines(signed string, lines ...string) (string, error) {
	n, err := commitment.ParseNote(signed)
	if err != nil {
		return "", fmt.Errorf("add signature lines: %w", err)
	}
	have := map[note.Signature]bool{}
	for _, s := range n.UnverifiedSigs {
		have[s] = true
	}
	for _, block := range lines {
		more, err := commitment.ParseNote(n.Text + "\n" + block)
		if err != nil {
			return "", fmt.Errorf("add signature lines: %w", err)
		}
		for _, s := range more.UnverifiedSigs {
			if !have[s] {
				have[s] = true
				n.UnverifiedSigs = append(n.UnverifiedSigs, s)
			}
		}
	}
	out, err := note.Sign(n)
	if err != nil {
		return "", fmt.Errorf("add signature lines: %w", err)
	}
	return string(out), nil
}
