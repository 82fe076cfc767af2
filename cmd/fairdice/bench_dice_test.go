package main

import (
	"bufio"
	"context"
	"database/sql"
	"fmt"
	"io"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"fairdice/client"
	"fairdice/house"
	"fairdice/store/postgres/pgtest"
)

// diceClients is how many clients draw at once, each in a game of its own.
const diceClients = 64

// BenchmarkDice measures draws of games that the house does not referee:
// durable when they are answered, through HTTP, 64 clients on 64 games that
// share the processors with the service. Beside it stands what the database
// alone can do in the same place: rows as long as a receipt, inserted straight
// over the driver, in commits of 64 and in one commit each.
func BenchmarkDice(b *testing.B) {
	b.Run("SQLite", func(b *testing.B) {
		rate := benchDice(b, func(*config) {})
		rawRatios(b, rate, rawSQLite)
	})
	b.Run("PostgreSQL", func(b *testing.B) {
		server := pgtest.Start(b)
		address := server.Database(b)
		rate := benchDice(b, func(c *config) { c.db = address })
		raw := server.Database(b)
		rawRatios(b, rate, func(b *testing.B, n, group int) time.Duration { return rawPostgres(b, raw, n, group) })
	})
}

// benchDice answers the draws per second.
func benchDice(b *testing.B, change func(*config)) float64 {
	s, key := startService(b, change)
	lines := dialDice(b, s, key)
	b.ResetTimer()
	took := drawDice(b, lines, b.N)
	b.StopTimer()
	measured(b, "draws/s", took)
	return float64(len(took)) / b.Elapsed().Seconds()
}

// drawDice draws n rolls over all the connections at once.
func drawDice(b *testing.B, lines []*line, n int) (all []time.Duration) {
	took := make([][]time.Duration, len(lines))
	var next atomic.Int64
	var wg sync.WaitGroup
	for i, l := range lines {
		wg.Go(func() {
			for next.Add(1) <= int64(n) {
				start := time.Now()
				if err := l.draw(); err != nil {
					b.Error(err)
					return
				}
				took[i] = append(took[i], time.Since(start))
			}
		})
	}
	wg.Wait()
	for _, t := range took {
		all = append(all, t...)
	}
	return all
}

// line is a client that does no more than it must, because it takes the time
// of the service that is measured: one connection, kept, and answers that are
// read but not decoded.
type line struct {
	net.Conn
	answers *bufio.Reader
	key     string
	match   string
	drawn   int
	request []byte
}

// dialDice opens a game for each client.
func dialDice(b *testing.B, s *service, key string) []*line {
	c, err := client.New(s.url(), client.WithKey(key))
	if err != nil {
		b.Fatal(err)
	}
	terms := benchTerms
	terms.Profile = new(client.OpenRequestProfileDiceOnly)
	lines := make([]*line, diceClients)
	for i := range lines {
		id := benchID(b)
		if _, err := c.OpenMatch(b.Context(), id, terms, 0); err != nil {
			b.Fatal(err)
		}
		if _, err := c.NextGame(b.Context(), id, 1, 0); err != nil {
			b.Fatal(err)
		}
		conn, err := net.Dial("tcp", s.listen.Addr().String())
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { conn.Close() })
		lines[i] = &line{Conn: conn, answers: bufio.NewReader(conn), key: key, match: id}
	}
	return lines
}

// draw draws the next roll: of the players in turn, 256 each in a segment.
func (l *line) draw() error {
	const each = 256
	segment, turn := l.drawn/(2*each)+1, l.drawn%(2*each)
	return l.put("/v1/matches/%s/games/1/segments/%d/rolls/%c/%d", l.match, segment, 'a'+rune(turn%2), turn/2)
}

func (l *line) put(path string, args ...any) error {
	l.request = fmt.Appendf(append(l.request[:0], "PUT "...), path, args...)
	l.request = append(l.request, " HTTP/1.1\r\nHost: bench\r\nContent-Length: 0\r\nAuthorization: Bearer "...)
	l.request = append(append(l.request, l.key...), "\r\n\r\n"...)
	if _, err := l.Write(l.request); err != nil {
		return err
	}
	answer, err := http.ReadResponse(l.answers, nil)
	if err != nil {
		return err
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		text, _ := io.ReadAll(answer.Body)
		return fmt.Errorf("%s: %s", answer.Status, text)
	}
	l.drawn++
	_, err = io.Copy(io.Discard, answer.Body)
	return err
}

// BenchmarkSeal measures sequences sealed through HTTP, 64 with a request, by
// one client for each mode whose dice the service makes.
func BenchmarkSeal(b *testing.B) {
	onBoth(b, func(b *testing.B, change func(*config)) {
		s, key := startService(b, change)
		c, err := client.New(s.url(), client.WithKey(key))
		if err != nil {
			b.Fatal(err)
		}
		var left atomic.Int64
		left.Store(int64(b.N))
		var wg sync.WaitGroup
		b.ResetTimer()
		for _, mode := range house.Sealable() {
			wg.Go(func() {
				last := int64(s.config.sealed - 1) // sealed at the start
				for left.Add(-house.SealBatch) > -house.SealBatch {
					last += house.SealBatch
					if _, err := c.Seal(b.Context(), client.Mode(mode), last, 0); err != nil {
						b.Error(err)
						return
					}
				}
			})
		}
		wg.Wait()
		rounds := (b.N + house.SealBatch - 1) / house.SealBatch
		b.ReportMetric(float64(rounds*house.SealBatch)/b.Elapsed().Seconds(), "sealed/s")
	})
}

// rawReceipt is as long as a signed receipt.
var rawReceipt = strings.Repeat("fairdice/v1/roll receipt ", 36)

// rawRatios reports how the rate compares with what the database can do.
func rawRatios(b *testing.B, rate float64, raw func(b *testing.B, n, group int) time.Duration) {
	for _, kind := range []struct {
		name  string
		group int
	}{{"group", diceClients}, {"single", 1}} {
		limit := float64(b.N) / raw(b, b.N, kind.group).Seconds()
		b.ReportMetric(limit, "raw-"+kind.name+"/s")
		b.ReportMetric(rate/limit, "of-raw-"+kind.name)
	}
}

// rawSQLite inserts n rows with that many in a commit.
func rawSQLite(b *testing.B, n, group int) time.Duration {
	db, err := sql.Open("sqlite", "file:"+filepath.Join(b.TempDir(), "raw.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE rolls (n INTEGER PRIMARY KEY, receipt TEXT) STRICT"); err != nil {
		b.Fatal(err)
	}
	start := time.Now()
	for done := 0; done < n; {
		tx, err := db.Begin()
		if err != nil {
			b.Fatal(err)
		}
		for range min(group, n-done) {
			if _, err := tx.Exec("INSERT INTO rolls VALUES (?, ?)", done, rawReceipt); err != nil {
				b.Fatal(err)
			}
			done++
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	return time.Since(start)
}

// rawPostgres inserts n rows with that many in a commit: groups over one
// connection, single rows over as many as there are clients, whose commits
// the server flushes together as it can.
func rawPostgres(b *testing.B, address string, n, group int) time.Duration {
	ctx := context.Background()
	conns := make([]*pgconn.PgConn, max(1, diceClients/group))
	for i := range conns {
		c, err := pgconn.Connect(ctx, address)
		if err != nil {
			b.Fatal(err)
		}
		defer c.Close(ctx)
		if _, err := c.Exec(ctx, "CREATE TABLE IF NOT EXISTS rolls (n bigserial PRIMARY KEY, receipt text)").ReadAll(); err != nil {
			b.Fatal(err)
		}
		if _, err := c.Prepare(ctx, "add", "INSERT INTO rolls (receipt) VALUES ($1)", nil); err != nil {
			b.Fatal(err)
		}
		conns[i] = c
	}
	var left atomic.Int64
	left.Store(int64(n))
	var wg sync.WaitGroup
	start := time.Now()
	for _, c := range conns {
		wg.Go(func() {
			for {
				var batch pgconn.Batch
				rows := min(int64(group), left.Add(-int64(group))+int64(group))
				if rows <= 0 {
					return
				}
				for range rows { // one message, and so one transaction
					batch.ExecPrepared("add", [][]byte{[]byte(rawReceipt)}, nil, nil)
				}
				if _, err := c.ExecBatch(ctx, &batch).ReadAll(); err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	return time.Since(start)
}
