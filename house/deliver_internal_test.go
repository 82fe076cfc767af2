package house

import (
	"testing"
	"time"

	"pgregory.net/rapid"
)

// The schedule is about three days; every pause lies around its delay, is never
// shorter for what an endpoint asks, and never longer than a day and a half.
func TestPause(t *testing.T) {
	var total time.Duration
	for failed := 1; failed < MaxAttempts; failed++ {
		total += pause(failed, 0.5, 0)
	}
	if total < 70*time.Hour || total > 80*time.Hour {
		t.Errorf("the schedule lasts %s", total)
	}
	rapid.Check(t, func(t *rapid.T) {
		failed := rapid.IntRange(1, MaxAttempts+3).Draw(t, "failed")
		jitter := rapid.Float64Range(0, 0.999999).Draw(t, "jitter")
		after := time.Duration(rapid.Int64Range(-1<<62, 1<<62).Draw(t, "after"))
		got := pause(failed, jitter, after)
		if failed >= MaxAttempts {
			if got >= 0 {
				t.Fatalf("an attempt after the last one, in %s", got)
			}
			return
		}
		d := delays[failed]
		if got < d/2 || got > max(d*3/2, MaxRetryAfter) || after > 0 && got < min(after, MaxRetryAfter) || after <= 0 && got > d*3/2 {
			t.Fatalf("pause %s after %d failures, asked for %s", got, failed, after)
		}
		if next := pause(failed+1, 0, 0); next > 0 && failed > 1 && next < d/2 {
			t.Fatalf("the delay after %d failures is shorter than the one before", failed+1)
		}
	})
}
