package main

import (
	"context"
	"fmt"
	"time"

	"fairdice/client"
	"fairdice/client/player"
	"fairdice/internal/selfplay"
	"fairdice/replay"
	"fairdice/rules"
)

// croupier is a platform that plays a match through the API: it draws, lets a
// player of package selfplay move for both seats. Where the match has anchors,
// the seats release their own links and check every roll.
type croupier struct {
	api   *client.Client
	match string
	moves *selfplay.Player
	seats []*player.Player // with an anchor; none in a match without
	gen   rules.Generator

	// rolled, if set, is told of every roll and of how long its answer took.
	rolled func(game int, due client.DrawDue, r client.Roll, took time.Duration)
}

// game plays one game to its end and closes it.
func (c *croupier) game(ctx context.Context, s replay.Setting) (replay.Result, client.GameClosed, error) {
	st, err := replay.Start(s)
	if err != nil {
		return replay.Result{}, client.GameClosed{}, err
	}
	started, err := c.api.NextGame(ctx, c.match, s.Game, 0)
	if err != nil {
		return replay.Result{}, client.GameClosed{}, err
	}
	if started.State == client.SegmentStateAwaitingLinks {
		if err := c.links(ctx, s.Game, started.Segment); err != nil {
			return replay.Result{}, client.GameClosed{}, err
		}
	}
	for line := 1; !st.Over(); line++ {
		e, ok := c.moves.Next(st)
		if ok {
			if _, err = c.api.Append(ctx, c.match, s.Game, line, e.String()); err != nil {
				return replay.Result{}, client.GameClosed{}, err
			}
		} else if e, err = c.roll(ctx, s.Game, st); err != nil {
			return replay.Result{}, client.GameClosed{}, err
		}
		if st, err = st.Apply(&c.gen, e); err != nil {
			return replay.Result{}, client.GameClosed{}, fmt.Errorf("line %d, %s: %w", line, e, err)
		}
	}
	closed, err := c.api.CloseGame(ctx, c.match, s.Game, 0)
	return st.Result(), closed, err
}

// roll draws what is due. A stream that is used up goes on in another
// segment, which the players cut first.
func (c *croupier) roll(ctx context.Context, game int, st replay.State) (replay.Event, error) {
	m, err := c.api.Match(ctx, c.match)
	if err != nil {
		return replay.Event{}, err
	}
	due := m.Games[game-1].Draw
	if due == (client.DrawDue{}) {
		return replay.Event{}, fmt.Errorf("draw: the service says that %q is due in game %d, here it is %q", m.Games[game-1].Due, game, st.Due())
	}
	asked := time.Now()
	r, err := c.api.Draw(ctx, c.match, game, due.Segment, due.Stream, due.Index)
	if client.Code(err) == "awaiting-links" {
		if err := c.links(ctx, game, due.Segment); err != nil {
			return replay.Event{}, err
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
	if c.rolled != nil {
		c.rolled(game, due, r, took)
	}
	e, ok := selfplay.Throw(st, rules.Dice{A: uint8(r.Dice[0]), B: uint8(r.Dice[1])})
	if !ok {
		return e, fmt.Errorf("draw: the service drew stream %s, here no roll is due but %q", due.Stream, st.Due())
	}
	return e, nil
}

func (c *croupier) links(ctx context.Context, game, segment int) error {
	for _, p := range c.seats {
		if _, err := p.Play(ctx, c.api, game, segment); err != nil {
			return err
		}
	}
	return nil
}
