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

// BenchmarkScale measures the same draws from a log of FAIRDICE_SCALE games of
// two rolls and, in turn with it, from an empty one, and how long the service
// takes to start on each. The games are played by the house itself, so every row is
// one that a service would have written; only their sequences are short,
// because it takes the most time to make those.
func BenchmarkScale(b *testing.B) {
	games, err := strconv.Atoi(os.Getenv("FAIRDICE_SCALE"))
	if err != nil || games < 1 {
		b.Skip("FAIRDICE_SCALE is not a number of games, such as 1000000")
	}
	b.Run("SQLite", func(b *testing.B) {
		benchScale(b, games, func() (config, func() int64) {
			cfg := testConfig(b.TempDir())
			return cfg, func() int64 { return sizeOf(b, filepath.Join(cfg.data, "fairdice.db")) } // whole, since the service has stopped
		})
	})
	b.Run("PostgreSQL", func(b *testing.B) {
		server := pgtest.Start(b)
		benchScale(b, games, func() (config, func() int64) {
			cfg := testConfig(b.TempDir())
			cfg.db = server.Database(b)
			return cfg, func() int64 { return postgresSize(b, cfg.db) }
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

func benchScale(b *testing.B, games int, database func() (config, func() int64)) {
	if b.N == 1 {
		return // the trial that testing makes first would fill a database for one draw
	}
	log := slog.New(slog.NewTextHandler(b.Output(), &slog.HandlerOptions{Level: slog.LevelWarn}))
	// run starts the service, has draws measured, and stops it.
	run := func(cfg config, when string) {
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
		if _, err := s.prepare(b.Context()); err != nil {
			b.Fatal(err)
		}
		if err := s.serve(); err != nil {
			b.Fatal(err)
		}
		b.ReportMetric(time.Since(start).Seconds()*1000, when+"-start-ms")
		key, err := s.house.IssueKey(b.Context(), cfg.tenant, "bench", house.Scopes())
		if err != nil {
			b.Fatal(err)
		}
		lines := dialDice(b, s, key)
		start = time.Now()
		took := drawDice(b, lines, b.N)
		b.ReportMetric(float64(len(took))/time.Since(start).Seconds(), when+"-draws/s")
		slices.Sort(took)
		b.ReportMetric(took[len(took)/2].Seconds()*1000, when+"-p50-ms")
		b.ReportMetric(took[len(took)*99/100].Seconds()*1000, when+"-p99-ms")
	}
	full, size := database()
	start := time.Now()
	fillScale(b, full, log, games)
	b.ReportMetric(float64(games)/time.Since(start).Seconds(), "games-filled/s")
	b.ReportMetric(float64(size())/float64(games), "bytes/game")

	empty, _ := database()
	run(empty, "new") // its first start seals sequences
	for range 2 {
		run(empty, "empty")
		run(full, "full")
	}
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
