package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

// A request that is here keeps its time when the rest is hurried, and one that
// still comes in keeps it once it has arrived.
func TestHurry(t *testing.T) {
	var all flights
	reached, release := make(chan string), make(chan struct{})
	h := httptest.NewServer(all.follow(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Errorf("read: %v", err)
		}
		reached <- string(body)
		select {
		case <-release:
			io.WriteString(w, "answered")
		case <-r.Context().Done():
			t.Errorf("%s was given up", r.URL.Path)
		}
	})))
	defer h.Close()
	answers := make(chan string, 2)
	send := func(path string, body io.Reader) {
		resp, err := http.Post(h.URL+path, "text/plain", body)
		if err != nil {
			answers <- err.Error()
			return
		}
		defer resp.Body.Close()
		answer, _ := io.ReadAll(resp.Body)
		answers <- string(answer)
	}
	go send("/here", strings.NewReader("whole"))
	<-reached
	half, rest := io.Pipe()
	go send("/coming", half)
	io.WriteString(rest, "first ")
	want := []string{`POST "/coming"`, `POST "/here"`}
	for len(all.names()) < 2 {
		time.Sleep(time.Millisecond)
	}
	if got := all.names(); !slices.Equal(got, want) {
		t.Errorf("in flight: %v", got)
	}
	all.hurry(time.Now().Add(300 * time.Millisecond))
	io.WriteString(rest, "second")
	rest.Close()
	if body := <-reached; body != "first second" {
		t.Errorf("a body came as %q", body)
	}
	time.Sleep(500 * time.Millisecond) // past the time for arriving
	close(release)
	for range 2 {
		if a := <-answers; a != "answered" {
			t.Errorf("a request was told %q", a)
		}
	}
}
