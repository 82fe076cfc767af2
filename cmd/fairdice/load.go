package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"fairdice/client"
	"fairdice/internal/selfplay"
	"fairdice/replay"
	"fairdice/rules"
)

// loadRun is matches played against a running service for a while.
type loadRun struct {
	url, variant, mode string
	clients            int
	duration           time.Duration

	mu    sync.Mutex
	took  []time.Duration // of every roll
	games int
}

func newLoad(st *settings) *cobra.Command {
	var l loadRun
	var d directRun
	var direct bool
	c := &cobra.Command{
		Use:   "load --url URL | --direct",
		Short: "Play matches against a service and measure its rolls",
		Long: `Play matches without anchors against a running service and measure how long
its rolls take; every roll and move is durable when it is answered. The API key
comes from the environment, FAIRDICE_API_KEY, or from the file that
FAIRDICE_API_KEY_FILE names. The matches stay in the service's
public log: do not load a service that people rely on.

With --direct the games are played in the data directory of a stopped service,
without HTTP, as many as --games says; --throws ends each of them early. So large logs are made.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if direct {
				cfg, err := st.read(c)
				if err != nil {
					return err
				}
				d.variant, d.mode, d.clients = l.variant, l.mode, l.clients
				return d.run(c, cfg)
			}
			key, err := secretVariable("FAIRDICE_API_KEY")
			if err != nil {
				return fmt.Errorf("load service: %w", err)
			}
			if err := l.run(c.Context(), key); err != nil {
				return err
			}
			at := func(share float64) time.Duration {
				return l.took[int(share*float64(len(l.took)-1))].Round(10 * time.Microsecond)
			}
			fmt.Fprintf(c.OutOrStdout(), "%d clients, %s: %d games, %d rolls, %.0f rolls/s, p50 %s, p99 %s\n",
				l.clients, l.duration, l.games, len(l.took), float64(len(l.took))/l.duration.Seconds(), at(0.50), at(0.99))
			return nil
		},
	}
	f := c.Flags()
	f.StringVar(&l.url, "url", "http://127.0.0.1:8080", "address of the service")
	f.StringVar(&l.variant, "variant", "short", "variant to play")
	f.StringVar(&l.mode, "mode", "random", "dice mode")
	f.IntVar(&l.clients, "clients", 32, "matches played at once")
	f.DurationVar(&l.duration, "duration", 10*time.Second, "how long to play")
	f.BoolVar(&direct, "direct", false, "play in the data directory, without HTTP")
	f.IntVar(&d.games, "games", 1000, "games to play with --direct")
	f.IntVar(&d.throws, "throws", 0, "throws after which a game is given up, with --direct; 0: games are played out")
	st.flags(c, "data", "master-key", "sealed")
	return c
}

func (l *loadRun) run(ctx context.Context, key string) error {
	if key == "" {
		return errors.New("load service: neither FAIRDICE_API_KEY nor FAIRDICE_API_KEY_FILE is set")
	}
	if l.clients < 1 || l.duration <= 0 {
		return errors.New("load service: at least one client and some time are needed")
	}
	v, err := rules.Lookup(l.variant)
	if err != nil {
		return err
	}
	o, err := replay.ParseOptions(demoOptions)
	if err != nil {
		return err
	}
	series, err := replay.NewMatch(v, o)
	if err != nil {
		return err
	}
	transport := &http.Transport{MaxIdleConns: l.clients, MaxIdleConnsPerHost: l.clients}
	c, err := client.New(l.url, client.WithKey(key), client.WithHTTP(&http.Client{Transport: transport}))
	if err != nil {
		return err
	}
	timed, cancel := context.WithTimeout(ctx, l.duration)
	defer cancel()
	errs := make(chan error, l.clients)
	var wg sync.WaitGroup
	for n := range l.clients {
		wg.Go(func() {
			for seed := uint64(n); timed.Err() == nil; seed += uint64(l.clients) {
				if err := l.match(timed, c, series.Next(), seed); err != nil && timed.Err() == nil {
					errs <- err
					cancel()
					return
				}
			}
		})
	}
	wg.Wait()
	close(errs)
	if err := <-errs; err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	if len(l.took) == 0 {
		return errors.New("load service: not one roll was answered")
	}
	slices.Sort(l.took)
	return nil
}

func (l *loadRun) match(ctx context.Context, c *client.Client, s replay.Setting, seed uint64) error {
	id, err := uuid.NewV7()
	if err != nil {
		return fmt.Errorf("make match id: %w", err)
	}
	_, err = c.OpenMatch(ctx, id.String(), client.OpenRequest{
		Variant: l.variant, Mode: client.Mode(l.mode), Options: new(demoOptions),
		A: client.Player{Token: "load-a"}, B: client.Player{Token: "load-b"},
	}, 0)
	if err != nil {
		return err
	}
	host := &croupier{api: c, match: id.String(), moves: selfplay.New(selfplay.Greedy, seed), rolled: func(_ int, _ client.DrawDue, _ client.Roll, took time.Duration) {
		l.mu.Lock()
		defer l.mu.Unlock()
		l.took = append(l.took, took)
	}}
	if _, _, err := host.game(ctx, s); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.games++
	return nil
}
