package main

import (
	"context"
	"fmt"
	"time"

	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
	"fairdice/internal/selfplay"
	"fairdice/replay"
	"fairdice/rules"
)

// croupier is a platform that plays a match through the API: it draws, lets a
// player of package selfplay move for both seats. Where the match has anchors,
// the seats release their own links and check every roll.
type croupier struct {
	api      *client.Client
	match    string
	moves    *selfplay.Player
	seats    []*player.Player // A's and B's, with an anchor; none in a match without
	live     bool             // every throw needs a link of both seats
	diceOnly bool             // the record is kept here
	gen      rules.Generator

	// rolled, if set, is told of every roll and of how long its answer took.
	rolled func(game int, due client.DrawDue, r client.Roll, took time.Duration)
	// waiting, if set, is told when a game waits for the beacon.
	waiting func(client.Game)

	shoe   shoe     // of the game that is played
	record []string // lines of the last game that was played to its end
}

// shoe knows where the next element of a stream lies in a game whose service
// does not say, because it does not know what is due.
type shoe struct {
	lengths []commitment.Lengths // of the segments seen so far
	used    [3]int
	drawn   int
}

// next is the place of the next roll of a stream. Behind the last segment seen
// comes another one.
func (s *shoe) next(st commitment.Stream) client.DrawDue {
	used := s.used[st]
	for i, n := range s.lengths {
		if used < n[st] {
			return client.DrawDue{Segment: i + 1, Stream: client.Stream(st.String()), Index: used, Throw: s.drawn + 1}
		}
		used -= n[st]
	}
	return client.DrawDue{Segment: len(s.lengths) + 1, Stream: client.Stream(st.String()), Index: used, Throw: s.drawn + 1}
}

// took notes that the roll was drawn, and learns from its commit how long a
// new segment is.
func (s *shoe) took(st commitment.Stream, r client.Roll) error {
	s.used[st]++
	s.drawn++
	if r.Opening.Segment <= len(s.lengths) {
		return nil
	}
	c, err := commitment.Parse([]byte(r.Commit.Text))
	if err != nil {
		return fmt.Errorf("read commit: %w", err)
	}
	commit, ok := c.(commitment.Commit)
	if !ok {
		return fmt.Errorf("read commit: the roll comes with a statement of type %s", c.Type())
	}
	s.lengths = append(s.lengths, commit.Rolls)
	return nil
}

// game plays one game to its end and closes it.
func (c *croupier) game(ctx context.Context, s replay.Setting) (replay.Result, client.GameClosed, error) {
	var closed client.GameClosed
	st, err := replay.Start(s)
	if err != nil {
		return replay.Result{}, closed, err
	}
	c.shoe = shoe{}
	started, err := c.api.NextGame(ctx, c.match, s.Game, 0)
	if err != nil {
		return replay.Result{}, closed, err
	}
	if started.State != client.SegmentStateDealt {
		if err := c.links(ctx, s.Game, started.Segment); err != nil {
			return replay.Result{}, closed, err
		}
	}
	var lines []string
	for !st.Over() {
		e, ok := c.moves.Next(st)
		switch {
		case !ok:
			e, err = c.roll(ctx, s.Game, st)
		case !c.diceOnly:
			_, err = c.api.Append(ctx, c.match, s.Game, len(lines)+1, e.String())
		}
		if err != nil {
			return replay.Result{}, closed, err
		}
		lines = append(lines, e.String())
		if st, err = st.Apply(&c.gen, e); err != nil {
			return replay.Result{}, closed, fmt.Errorf("line %d, %s: %w", len(lines), e, err)
		}
	}
	if c.record = lines; !c.diceOnly {
		lines = nil
	}
	closed, err = c.api.CloseGame(ctx, c.match, s.Game, 0, lines...)
	return st.Result(), closed, err
}

// roll draws what is due. A stream that is used up goes on in another
// segment, which the players cut first.
func (c *croupier) roll(ctx context.Context, game int, st replay.State) (replay.Event, error) {
	due, ready, err := c.due(ctx, game, st)
	if err != nil {
		return replay.Event{}, err
	}
	if c.live && ready {
		if err := c.throw(ctx, game, due); err != nil {
			return replay.Event{}, err
		}
	}
	asked := time.Now()
	r, err := c.api.Draw(ctx, c.match, game, due.Segment, due.Stream, due.Index)
	if client.Code(err) == "awaiting-links" {
		if err := c.links(ctx, game, due.Segment); err != nil {
			return replay.Event{}, err
		}
		if c.live {
			if err := c.throw(ctx, game, due); err != nil {
				return replay.Event{}, err
			}
		}
		r, err = c.api.Draw(ctx, c.match, game, due.Segment, due.Stream, due.Index)
	}
	if err != nil {
		return replay.Event{}, err
	}
	took := time.Since(asked)
	for _, p := range c.seats {
		if err := p.CheckRoll(r); err != nil {
			return replay.Event{}, err
		}
	}
	if c.diceOnly {
		stream, err := commitment.ParseStream(string(due.Stream))
		if err != nil {
			return replay.Event{}, err
		}
		if err := c.shoe.took(stream, r); err != nil {
			return replay.Event{}, err
		}
	}
	if c.rolled != nil {
		c.rolled(game, due, r, took)
	}
	e, ok := selfplay.Throw(st, rules.Dice{A: uint8(r.Dice[0]), B: uint8(r.Dice[1])})
	if !ok {
		return e, fmt.Errorf("draw: the service drew stream %s, here no roll is due but %q", due.Stream, st.Due())
	}
	return e, nil
}

// due is where the due roll lies, and whether its segment is dealt already:
// what the service says, or in a dice-only game what the record kept here says.
func (c *croupier) due(ctx context.Context, game int, st replay.State) (due client.DrawDue, dealt bool, err error) {
	if c.diceOnly {
		name, ok := st.NextDraw()
		if !ok {
			return due, false, fmt.Errorf("draw: no roll is due but %q", st.Due())
		}
		stream, err := commitment.ParseStream(name)
		return c.shoe.next(stream), true, err
	}
	m, err := c.api.Match(ctx, c.match)
	if err != nil {
		return due, false, err
	}
	g := m.Games[game-1]
	if g.Draw == (client.DrawDue{}) {
		return due, false, fmt.Errorf("draw: the service says that %q is due in game %d, here it is %q", g.Due, game, st.Due())
	}
	return g.Draw, g.State == client.GameStatePlaying && g.Draw.Segment <= g.Segments, nil
}

// links has the seats cut a segment, and waits for the beacon if the match has one.
func (c *croupier) links(ctx context.Context, game, segment int) error {
	for _, p := range c.seats {
		if _, err := p.Play(ctx, c.api, game, segment); err != nil {
			return err
		}
	}
	_, err := c.api.Dealt(ctx, c.match, game, c.waiting)
	return err
}

// throw has the seats release their links for a throw, the one on roll first.
func (c *croupier) throw(ctx context.Context, game int, due client.DrawDue) error {
	order := [2]int{0, 1}
	if due.Stream == client.StreamB {
		order = [2]int{1, 0}
	}
	for _, i := range order {
		if _, err := c.seats[i].PlayThrow(ctx, c.api, game, due.Segment, due.Throw); err != nil {
			return err
		}
	}
	return nil
}
