package sheet

import (
	"strconv"

	"fairdice/replay"
)

// Result takes a row that says who won how many points. A game may have several such rows; they must agree.
func (s *Sheet) Result(line int, winner replay.Seat, points int64) {
	if s.state != running {
		return
	}
	s.last = line
	if s.result != nil {
		if s.result.winner != winner || s.result.points != points {
			s.fail(line, replay.CheckResult, "result-twice", "line %d says that %s won %d points", s.result.line, s.result.winner, s.result.points)
		}
		return
	}
	s.result = &outcome{winner: winner, points: points, line: line}
}

// Points takes a row that says what the game was worth, but not reliably whose the points are.
func (s *Sheet) Points(line int, points int64) {
	if s.state != running {
		return
	}
	s.last = line
	if s.worth != nil && s.worth.points != points {
		s.fail(line, replay.CheckResult, "result-twice", "line %d gives %d points", s.worth.line, s.worth.points)
		return
	}
	s.worth = &outcome{points: points, line: line}
}

// closeGame judges the result of the running game.
func (s *Sheet) closeGame(lastGame bool) {
	if s.state == running {
		s.judge(lastGame)
	}
	s.state = noGame
}

func (s *Sheet) judge(lastGame bool) {
	if s.result == nil {
		s.judgeOpenEnd(lastGame)
		return
	}
	if s.worth != nil && s.worth.points != s.result.points {
		s.fail(s.worth.line, replay.CheckResult, "result-twice", "line %d gives %d points", s.result.line, s.result.points)
		return
	}
	// The readings that the result fits are the possible ones.
	for _, r := range s.readings {
		f, points := s.fit(r.state)
		if f == nil {
			s.count(s.result.winner, points)
			return
		}
		s.die(corpse{finding: *f, penalty: r.penalty})
	}
	s.report.add(s.cause())
	s.scored = false
}

// fit returns what is wrong with the result after a reading, or the points that count.
func (s *Sheet) fit(st replay.State) (*replay.Finding, int64) {
	wrong := func(category, message string) (*replay.Finding, int64) {
		return &replay.Finding{Game: s.report.Games, Line: s.result.line, Check: replay.CheckResult, Category: category, Message: message}, 0
	}
	if s.gaveUp && s.result.winner == s.loser {
		return wrong("result-winner", s.loser.String()+" has given up and cannot have won")
	}
	if st.Decided() {
		r := st.Result()
		switch {
		case r.Seat != s.result.winner:
			return wrong("result-winner", r.Seat.String()+" has won the game ("+r.Why.String()+")")
		case s.fits(r.Points):
			return nil, s.result.points
		case s.opt.Length == 0 && !st.Doubled() && s.result.points == 1:
			s.Note(s.result.line, "1 point fits the Jacoby rule; without it the game was worth %d", r.Points)
			return nil, 1
		default:
			return wrong("result-points", "the game was worth "+itoa(r.Points)+", not "+itoa(s.result.points))
		}
	}
	if due := st.Due(); due.Kind == replay.DueOpening {
		s.Note(s.result.line, "the game was given up before its first roll")
	}
	// Given up: any level of a game may have been, times the cube.
	cube := st.Cube().Value
	for level := range int64(s.opt.Variant.Rules.MaxLevel()) {
		points := (level + 1) * cube
		if s.fits(points) {
			return nil, s.result.points
		}
	}
	if left := s.left(); left > 0 && s.result.points == left {
		s.Note(s.result.line, "all %d points that were missing are given to %s: the match was given up", left, s.result.winner)
		return nil, left
	}
	if s.result.points >= 1000*cube && s.result.points%cube == 0 {
		s.Note(s.result.line, "%d points are a code of the program, not a number of points: the score after the game is not checked", s.result.points)
		return nil, -1
	}
	return wrong("result-points", "a game given up with the cube at "+itoa(cube)+" is worth "+itoa(cube)+" to "+
		itoa(cube*int64(s.opt.Variant.Rules.MaxLevel()))+", not "+itoa(s.result.points))
}

// judgeOpenEnd judges a game without a row that says who won.
func (s *Sheet) judgeOpenEnd(lastGame bool) {
	switch best := s.best(); {
	case best.state.Decided():
		r := best.state.Result()
		if s.worth != nil {
			s.result = &outcome{winner: r.Seat, points: s.worth.points, line: s.worth.line}
			s.judge(lastGame)
			return
		}
		s.count(r.Seat, r.Points)
		s.scored = s.scored && s.opt.Length > 0
	case s.worth != nil:
		s.Note(s.worth.line, "%d points, but not whose: the score after the game is not checked", s.worth.points)
		s.scored = false
	case s.gaveUp:
		s.Note(s.last, "%s gives up, but not how many points: the score after the game is not checked", s.loser)
		s.scored = false
	case lastGame:
		s.report.Unfinished = true
	case best.withheld != nil:
		s.report.add(*best.withheld)
		s.scored = false
	default:
		s.fail(s.last, replay.CheckResult, "end-missing", "the game has no end: %s is due", best.state.Due())
	}
}

// fits reports whether the points given are those of a win, or what programs leave of it at the end of a match: no more than
// the winner was missing, or no more than the match was played to.
func (s *Sheet) fits(points int64) bool {
	given := s.result.points
	if given == points {
		return true
	}
	left := s.left()
	return left > 0 && points >= left && (given == left || given == int64(s.opt.Length) && points >= given)
}

// left returns how many points the winner was missing; 0 if that is not known.
func (s *Sheet) left() int64 {
	if s.opt.Length == 0 || !s.scored || s.result == nil {
		return 0
	}
	return int64(s.opt.Length - s.score[s.result.winner])
}

// count adds a win to the score; a negative number makes the score unknown.
func (s *Sheet) count(winner replay.Seat, points int64) {
	if points < 0 || points > replay.MaxCube {
		s.scored = false
		return
	}
	s.score[winner] += int(points)
}

func itoa(n int64) string { return strconv.FormatInt(n, 10) }
