package client

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Event is one event of a stream; exactly one of its parts is there.
type Event struct {
	// ID goes on behind this event, with Watch and WatchLog; the first event of
	// a match has none.
	ID         string
	Match      *Match // as it was when the stream was opened
	Statement  *StatementEvent
	Line       *LineEvent
	Checkpoint *CheckpointEvent
	End        *EndEvent
}

// MaxEvent is the largest event read, in bytes.
const MaxEvent = 1 << 20

// streamSilence is after how long without a word, even a comment, a
// connection is given up. The service says something every 15 seconds.
const streamSilence = 45 * time.Second

// Watch follows a match: its statements, record lines and receipts as they
// come, from the event with id last on, "" for the first. view is the view token
// of an unfinished match for a client without a key, or "". A connection that
// breaks is made again and goes on without a gap; an event of kind Match
// follows each time. The iterator ends after End, with the context, or with an
// error when the service refuses or cannot be reached any more.
func (c *Client) Watch(ctx context.Context, match, view, last string) iter.Seq2[Event, error] {
	query := url.Values{}
	if view != "" {
		query.Set("view", view)
	}
	return c.follow(ctx, matchPath(match, "/feed"), query, last)
}

// WatchLog follows the log: checkpoints, each with the statements it adds, from
// the event with id last on. "" begins with the newest checkpoint, "0.0" with the first.
func (c *Client) WatchLog(ctx context.Context, last string) iter.Seq2[Event, error] {
	return c.follow(ctx, "/v1/feed", url.Values{}, last)
}

// errConsumed: the caller of the iterator wants no more.
var errConsumed = errors.New("consumed")

func (c *Client) follow(ctx context.Context, path string, query url.Values, last string) iter.Seq2[Event, error] {
	return func(yield func(Event, error) bool) {
		address := c.base + path
		if len(query) > 0 {
			address += "?" + query.Encode()
		}
		pause, failed := firstPause, 0
		for {
			ended := false
			again, err := c.stream(ctx, address, last, func(e Event) bool {
				pause, failed = firstPause, 0
				if e.ID != "" {
					last = e.ID
				}
				ended = e.End != nil
				return yield(e, nil) && !ended
			})
			if ended || errors.Is(err, errConsumed) || err == nil && again < 0 {
				return
			}
			// A stream that the service has ended is no failure, one that never
			// brings anything is.
			if failed++; ctx.Err() != nil || again < 0 || err != nil && failed >= c.attempts {
				yield(Event{}, fmt.Errorf("%s %s: %w", http.MethodGet, path, errors.Join(err, ctx.Err())))
				return
			}
			wait := max(again, time.Duration(rand.Int64N(int64(pause))))
			pause = min(2*pause, longestPause)
			select {
			case <-ctx.Done():
				yield(Event{}, fmt.Errorf("%s %s: %w", http.MethodGet, path, ctx.Err()))
				return
			case <-time.After(wait):
			}
		}
	}
}

// stream reads one connection to its end. It answers after how long to make
// another, negative for never.
func (c *Client) stream(ctx context.Context, address, last string, show func(Event) bool) (again time.Duration, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return -1, err
	}
	req.Header.Set("Accept", "text/event-stream")
	if last != "" {
		req.Header.Set("Last-Event-ID", last)
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	silence := time.AfterFunc(streamSilence, cancel)
	defer silence.Stop()
	resp, err := c.http.Do(req)
	if err != nil {
		return 0, err
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNoContent:
		return -1, nil // the end was seen already
	default:
		data, err := io.ReadAll(io.LimitReader(resp.Body, MaxEvent))
		if err != nil {
			return 0, fmt.Errorf("read answer: %w", err)
		}
		return pauseOf(resp), refusalOf(resp, data)
	}
	lines := bufio.NewScanner(resp.Body)
	lines.Buffer(nil, MaxEvent)
	var kind, id string
	var data []byte
	for lines.Scan() {
		silence.Reset(streamSilence)
		line := lines.Bytes()
		if len(line) > 0 {
			name, value, _ := bytes.Cut(line, []byte(":"))
			value = bytes.TrimPrefix(value, []byte(" "))
			switch string(name) {
			case "event":
				kind = string(value)
			case "id":
				id = string(value)
			case "data":
				if len(data)+len(value) > MaxEvent {
					return -1, fmt.Errorf("an event is larger than %d bytes", MaxEvent)
				}
				data = append(data, value...)
			case "retry":
				if ms, err := strconv.Atoi(string(value)); err == nil && ms >= 0 {
					again = time.Duration(ms) * time.Millisecond
				}
			}
			continue
		}
		if len(data) > 0 {
			e, known, err := eventOf(kind, id, data)
			if err != nil {
				return -1, err
			}
			if known && !show(e) {
				return -1, errConsumed
			}
		}
		kind, id, data = "", "", data[:0]
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return -1, fmt.Errorf("an event is larger than %d bytes", MaxEvent)
	} else if err != nil {
		return again, fmt.Errorf("read events: %w", err)
	}
	return again, nil
}

// eventOf decodes an event; kinds that a later service may send are passed over.
func eventOf(kind, id string, data []byte) (e Event, known bool, err error) {
	e.ID = id
	var into any
	switch kind {
	case "match":
		e.Match = new(Match)
		into = e.Match
	case "statement":
		e.Statement = new(StatementEvent)
		into = e.Statement
	case "line":
		e.Line = new(LineEvent)
		into = e.Line
	case "checkpoint":
		e.Checkpoint = new(CheckpointEvent)
		into = e.Checkpoint
	case "end":
		e.End = new(EndEvent)
		into = e.End
	default:
		return e, false, nil
	}
	if err := json.Unmarshal(data, into); err != nil {
		return e, false, fmt.Errorf("decode event %s: %w", kind, err)
	}
	return e, true, nil
}
