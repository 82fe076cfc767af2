package api

import (
	"context"
	"errors"
	"fmt"
	"net/http/httptest"
	"testing"
	"time"

	"fairdice/house"
)

// Whoever waits as long as he is told gets one request, and a second before that none.
func TestWait(t *testing.T) {
	start := time.Now().UTC().Truncate(quotaWindow).Add(10 * quotaWindow)
	for _, c := range []struct {
		before, now, limit int
		passed             time.Duration
	}{
		{0, 10, 10, 20 * time.Second}, {10, 5, 10, 10 * time.Second}, {10, 0, 10, 0}, {3, 9, 10, 30 * time.Second},
		{0, 1, 1, 59 * time.Second}, {1, 0, 1, 5 * time.Second}, {100, 60, 100, 20 * time.Second},
	} {
		q := newQuota("q", "requests", c.limit)
		if err := errors.Join(q.counter.IncrementBy("a", start.Add(-quotaWindow), c.before), q.counter.IncrementBy("a", start, c.now)); err != nil {
			t.Fatal(err)
		}
		at := start.Add(c.passed)
		wait := q.counter.wait("a", c.limit, at)
		rate := func(at time.Time) float64 {
			now, before := c.now, c.before
			switch window := at.Truncate(quotaWindow); {
			case window.After(start.Add(quotaWindow)):
				now, before = 0, 0
			case window.After(start):
				now, before = 0, c.now
			}
			return float64(now) + float64(before)*(1-float64(at.Sub(at.Truncate(quotaWindow)))/float64(quotaWindow))
		}
		if got := rate(at.Add(wait)); got > float64(c.limit-1)+1e-6 {
			t.Errorf("%+v: after %v the rate is %v", c, wait, got)
		}
		if got := rate(at.Add(wait - time.Second)); wait > time.Second && got <= float64(c.limit-1) {
			t.Errorf("%+v: a second before %v the rate is %v already", c, wait, got)
		}
	}
}

// However many callers there are, a quota remembers so many.
func TestCountedAreBounded(t *testing.T) {
	q := newQuota("q", "requests", 1)
	r := httptest.NewRequest("GET", "/", nil)
	for i := range 3 * maxCounted {
		_ = q.limiter.OnLimit(httptest.NewRecorder(), r, fmt.Sprint(i))
	}
	if n := len(q.counter.now) + len(q.counter.before); n > 2*maxCounted {
		t.Errorf("%d callers are remembered", n)
	}
	w := newWelcome()
	for i := range 3 * maxKeys {
		w.add("192.0.2.1", fmt.Sprint(i))
	}
	if len(w.known) > maxKeys {
		t.Errorf("%d keys are remembered", len(w.known))
	}
}

// Streams are bounded per caller and in all, and a place that was left is free.
func TestStreamsAreBounded(t *testing.T) {
	alive, stop := context.WithCancel(t.Context())
	s := newStreams(alive, time.Minute, unobserved{})
	code := func(caller string) house.Code { return house.CodeOf(s.enter(caller, 2)) }
	for i, want := range []house.Code{"", "", rateLimited} {
		if got := code("a"); got != want {
			t.Errorf("stream %d: %q, want %q", i, got, want)
		}
	}
	s.leave("a")
	if got := code("a"); got != "" {
		t.Errorf("after one has left: %q", got)
	}
	for i := 2; i < MaxStreams; i++ {
		if got := code(fmt.Sprint(i)); got != "" {
			t.Fatalf("stream %d: %q", i, got)
		}
	}
	if got := code("b"); got != house.Unavailable {
		t.Errorf("one too many in all: %q", got)
	}
	s.leave("2")
	stop()
	if got := code("b"); got != house.Unavailable {
		t.Errorf("while stopping: %q", got)
	}
	if len(s.open) != MaxStreams-2 {
		t.Errorf("%d callers are remembered", len(s.open))
	}
}
