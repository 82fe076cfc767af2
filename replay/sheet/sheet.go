package sheet

import (
	"errors"
	"slices"

	"fairdice/internal/phrase"
	"fairdice/replay"
	"fairdice/rules"
)

// Options say what match a sheet is of.
type Options struct {
	Variant  rules.Variant
	Length   int  // points the match is played to; 0: a session of single games for money
	Crawford bool // the Crawford rule holds; it means something in matches to more than one point

	Agreed *replay.Options // what the file says was agreed on; nil: the usual options of such files

	// Keep, if not nil, is given every game without a finding.
	Keep func(Game)

	// Observe, if not nil, is told of every row that was accepted, with the most likely reading where there are several.
	Observe func(game, line int, what string, st replay.State)
}

// Note is something a reader tolerated and a person may want to know.
type Note struct {
	Game, Line int
	Text       string
	Why        error // what Text is the English text of
}

// NewNote returns the note with the text of why.
func NewNote(game, line int, why error) Note {
	return Note{Game: game, Line: line, Text: why.Error(), Why: why}
}

// Report is what a sheet has found.
type Report struct {
	Games, Rolls, Doubles int
	Findings              []replay.Finding
	Notes                 []Note
	Unchecked             []Note // what could not be judged
	Unfinished            bool   // the last game has no end
}

// maxFindings and maxNotes bound the memory of a report; a match with so many faults is none.
const (
	maxFindings = 1000
	maxNotes    = 1000
)

// Sheet checks one match. Its methods are called in the order of the rows; line numbers are those of the file.
type Sheet struct {
	opt     Options
	decoder decoder
	report  Report

	score    [2]int // after the last game, as far as it could be checked
	scored   bool   // score is known
	crawford bool   // the Crawford game has been played
	state    gameState
	last     int // line of the last row
	row      int // rows so far, two columns of one line being one row

	readings, next []reading
	told           []byte   // what the last row was, for those who watch
	dead           []corpse // readings that ended in the last rows
	starred        bool     // the match marks hits: a play without a star says something
	gaveUp         bool     // a row said that a seat gives up
	loser          replay.Seat
	halted         bool // a row stands where a throw should be; a result or a closed board can explain it
	waiting        replay.Seat
	result         *claim // who won how many points
	worth          *claim // how many points somebody won
	refuted        bool   // two rows disagree about the result
	doubled        bool   // a row shows that the cube was turned automatically

	outline         replay.Outline // of a failed game
	named           bool           // the row that made it fail has its finding
	expected, hints Hints          // of the next game, of this one
	number          int            // of the running game in the match
	before          [2]int         // score before it
}

type gameState uint8

const (
	noGame  gameState = iota
	running           // rows are checked
	failed            // a row was refused: the position is not known any more
)

// Playable returns why matches of a variant are not written in SGF files, or nil for the variants with a bar.
func Playable(v rules.Variant) error {
	if v.Rules.HasBar() {
		return nil
	}
	return phrase.Errorf("%s is not a game of SGF files: they hold games with a bar", v.ID)
}

// New returns a sheet without rows.
func New(o Options) *Sheet {
	s := &Sheet{opt: o}
	s.decoder.names, s.decoder.keep = newNumbers(o.Variant.Rules), o.Keep != nil
	return s
}

// Game begins the next game, closing the one before it. Score is what the file claims before the game; nil if it claims nothing.
func (s *Sheet) Game(line int, score *[2]int) {
	s.closeGame(false)
	s.report.Games++
	s.state, s.last = running, line
	s.dead, s.gaveUp, s.halted, s.result, s.worth, s.refuted, s.doubled = s.dead[:0], false, false, nil, nil, false, false
	s.hints, s.expected, s.number = s.expected, Hints{}, s.report.Games
	if s.hints.Number > 0 {
		s.number = s.hints.Number
	}
	if score != nil {
		if s.scored && *score != s.score {
			s.find(line, replay.CheckResult, "score", "the score is given as %d : %d, but the games before it make it %d : %d", score[0], score[1], s.score[0], s.score[1])
		}
		if s.report.Games == 1 {
			// A file may begin in the middle of a match, at its Crawford game or after it.
			s.crawford = max(score[0], score[1]) == s.opt.Length-1
		}
		s.score, s.scored = *score, true
	}
	s.before = s.score
	s.begin(line)
}

// Play takes a row with dice.
func (s *Sheet) Play(line int, seat replay.Seat, dice rules.Dice, p Play) {
	s.report.Rolls++
	roll, move := replay.Event{Kind: replay.Roll, Seat: seat, Dice: dice}, replay.Event{Kind: replay.Move, Seat: seat}
	if !s.ready(line) {
		s.blind(line, roll, move)
		return
	}
	s.starred = s.starred || slices.ContainsFunc(p.Hops, func(h Hop) bool { return h.Star == Hit })
	s.next = s.next[:0]
	for _, r := range s.readings {
		st, draws, err := s.throw(r.state, seat, dice)
		if err != nil {
			s.bury(line, r, err)
			continue
		}
		s.read(line, reading{state: st, penalty: r.penalty, trail: s.trace(r.trail, draws...)}, seat, p)
	}
	if s.settle(line, s.words("play", seat, dice, p)); s.state == failed {
		s.skip(roll, move)
	}
}

// read adds the readings of a play after its throw.
func (s *Sheet) read(line int, r reading, seat replay.Seat, p Play) {
	found, err := s.decoder.decode(r.state, seat, p.Hops)
	switch {
	case err == nil && p.Unknown && len(p.Hops) == 0:
		given := r
		f := s.finding(line, replay.CheckFormat, "unreadable", errors.New("the play is not known, and the game goes on"))
		given.withheld = &f
		s.add(given)
	case err == nil:
	case len(p.Hops) == 0 && !p.Unable:
		// Dice without a play: the seat may have given up. The next row tells.
		f := s.refused(line, err)
		r.withheld = &f
		s.add(r)
		return
	default:
		s.bury(line, r, err)
		return
	}
	for _, c := range found {
		if !s.starred {
			c.penalty = 0
		}
		next := reading{state: c.state, penalty: r.penalty + c.penalty}
		if s.opt.Keep != nil {
			next.trail = s.trace(r.trail, replay.Event{Kind: replay.Move, Seat: seat, Steps: c.steps})
		}
		s.add(next)
	}
}

// Stage takes a row with one further stage: of a progression, or of steps handed over (RULES.md §6). Value is its die.
func (s *Sheet) Stage(line int, seat replay.Seat, value uint8, p Play) {
	move := replay.Event{Kind: replay.Move, Seat: seat}
	if !s.ready(line) {
		s.blind(line, move)
		return
	}
	s.next = s.next[:0]
	for _, r := range s.readings {
		if d := r.state.Due(); (d.Kind != replay.DueStage && d.Kind != replay.DueHanded) || d.Dice[0] != value || d.Seat != seat {
			s.die(corpse{penalty: r.penalty, finding: s.finding(line, replay.CheckMoves, "not-due",
				phrase.Errorf("no stage of the die %d is due for %s here: %s is", value, seat, d))})
			continue
		}
		p.Unable = true
		s.read(line, r, seat, p)
	}
	if s.settle(line, s.words("stage", seat, rules.Dice{A: value}, p)); s.state == failed {
		s.skip(move)
	}
}

// Double takes a row that offers a double, or redoubles in answer to one. Value is what the row says the cube would become; 0 if it
// does not say.
func (s *Sheet) Double(line int, seat replay.Seat, value int64) {
	s.report.Doubles++
	s.cube(line, func(st replay.State) (replay.Event, int64) {
		e, next := replay.Event{Kind: replay.Double, Seat: seat}, 2*st.Cube().Value
		if due := st.Due(); due.Kind == replay.DueAnswer && due.Seat == seat {
			e.Kind = replay.Beaver
			if st.Beavered() {
				e.Kind = replay.Raccoon
			}
			next *= 2
		}
		return e, next
	}, replay.Event{Kind: replay.Double, Seat: seat}, value)
}

// Take takes a row that accepts what is offered.
func (s *Sheet) Take(line int, seat replay.Seat) {
	e := replay.Event{Kind: replay.Take, Seat: seat}
	s.cube(line, func(replay.State) (replay.Event, int64) { return e, 0 }, e, 0)
}

// Drop takes a row that refuses what is offered.
func (s *Sheet) Drop(line int, seat replay.Seat) {
	e := replay.Event{Kind: replay.Drop, Seat: seat}
	s.cube(line, func(replay.State) (replay.Event, int64) { return e, 0 }, e, 0)
}

func (s *Sheet) cube(line int, event func(replay.State) (replay.Event, int64), plain replay.Event, value int64) {
	if !s.ready(line) {
		s.blind(line, plain)
		return
	}
	s.next = s.next[:0]
	what := ""
	for _, r := range s.readings {
		r = s.drawn(r, plain.Seat)
		e, want := event(r.state)
		what = e.Kind.String()
		next, err := r.state.Apply(&s.decoder.gen, e)
		if err == nil && value != 0 && value != want {
			s.die(corpse{penalty: r.penalty, finding: s.finding(line, replay.CheckCube, "cube-value",
				phrase.Errorf("the cube is offered at %d; here it can only become %d", value, want))})
			continue
		}
		if err != nil {
			s.bury(line, r, err)
			continue
		}
		s.doubled = s.doubled || r.automatic() && value != 0 && !r.state.Cube().Owned
		s.add(reading{state: next, penalty: r.penalty, trail: s.trace(r.trail, e)})
	}
	if s.settle(line, what+" "+plain.Seat.String()); s.state == failed {
		s.skip(plain)
	}
}

// GiveUp takes a row in which a seat resigns without saying how much.
func (s *Sheet) GiveUp(line int, seat replay.Seat) {
	if s.state == noGame {
		return
	}
	s.last = line
	if s.gaveUp && s.loser != seat {
		s.fail(line, replay.CheckResult, "result-winner", "both seats give up")
		return
	}
	s.gaveUp, s.loser = true, seat
}

// Halt takes a row of a seat in which there are no dice, such as "00:". Either the game was given up there, by either seat, or the seat is
// closed out and was not asked to roll.
func (s *Sheet) Halt(line int, seat replay.Seat) {
	if s.ready(line) {
		s.halted, s.waiting = true, seat
	}
}

// Bad takes a row that cannot be read. After the result it is a program's own words.
func (s *Sheet) Bad(line int, format string, args ...any) {
	switch {
	case s.state != running:
	case s.result != nil || s.worth != nil:
		s.Note(line, format, args...)
	default:
		s.fail(line, replay.CheckFormat, "unreadable", format, args...)
	}
}

// Note records something tolerated.
func (s *Sheet) Note(line int, format string, args ...any) {
	if len(s.report.Notes) < maxNotes {
		s.report.Notes = append(s.report.Notes, NewNote(s.report.Games, line, phrase.Errorf(format, args...)))
	}
}

// Close ends the last game and returns the report.
func (s *Sheet) Close() Report {
	s.closeGame(true)
	return s.report
}

// ready reports whether the next row can be checked: the game runs, was not given up, and no throw before the row was left unplayed.
func (s *Sheet) ready(line int) bool {
	s.named = false
	if s.state != running {
		return false
	}
	if s.halted {
		if s.pass(line); s.state != running {
			return false
		}
	}
	if line != s.last {
		s.row++
	}
	s.last = line
	before := s.best()
	s.readings = slices.DeleteFunc(s.readings, func(r reading) bool {
		if r.withheld != nil {
			s.die(corpse{finding: *r.withheld, penalty: r.penalty})
		}
		return r.withheld != nil
	})
	switch {
	case len(s.readings) == 0:
		s.report.add(s.cause())
		s.readings = append(s.readings, before)
		s.lose(line)
		s.skip(replay.Event{Kind: replay.Move, Seat: before.state.OnTurn()})
	case s.gaveUp:
		s.named = true
		s.fail(line, replay.CheckResult, "after-end", "%s has given up the game: nothing can follow", s.loser)
	case s.result != nil:
		s.named = true
		s.fail(line, replay.CheckResult, "after-end", "the result stands in line %d: nothing can follow", s.result.line)
	default:
		return true
	}
	return false
}

func (s *Sheet) refused(line int, err error) replay.Finding {
	if r, ok := err.(*replay.Refusal); ok {
		return replay.NewFinding(s.report.Games, line, r)
	}
	return s.finding(line, replay.CheckFormat, "unreadable", err)
}

func (s *Sheet) finding(line int, check, category string, why error) replay.Finding {
	return replay.Finding{Game: s.report.Games, Line: line, Check: check, Category: category, Message: why.Error(), Why: why}
}

func (s *Sheet) find(line int, check, category, format string, args ...any) {
	s.report.add(s.finding(line, check, category, phrase.Errorf(format, args...)))
}

// fail is find for a row after which the position is not known.
func (s *Sheet) fail(line int, check, category, format string, args ...any) {
	s.find(line, check, category, format, args...)
	if s.state == running {
		s.lose(line)
	}
}

func (r *Report) add(f replay.Finding) {
	if len(r.Findings) == maxFindings {
		why := phrase.Errorf("more than %d findings: this one and all further ones are not listed", maxFindings)
		f = replay.Finding{Game: f.Game, Line: f.Line, Check: f.Check, Category: "more", Message: why.Error(), Why: why}
	}
	if len(r.Findings) <= maxFindings {
		r.Findings = append(r.Findings, f)
	}
}
