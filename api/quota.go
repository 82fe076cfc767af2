package api

import (
	"fmt"
	"hash/maphash"
	"math"
	"net/http"
	"sync"
	"time"

	"github.com/go-chi/httprate"

	"fairdice/house"
)

// quotaWindow is what all quotas count in.
const quotaWindow = time.Minute

// maxCounted bounds the callers that a quota remembers for a window. Whoever
// has more addresses than that is not held back by limits per address anyway,
// so that then everybody begins anew, and nobody is shut out by strangers.
const maxCounted = 1 << 16

// quota is how many requests of a kind a caller has in a minute, counted over
// a sliding window.
type quota struct {
	name    string // in the header
	what    string // is counted, in words
	limit   int
	limiter *httprate.RateLimiter
	counter *counter
}

func newQuota(name, what string, limit int) *quota {
	c := &counter{seed: maphash.MakeSeed(), now: map[uint64]int{}, before: map[uint64]int{}}
	return &quota{name: name, what: what, limit: limit, counter: c,
		// The headers of the library are those of an older draft.
		limiter: httprate.NewRateLimiter(limit, quotaWindow, httprate.WithLimitCounter(c), httprate.WithResponseHeaders(httprate.ResponseHeaders{}))}
}

// take counts a request of a caller and says in the answer what is left
// (draft-ietf-httpapi-ratelimit-headers); it refuses one that is too many.
func (q *quota) take(w http.ResponseWriter, r *http.Request, caller string) error {
	refused := q.limiter.OnLimit(w, r, caller)
	now := time.Now().UTC()
	again := now.Truncate(quotaWindow).Add(quotaWindow).Sub(now)
	if refused {
		again = q.counter.wait(caller, q.limit, now)
	}
	q.tell(w, q.left(caller), again)
	if refused {
		return q.refusal(again)
	}
	return nil
}

// spent refuses a caller who has nothing left, without counting.
func (q *quota) spent(w http.ResponseWriter, caller string) error {
	if q.left(caller) > 0 {
		return nil
	}
	again := q.counter.wait(caller, q.limit, time.Now().UTC())
	q.tell(w, 0, again)
	return q.refusal(again)
}

// count counts a request that was let in before anybody knew that it counts.
func (q *quota) count(caller string) {
	// The counter is in memory and does not fail.
	_ = q.counter.Increment(caller, time.Now().UTC().Truncate(quotaWindow))
}

func (q *quota) left(caller string) int {
	_, rate, err := q.limiter.Status(caller)
	if err != nil { // the counter has none
		return 0
	}
	return max(q.limit-int(math.Round(rate)), 0)
}

func (q *quota) tell(w http.ResponseWriter, left int, again time.Duration) {
	h := w.Header()
	h.Set("RateLimit-Policy", fmt.Sprintf("%q;q=%d;w=%d", q.name, q.limit, int(quotaWindow.Seconds())))
	h.Set("RateLimit", fmt.Sprintf("%q;r=%d;t=%d", q.name, left, int(math.Ceil(again.Seconds()))))
}

func (q *quota) refusal(again time.Duration) error {
	return &house.Error{Code: rateLimited, Message: fmt.Sprintf("more than %d %s in a minute", q.limit, q.what), RetryAfter: again}
}

// counter counts by hashes under a key of its own: nobody can choose an
// address that is counted together with another's.
type counter struct {
	seed maphash.Seed

	mu          sync.Mutex
	window      time.Time // the beginning of the current one
	now, before map[uint64]int
}

var _ httprate.LimitCounter = (*counter)(nil)

// Config is nothing new to a counter: its quota knows.
func (c *counter) Config(int, time.Duration) {}

// Increment counts one.
func (c *counter) Increment(key string, window time.Time) error {
	return c.IncrementBy(key, window, 1)
}

// IncrementBy counts requests in a window.
func (c *counter) IncrementBy(key string, window time.Time, amount int) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn(window)
	hash := maphash.String(c.seed, key)
	if _, known := c.now[hash]; !known && len(c.now) >= maxCounted {
		clear(c.now)
	}
	c.now[hash] += amount
	return nil
}

// Get is what was counted in the two windows.
func (c *counter) Get(key string, window, _ time.Time) (now, before int, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turn(window)
	hash := maphash.String(c.seed, key)
	return c.now[hash], c.before[hash], nil
}

func (c *counter) turn(window time.Time) {
	switch {
	case !window.After(c.window):
	case window.Equal(c.window.Add(quotaWindow)):
		clear(c.before)
		c.now, c.before = c.before, c.now
		c.window = window
	default:
		clear(c.now)
		clear(c.before)
		c.window = window
	}
}

// wait is after how long a caller who is refused at that time has one request
// again. The requests of the window before count less and less.
func (c *counter) wait(key string, limit int, at time.Time) time.Duration {
	window := at.Truncate(quotaWindow)
	now, before, err := c.Get(key, window, window.Add(-quotaWindow))
	if err != nil {
		return quotaWindow
	}
	passed := at.Sub(window)
	// until is when of n requests in the window before so many are left.
	until := func(n, left int) time.Duration {
		if n <= left {
			return 0
		}
		return time.Duration(float64(quotaWindow) * (1 - float64(left)/float64(n)))
	}
	if now < limit {
		return max(until(before, limit-1-now)-passed, time.Second)
	}
	return max(quotaWindow-passed+until(now, limit-1), time.Second)
}
