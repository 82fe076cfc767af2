package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/uuid"

	"fairdice/client"
	"fairdice/internal/selfplay"
	"fairdice/replay"
	"fairdice/rules"
	"fairdice/store/postgres/pgtest"
)

const benchClients = 32

// benchGames is how many games are played at once: 16 for each client.
const benchGames = 16 * benchClients

// BenchmarkDraws measures draws that are durable when they are answered,
// through HTTP with 32 clients at once, in games that are being played. The
// moves in between are played outside the measured time.
func BenchmarkDraws(b *testing.B) {
	onBoth(b, benchDraws)
}

// onBoth runs a benchmark on a database of each kind.
func onBoth(b *testing.B, run func(b *testing.B, change func(*config))) {
	b.Run("SQLite", func(b *testing.B) { run(b, func(*config) {}) })
	b.Run("PostgreSQL", func(b *testing.B) {
		address := pgtest.Start(b).Database(b)
		run(b, func(c *config) { c.db = address })
	})
}

func benchDraws(b *testing.B, change func(*config)) {
	_, c := benchService(b, change)
	games := make([]*benchGame, benchGames)
	for i := range games {
		games[i] = &benchGame{c: c, moves: selfplay.New(selfplay.Greedy, uint64(i))}
	}
	var took []time.Duration
	b.ResetTimer()
	b.StopTimer()
	for len(took) < b.N {
		spread(b, len(games), func(i int) error { return games[i].advance(b) })
		n := min(len(games), b.N-len(took))
		round := make([]time.Duration, n)
		b.StartTimer()
		spread(b, n, func(i int) (err error) {
			start := time.Now()
			err = games[i].draw(b.Context())
			round[i] = time.Since(start)
			return err
		})
		b.StopTimer()
		took = append(took, round...)
		if b.Failed() {
			return
		}
	}
	measured(b, "draws/s", took)
}

// benchGame is a game that stands still whenever a roll is due.
type benchGame struct {
	c     *client.Client
	moves *selfplay.Player
	gen   rules.Generator

	id     string
	st     replay.State
	line   int
	answer []byte // of the last draw, not yet applied
}

// advance applies the last roll and moves until the next one is due.
func (g *benchGame) advance(t testing.TB) error {
	ctx := t.Context()
	if g.answer != nil {
		var roll client.Roll
		if err := json.Unmarshal(g.answer, &roll); err != nil {
			return err
		}
		e, _ := selfplay.Throw(g.st, rules.Dice{A: uint8(roll.Dice[0]), B: uint8(roll.Dice[1])})
		if err := g.apply(e); err != nil {
			return err
		}
		g.answer = nil
	}
	for {
		if g.id == "" || g.st.Over() {
			g.id, g.line = openBench(t, g.c), 1
			if _, err := g.c.NextGame(ctx, g.id, 1, 0); err != nil {
				return err
			}
			var err error
			if g.st, err = replay.Start(shortSetting(t)); err != nil {
				return err
			}
		}
		e, ok := g.moves.Next(g.st)
		if !ok {
			return nil
		}
		if _, err := g.c.Append(ctx, g.id, 1, g.line, e.String()); err != nil {
			return err
		}
		if err := g.apply(e); err != nil {
			return err
		}
	}
}

func (g *benchGame) apply(e replay.Event) (err error) {
	g.line++
	g.st, err = g.st.Apply(&g.gen, e)
	return err
}

func (g *benchGame) draw(ctx context.Context) (err error) {
	stream, _ := g.st.NextDraw()
	index := g.st.Throws()[map[string]int{replay.StreamOpening: 0, replay.StreamA: 1, replay.StreamB: 2}[stream]]
	g.answer, err = g.c.DrawBytes(ctx, g.id, 1, 1, client.Stream(stream), int(index))
	return err
}

// BenchmarkPlay measures whole games: rolls and the moves between them, all
// durable when answered. The rolls are counted, the moves come with them.
func BenchmarkPlay(b *testing.B) {
	onBoth(b, benchPlay)
}

func benchPlay(b *testing.B, change func(*config)) {
	s, c := benchService(b, change)
	ctx := b.Context()
	if err := s.house.TopUp(ctx, "default", "random", 64); err != nil {
		b.Fatal(err)
	}
	var mu sync.Mutex
	var took []time.Duration
	var left atomic.Int64
	left.Store(int64(b.N))
	ctx, enough := context.WithCancel(ctx)
	defer enough()
	b.ResetTimer()
	var wg sync.WaitGroup
	for n := range benchClients {
		wg.Go(func() {
			for seed := uint64(n); left.Load() > 0; seed += benchClients {
				id := openBench(b, c)
				host := &croupier{api: c, match: id, moves: selfplay.New(selfplay.Greedy, seed), rolled: func(_ int, _ client.DrawDue, _ client.Roll, d time.Duration) {
					mu.Lock()
					defer mu.Unlock()
					took = append(took, d)
					if left.Add(-1) == 0 {
						enough()
					}
				}}
				if _, _, err := host.game(ctx, shortSetting(b)); err != nil && ctx.Err() == nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	measured(b, "rolls/s", took)
}

func benchService(b *testing.B, change func(*config)) (*service, *client.Client) {
	s, key := startService(b, change)
	transport := &http.Transport{MaxIdleConns: benchClients, MaxIdleConnsPerHost: benchClients}
	c, err := client.New(s.url(), client.WithKey(key), client.WithHTTP(&http.Client{Transport: transport}))
	if err != nil {
		b.Fatal(err)
	}
	return s, c
}

var benchTerms = client.OpenRequest{
	Variant: "short", Mode: client.ModeRandom, Options: new(demoOptions),
	A: client.Player{Token: "ada"}, B: client.Player{Token: "ben"},
}

func benchID(t testing.TB) string {
	id, err := uuid.NewV7()
	if err != nil {
		t.Error(err)
	}
	return id.String()
}

func openBench(t testing.TB, c *client.Client) string {
	id := benchID(t)
	if _, err := c.OpenMatch(t.Context(), id, benchTerms, 0); err != nil {
		t.Error(err)
	}
	return id
}

// spread runs n jobs on 32 clients.
func spread(t testing.TB, n int, job func(i int) error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range benchClients {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if err := job(int(i)); err != nil {
					t.Error(fmt.Errorf("job %d: %w", i, err))
					return
				}
			}
		})
	}
	wg.Wait()
}

func measured(b *testing.B, unit string, took []time.Duration) {
	slices.Sort(took)
	at := func(share float64) float64 {
		return float64(took[min(int(share*float64(len(took))), len(took)-1)].Microseconds()) / 1000
	}
	b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), unit)
	b.ReportMetric(at(0.50), "p50-ms")
	b.ReportMetric(at(0.99), "p99-ms")
}
