package sheet

import (
	"errors"

	"fairdice/internal/phrase"
	"fairdice/replay"
)

// claim is a row that says who has won how many points.
type claim struct {
	Outcome
	line int
}

// Result takes a row that says who won how many points. A game may have several such rows; they must agree.
func (s *Sheet) Result(line int, winner replay.Seat, points int64) {
	s.claim(line, Outcome{Winner: winner, Points: points})
}

// Draw takes a row that says that nobody has won.
func (s *Sheet) Draw(line int) { s.claim(line, Outcome{Draw: true}) }

func (s *Sheet) claim(line int, o Outcome) {
	if s.state == noGame {
		return
	}
	s.last = line
	switch {
	case s.result == nil:
		s.result = &claim{Outcome: o, line: line}
	case s.result.Outcome != o:
		s.find(line, replay.CheckResult, "result-twice", "line %d says that %s", s.result.line, s.result.words())
		s.contradict(line)
	}
}

func (o Outcome) words() error {
	if o.Draw {
		return errors.New("the game was drawn")
	}
	return phrase.Errorf("%s won %d points", o.Winner, o.Points)
}

// Points takes a row that says what the game was worth, but not reliably whose the points are.
func (s *Sheet) Points(line int, points int64) {
	if s.state == noGame {
		return
	}
	s.last = line
	if s.worth != nil && s.worth.Points != points {
		s.find(line, replay.CheckResult, "result-twice", "line %d gives %d points", s.worth.line, s.worth.Points)
		s.contradict(line)
		return
	}
	s.worth = &claim{Outcome: Outcome{Points: points}, line: line}
}

// contradict gives up on the result: two rows disagree.
func (s *Sheet) contradict(line int) {
	if s.state == running {
		s.lose(line)
	}
	s.result, s.worth, s.refuted = nil, nil, true
}

// closeGame judges the result of the running game.
func (s *Sheet) closeGame(lastGame bool) {
	switch s.state {
	case running:
		s.judge(lastGame)
	case failed:
		s.judgeBlind()
	}
	s.state = noGame
}

func (s *Sheet) judge(lastGame bool) {
	if s.hints.Ending != nil && !s.giveUpAs(*s.hints.Ending) {
		s.scored = false
		return
	}
	if s.result == nil {
		s.judgeOpenEnd(lastGame)
		return
	}
	if s.worth != nil && s.worth.Points != s.result.Points {
		s.find(s.worth.line, replay.CheckResult, "result-twice", "line %d gives %d points", s.result.line, s.result.Points)
		s.scored = false
		return
	}
	// The readings that the result fits are the possible ones.
	for _, r := range s.readings {
		f, points := s.fit(r.state)
		if f == nil && r.automatic() && !s.doubled {
			continue // nothing in the file says that the cube was turned automatically
		}
		if f == nil {
			s.hand(r, &s.result.Outcome)
			s.count(s.result.Winner, points)
			return
		}
		s.die(corpse{finding: *f, penalty: r.penalty})
	}
	s.report.add(s.cause())
	s.scored = false
}

// giveUpAs applies the way the file says the game was given up, and reports whether it could have been.
func (s *Sheet) giveUpAs(e replay.Event) bool {
	s.next = s.next[:0]
	for _, r := range s.readings {
		st, way, err := r.state, r.trail, error(nil)
		for _, next := range append(s.undrawn(st), e) {
			if st, err = st.Apply(&s.decoder.gen, next); err != nil {
				break
			}
			way = s.trace(way, next)
		}
		if err != nil {
			s.bury(s.hints.Line, r, err)
			continue
		}
		s.add(reading{state: st, penalty: r.penalty, trail: way})
	}
	s.settle(s.hints.Line, e.Kind.String())
	return s.state == running
}

// undrawn returns the opening draws that no row has needed yet: the game was given up before its first play.
func (s *Sheet) undrawn(st replay.State) []replay.Event {
	var draws []replay.Event
	if stream, ok := st.NextDraw(); ok && stream == replay.StreamOpening {
		for _, d := range s.hints.Draws {
			draws = append(draws, replay.Event{Kind: replay.Opening, Dice: d})
		}
	}
	return draws
}

// fit returns what is wrong with the result after a reading, or the points that count.
func (s *Sheet) fit(st replay.State) (*replay.Finding, int64) {
	wrong := func(category, format string, values ...any) (*replay.Finding, int64) {
		f := s.finding(s.result.line, replay.CheckResult, category, phrase.Errorf(format, values...))
		return &f, 0
	}
	if s.gaveUp && s.result.Winner == s.loser && !s.result.Draw {
		return wrong("result-winner", "%s has given up and cannot have won", s.loser)
	}
	if st.Decided() {
		r := st.Result()
		switch {
		case r.Draw != s.result.Draw:
			return wrong("result-draw", "the game ended %s, and the row says that %w", r.Why, s.result.words())
		case r.Draw:
			return nil, 0
		case r.Seat != s.result.Winner:
			return wrong("result-winner", "%s has won the game (%s)", r.Seat, r.Why)
		case s.fits(r.Points):
			return nil, s.result.Points
		case s.opt.Length == 0 && s.opt.Agreed == nil && !st.Doubled() && r.Why == replay.WhyFinished && s.result.Points == st.Cube().Value:
			s.Note(s.result.line, "%d points fit the Jacoby rule; without it the game was worth %d", s.result.Points, r.Points)
			return nil, s.result.Points
		default:
			return wrong("result-points", "the game was worth %d, not %d", r.Points, s.result.Points)
		}
	}
	if s.result.Draw {
		return wrong("result-draw", "the game has no end, and cannot be given up as drawn")
	}
	if due := st.Due(); due.Kind == replay.DueOpening {
		s.Note(s.result.line, "the game was given up before its first roll")
	}
	// Given up: any level of a game may have been, times the cube.
	outline := st.Outline()
	cube := outline.Cube()
	switch left := s.left(); {
	case left > 0 && s.result.Points == left && !outline.Fits(left):
		s.Note(s.result.line, "all %d points that were missing are given to %s: the match was given up", left, s.result.Winner)
		return nil, left
	case !outline.Fits(s.result.Points) && s.code(cube):
		s.Note(s.result.line, "%d points are a code of the program, not a number of points: the score after the game is not checked", s.result.Points)
		return nil, -1
	case s.worthSomething(&outline):
		return nil, s.result.Points
	}
	return wrong("result-points", "a game given up with the cube at %d is worth %d to %d, not %d",
		cube, cube, cube*int64(s.opt.Variant.Rules.MaxLevel()), s.result.Points)
}

// judgeOpenEnd judges a game without a row that says who won.
func (s *Sheet) judgeOpenEnd(lastGame bool) {
	switch best := s.best(); {
	case best.state.Decided():
		r := best.state.Result()
		if s.worth != nil {
			s.result = &claim{Outcome: Outcome{Winner: r.Seat, Points: s.worth.Points}, line: s.worth.line}
			s.judge(lastGame)
			return
		}
		s.hand(best, &Outcome{Winner: r.Seat, Points: r.Points, Draw: r.Draw})
		s.count(r.Seat, r.Points)
		s.scored = s.scored && (s.opt.Length > 0 || s.opt.Agreed != nil)
	case s.worth != nil:
		s.Note(s.worth.line, "%d points, but not whose: the score after the game is not checked", s.worth.Points)
		s.hand(best, nil)
		s.scored = false
	case s.gaveUp:
		s.Note(s.last, "%s gives up, but not how many points: the score after the game is not checked", s.loser)
		s.hand(best, nil)
		s.scored = false
	case lastGame:
		s.hand(best, nil)
		s.report.Unfinished = true
	case best.withheld != nil:
		s.report.add(*best.withheld)
		s.scored = false
	default:
		s.find(s.last, replay.CheckResult, "end-missing", "the game has no end: %s is due", best.state.Due())
		s.scored = false
	}
}

// fits reports whether the points given are those of a win, or what programs leave of it at the end of a match: no more than
// the winner was missing, or no more than the match was played to.
func (s *Sheet) fits(points int64) bool {
	given := s.result.Points
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
	return int64(s.opt.Length - s.score[s.result.Winner])
}

// count adds a win to the score; a negative number makes the score unknown.
func (s *Sheet) count(winner replay.Seat, points int64) {
	if points < 0 || points > replay.MaxCube {
		s.scored = false
		return
	}
	s.score[winner] += int(points)
}
