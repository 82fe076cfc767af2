package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairdice/store"
)

func openTest(t testing.TB, o Options) (store.Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "test.db")
	s, err := Open(path, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, path
}

// receipt is as long as a signed receipt.
var receipt = strings.Repeat("fairdice/v1/roll receipt ", 36)

// draw is what one draw writes and, before it, reads.
func draw(tx store.Tx, match string, n int) error {
	g, err := tx.Game(match, 1)
	if err != nil {
		return err
	}
	line := fmt.Sprintf("roll A %d %d", n%6+1, n%5+1)
	r := store.Roll{Match: match, Game: 1, Segment: 1, Stream: "a", Index: g.Rolls[1], Ordinal: g.Rolls[1], Line: g.Lines + 1, Receipt: receipt}
	g.Rolls[1]++
	g.Lines++
	g.Head = sha256.Sum256(append(g.Head[:], line...))
	g.Receipt = g.Head[:]
	if err := tx.AddRoll(r); err != nil {
		return err
	}
	if err := tx.AddEvents(match, 1, g.Lines, []string{line}); err != nil {
		return err
	}
	return tx.ReplaceGame(g)
}

// BenchmarkDraw is the hot path: durable draws by callers that each play a match.
func BenchmarkDraw(b *testing.B) {
	for _, callers := range []int{1, 32, 64} {
		b.Run(fmt.Sprintf("callers=%d", callers), func(b *testing.B) {
			s, _ := openTest(b, Options{})
			var next atomic.Int64
			var wg sync.WaitGroup
			b.ResetTimer()
			start := time.Now()
			for c := range callers {
				wg.Go(func() {
					match := ""
					for i := 0; next.Add(1) <= int64(b.N); i++ {
						if i%60 == 0 { // a game has about 60 rolls
							match = fmt.Sprintf("019ad1f0-%04x-7000-8000-%012x", c, i)
							err := s.Update(context.Background(), func(tx store.Tx) error {
								return tx.AddGame(store.Game{Match: match, Number: 1, End: -1})
							})
							if err != nil {
								b.Error(err)
							}
						}
						err := s.Update(context.Background(), func(tx store.Tx) error { return draw(tx, match, i) })
						if err != nil {
							b.Error(err)
						}
					}
				})
			}
			wg.Wait()
			b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "draws/s")
		})
	}
}

// BenchmarkRows is what the driver can do at most: rows like those of a draw,
// by one prepared INSERT in transactions of 256, through database/sql.
func BenchmarkRows(b *testing.B) {
	path := filepath.Join(b.TempDir(), "raw.db")
	db, err := sql.Open("sqlite", "file:"+path+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)")
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	db.SetMaxOpenConns(1)
	if _, err := db.Exec("CREATE TABLE rolls (match TEXT, ordinal INTEGER, receipt TEXT) STRICT"); err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	start := time.Now()
	for done := 0; done < b.N; {
		tx, err := db.Begin()
		if err != nil {
			b.Fatal(err)
		}
		insert, err := tx.Prepare("INSERT INTO rolls VALUES (?, ?, ?)")
		if err != nil {
			b.Fatal(err)
		}
		for range 256 {
			if _, err := insert.Exec("019ad1f0-0000-7000-8000-000000000000", done, receipt); err != nil {
				b.Fatal(err)
			}
			done++
		}
		if err := tx.Commit(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/time.Since(start).Seconds(), "rows/s")
}

// BenchmarkStatement is one read by primary key inside a transaction, over the
// driver and over database/sql: why conn leaves that out.
func BenchmarkStatement(b *testing.B) {
	s, path := openTest(b, Options{})
	err := s.Update(context.Background(), func(tx store.Tx) error {
		return tx.AddCheckpoint(store.Checkpoint{Size: 1, Note: "note"})
	})
	if err != nil {
		b.Fatal(err)
	}
	const query = "SELECT size, note FROM checkpoints WHERE size = ?"
	b.Run("driver", func(b *testing.B) {
		b.ReportAllocs()
		c, err := connect(path, readOnly)
		if err != nil {
			b.Fatal(err)
		}
		defer c.close()
		if _, err := c.exec("BEGIN"); err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			if err := c.query(func(r *row) { scanCheckpoint(r) }, query, int64(1)); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("database sql", func(b *testing.B) {
		b.ReportAllocs()
		db, err := sql.Open("sqlite", "file:"+path+"?mode=ro")
		if err != nil {
			b.Fatal(err)
		}
		defer db.Close()
		tx, err := db.Begin()
		if err != nil {
			b.Fatal(err)
		}
		stmt, err := tx.Prepare(query)
		if err != nil {
			b.Fatal(err)
		}
		for b.Loop() {
			var v store.Checkpoint
			if err := stmt.QueryRow(int64(1)).Scan(&v.Size, &v.Note); err != nil {
				b.Fatal(err)
			}
		}
	})
}
