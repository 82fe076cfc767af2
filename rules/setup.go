package rules

import (
	"errors"
	"fmt"
)

// Setup is any arrangement of checkers, possible or not. Points and Pinned are indexed by colour and own-path index.
type Setup struct {
	Points [2][24]int
	Bar    [2]int
	Off    [2]int
	Pinned [2][24]bool // the side's single checker there is held by the enemy
}

// Position proves that the setup can stand on a board under these rules. The error joins every reason why not.
func (r Rules) Position(s Setup) (Position, error) {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf(format, args...)) }
	if err := r.Validate(); err != nil {
		return Position{}, fmt.Errorf("check position: %w", err)
	}
	n := r.Checkers()
	p := Position{route: r.Route}
	for c := White; c <= Black; c++ {
		total, absurd := 0, false
		put := func(count int, slot uint) (fits bool) {
			if count < 0 || count > n {
				absurd = true
				return false
			}
			total += count
			p.sides[c][slot>>4] += uint64(count) << (slot & 15 * 4)
			return true
		}
		for idx, count := range s.Points[c] {
			if !put(count, uint(idx+1)) {
				refuse("%s has %d checkers on point %d, want 0 to %d", c, count, r.PointNumber(c, idx), n)
			}
		}
		if s.Bar[c] != 0 && !r.HasBar() {
			refuse("%s has a checker on the bar, and nothing is ever hit in this game", c)
		}
		if !put(s.Bar[c], barSlot) {
			refuse("%s has %d checkers on the bar, want 0 to %d", c, s.Bar[c], n)
		}
		if !put(s.Off[c], offSlot) {
			refuse("%s has %d checkers borne off, want 0 to %d", c, s.Off[c], n)
		}
		if !absurd && total != n {
			refuse("%s has %d checkers, want %d", c, total, n)
		}
		for idx, pinned := range s.Pinned[c] {
			if pinned {
				p.sides[c][1] |= 1 << (pinShift + idx)
			}
		}
	}
	for idx, white := range s.Points[White] {
		there := r.Route.across(idx)
		black := s.Points[Black][there]
		heldWhite, heldBlack := s.Pinned[White][idx], s.Pinned[Black][there]
		number := r.PointNumber(White, idx)
		switch shared := white > 0 && black > 0; {
		case shared && !r.Pins():
			refuse("point %d holds checkers of both colours", number)
		case shared && heldWhite == heldBlack:
			refuse("white's point %d is shared: exactly one side must be pinned there", number)
		case heldWhite && (white != 1 || black < 1):
			refuse("white is marked pinned on his point %d without one white checker held by black", number)
		case heldBlack && (black != 1 || white < 1):
			refuse("black is marked pinned on his point %d without one black checker held by white", r.PointNumber(Black, there))
		}
	}
	if s.Off[White] == n && s.Off[Black] == n && !r.ReplyTurn() {
		refuse("both sides have borne off all their checkers, and there is no reply turn in this game")
	}
	if errs != nil {
		return Position{}, fmt.Errorf("check position: %w", errors.Join(errs...))
	}
	return p, nil
}

// placed proves a setup that was read from placed checkers alone, the rest counted as borne off. It words
// a surplus of checkers as what it is, not as a negative number of borne-off ones.
func (r Rules) placed(s Setup) (Position, error) {
	for c, off := range s.Off {
		if off < 0 {
			return Position{}, fmt.Errorf("%s has %d checkers, want at most %d", Color(c), r.Checkers()-off, r.Checkers())
		}
	}
	return r.Position(s)
}

// Setup returns the position as an arrangement that can be edited.
func (p Position) Setup() Setup {
	var s Setup
	for c := White; c <= Black; c++ {
		for idx := range 24 {
			s.Points[c][idx] = p.At(c, idx)
			s.Pinned[c][idx] = p.Held(c, idx)
		}
		s.Bar[c], s.Off[c] = p.Bar(c), p.Off(c)
	}
	return s
}
