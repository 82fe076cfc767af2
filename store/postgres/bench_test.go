//go:build unix

package postgres

import (
	"context"
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairdice/store"
	"fairdice/store/postgres/pgtest"

	"github.com/jackc/pgx/v5/pgconn"
)

// receipt is as long as a signed receipt.
var receipt = strings.Repeat("fairdice/v1/roll receipt ", 36)

// draw is what one draw writes.
func draw(tx store.Tx, g *store.Game) error {
	line := fmt.Sprintf("roll A %d %d", g.Lines%6+1, g.Lines%5+1)
	next := *g
	r := store.Roll{Match: g.Match, Game: 1, Segment: 1, Stream: "a", Index: g.Rolls[1], Ordinal: g.Rolls[1], Line: g.Lines + 1, Receipt: receipt}
	next.Rolls[1]++
	next.Lines++
	next.Head = sha256.Sum256(append(g.Head[:], line...))
	next.Receipt = next.Head[:]
	if err := tx.ReplaceGame(next); err != nil {
		return err
	}
	if err := tx.AddRoll(r); err != nil {
		return err
	}
	return tx.AddEvents(g.Match, 1, next.Lines, []string{line})
}

const callers = 64

// BenchmarkDraw is the hot path, durable draws by callers that each play a
// match, beside what the server can do at most: the same number of callers that
// replace one row of their own each, one prepared statement and one commit.
func BenchmarkDraw(b *testing.B) {
	for _, n := range []int{8, 16, 32, 64} {
		b.Run(fmt.Sprintf("draws/connections=%d", n), func(b *testing.B) {
			s, err := Open(b.Context(), pgtest.Database(b), Options{Connections: n})
			if err != nil {
				b.Fatal(err)
			}
			defer s.Close()
			each(b, func(caller int) func(i int) error {
				var g store.Game
				return func(i int) error {
					if i%60 == 0 { // a game has about 60 rolls
						g = store.Game{Match: fmt.Sprintf("019ad1f0-%04x-7000-8000-%012x", caller, i), Number: 1, End: -1}
						if err := s.Update(context.Background(), func(tx store.Tx) error { return tx.AddGame(g) }); err != nil {
							return err
						}
					}
					err := s.Update(context.Background(), func(tx store.Tx) error { return draw(tx, &g) })
					g.Version++
					g.Lines++
					g.Rolls[1]++
					return err
				}
			})
		})
		b.Run(fmt.Sprintf("rows/connections=%d", n), func(b *testing.B) {
			address := pgtest.Database(b)
			pool := make(chan *pgconn.PgConn, n)
			for i := range n {
				c, err := pgconn.Connect(b.Context(), address)
				if err != nil {
					b.Fatal(err)
				}
				defer c.Close(context.Background())
				script := "CREATE TABLE IF NOT EXISTS rows (id bigint PRIMARY KEY, n bigint) WITH (fillfactor = 50)"
				if i == 0 {
					script += fmt.Sprintf("; INSERT INTO rows SELECT g, 0 FROM generate_series(0, %d) g", callers)
				}
				if _, err := c.Exec(b.Context(), script).ReadAll(); err != nil {
					b.Fatal(err)
				}
				if _, err := c.Prepare(b.Context(), "replace", "UPDATE rows SET n = n + 1 WHERE id = $1", nil); err != nil {
					b.Fatal(err)
				}
				pool <- c
			}
			each(b, func(caller int) func(i int) error {
				return func(int) error {
					c := <-pool
					_, err := c.ExecPrepared(context.Background(), "replace", [][]byte{number(int64(caller))}, inBinary, inBinary).Close()
					pool <- c
					return err
				}
			})
		})
	}
}

// each lets the callers do b.N things together.
func each(b *testing.B, caller func(caller int) func(i int) error) {
	var next atomic.Int64
	var wg sync.WaitGroup
	latency := make([][]time.Duration, callers)
	b.ResetTimer()
	start := time.Now()
	for c := range callers {
		wg.Go(func() {
			do := caller(c)
			for i := 0; next.Add(1) <= int64(b.N); i++ {
				began := time.Now()
				if err := do(i); err != nil {
					b.Error(err)
					return
				}
				latency[c] = append(latency[c], time.Since(began))
			}
		})
	}
	wg.Wait()
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "commits/s")
	all := slices.Sorted(slices.Values(slices.Concat(latency...)))
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
}
