package house_test

import (
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairdice/house"
)

// BenchmarkDraws plays 32 games at once against the house without HTTP:
// durable draws, each followed by the move it makes due.
func BenchmarkDraws(b *testing.B) {
	const games = 32
	h := newBench(b, func(c *house.Config) { c.Pool = house.DefaultPool })
	if err := h.TopUp(b.Context(), "default", "random", 64); err != nil {
		b.Fatal(err)
	}
	var left atomic.Int64
	var mu sync.Mutex
	var took []time.Duration
	left.Store(int64(b.N))
	b.ResetTimer()
	var wg sync.WaitGroup
	for range games {
		wg.Go(func() {
			var mine []time.Duration
			for left.Load() > 0 {
				m := h.open("short", single, nil, nil)
				m.begin(1)
				for !m.state.Over() && left.Load() > 0 {
					_, draw := m.state.NextDraw()
					start := time.Now()
					m.step(1)
					if draw {
						mine = append(mine, time.Since(start))
						left.Add(-1)
					}
				}
			}
			mu.Lock()
			took = append(took, mine...)
			mu.Unlock()
		})
	}
	wg.Wait()
	b.StopTimer()
	slices.Sort(took)
	b.ReportMetric(float64(len(took))/b.Elapsed().Seconds(), "draws/s")
	b.ReportMetric(float64(took[len(took)*99/100].Microseconds())/1000, "p99-ms")
}
