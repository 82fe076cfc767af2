package commitment

import (
	"errors"
	"fmt"
	"slices"
)

// An Archive is the file of recorded throws behind one sequence of mode real: a line of 64 random hex digits, the salt
// that keeps its hash from being guessed, then one throw "d1 d2" a line (PROTOCOL.md §2).
type Archive struct {
	salt   Hash
	throws []Dice
}

const (
	archiveSaltLine  = 2*len(Hash{}) + 1 // salt and LF
	archiveThrowLine = 4                 // "d d" and LF
)

// NewArchive makes an archive of 3 to MaxRolls valid throws under a random salt.
func NewArchive(salt Hash, throws []Dice) (*Archive, error) {
	if len(throws) < 3 || len(throws) > MaxRolls {
		return nil, fmt.Errorf("make archive: %d throws, want 3 to %d", len(throws), MaxRolls)
	}
	for i, d := range throws {
		if !d.Valid() {
			return nil, fmt.Errorf("make archive: throw %d is %s, not two dice", i, d)
		}
	}
	return &Archive{salt: salt, throws: slices.Clone(throws)}, nil
}

// ParseArchive reads an archive file. Every line has a fixed width, so the only text of an archive is its Text.
func ParseArchive(data []byte) (*Archive, error) {
	if len(data) > archiveSaltLine+MaxRolls*archiveThrowLine {
		return nil, fmt.Errorf("parse archive: %d bytes, more than %d throws need", len(data), MaxRolls)
	}
	if len(data) < archiveSaltLine || data[archiveSaltLine-1] != '\n' {
		return nil, errors.New("parse archive: line 1 is not a salt of 64 lower-case hex digits")
	}
	salt, err := ParseHash(string(data[:archiveSaltLine-1]))
	if err != nil {
		return nil, errors.New("parse archive: line 1 is not a salt of 64 lower-case hex digits")
	}
	rest := data[archiveSaltLine:]
	throws := make([]Dice, 0, len(rest)/archiveThrowLine)
	for len(rest) > 0 {
		line := 2 + len(throws)
		if len(rest) < archiveThrowLine || rest[1] != ' ' || rest[3] != '\n' {
			return nil, fmt.Errorf("parse archive: line %d is not \"d1 d2\" and LF", line)
		}
		d := Dice{rest[0] - '0', rest[2] - '0'}
		if !d.Valid() {
			return nil, fmt.Errorf("parse archive: line %d holds a die that is not 1 to 6", line)
		}
		throws = append(throws, d)
		rest = rest[archiveThrowLine:]
	}
	a, err := NewArchive(salt, throws)
	if err != nil {
		return nil, fmt.Errorf("parse archive: %w", err)
	}
	return a, nil
}

// Text returns the file.
func (a *Archive) Text() []byte {
	b := make([]byte, 0, archiveSaltLine+len(a.throws)*archiveThrowLine)
	b = append(append(b, a.salt.String()...), '\n')
	for _, d := range a.throws {
		b = append(b, '0'+d.D1, ' ', '0'+d.D2, '\n')
	}
	return b
}

// Hash returns H of the file, its name in `archive` lines and under /archive/.
func (a *Archive) Hash() Hash { return Sum(a.Text()) }

// Len returns the number of throws.
func (a *Archive) Len() int { return len(a.throws) }

// Format keeps salt and throws, which are secret until the sequence's secret is, out of logs.
func (a Archive) Format(f fmt.State, _ rune) { fmt.Fprintf(f, "archive of %d throws", len(a.throws)) }

// Throw returns throw i in recorded order, from 0.
func (a *Archive) Throw(i int) Dice { return a.throws[i] }
