package rules

import (
	"fmt"
	"strconv"
	"strings"
)

// XGID is a position as eXtreme Gammon writes it, with cube, dice and score. The player at the bottom is White.
type XGID struct {
	Position Position
	Cube     int   // exponent of two
	Owner    int   // of the cube: 1 White, -1 Black, 0 centred
	OnRoll   Color // whose turn it is
	Dice     Dice  // zero: not thrown
	Offer    byte  // instead of dice: 'D' doubled, 'B' beavered, 'R' raccooned; 0: none
	Score    [2]int
	Flags    int // in a match 1: Crawford game; for money 1: Jacoby, 2: beavers, 3: both
	Length   int // of the match; 0: money
	MaxCube  int // exponent
}

const (
	xgidPrefix = "XGID="
	xgidFields = 10
	xgidPlaces = 26 // Black's bar, White's points 1 to 24, White's bar
	xgidLimit  = 999
	xgidText   = 256
)

// xgidPlace maps a place to the slots of both sides; ok is false for a side that cannot stand there.
func xgidPlace(place int) (slots [2]uint, ok [2]bool) {
	switch place {
	case 0:
		return [2]uint{}, [2]bool{Black: true}
	case 25:
		return [2]uint{}, [2]bool{White: true}
	}
	return [2]uint{White: uint(25 - place), Black: uint(place)}, [2]bool{true, true}
}

// String writes the XGID, prefix included.
func (x XGID) String() string {
	var b strings.Builder
	b.WriteString(xgidPrefix)
	for place := range xgidPlaces {
		slots, ok := xgidPlace(place)
		letter := byte('-')
		for c, first := range [2]byte{White: 'A', Black: 'a'} {
			if n := x.Position.sides[c].count(slots[c]); ok[c] && n > 0 {
				letter = first + byte(n) - 1
			}
		}
		b.WriteByte(letter)
	}
	turn, dice := 1, "00"
	if x.OnRoll == Black {
		turn = -1
	}
	switch {
	case x.Offer != 0:
		dice = string(x.Offer)
	case x.Dice.Valid():
		dice = strconv.Itoa(int(x.Dice.A)) + strconv.Itoa(int(x.Dice.B))
	}
	fmt.Fprintf(&b, ":%d:%d:%d:%s:%d:%d:%d:%d:%d", x.Cube, x.Owner, turn, dice, x.Score[White], x.Score[Black], x.Flags, x.Length, x.MaxCube)
	return b.String()
}

// ParseXGID reads an XGID of a game with a bar; checkers it does not place are borne off. It takes only what
// String writes.
func (r Rules) ParseXGID(text string) (XGID, error) {
	x, err := r.parseXGID(text)
	if err != nil {
		return XGID{}, fmt.Errorf("parse xgid: %w", err)
	}
	return x, nil
}

func (r Rules) parseXGID(text string) (x XGID, err error) {
	if !r.HasBar() {
		return x, fmt.Errorf("contact %s has no bar", r.Contact)
	}
	body, ok := strings.CutPrefix(text, xgidPrefix)
	if !ok || len(text) > xgidText {
		return x, fmt.Errorf("%.40q: want %s and %d fields in at most %d bytes", text, xgidPrefix, xgidFields, xgidText)
	}
	f := strings.Split(body, ":")
	if len(f) != xgidFields {
		return x, fmt.Errorf("%d fields, want %d", len(f), xgidFields)
	}
	if x.Position, err = r.xgidPosition(f[0]); err != nil {
		return x, err
	}
	turn := 0
	for _, field := range []struct {
		name     string
		text     string
		into     *int
		min, max int
	}{
		{"cube", f[1], &x.Cube, 0, 30},
		{"cube owner", f[2], &x.Owner, -1, 1},
		{"turn", f[3], &turn, -1, 1},
		{"score", f[5], &x.Score[White], 0, xgidLimit},
		{"score", f[6], &x.Score[Black], 0, xgidLimit},
		{"flags", f[7], &x.Flags, 0, 3},
		{"match length", f[8], &x.Length, 0, xgidLimit},
		{"maximal cube", f[9], &x.MaxCube, 0, 30},
	} {
		n, err := strconv.Atoi(field.text)
		if err != nil || strconv.Itoa(n) != field.text || n < field.min || n > field.max {
			return x, fmt.Errorf("%s %q, want %d to %d", field.name, field.text, field.min, field.max)
		}
		*field.into = n
	}
	switch turn {
	case 0:
		return x, fmt.Errorf("turn 0, want 1 or -1")
	case -1:
		x.OnRoll = Black
	}
	switch d := f[4]; {
	case d == "00":
	case d == "D" || d == "B" || d == "R":
		x.Offer = d[0]
	case len(d) == 2 && (Dice{d[0] - '0', d[1] - '0'}).Valid():
		x.Dice = Dice{d[0] - '0', d[1] - '0'}
	default:
		return x, fmt.Errorf("dice %q, want 00, two dice, D, B or R", d)
	}
	return x, nil
}

func (r Rules) xgidPosition(text string) (Position, error) {
	if len(text) != xgidPlaces {
		return Position{}, fmt.Errorf("%d places, want %d", len(text), xgidPlaces)
	}
	s := Setup{Off: [2]int{r.Checkers(), r.Checkers()}}
	for place := range xgidPlaces {
		letter := text[place]
		if letter == '-' {
			continue
		}
		c, n := White, int(letter-'A')+1
		if letter >= 'a' {
			c, n = Black, int(letter-'a')+1
		}
		slots, ok := xgidPlace(place)
		if letter < 'A' || n > 15 || !ok[c] {
			return Position{}, fmt.Errorf("place %d is %q", place, letter)
		}
		s.Off[c] -= n
		if slots[c] == barSlot {
			s.Bar[c] = n
		} else {
			s.Points[c][slots[c]-1] = n
		}
	}
	return r.placed(s)
}
