package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"time"

	"fairdice/client"
)

// wire measures every request that goes over it, repeated ones each by itself:
// what a client that repeats patiently does not show is still counted here.
type wire struct {
	base http.RoundTripper

	mu       sync.Mutex
	answered map[string]*latencies // by kind of request
	problems map[string]int        // by code; "no answer" for none
}

func newWire(base http.RoundTripper) *wire {
	return &wire{base: base, answered: map[string]*latencies{}, problems: map[string]int{}}
}

// kinds are what latencies are told of, in the order of a match; the rest is "other".
var kinds = []string{"open", "game", "link", "state", "draw", "move", "close", "bundle"}

func kindOf(method, path string) string {
	_, path, ok := strings.Cut(path, "/v1/matches/")
	if !ok {
		return "other"
	}
	switch parts := strings.Split(path, "/"); {
	case len(parts) == 1 && method == http.MethodPut:
		return "open"
	case len(parts) == 1:
		return "state"
	case len(parts) == 2 && parts[1] == "bundle":
		return "bundle"
	case len(parts) == 3:
		return "game"
	case len(parts) == 4 && parts[3] == "close":
		return "close"
	case len(parts) == 5 && parts[3] == "events":
		return "move"
	case len(parts) > 5 && parts[5] == "rolls":
		return "draw"
	case len(parts) > 5 && parts[5] == "links":
		return "link"
	}
	return "other"
}

// RoundTrip measures until the answer is here as a whole.
func (w *wire) RoundTrip(r *http.Request) (*http.Response, error) {
	asked := time.Now()
	resp, err := w.base.RoundTrip(r)
	if err != nil {
		w.problem(r, "no answer")
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(resp.Body, client.MaxAnswer+1))
	took := time.Since(asked)
	if closing := resp.Body.Close(); err == nil {
		err = closing
	}
	if err != nil {
		w.problem(r, "no answer")
		return nil, fmt.Errorf("read answer: %w", err)
	}
	resp.Body = io.NopCloser(bytes.NewReader(data))
	if resp.StatusCode == http.StatusOK {
		w.mu.Lock()
		defer w.mu.Unlock()
		kind := kindOf(r.Method, r.URL.Path)
		if w.answered[kind] == nil {
			w.answered[kind] = &latencies{}
		}
		w.answered[kind].add(took)
		return resp, nil
	}
	var refusal client.Refusal
	if err := json.Unmarshal(data, &refusal.Problem); err != nil || refusal.Type == "" {
		w.problem(r, fmt.Sprintf("status %d", resp.StatusCode))
		return resp, nil
	}
	w.problem(r, refusal.Code())
	return resp, nil
}

// problem counts what was not answered; what the load itself broke off does not count.
func (w *wire) problem(r *http.Request, code string) {
	if r.Context().Err() != nil {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.problems[code]++
}
