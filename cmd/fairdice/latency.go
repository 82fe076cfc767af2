package main

import (
	"math"
	"math/bits"
	"time"
)

// latencies is a histogram of durations in the manner of HdrHistogram: each is
// known to a 32nd of itself, from a microsecond to ten days, in a memory that
// does not grow. The zero value is empty.
type latencies struct {
	count uint64
	max   time.Duration
	cells [1152]uint64
}

// The first 32 cells are of one microsecond each, the next 32 too, and then
// 32 at a time are twice as wide as those before.
const cellBits = 5

func (l *latencies) add(took time.Duration) {
	v := uint64(max(took.Microseconds(), 0))
	shift := max(bits.Len64(v)-cellBits-1, 0)
	cell := shift<<cellBits + int(v>>shift)
	l.cells[min(cell, len(l.cells)-1)]++
	l.count++
	l.max = max(l.max, took)
}

// quantile is a duration that this share of all does not exceed, at most a
// 32nd more than the shortest such duration; 0 of an empty histogram.
func (l *latencies) quantile(share float64) time.Duration {
	want := uint64(math.Ceil(share * float64(l.count)))
	var seen uint64
	for cell, n := range l.cells {
		if seen += n; seen >= want && n > 0 {
			if cell == len(l.cells)-1 { // it has no end
				return l.max
			}
			shift := max(cell>>cellBits-1, 0)
			end := uint64(cell-shift<<cellBits+1) << shift // of the cell, in microseconds
			return min(time.Duration(end)*time.Microsecond, l.max)
		}
	}
	return 0
}
