package archive_test

import (
	"syscall"
	"testing"
	"time"

	"fairdice/audit"
	"fairdice/audit/archive"
	"fairdice/commitment"
	"fairdice/internal/dealer"
)

// BenchmarkVerify audits 200 finished L2 games of about 120 rolls under default
// lengths, in memory.
func BenchmarkVerify(b *testing.B) {
	const games = 200
	h := dealer.New(b, 1)
	for range games {
		m := h.Open(dealer.Terms{
			Variant: "short", Mode: commitment.Random, Options: dealer.SingleGame, Rolls: commitment.DefaultLengths(), Anchored: true, StopAt: 120,
		})
		m.Play()
		m.Finish()
	}
	f := files(h.Archive())
	before := processorTime(b)
	for b.Loop() {
		if r := verify(b, f, h, archive.Options{}); r.Verdict != audit.Verified {
			b.Fatal(r.Text())
		}
	}
	b.ReportMetric(games*float64(b.N)/b.Elapsed().Seconds(), "games/s")
	b.ReportMetric(1e3*(processorTime(b)-before).Seconds()/float64(games*b.N), "cpu-ms/game") // what a busy machine cannot blur
}

// processorTime is what this process has used.
func processorTime(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
