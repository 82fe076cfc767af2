package house

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"

	"fairdice/commitment"
	"fairdice/store"
	"fairdice/store/sqlite"

	"github.com/google/uuid"
)

// BenchmarkAppend appends statements to the log as the house does, with their
// strict parsing, hashes and a durable commit: 64 in a transaction, which
// several callers at once share.
func BenchmarkAppend(b *testing.B) {
	s, err := sqlite.Open(filepath.Join(b.TempDir(), "log.db"), sqlite.Options{})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	h := &House{store: s, clock: newClock(Config{})}
	statements := make([]commitment.Retire, 64)
	for i := range statements {
		secret, err := commitment.NewSecret(rand.Reader)
		if err != nil {
			b.Fatal(err)
		}
		statements[i] = commitment.Retire{Sequence: uuid.Must(uuid.NewV7()).String(), Reason: "benchmark", Secret: secret}
	}
	var left atomic.Int64
	left.Store(int64(b.N))
	var wg sync.WaitGroup
	b.ResetTimer()
	for range 8 {
		wg.Go(func() {
			for left.Add(-SealBatch) > -SealBatch {
				err := s.Update(context.Background(), func(tx store.Tx) error {
					w, err := h.lockLog(tx)
					if err != nil {
						return err
					}
					for _, st := range statements {
						st.Time = w.at
						if _, err := w.append(st); err != nil {
							return err
						}
					}
					return nil
				})
				if err != nil {
					b.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	b.StopTimer()
	var head store.LogHead
	if err := s.View(context.Background(), func(r store.Reader) (err error) { head, err = r.LogHead(); return err }); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(head.Size)/b.Elapsed().Seconds(), "statements/s")
}
