package sheet

import (
	"slices"

	"fairdice/internal/phrase"
	"fairdice/replay"
	"fairdice/rules"
)

// reading is one way to understand the rows so far.
type reading struct {
	state   replay.State
	penalty int
	trail   *trail // the events that led here, if they are kept

	// withheld is what is wrong with the last throw, which nothing was played with: only a result after it can explain that.
	withheld *replay.Finding
}

// corpse is why a reading that is no longer possible stopped being so.
type corpse struct {
	finding replay.Finding
	penalty int
	row     int // in which it ended
}

// add takes a reading into the next ones; equal states are one reading.
func (s *Sheet) add(r reading) {
	for i := range s.next {
		if s.next[i].state == r.state {
			s.next[i].penalty = min(s.next[i].penalty, r.penalty)
			return
		}
	}
	if len(s.next) < maxReadings {
		s.next = append(s.next, r)
	}
}

// bury ends a reading that a row contradicts.
func (s *Sheet) bury(line int, r reading, err error) {
	s.die(corpse{penalty: r.penalty, finding: s.refused(line, err)})
}

// die remembers why a reading ended.
func (s *Sheet) die(c corpse) {
	c.row = s.row
	s.dead = append(s.dead, c)
}

// memory is how many rows back a reading may have ended and still be the one that tells what is wrong. A wrong reading of who was hit
// dies in the next row or two: the checker is on the bar, or it moves. One that lives longer than another was the right one.
const memory = 2

// cause returns what is wrong when no reading is left: of those that got furthest, the one whose stars fitted best.
func (s *Sheet) cause() replay.Finding {
	furthest := 0
	for _, c := range s.dead {
		furthest = max(furthest, c.row)
	}
	best := -1
	for i, c := range s.dead {
		if c.row < furthest-memory {
			continue
		}
		if best < 0 || c.penalty < s.dead[best].penalty || c.penalty == s.dead[best].penalty && c.finding.Line > s.dead[best].finding.Line {
			best = i
		}
	}
	return s.dead[best].finding
}

// settle takes over the next readings; without any the game has failed.
func (s *Sheet) settle(line int, what string) {
	s.readings, s.next = s.next, s.readings
	if len(s.readings) == 0 {
		s.report.add(s.cause())
		s.readings, s.next = s.next, s.readings
		s.lose(line)
		return
	}
	s.dead = slices.DeleteFunc(s.dead, func(c corpse) bool { return c.row < s.row-memory })
	if s.opt.Observe != nil {
		s.opt.Observe(s.report.Games, line, what, s.best().state)
	}
}

func (s *Sheet) best() reading {
	best := s.readings[0]
	for _, r := range s.readings[1:] {
		if r.penalty < best.penalty {
			best = r
		}
	}
	return best
}

// pass lets a seat that did not roll pass, if no roll could have been played.
func (s *Sheet) pass(line int) {
	s.halted = false
	s.next = s.next[:0]
	for _, r := range s.readings {
		if st, roll, ok := s.closedOut(r.state); ok {
			s.add(reading{state: st, penalty: r.penalty, trail: s.trace(r.trail, roll, replay.Event{Kind: replay.Move, Seat: s.waiting})})
			continue
		}
		s.die(corpse{penalty: r.penalty, finding: s.finding(s.last, replay.CheckMoves, "no-dice",
			phrase.Errorf("%s has no dice here, though some could be played", s.waiting))})
	}
	s.last = line
	if s.settle(line, "pass"); s.state == failed {
		s.skip(replay.Event{Kind: replay.Move, Seat: s.waiting})
	}
}

// closedOut returns the state after a throw that cannot be played and its pass, and whether no dice could have been played.
func (s *Sheet) closedOut(st replay.State) (passed replay.State, roll replay.Event, ok bool) {
	for a := uint8(1); a <= 6; a++ {
		for b := a; b <= 6; b++ {
			roll = replay.Event{Kind: replay.Roll, Seat: s.waiting, Dice: rules.Dice{A: a, B: b}}
			next, err := st.Apply(&s.decoder.gen, roll)
			if err == nil {
				next, err = next.Apply(&s.decoder.gen, replay.Event{Kind: replay.Move, Seat: s.waiting})
			}
			if err != nil {
				return st, roll, false
			}
			passed = next
		}
	}
	return passed, roll, true
}
