package api

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"sync"
	"time"

	"fairdice/house"
)

// Bounds of the streams of events.
const (
	// DefaultStreamLife is how long a stream lasts before its client has to come
	// back and show again that it may see it.
	DefaultStreamLife = 15 * time.Minute
	// StreamPulse is how often an idle stream gets a comment: proxies cut what
	// is silent for a minute, and a client that is gone is found out.
	StreamPulse = 15 * time.Second
	// StreamPatience is how long a reader may take for one batch of events. One
	// who is slower is dropped; he goes on from his last event.
	StreamPatience = 10 * time.Second
	// MaxStreams are open at a time in all, in one process.
	MaxStreams = 4096
	// MaxStreamsPerAddress are open for callers without a key from one address.
	MaxStreamsPerAddress = 100
	// MaxStreamsPerTenant are open for a platform's own servers.
	MaxStreamsPerTenant = 1000
)

// keptBuffer is the most memory that an idle stream keeps for its next events.
const keptBuffer = 8 << 10

// retryMillis is after how long a client comes back whose stream has ended.
const retryMillis = 2000

// streams counts those that are open.
type streams struct {
	alive context.Context // they end with it
	life  time.Duration   // of one
	slow  time.Duration   // StreamPatience
	watch Observer
	mu    sync.Mutex
	total int
	open  map[string]int
}

func newStreams(alive context.Context, life time.Duration, watch Observer) *streams {
	return &streams{alive: alive, life: life, slow: StreamPatience, watch: watch, open: make(map[string]int)}
}

func (s *streams) enter(caller string, most int) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.alive.Err() != nil:
		return &house.Error{Code: house.Unavailable, Message: "the service is stopping", RetryAfter: busyAgain}
	case s.open[caller] >= most:
		return &house.Error{Code: rateLimited, Message: fmt.Sprintf("%d streams of this caller are open, the most there may be", most), RetryAfter: StreamPulse}
	case s.total >= MaxStreams:
		return &house.Error{Code: house.Unavailable, Message: "as many streams are open as the service can have", RetryAfter: StreamPulse}
	}
	s.open[caller]++
	s.total++
	s.watch.Streaming(1)
	return nil
}

func (s *streams) leave(caller string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.open[caller]--; s.open[caller] == 0 {
		delete(s.open, caller)
	}
	s.total--
	s.watch.Streaming(-1)
}

// follower is who asks for a stream.
type follower struct {
	address string
	head    bool // only for the headers
}

type followerKey struct{}

func withFollower(r *http.Request, p proxies) context.Context {
	return context.WithValue(r.Context(), followerKey{}, follower{p.caller(r), r.Method == http.MethodHead})
}

// source is where the events of a stream come from, a *house.Feed.
type source interface {
	Next(context.Context) ([]house.FeedEvent, error)
	Close()
}

// stream is an answer that goes on.
type stream struct {
	server *server
	ctx    context.Context
	caller string
	feed   source
	head   bool
	hello  []byte // what every one begins with
}

// open takes a place for a stream and has it begin.
func (s *server) open(ctx context.Context, begin func(context.Context) (*house.Feed, []byte, error)) (*stream, error) {
	f, _ := ctx.Value(followerKey{}).(follower)
	caller, most := f.address, MaxStreamsPerAddress
	if p := who(ctx); p.Tenant != "" {
		caller, most = "tenant "+p.Tenant, MaxStreamsPerTenant
	}
	if err := s.streams.enter(caller, most); err != nil {
		return nil, err
	}
	soon, cancel := context.WithTimeout(ctx, s.timeout)
	defer cancel()
	feed, hello, err := begin(soon)
	if err != nil {
		s.streams.leave(caller)
		return nil, err
	}
	return &stream{server: s, ctx: ctx, caller: caller, feed: feed, head: f.head, hello: hello}, nil
}

// WatchMatch follows a match.
func (s *server) WatchMatch(ctx context.Context, r WatchMatchRequestObject) (WatchMatchResponseObject, error) {
	token := r.Params.XViewToken
	if token == "" {
		token = r.Params.View
	}
	st, err := s.open(ctx, func(ctx context.Context) (*house.Feed, []byte, error) {
		feed, v, err := s.house.WatchMatch(ctx, who(ctx), token, r.Match, lastSeen(r.Params.LastEventID, r.Params.Last))
		if err != nil {
			return nil, nil, err
		}
		hello, err := appendEvent(nil, "", "match", match(v))
		if err != nil {
			feed.Close()
		}
		return feed, hello, err
	})
	if errors.Is(err, house.ErrFeedRead) {
		return WatchMatch204Response{}, nil
	}
	if err != nil {
		return nil, err
	}
	return st, nil
}

// WatchLog follows the log.
func (s *server) WatchLog(ctx context.Context, r WatchLogRequestObject) (WatchLogResponseObject, error) {
	st, err := s.open(ctx, func(ctx context.Context) (*house.Feed, []byte, error) {
		feed, err := s.house.WatchLog(ctx, lastSeen(r.Params.LastEventID, r.Params.Last))
		return feed, nil, err
	})
	if err != nil {
		return nil, err
	}
	return st, nil
}

// lastSeen prefers the header: a browser that reconnects sends it with the
// address it began with.
func lastSeen(header, query string) string {
	if header != "" {
		return header
	}
	return query
}

// VisitWatchMatchResponse writes the stream.
func (s *stream) VisitWatchMatchResponse(w http.ResponseWriter) error { return s.write(w) }

// VisitWatchLogResponse writes the stream.
func (s *stream) VisitWatchLogResponse(w http.ResponseWriter) error { return s.write(w) }

// write goes on until the feed ends, the caller leaves or does not read, or the
// service stops. After the first byte there is nobody to tell of an error.
func (s *stream) write(w http.ResponseWriter) error {
	defer s.server.streams.leave(s.caller)
	defer s.feed.Close()
	h := w.Header()
	h.Set("Content-Type", "text/event-stream")
	h.Set("X-Accel-Buffering", "no") // nginx would collect events
	if s.head {
		w.WriteHeader(http.StatusOK)
		return nil
	}
	ctx, cancel := context.WithTimeout(s.ctx, s.server.streams.life)
	defer cancel()
	defer context.AfterFunc(s.server.streams.alive, cancel)()
	control := http.NewResponseController(w)
	// The server takes the end of the time for reading for a caller who has left.
	_ = control.SetReadDeadline(time.Time{}) // not every server has deadlines
	defer func() { _ = control.SetWriteDeadline(time.Time{}) }()
	out := fmt.Appendf(nil, "retry: %d\n\n", retryMillis)
	for out = append(out, s.hello...); ; {
		_ = control.SetWriteDeadline(time.Now().Add(s.server.streams.slow))
		_, err := w.Write(out)
		if err == nil {
			err = control.Flush()
		}
		if err != nil {
			s.server.log.DebugContext(ctx, "follower went away", slog.Any("error", err))
			return nil
		}
		if cap(out) > keptBuffer {
			out = nil
		}
		out, err = s.more(ctx, out[:0])
		switch {
		case err == nil:
		case errors.Is(err, io.EOF) || ctx.Err() != nil:
			return nil
		default:
			_ = s.server.refusal(ctx, err) // logs what is a fault
			return nil
		}
	}
}

// more appends the next events, or a comment if there are none for a while.
func (s *stream) more(ctx context.Context, out []byte) ([]byte, error) {
	wait, cancel := context.WithTimeout(ctx, StreamPulse)
	defer cancel()
	events, err := s.feed.Next(wait)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return append(out, ": nothing new\n\n"...), nil
	}
	for i := 0; err == nil && i < len(events); i++ {
		kind, data := event(events[i])
		out, err = appendEvent(out, events[i].ID, kind, data)
	}
	return out, err
}

func event(e house.FeedEvent) (kind string, data any) {
	switch {
	case e.Statement != nil:
		return "statement", StatementEvent{Index: e.Statement.Index, Type: StatementType(e.Statement.Type), Text: e.Statement.Text}
	case e.Line != nil:
		return "line", LineEvent{Game: e.Line.Game, Line: e.Line.Line, Text: e.Line.Text, Receipt: e.Line.Receipt}
	case e.Checkpoint != nil:
		return "checkpoint", CheckpointEvent{Size: e.Checkpoint.Size, Note: e.Checkpoint.Note}
	}
	return "end", EndEvent{State: MatchState(e.End.State), Score: e.End.Score[:]}
}

// appendEvent writes one event; JSON has no line end outside its strings, where
// it is escaped.
func appendEvent(out []byte, id, kind string, data any) ([]byte, error) {
	var text bytes.Buffer
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil { // which ends with LF
		return out, fmt.Errorf("encode event %s: %w", kind, err)
	}
	if id != "" {
		out = fmt.Appendf(out, "id: %s\n", id)
	}
	return fmt.Appendf(out, "event: %s\ndata: %s\n", kind, text.Bytes()), nil
}
