package export_test

import (
	"path/filepath"
	"strconv"
	"sync"
	"testing"

	"fairdice/house/export"
)

// BenchmarkExport exports games of about 120 rolls each, played before, to a
// directory and to a packed file.
func BenchmarkExport(b *testing.B) {
	const games = 200
	s := newService(b, false)
	s.seal("random", games+40)
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			for i := range games / 20 {
				s.open(terms{"long-classic", "random", single, false}, uint64(1000*n+i)).game(1, 0)
			}
		})
	}
	wg.Wait()
	s.signed()
	src := s.source()
	for name, run := range map[string]func(string) (export.Summary, error){
		"directory": func(to string) (export.Summary, error) { return export.Directory(b.Context(), src, to) },
		"packed":    func(to string) (export.Summary, error) { return export.File(b.Context(), src, to+".tar.zst") },
	} {
		b.Run(name, func(b *testing.B) {
			dir := b.TempDir()
			for n := range b.N {
				sum, err := run(filepath.Join(dir, strconv.Itoa(n)))
				if err != nil {
					b.Fatal(err)
				}
				if sum.Games != games {
					b.Fatalf("%d games", sum.Games)
				}
			}
			b.ReportMetric(games*float64(b.N)/b.Elapsed().Seconds(), "games/s")
		})
	}
}
