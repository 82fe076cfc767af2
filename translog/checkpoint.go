package translog

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"fairdice/commitment"
	"fairdice/internal/phrase"
)

// Hash is the hash of leaves, nodes and roots.
type Hash = commitment.Hash

// ErrSignature is commitment.ErrSignature: the text is well formed, but not signed by the key that is asked for. Every
// other error of OpenCheckpoint means malformed input.
var ErrSignature = commitment.ErrSignature

// A Checkpoint is one state of the log: origin, number of statements and root of their tree.
type Checkpoint struct {
	Origin string // name of the log's key
	Size   int64
	Root   Hash
}

// Text returns the three lines that get signed.
func (c Checkpoint) Text() string {
	return c.Origin + "\n" + strconv.FormatInt(c.Size, 10) + "\n" + base64.StdEncoding.EncodeToString(c.Root[:]) + "\n"
}

// ParseCheckpoint reads exactly three lines: origin, size and root. Extension lines are refused, because nothing in the
// protocol would check what they say.
func ParseCheckpoint(text string) (Checkpoint, error) {
	lines := strings.Split(text, "\n")
	if len(lines) != 4 || lines[3] != "" {
		return Checkpoint{}, errors.New("parse checkpoint: not exactly three lines: origin, size, root")
	}
	if err := commitment.CheckName(lines[0]); err != nil {
		return Checkpoint{}, phrase.Errorf("parse checkpoint: origin: %w", err)
	}
	size, err := commitment.ParseInteger(lines[1])
	if err != nil {
		return Checkpoint{}, phrase.Errorf("parse checkpoint: size: %w", err)
	}
	root, err := parseBase64Hash(lines[2])
	if err != nil {
		return Checkpoint{}, phrase.Errorf("parse checkpoint: root: %w", err)
	}
	return Checkpoint{Origin: lines[0], Size: int64(size), Root: root}, nil
}

// SignCheckpoint returns the checkpoint as a signed note. The signer's name has to be the origin; whether this size was
// signed before with another root is the caller's to know.
func SignCheckpoint(c Checkpoint, s note.Signer) (string, error) {
	if s.Name() != c.Origin {
		return "", fmt.Errorf("sign checkpoint: the key is named %s, the origin is %s", s.Name(), c.Origin)
	}
	if _, err := ParseCheckpoint(c.Text()); err != nil {
		return "", fmt.Errorf("sign checkpoint: %w", err)
	}
	signed, err := note.Sign(&note.Note{Text: c.Text()}, s)
	if err != nil {
		return "", fmt.Errorf("sign checkpoint: %w", err)
	}
	return string(signed), nil
}

// OpenCheckpoint reads a signed checkpoint and verifies the log's signature: at least one line under the log's name and
// key hash, none of them bad, and the log's name as origin. Lines of other keys, witnesses for instance, are ignored. When
// only the signature or the origin is at fault the error wraps ErrSignature and the checkpoint is returned all the same.
func OpenCheckpoint(signed string, log note.Verifier) (Checkpoint, error) {
	c, err := ReadCheckpoint(signed)
	if err != nil {
		return Checkpoint{}, phrase.Errorf("open checkpoint: %w", err)
	}
	if _, err := commitment.OpenNote(signed, log); err != nil {
		return c, phrase.Errorf("open checkpoint: %w", err)
	}
	if c.Origin != log.Name() {
		return c, phrase.Errorf("open checkpoint: %w: origin %s under the key of %s", ErrSignature, c.Origin, log.Name())
	}
	return c, nil
}

// ReadCheckpoint reads a signed checkpoint without verifying any signature.
func ReadCheckpoint(signed string) (Checkpoint, error) {
	n, err := commitment.ParseNote(signed)
	if err != nil {
		return Checkpoint{}, phrase.Errorf("read checkpoint: %w", err)
	}
	c, err := ParseCheckpoint(n.Text)
	if err != nil {
		return Checkpoint{}, phrase.Errorf("read checkpoint: %w", err)
	}
	return c, nil
}

// parseBase64Hash reads 32 bytes of canonical base64.
func parseBase64Hash(s string) (Hash, error) {
	raw, err := base64.StdEncoding.Strict().DecodeString(s)
	if err != nil || len(raw) != len(Hash{}) || base64.StdEncoding.EncodeToString(raw) != s {
		return Hash{}, errors.New("not the canonical base64 of 32 bytes")
	}
	return Hash(raw), nil
}
