package main

import (
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/replay"
	"fairdice/store/postgres/pgtest"
)

// BenchmarkScale measures the same draws before and after FAIRDICE_SCALE
// games of two rolls were played into the log, and how long the service takes
// to start on it. The games are played by the house itself, so every row is
// one that a service would have written; only their sequences are short,
// because it takes the most time to make those.
func BenchmarkScale(b *testing.B) {
	games, err := strconv.Atoi(os.Getenv("FAIRDICE_SCALE"))
	if err != nil || games < 1 {
		b.Skip("FAIRDICE_SCALE is not a number of games, such as 1000000")
	}
	b.Run("SQLite", func(b *testing.B) {
		data := b.TempDir()
		benchScale(b, games, func(c *config) { c.data, c.master = data, filepath.Join(data, "master.key") }, func() int64 {
			return sizeOf(b, filepath.Join(data, "fairdice.db")) // whole, since the service has stopped
		})
	})
	b.Run("PostgreSQL", func(b *testing.B) {
		server := pgtest.Start(b)
		address, data := server.Database(b), b.TempDir()
		benchScale(b, games, func(c *config) { c.data, c.master, c.db = data, filepath.Join(data, "master.key"), address }, func() int64 {
			return postgresSize(b, address)
		})
	})
}

func sizeOf(b *testing.B, path string) int64 {
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	return info.Size()
}

func postgresSize(b *testing.B, address string) (size int64) {
	c, err := pgconn.Connect(b.Context(), address)
	if err != nil {
		b.Fatal(err)
	}
	defer c.Close(b.Context())
	results, err := c.Exec(b.Context(), "SELECT pg_database_size(current_database())").ReadAll()
	if err == nil {
		size, err = strconv.ParseInt(string(results[0].Rows[0][0]), 10, 64)
	}
	if err != nil {
		b.Fatal(err)
	}
	return size
}

func benchScale(b *testing.B, games int, change func(*config), size func() int64) {
	log := slog.New(slog.NewTextHandler(b.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	cfg := testConfig(b.TempDir())
	change(&cfg)
	var key string
	// run starts the service, has something done, and stops it.
	run := func(do func(s *service)) (started time.Duration) {
		start := time.Now()
		s, err := openService(b.Context(), cfg, log)
		if err != nil {
			b.Fatal(err)
		}
		defer func() {
			if err := s.stop(); err != nil {
				b.Error(err)
			}
		}()
		if err := s.bind(); err != nil {
			b.Fatal(err)
		}
		made, err := s.prepare(b.Context())
		if err != nil {
			b.Fatal(err)
		}
		if made != "" {
			key = made
		}
		if err := s.serve(); err != nil {
			b.Fatal(err)
		}
		started = time.Since(start)
		do(s)
		return started
	}
	report := func(when string, took []time.Duration) {
		slices.Sort(took)
		b.ReportMetric(took[len(took)/2].Seconds()*1000, when+"-p50-ms")
		b.ReportMetric(took[len(took)*99/100].Seconds()*1000, when+"-p99-ms")
	}
	measure := func(when string) func(*service) {
		return func(s *service) {
			wires := dialDice(b, s, key)
			start := time.Now()
			took := drawDice(b, wires, b.N)
			b.ReportMetric(float64(len(took))/time.Since(start).Seconds(), when+"-draws/s")
			report(when, took)
		}
	}
	run(measure("empty"))
	before := size()

	start := time.Now()
	fillScale(b, cfg, log, games)
	b.ReportMetric(float64(games)/time.Since(start).Seconds(), "games-filled/s")
	b.ReportMetric(float64(size()-before)/float64(games), "bytes/game")

	b.ReportMetric(run(measure("full")).Seconds()*1000, "start-ms")
	b.ReportMetric(0, "ns/op") // the time of all this says nothing
}

// fillScale plays the games for a tenant of their own, whose short sequences
// nobody else gets.
func fillScale(b *testing.B, cfg config, log *slog.Logger, games int) {
	const tenant, mode, clients = "scale", "random", 256
	cfg.rolls, cfg.sealed = commitment.Lengths{4, 8, 8}, 4*clients
	s, err := openService(b.Context(), cfg, log)
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := s.stop(); err != nil {
			b.Error(err)
		}
	}()
	if err := s.house.AddTenant(b.Context(), tenant); err != nil {
		b.Fatal(err)
	}
	if err := s.house.TopUp(b.Context(), tenant, mode, cfg.sealed); err != nil {
		b.Fatal(err)
	}
	setting := shortSetting(b)
	d := directRun{variant: setting.Variant.ID, mode: mode, clients: clients, games: games, throws: 2,
		house: s.house, tenant: house.Principal{Tenant: tenant, Scopes: house.Scopes()}, options: setting.Options.String()}
	if d.series, err = replay.NewMatch(setting.Variant, setting.Options); err != nil {
		b.Fatal(err)
	}
	if err := d.play(b.Context()); err != nil {
		b.Fatal(err)
	}
}
