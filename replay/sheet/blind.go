package sheet

import (
	"fairdice/internal/phrase"
	"fairdice/replay"
)

// lose goes on without the board: a row was refused in this line, and what the rows after it do to the checkers cannot be judged. Turns,
// the cube and the result still can.
func (s *Sheet) lose(line int) {
	s.state = failed
	s.outline = s.best().state.Outline()
	s.unchecked(line, "the rows after this one are checked for turns, cube and result only: the position is not known")
}

// unchecked records something that cannot be checked.
func (s *Sheet) unchecked(line int, format string, args ...any) {
	if len(s.report.Unchecked) < maxNotes {
		s.report.Unchecked = append(s.report.Unchecked, NewNote(s.report.Games, line, phrase.Errorf(format, args...)))
	}
}

// skip tells of the row that was refused.
func (s *Sheet) skip(events ...replay.Event) {
	for _, e := range events {
		if e.Kind == replay.Double {
			e.Kind = s.outline.Redouble(e.Seat)
		}
		s.outline.Skip(e)
	}
}

// blind judges a row of a game that has failed already, with one finding at most.
func (s *Sheet) blind(line int, events ...replay.Event) {
	if s.state != failed {
		return
	}
	s.last = line
	if s.named {
		s.skip(events...)
		return
	}
	for i, e := range events {
		if e.Kind == replay.Double {
			e.Kind = s.outline.Redouble(e.Seat)
		}
		if r := s.outline.Next(e); r != nil {
			s.report.add(replay.NewFinding(s.report.Games, line, r))
			s.skip(events[i+1:]...)
			return
		}
	}
}

// judgeBlind judges the result of a game that has failed.
func (s *Sheet) judgeBlind() {
	if s.result == nil || s.result.Draw {
		s.scored = false
		return
	}
	winner, points, decided := s.outline.Decided()
	var why error
	category := "result-points"
	switch {
	case decided && winner != s.result.Winner:
		why, category = phrase.Errorf("%s has won the game", winner), "result-winner"
	case s.gaveUp && s.loser == s.result.Winner:
		why, category = phrase.Errorf("%s has given up and cannot have won", s.loser), "result-winner"
	case decided && points > 0 && !s.fits(points):
		why = phrase.Errorf("the game was worth %d, not %d", points, s.result.Points)
	case !decided && !s.worthSomething(&s.outline):
		why = phrase.Errorf("with the cube at %d no game is worth %d", s.outline.Cube(), s.result.Points)
	}
	if why != nil {
		s.report.add(s.finding(s.result.line, replay.CheckResult, category, why))
		s.scored = false
		return
	}
	s.count(s.result.Winner, s.result.Points)
}

// worthSomething reports whether the points given fit some end of the game.
func (s *Sheet) worthSomething(o *replay.Outline) bool {
	if left := s.left(); left > 0 && s.result.Points == left || s.code(o.Cube()) {
		return true
	}
	for points := o.Cube(); o.Fits(points); points += o.Cube() {
		if s.fits(points) {
			return true
		}
	}
	return false
}

// code reports whether the points are one of the codes that programs write instead, such as 1004.
func (s *Sheet) code(cube int64) bool {
	return s.result.Points >= 1000*cube && s.result.Points%cube == 0
}
