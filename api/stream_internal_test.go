package api

import (
	"bufio"
	"context"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fairdice/house"
)

// flood is a feed that always has more.
type flood struct{ closed atomic.Int32 }

func (f *flood) Next(ctx context.Context) ([]house.FeedEvent, error) {
	return []house.FeedEvent{{ID: "1.1.1", Line: &house.FeedLine{Game: 1, Line: 1, Text: strings.Repeat("x", 64<<10)}}}, ctx.Err()
}

func (f *flood) Close() { f.closed.Add(1) }

// Who does not read is dropped and his place is free again; who reads loses nothing by it.
func TestSlowFollower(t *testing.T) {
	s := &server{log: slog.New(slog.DiscardHandler), streams: newStreams(t.Context(), time.Minute, unobserved{})}
	s.streams.slow = 200 * time.Millisecond
	feed := new(flood)
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.streams.enter(r.URL.Path, 1); err != nil {
			t.Error(err)
			return
		}
		if err := (&stream{server: s, ctx: r.Context(), caller: r.URL.Path, feed: feed}).write(w); err != nil {
			t.Error(err)
		}
	}))
	defer h.Close()
	slow, err := net.Dial("tcp", h.Listener.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer slow.Close()
	if _, err := io.WriteString(slow, "GET /slow HTTP/1.1\r\nHost: x\r\n\r\n"); err != nil {
		t.Fatal(err)
	}
	resp, err := http.Get(h.URL + "/fast")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	open := func() int {
		s.streams.mu.Lock()
		defer s.streams.mu.Unlock()
		return s.streams.total
	}
	// He reads on until the other one has been dropped, and then some.
	lines := bufio.NewReaderSize(resp.Body, 1<<20)
	for more := 0; more < 1000; {
		if _, err := lines.ReadSlice('\n'); err != nil {
			t.Fatalf("the reader was cut off: %v", err)
		}
		if feed.closed.Load() == 1 && open() == 1 {
			more++
		}
	}
	resp.Body.Close()
	for open() > 0 {
		time.Sleep(time.Millisecond)
	}
}
