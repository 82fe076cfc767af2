package house

import (
	"log/slog"
	"sync"
	"time"
)

const (
	// JumpLimit is how much further a clock may have gone than the time that has
	// passed since it was last read. One that is corrected goes less.
	JumpLimit = time.Hour
	// JumpPatience is how long a clock has to stand by its jump before it is
	// believed. It is shorter than the margins of all deadlines.
	JumpPatience = 10 * time.Minute
)

// clock is the machine's clock, watched by another one that nobody sets.
//
// A clock that jumps ahead, by a wrong answer of a time server or a hand, would
// date statements in the future for ever, for the log's time never goes back,
// and would end every game and sequence at once, as if their deadlines had come.
// Both cannot be taken back; to wait a little can. So a jump is not believed before it
// has lasted. A jump back is harmless: times in the log stay where they are.
type clock struct {
	read    func() time.Time
	elapsed func() time.Duration // nil: the clock is believed
	log     *slog.Logger

	mu     sync.Mutex
	base   time.Time     // the last reading that was believed
	baseAt time.Duration // and when it was
	offset time.Duration // of the jump that is being watched; 0: none is
	since  time.Duration // when it was first seen
}

func newClock(c Config) *clock {
	k := &clock{read: c.Now, elapsed: c.Elapsed, log: c.Logger}
	if k.read == nil {
		k.read = time.Now
		if k.elapsed == nil {
			begun := time.Now()
			k.elapsed = func() time.Duration { return time.Since(begun) } // the monotonic clock
		}
	}
	k.base = k.read().Round(0)
	if k.elapsed != nil {
		k.baseAt = k.elapsed()
	}
	return k
}

// now is the present, or a refusal while the clock says what cannot be.
func (k *clock) now() (time.Time, error) {
	now := k.read().Round(0) // without the monotonic reading
	if k.elapsed == nil {
		return now, nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	at := k.elapsed()
	jump := now.Sub(k.base) - (at - k.baseAt)
	switch {
	case jump.Abs() <= JumpLimit:
		if k.offset != 0 {
			k.log.Warn("the clock is right again", "now", now)
		}
		k.base, k.baseAt, k.offset = now, at, 0
		return now, nil
	case k.offset == 0 || (jump-k.offset).Abs() > JumpLimit:
		k.offset, k.since = jump, at
		k.log.Error("the clock has jumped; it is not believed before it has stood by that", "jump", jump, "now", now, "patience", JumpPatience)
	case at-k.since >= JumpPatience:
		k.log.Warn("the clock stands by its jump and is believed", "jump", jump, "now", now)
		k.base, k.baseAt, k.offset = now, at, 0
		return now, nil
	}
	if jump < 0 {
		return now, nil
	}
	return time.Time{}, &Error{Code: Unavailable, Message: "the clock of the service has jumped ahead; nothing is dated by it before that is certain", RetryAfter: time.Minute}
}
