package reader

import (
	"errors"
	"fmt"

	"fairdice/internal/board"
	"fairdice/replay"
	"fairdice/rules"
)

// Board draws a step as SVG, seen by a seat, with the last move marked; game
// and step count from 0 as in the JSON. Before the opening draw has put
// colours to the seats the picture is that of the start, seen by White.
func (s *Show) Board(game, step int, seat replay.Seat) (string, error) {
	st, err := s.at(game, step)
	if err != nil {
		return "", err
	}
	return board.SVG(st.state.Position(), s.view(st, seat)), nil
}

// Describe tells the board of a step in words, seen by a seat.
func (s *Show) Describe(game, step int, seat replay.Seat) (string, error) {
	st, err := s.at(game, step)
	if err != nil {
		return "", err
	}
	return board.Describe(st.state.Position(), s.view(st, seat)), nil
}

func (s *Show) at(game, at int) (step, error) {
	if game < 0 || game >= len(s.games) {
		return step{}, fmt.Errorf("there is no game at %d", game)
	}
	steps := s.games[game].steps
	if at < 0 || at >= len(steps) {
		return step{}, fmt.Errorf("game %d has no step at %d", s.games[game].number, at)
	}
	if !steps[at].begun {
		return step{}, errors.New("no game was running there")
	}
	return steps[at], nil
}

// view says how a step is drawn for a seat.
func (s *Show) view(st step, seat replay.Seat) board.Options {
	o := board.Options{Rules: st.state.Setting().Variant.Rules, Words: s.words}
	if _, begun := st.state.White(); !begun {
		return o
	}
	o.View = st.state.Color(seat)
	t := read(st.text)
	if mover, ok := t.mover(); ok && st.fault == nil {
		o.Mover = st.state.Color(mover)
		o.Last = steps(o.Rules, o.Mover, t.hops)
	}
	return o
}

// steps reads the steps of a move, none if a match file tells them in a way
// that cannot be drawn step by step.
func steps(r rules.Rules, c rules.Color, hops []string) []rules.Step {
	var out []rules.Step
	for _, hop := range hops {
		s, err := r.ParseStep(c, hop)
		if err != nil {
			return nil
		}
		out = append(out, s)
	}
	return out
}
