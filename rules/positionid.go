package rules

import (
	"encoding/base64"
	"errors"
	"fmt"
)

// A GNU Backgammon Position ID is 80 bits: the opponent's checkers on his points 1 to 24 and his bar, then the same
// for the side on roll, each count as that many ones closed by a zero, lowest bit first, in base64 without padding.
const (
	positionIDBytes = 10
	positionIDChars = 14
)

// PositionID returns the GNU Backgammon Position ID seen by onRoll. Only the games with a bar have one.
func (r Rules) PositionID(p Position, onRoll Color) (string, error) {
	if !r.HasBar() {
		return "", fmt.Errorf("write position id: contact %s has no bar", r.Contact)
	}
	var key [positionIDBytes]byte
	bit := 0
	for _, c := range [2]Color{onRoll.Other(), onRoll} {
		for number := 1; number <= 25; number++ {
			n := p.sides[c].count(uint(25 - number)) // own number n is slot 25-n, the bar slot 0
			for ; n > 0; n-- {
				key[bit/8] |= 1 << (bit % 8)
				bit++
			}
			bit++
		}
	}
	return base64.RawStdEncoding.EncodeToString(key[:]), nil
}

// ParsePositionID reads a Position ID whose side on roll is onRoll. Checkers that the ID does not place are borne off.
func (r Rules) ParsePositionID(id string, onRoll Color) (Position, error) {
	if !r.HasBar() {
		return Position{}, fmt.Errorf("parse position id: contact %s has no bar", r.Contact)
	}
	if len(id) != positionIDChars {
		return Position{}, fmt.Errorf("parse position id: %d characters, want %d", len(id), positionIDChars)
	}
	key, err := base64.RawStdEncoding.Strict().DecodeString(id)
	if err == nil && len(key) != positionIDBytes {
		err = errors.New("line breaks in it") // which the decoder skips
	}
	if err != nil {
		return Position{}, fmt.Errorf("parse position id %q: %w", id, err)
	}
	var s Setup
	bit := 0
	for _, c := range [2]Color{onRoll.Other(), onRoll} {
		s.Off[c] = r.Checkers()
		for number := 1; number <= 25; number++ {
			n := 0
			for ; bit < 8*positionIDBytes && key[bit/8]>>(bit%8)&1 != 0; bit++ {
				n++
			}
			if bit >= 8*positionIDBytes {
				return Position{}, fmt.Errorf("parse position id %q: it ends before all points are told", id)
			}
			bit++
			s.Off[c] -= n
			if number == 25 {
				s.Bar[c] = n
			} else {
				s.Points[c][24-number] = n
			}
		}
	}
	for ; bit < 8*positionIDBytes; bit++ {
		if key[bit/8]>>(bit%8)&1 != 0 {
			return Position{}, fmt.Errorf("parse position id %q: checkers follow the last point", id)
		}
	}
	p, err := r.placed(s)
	if err != nil {
		return Position{}, fmt.Errorf("parse position id %q: %w", id, err)
	}
	return p, nil
}
