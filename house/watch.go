package house

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

// WatchPoll is how often what is watched is looked at when other instances
// write to the same store too.
const WatchPoll = time.Second

const (
	feedBatch  = 128 // most events that are read at once
	feedShared = 16  // most events of a batch that is kept: news, not what somebody catches up on
	feedRecent = 8   // batches of a feed that are kept for those who are a little behind
)

// watchers are the feeds that somebody follows. Whoever waits is woken by the
// commit that may have brought what he waits for, not by a clock; and a
// thousand who follow one match cause one look at the store for each change.
type watchers struct {
	mu    sync.Mutex
	feeds map[string]*feed // by match; the log's is ""
}

// batch is a part of a feed. What follows a cursor never changes, so one that
// is not empty is good for everybody who stands at its beginning.
type batch struct {
	from, to string
	events   []FeedEvent
	end      bool  // nothing will follow
	awaits   int64 // size of the log at which the next statement is signed, 0 if none waits
}

// feed is what the followers of one match, or of the log, have in common.
type feed struct {
	read func(ctx context.Context, from string) (batch, error)

	watching int // guarded by watchers.mu

	reading sync.Mutex // one reads, the others find what he has read
	recent  []batch    // the oldest first; guarded by reading
	idle    string     // cursor after which there was nothing
	asOf    <-chan struct{}

	awaits  atomic.Int64
	mu      sync.Mutex
	changed chan struct{} // closed and replaced when there may be more
}

func (w *watchers) join(key string, read func(context.Context, string) (batch, error)) *feed {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.feeds[key]
	if f == nil {
		f = &feed{read: read, changed: make(chan struct{})}
		if w.feeds == nil {
			w.feeds = make(map[string]*feed)
		}
		w.feeds[key] = f
	}
	f.watching++
	return f
}

func (w *watchers) leave(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	f := w.feeds[key]
	if f.watching--; f.watching == 0 {
		delete(w.feeds, key)
	}
}

// wake has the followers of a match look again.
func (w *watchers) wake(match string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if f := w.feeds[match]; f != nil {
		f.wake()
	}
}

// wakeAll is for what other instances may have written.
func (w *watchers) wakeAll() {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, f := range w.feeds {
		f.wake()
	}
}

// signed wakes those who wait for a checkpoint of that size.
func (w *watchers) signed(size int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for key, f := range w.feeds {
		if a := f.awaits.Load(); key == "" || a > 0 && a <= size {
			f.wake()
		}
	}
}

// poll looks for what others have written until the context ends.
func (w *watchers) poll(ctx context.Context) {
	tick := time.NewTicker(WatchPoll)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			w.wakeAll()
		}
	}
}

func (f *feed) wake() {
	f.mu.Lock()
	defer f.mu.Unlock()
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *feed) growth() <-chan struct{} {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.changed
}

// after is what follows a cursor, as of the growth that was seen before.
func (f *feed) after(ctx context.Context, from string, seen <-chan struct{}) (batch, error) {
	f.reading.Lock()
	defer f.reading.Unlock()
	for _, b := range f.recent {
		if b.from == from {
			return b, nil
		}
	}
	if f.idle == from && f.asOf == seen {
		return batch{from: from, to: from}, nil
	}
	b, err := f.read(ctx, from)
	if err != nil {
		return b, err
	}
	if len(b.events) == 0 && !b.end {
		f.idle, f.asOf = from, seen
		f.awaits.Store(b.awaits)
		return b, nil
	}
	if len(b.events) <= feedShared {
		f.recent = append(f.recent[max(0, len(f.recent)+1-feedRecent):], b)
	}
	return b, nil
}

// Feed is one follower's place in a feed. It is used by one goroutine.
type Feed struct {
	house *House
	key   string
	feed  *feed
	at    string
	first []FeedEvent
	end   bool
}

// Next is what comes next, at least one event. It waits for it until the
// context ends, and answers io.EOF when nothing can follow. After the end of a
// context it may be called again. The events are shared: they are only to be read.
func (f *Feed) Next(ctx context.Context) ([]FeedEvent, error) {
	if events := f.first; events != nil {
		f.first = nil
		return events, nil
	}
	for {
		if f.end {
			return nil, io.EOF
		}
		seen := f.feed.growth() // before reading, so that no change is missed
		b, err := f.feed.after(ctx, f.at, seen)
		if err != nil {
			return nil, err
		}
		f.at, f.end = b.to, b.end
		if len(b.events) > 0 {
			return b.events, nil
		}
		if f.end {
			continue
		}
		if b.awaits > 0 && f.house.signer.size() >= b.awaits {
			// It was signed after the store was read and before anybody knew of the wait.
			f.feed.wake()
			continue
		}
		select {
		case <-seen:
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-f.house.ctx.Done():
			return nil, &Error{Code: Unavailable, Message: "the service is stopping", RetryAfter: time.Second}
		}
	}
}

// Close leaves the feed.
func (f *Feed) Close() { f.house.watchers.leave(f.key) }
