package browsertest

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"fairdice/client"
	"fairdice/internal/selfplay"
	"fairdice/replay"
	"fairdice/rules"
)

// seeded makes a service whose dice are the same in every run.
type seeded struct {
	mu     sync.Mutex
	stream *rand.ChaCha8
}

func newSeeded(seed byte) *seeded { return &seeded{stream: rand.NewChaCha8([32]byte{seed})} }

func (s *seeded) Read(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.stream.Read(p)
}

// sitting is a match in which no player cuts and both sides are played here.
type sitting struct {
	*service
	id     string
	series replay.Match
	game   int
	state  replay.State
	line   int // of the game, the last one written
	moves  *selfplay.Player
	gen    rules.Generator
}

// open opens a match that no player cuts.
func (s *service) open(id, variant string, mode client.Mode, options string) error {
	_, err := s.openWatched(id, variant, mode, options)
	return err
}

// openWatched opens it and answers the token to watch it with.
func (s *service) openWatched(id, variant string, mode client.Mode, options string) (token string, err error) {
	opened, err := s.client.OpenMatch(context.Background(), id, client.OpenRequest{
		Variant: variant, Mode: mode, Options: new(options), A: client.Player{Token: "ada"}, B: client.Player{Token: "ben"},
	}, 0)
	return opened.ViewToken, err
}

// play plays game 1 of a match that needs no links, to its end and the end of
// the match, or until its record has so many lines.
func (s *service) play(id, variant, options string, lines int) error {
	m, err := s.sit(id, variant, options, 5)
	if err != nil {
		return err
	}
	if err := m.begin(); err != nil {
		return err
	}
	return m.until(func() bool { return lines > 0 && m.line >= lines })
}

// gallery plays the matches that only pictures are made of: each is given up
// after so many lines.
func (s *service) gallery() error {
	for _, m := range []struct {
		id, variant, options string
		lines                int
	}{
		{longID, "long-classic", single, 70},
		{plakotoID, "plakoto", single, 60},
		{cubeID, "short", points, 60},
	} {
		if err := s.open(m.id, m.variant, client.ModeRandom, m.options); err != nil {
			return err
		}
		t, err := s.sit(m.id, m.variant, m.options, 5)
		if err == nil {
			err = t.begin()
		}
		if err == nil {
			err = t.until(func() bool { return t.line >= m.lines && t.state.Due().Kind == replay.DueRoll })
		}
		if err == nil && !t.state.Over() {
			err = t.giveUp(t.state.OnTurn(), 1)
		}
		if err != nil {
			return fmt.Errorf("match of %s: %w", m.variant, err)
		}
	}
	return nil
}

// sit sits down at a match that was opened. The moves follow from the seed.
func (s *service) sit(id, variant, options string, seed uint64) (*sitting, error) {
	v, err := rules.Lookup(variant)
	if err != nil {
		return nil, err
	}
	o, err := replay.ParseOptions(options)
	if err != nil {
		return nil, err
	}
	series, err := replay.NewMatch(v, o)
	if err != nil {
		return nil, err
	}
	return &sitting{service: s, id: id, series: series, moves: selfplay.New(selfplay.Greedy, seed)}, nil
}

// begin begins the next game.
func (m *sitting) begin() (err error) {
	m.game, m.line = m.series.Next().Game, 0
	if m.state, err = replay.Start(m.series.Next()); err != nil {
		return err
	}
	_, err = m.client.NextGame(context.Background(), m.id, m.game, 0)
	return err
}

// until plays on until stop holds, or to the end of the game, which it closes.
func (m *sitting) until(stop func() bool) error {
	for !m.state.Over() {
		if stop() {
			return nil
		}
		if e, ok := m.moves.Next(m.state); ok {
			if err := m.write(e.String()); err != nil {
				return err
			}
		} else if err := m.throw(); err != nil {
			return err
		}
	}
	if _, err := m.client.CloseGame(context.Background(), m.id, m.game, 0); err != nil {
		return err
	}
	var err error
	m.series, err = m.series.Add(m.state.Result())
	return err
}

// end plays a game to its end.
func (m *sitting) end() error { return m.until(func() bool { return false }) }

// giveUp has a seat resign so many points, and closes the game.
func (m *sitting) giveUp(seat replay.Seat, points int) error {
	if err := m.write(fmt.Sprintf("resign %s %d", seat, points)); err != nil {
		return err
	}
	return m.end()
}

// abort aborts the game.
func (m *sitting) abort() error {
	if _, err := m.client.AbortGame(context.Background(), m.id, m.game, "crash", 0); err != nil {
		return err
	}
	var err error
	m.series, err = m.series.Skip()
	return err
}

// write appends a line that is no throw.
func (m *sitting) write(text string) error {
	if _, err := m.client.Append(context.Background(), m.id, m.game, m.line+1, text); err != nil {
		return fmt.Errorf("line %d of game %d: %w", m.line+1, m.game, err)
	}
	e, err := replay.ParseEvent(text)
	if err != nil {
		return err
	}
	return m.apply(e)
}

// throw has the service draw the throw that is due.
func (m *sitting) throw() error {
	v, err := m.client.Match(context.Background(), m.id)
	if err != nil {
		return err
	}
	due := v.Games[m.game-1].Draw
	r, err := m.client.Draw(context.Background(), m.id, m.game, due.Segment, due.Stream, due.Index)
	if err != nil {
		return fmt.Errorf("line %d of game %d: %w", m.line+1, m.game, err)
	}
	e, ok := selfplay.Throw(m.state, rules.Dice{A: uint8(r.Dice[0]), B: uint8(r.Dice[1])})
	if !ok {
		return fmt.Errorf("no roll is due but %q", m.state.Due())
	}
	return m.apply(e)
}

func (m *sitting) apply(e replay.Event) (err error) {
	m.state, err = m.state.Apply(&m.gen, e)
	m.line++
	return err
}
