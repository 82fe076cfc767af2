package main

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"time"
)

// flights are the requests that are being received or answered. A stop gives
// those that have come in time to be answered; a client that sent half of one
// and fell silent must not hold it up.
type flights struct {
	mu   sync.Mutex
	open map[*flight]struct{}
	late time.Time // when a body must be here; zero until the stop
}

// flight is one request. As a reader it is its body.
type flight struct {
	io.ReadCloser
	all     *flights
	name    string
	control *http.ResponseController
	arrived bool // body and all
}

func (f *flights) follow(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		one := &flight{
			ReadCloser: r.Body, all: f, name: fmt.Sprintf("%s %.200q", r.Method, r.URL.Path),
			control: http.NewResponseController(w), arrived: r.Body == nil || r.Body == http.NoBody,
		}
		f.mu.Lock()
		if f.open == nil {
			f.open = make(map[*flight]struct{})
		}
		f.open[one] = struct{}{}
		if !f.late.IsZero() {
			one.hurry(f.late)
		}
		f.mu.Unlock()
		defer func() {
			f.mu.Lock()
			defer f.mu.Unlock()
			delete(f.open, one)
		}()
		if !one.arrived {
			r.Body = one
		}
		next.ServeHTTP(w, r)
	})
}

// hurry ends the reading of a body that is not here by then: the client is
// told so with 408. A request that is here keeps its time, for the server
// takes the end of reading for a client that went away.
func (f *flight) hurry(by time.Time) {
	if !f.arrived {
		// Where deadlines cannot be set the hard end of the stop comes.
		_ = f.control.SetReadDeadline(by)
	}
}

// Read reads the body.
func (f *flight) Read(p []byte) (int, error) {
	n, err := f.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		f.all.mu.Lock()
		defer f.all.mu.Unlock()
		if !f.arrived && !f.all.late.IsZero() {
			_ = f.control.SetReadDeadline(time.Time{})
		}
		f.arrived = true
	}
	return n, err
}

// hurry has every request arrive by a time.
func (f *flights) hurry(by time.Time) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.late = by
	for one := range f.open {
		one.hurry(by)
	}
}

// names are the requests in flight.
func (f *flights) names() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	var names []string
	for one := range f.open {
		names = append(names, one.name)
	}
	slices.Sort(names)
	return names
}
