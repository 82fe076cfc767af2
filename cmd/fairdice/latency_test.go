package main

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// Every quantile is the true one or at most a 32nd (and a microsecond) longer.
func TestLatencies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) time.Duration {
			return time.Duration(rapid.Int64Range(0, 1<<rapid.IntRange(1, 49).Draw(t, "bits")).Draw(t, "took"))
		}), 1, 200).Draw(t, "durations")
		var l latencies
		for _, d := range all {
			l.add(d)
		}
		slices.Sort(all)
		for _, share := range []float64{0.001, 0.5, 0.9, 0.99, 1} {
			want := all[max(0, int(float64(len(all))*share+0.999999)-1)]
			if got := l.quantile(share); got < want || got > want+want/32+time.Microsecond {
				t.Errorf("quantile %v of %d durations is %v, the true one %v", share, len(all), got, want)
			}
		}
		if l.quantile(1) != all[len(all)-1] || l.count != uint64(len(all)) {
			t.Errorf("longest %v of %d", l.quantile(1), l.count)
		}
	})
	var long latencies
	long.add(1 << 62)
	if d := long.quantile(1); d != 1<<62 {
		t.Errorf("of a century and a half: %v", d)
	}
	if d := new(latencies).quantile(0.5); d != 0 {
		t.Errorf("of nothing: %v", d)
	}
}
