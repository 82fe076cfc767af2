package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"fairdice/house"
	"fairdice/internal/selfplay"
	"fairdice/replay"
	"fairdice/rules"
	"fairdice/store"
)

// directRun is games played straight against a house, without HTTP: the way to
// a log of a hundred thousand games in minutes.
type directRun struct {
	variant, mode  string
	clients, games int
	throws         int // after which the seat on turn gives up; 0: games are played out

	left    atomic.Int64
	rolled  atomic.Int64
	house   *house.House
	tenant  house.Principal
	series  replay.Match
	options string
}

// run plays in a data directory whose service is stopped.
func (d *directRun) run(c *cobra.Command, cfg config) (err error) {
	if d.clients < 1 || d.games < 1 || d.throws < 0 {
		return errors.New("load house: at least one client and one game are needed, and no negative number of throws")
	}
	v, err := rules.Lookup(d.variant)
	if err != nil {
		return err
	}
	o, err := replay.ParseOptions(demoOptions)
	if err != nil {
		return err
	}
	if d.series, err = replay.NewMatch(v, o); err != nil {
		return err
	}
	d.options = o.String()
	cfg.sealed = max(cfg.sealed, 4*d.clients) // so that nobody waits for a sequence
	s, err := openService(c.Context(), cfg, cfg.logger(c.ErrOrStderr()))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.house.AddTenant(c.Context(), cfg.tenant); err != nil && !errors.Is(err, store.ErrExists) {
		return fmt.Errorf("add tenant %s: %w", cfg.tenant, err)
	}
	if err := s.house.TopUp(c.Context(), cfg.tenant, d.mode, min(cfg.sealed, d.games)); err != nil {
		return err
	}
	d.house, d.tenant = s.house, house.Principal{Tenant: cfg.tenant, Scopes: house.Scopes()}
	start := time.Now()
	if err := d.play(c.Context()); err != nil {
		return err
	}
	took := time.Since(start)
	fmt.Fprintf(c.OutOrStdout(), "%d clients, without HTTP: %d games, %d rolls in %s, %.0f games/s, %.0f rolls/s\n",
		d.clients, d.games, d.rolled.Load(), took.Round(time.Millisecond), float64(d.games)/took.Seconds(), float64(d.rolled.Load())/took.Seconds())
	return nil
}

func (d *directRun) play(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	d.left.Store(int64(d.games))
	var wg sync.WaitGroup
	for range d.clients {
		wg.Go(func() {
			for ctx.Err() == nil {
				n := d.left.Add(-1)
				if n < 0 {
					return
				}
				if err := d.game(ctx, uint64(n)); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// patient repeats what is refused only for now.
func patient(ctx context.Context, fn func() error) error {
	for {
		err := fn()
		if code := house.CodeOf(err); code != house.PoolEmpty && code != house.Unavailable {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (d *directRun) game(ctx context.Context, seed uint64) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make match id: %w", err)
	}
	match := id.String()
	err = patient(ctx, func() error {
		_, err := d.house.OpenMatch(ctx, d.tenant, house.OpenRequest{Match: match, Variant: d.variant, Mode: d.mode,
			Profile: "refereed", Options: d.options, A: "load-a", B: "load-b"})
		return err
	})
	if err == nil {
		err = patient(ctx, func() error {
			_, err := d.house.NextGame(ctx, d.tenant, match, 1, 0)
			return err
		})
	}
	if err != nil {
		return err
	}
	st, err := replay.Start(d.series.Next())
	if err != nil {
		return err
	}
	player := selfplay.New(selfplay.Greedy, seed)
	var gen rules.Generator
	for throws, line := 0, 1; !st.Over(); {
		if d.throws > 0 && throws >= d.throws {
			player.GiveUp = 1
		}
		var lines []string // up to the next throw
		for {
			e, ok := player.Next(st)
			if !ok {
				break
			}
			if st, err = st.Apply(&gen, e); err != nil {
				return err
			}
			lines = append(lines, e.String())
		}
		if len(lines) > 0 {
			if _, err := d.house.Append(ctx, d.tenant, match, 1, line, lines); err != nil {
				return err
			}
			line += len(lines)
			continue
		}
		dice, err := d.draw(ctx, match)
		if err != nil {
			return err
		}
		e, ok := selfplay.Throw(st, dice)
		if !ok {
			return fmt.Errorf("play match %s: no throw is due", match)
		}
		if st, err = st.Apply(&gen, e); err != nil {
			return err
		}
		throws, line = throws+1, line+1
	}
	d.rolled.Add(int64(st.Throws()[0] + st.Throws()[1] + st.Throws()[2]))
	return patient(ctx, func() error {
		_, err := d.house.CloseGame(ctx, d.tenant, match, 1, nil, 0)
		return err
	})
}

// draw draws what the house says is due.
func (d *directRun) draw(ctx context.Context, match string) (dice rules.Dice, err error) {
	err = patient(ctx, func() error {
		view, err := d.house.Match(ctx, match)
		if err != nil {
			return err
		}
		due := view.Games[0].Draw
		if due == nil {
			return fmt.Errorf("play match %s: the house says that no roll is due", match)
		}
		a, err := d.house.Draw(ctx, d.tenant, match, 1, due.Segment, due.Stream, due.Index)
		dice = rules.Dice{A: uint8(a.Dice[0]), B: uint8(a.Dice[1])}
		return err
	})
	return dice, err
}
