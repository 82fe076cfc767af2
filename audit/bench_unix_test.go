//go:build unix

package audit

import (
	"syscall"
	"testing"
	"time"
)

// BenchmarkVerifyToParts takes turns with verifying the bundle of a finished
// game and the parts of that work which no verifier can do without, and reports
// the ratio of the processor time they took. Taking turns on one processor, and
// counting its time and not the clock's, keeps the ratio steady on a machine
// that is busy with other work:
//
//	go test ./audit -run '^$' -bench VerifyToParts -cpu 1
func BenchmarkVerifyToParts(b *testing.B) {
	data, bundle, key := longGame(b)
	work := parts(b, bundle, key)
	var whole, least time.Duration
	for b.Loop() {
		start := processorTime(b)
		Verify(data, Trust{Key: key})
		between := processorTime(b)
		work()
		whole += between - start
		least += processorTime(b) - between
	}
	b.ReportMetric(float64(whole)/float64(least), "whole/parts")
	b.ReportMetric(float64(whole.Microseconds())/float64(b.N)/1000, "ms-whole")
}

// processorTime is the time this process has had on a processor.
func processorTime(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
