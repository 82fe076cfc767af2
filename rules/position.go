package rules

import (
	"fmt"
	"strconv"
	"strings"
)

// Special places on a path besides the indices 0 to 23.
const (
	Bar = -1
	Off = 24
)

// Position is an arrangement of checkers that was proved possible under its rules: by [Rules.Position], by
// [ParsePosition], or because a legal stage led to it. It is comparable and holds no pointers. The zero value is an
// empty board.
type Position struct {
	sides [2]side
	route Route
}

// At returns c's checkers on his own-path index 0 to 23.
func (p Position) At(c Color, idx int) int { return int(p.sides[c].count(uint(idx + 1))) }

// Bar returns c's checkers on the bar.
func (p Position) Bar(c Color) int { return int(p.sides[c].count(barSlot)) }

// Off returns c's checkers that are borne off.
func (p Position) Off(c Color) int { return int(p.sides[c].count(offSlot)) }

// Held reports whether c's single checker on own-path index idx is pinned.
func (p Position) Held(c Color, idx int) bool { return p.sides[c].pinned()>>idx&1 != 0 }

// AllHome reports whether no checker of c stands outside his home, bar included (RULES.md §3).
func (p Position) AllHome(c Color) bool { return p.sides[c].occupied()&outsideSlots == 0 }

// Pips returns how many points c's checkers are from being borne off; a checker on the bar counts 25.
func (p Position) Pips(c Color) int {
	pips := 25 * p.Bar(c)
	for idx := range 24 {
		pips += (24 - idx) * p.At(c, idx)
	}
	return pips
}

// String writes the position on one line: White, " | ", Black; each side as point:count in ascending order of the
// number records use, a p after the count of a pinned checker, then bar:n and off:n if not zero.
func (p Position) String() string {
	b := make([]byte, 0, 160)
	b = p.appendSide(b, White)
	b = append(b, " | "...)
	b = p.appendSide(b, Black)
	return string(b)
}

func (p Position) appendSide(b []byte, c Color) []byte {
	start := len(b)
	entry := func(name string, count int) {
		if len(b) > start {
			b = append(b, ' ')
		}
		b = append(b, name...)
		b = append(b, ':')
		b = strconv.AppendInt(b, int64(count), 10)
	}
	for number := 1; number <= 24; number++ {
		idx := p.route.index(c, number)
		if n := p.At(c, idx); n > 0 {
			entry(strconv.Itoa(number), n)
			if p.Held(c, idx) {
				b = append(b, 'p')
			}
		}
	}
	if n := p.Bar(c); n > 0 {
		entry("bar", n)
	}
	if n := p.Off(c); n > 0 {
		entry("off", n)
	}
	return b
}

// maxPositionText bounds what ParsePosition looks at; the longest real position has fewer than 200 bytes.
const maxPositionText = 1024

// ParsePosition reads what [Position.String] writes, and nothing else: every position has exactly one text.
func ParsePosition(r Rules, text string) (Position, error) {
	if len(text) > maxPositionText {
		return Position{}, fmt.Errorf("parse position: %d bytes, want at most %d", len(text), maxPositionText)
	}
	white, black, ok := strings.Cut(text, "|")
	if !ok {
		return Position{}, fmt.Errorf("parse position: no | between the sides in %q", text)
	}
	var s Setup
	for c, side := range [2]string{White: strings.TrimSuffix(white, " "), Black: strings.TrimPrefix(black, " ")} {
		c := Color(c)
		if err := s.parseSide(r, c, side); err != nil {
			return Position{}, fmt.Errorf("parse position: %s: %w", c, err)
		}
	}
	p, err := r.Position(s)
	if err != nil {
		return Position{}, fmt.Errorf("parse position: %w", err)
	}
	if canonical := p.String(); canonical != text {
		return Position{}, fmt.Errorf("parse position: %q is not canonical, want %q", text, canonical)
	}
	return p, nil
}

func (s *Setup) parseSide(r Rules, c Color, text string) error {
	if text == "" {
		return nil
	}
	for entry := range strings.SplitSeq(text, " ") {
		place, count, ok := strings.Cut(entry, ":")
		if !ok {
			return fmt.Errorf("entry %q: want place:count", entry)
		}
		count, pinned := strings.CutSuffix(count, "p")
		n, err := strconv.Atoi(count)
		if err != nil {
			return fmt.Errorf("entry %q: count is not a number", entry)
		}
		if pinned && (place == "bar" || place == "off") {
			return fmt.Errorf("entry %q: only a checker on a point is pinned", entry)
		}
		switch place {
		case "bar":
			s.Bar[c] += n
		case "off":
			s.Off[c] += n
		default:
			number, err := strconv.Atoi(place)
			if err != nil || number < 1 || number > 24 {
				return fmt.Errorf("entry %q: place is not a point 1 to 24, bar or off", entry)
			}
			idx := r.PointIndex(c, number)
			if s.Points[c][idx] != 0 {
				return fmt.Errorf("entry %q: point %d is named twice", entry, number)
			}
			s.Points[c][idx] = n
			s.Pinned[c][idx] = pinned
		}
	}
	return nil
}
