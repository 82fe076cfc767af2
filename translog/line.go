package translog

import (
	"fmt"

	"golang.org/x/mod/sumdb/note"

	"fairdice/commitment"
)

// A Line is a signature on a checkpoint that is not the log's own.
type Line struct {
	Name    string
	Hash    string // of the key, 8 hex digits, as the line says
	Known   bool   // one of the given witnesses has that name and hash
	Seconds int64  // when he cosigned, since 1970; 0 unless Err is nil and Known is true
	Err     error  // wraps ErrSignature: of a known witness, and not good
}

// Lines reads whose signatures a checkpoint has besides those of its log, in
// their order, and which of them are good cosignatures of the given witnesses.
// A line of nobody who is known proves nothing and is no fault; the error says
// that the note is malformed.
func Lines(signed string, log note.Verifier, witnesses []Witness) ([]Line, error) {
	n, err := commitment.ParseNote(signed)
	if err != nil {
		return nil, fmt.Errorf("read cosignatures: %w", err)
	}
	lines := []Line{}
	for _, s := range n.UnverifiedSigs {
		if s.Name == log.Name() && s.Hash == log.KeyHash() {
			continue
		}
		l := Line{Name: s.Name, Hash: fmt.Sprintf("%08x", s.Hash)}
		for _, w := range witnesses {
			if w.key.Name == s.Name && w.key.KeyHash() == s.Hash {
				l.Known = true
				l.Seconds, l.Err = w.verify(n.Text, commitment.SignatureBytes(s))
				break
			}
		}
		lines = append(lines, l)
	}
	return lines, nil
}
