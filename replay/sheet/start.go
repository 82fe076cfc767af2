package sheet

import (
	"fairdice/internal/phrase"
	"fairdice/replay"
	"fairdice/rules"
)

// begin puts the readings of a game without rows.
func (s *Sheet) begin(line int) {
	s.readings = s.readings[:0]
	if cube := s.hints.Cube; cube > 2 {
		s.state = noGame
		s.scored = false
		s.unchecked(line, "the cube begins at %d: rules with more than one automatic double are not known, the rows of this game are not checked", cube)
		return
	}
	for _, set := range s.settings() {
		st, err := replay.Start(set)
		if err != nil {
			s.find(line, replay.CheckFormat, "variant", "%v", err)
			s.state = noGame
			return
		}
		r := reading{state: st}
		if s.opt.Agreed == nil && set.Options.Raise == replay.RaiseAuto {
			r.penalty = lastResort
			s.doubled = s.hints.Cube == 2
		}
		s.readings = append(s.readings, r)
	}
}

// lastResort is the penalty of a reading that only a row can prove: the stake was doubled automatically.
const lastResort = 1000

// automatic reports whether the reading begins with an automatic double that the options do not demand.
func (r reading) automatic() bool { return r.penalty >= lastResort }

// settings returns what the running game may have started from. In a session the options with the most freedom hold; a result that
// fits only the Jacoby rule is accepted later.
func (s *Sheet) settings() []replay.Setting {
	set := replay.Setting{Variant: s.opt.Variant, Game: s.number}
	cube := s.opt.Variant.Rules.Cube()
	switch {
	case s.opt.Agreed != nil:
		set.Options, set.Score = *s.opt.Agreed, s.score
		set.Crawford = s.crawfordGame() && set.Options.Raise.HasCube()
	case !cube:
		set.Options = replay.Options{Raise: replay.RaiseMars}
	case s.opt.Length == 0:
		set.Options = replay.Options{Raise: replay.RaiseBeaver}
		auto := set
		auto.Options.Raise = replay.RaiseAuto
		if s.hints.Cube == 2 {
			return []replay.Setting{auto}
		}
		return []replay.Setting{set, auto}
	default:
		set.Options = replay.Options{Raise: replay.RaiseCube, Crawford: true,
			Series: replay.Series{Kind: replay.SeriesPoints, N: min(s.opt.Length, replay.MaxSeries)}}
		set.Crawford = s.crawfordGame()
	}
	return []replay.Setting{set}
}

// crawfordGame reports whether the game that begins now is the Crawford game.
func (s *Sheet) crawfordGame() bool {
	oneAway := s.scored && max(s.score[0], s.score[1]) == s.opt.Length-1
	is := s.opt.Crawford && s.opt.Length > 1 && oneAway && !s.crawford
	s.crawford = s.crawford || oneAway
	return is
}

// throw applies what precedes a play: the opening draw, made up where the file leaves it out, and the roll. It returns these events if
// they are kept.
func (s *Sheet) throw(st replay.State, seat replay.Seat, dice rules.Dice) (replay.State, []replay.Event, error) {
	var events []replay.Event
	apply := func(e replay.Event) (err error) {
		if s.opt.Keep != nil {
			events = append(events, e)
		}
		st, err = st.Apply(&s.decoder.gen, e)
		return err
	}
	if stream, _ := st.NextDraw(); stream == replay.StreamOpening {
		if err := s.open(st, seat, dice, apply); err != nil {
			return st, nil, err
		}
		if s.opt.Variant.Rules.OpeningIsRoll() && !dice.IsDouble() {
			return st, events, s.shown(st, seat, dice)
		}
	}
	err := apply(replay.Event{Kind: replay.Roll, Seat: seat, Dice: dice})
	return st, events, err
}

// drawn returns a reading after its opening draws, for a cube row before the first throw: where the first roll is not the draw itself, a
// double may come between them.
func (s *Sheet) drawn(r reading, seat replay.Seat) reading {
	stream, _ := r.state.NextDraw()
	if stream != replay.StreamOpening || s.opt.Variant.Rules.OpeningIsRoll() {
		return r
	}
	st, way := r.state, r.trail
	err := s.open(st, seat, rules.Dice{}, func(e replay.Event) (err error) {
		st, err = st.Apply(&s.decoder.gen, e)
		way = s.trace(way, e)
		return err
	})
	if err != nil {
		return r // the row itself is refused then
	}
	r.state, r.trail = st, way
	return r
}

// open applies the opening draws: those the file shows, or one that fits the first row.
func (s *Sheet) open(st replay.State, seat replay.Seat, dice rules.Dice, apply func(replay.Event) error) error {
	if s.hints.Shown {
		for _, d := range s.hints.Draws {
			if err := apply(replay.Event{Kind: replay.Opening, Dice: d}); err != nil {
				return err
			}
		}
		return nil
	}
	if s.opt.Agreed == nil && st.Setting().Options.Raise == replay.RaiseAuto {
		if err := apply(replay.Event{Kind: replay.Opening, Dice: rules.Dice{A: 1, B: 1}}); err != nil {
			return err
		}
	}
	draw := dice
	if !s.opt.Variant.Rules.OpeningIsRoll() {
		draw = rules.Dice{A: 6, B: 1}
	}
	if (seat == replay.A) != (draw.A > draw.B) {
		draw.A, draw.B = draw.B, draw.A
	}
	return apply(replay.Event{Kind: replay.Opening, Dice: draw})
}

// shown reports what contradicts the opening draws that the file shows, in a variant that plays them.
func (s *Sheet) shown(st replay.State, seat replay.Seat, dice rules.Dice) error {
	if !s.hints.Shown {
		return nil
	}
	last := rules.Dice{}
	if n := len(s.hints.Draws); n > 0 {
		last = s.hints.Draws[n-1]
	}
	if last != dice && (last != rules.Dice{A: dice.B, B: dice.A}) || st.OnTurn() != seat {
		return phrase.Errorf("the opening draw of line %d is not what is played first", s.hints.Line)
	}
	return nil
}
