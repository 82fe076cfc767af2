package client_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync"
	"testing"
	"time"

	"fairdice/client"
)

const match = "01940c3e-7b4a-7c1d-9a52-3f6d0b8e2c11"

// script answers request after request, each in its own way.
type script struct {
	mu     sync.Mutex
	acts   []func(http.ResponseWriter)
	bodies []string
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	s.mu.Lock()
	s.bodies = append(s.bodies, r.Method+" "+r.URL.RequestURI()+" "+r.Header.Get("Authorization")+" "+string(body))
	act := s.acts[min(len(s.bodies), len(s.acts))-1]
	s.mu.Unlock()
	act(w)
}

func (s *script) seen() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.bodies)
}

func problem(status int, code, retryAfter string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		w.Header().Set("Content-Type", "application/problem+json")
		if retryAfter != "" {
			w.Header().Set("Retry-After", retryAfter)
		}
		w.WriteHeader(status)
		io.WriteString(w, `{"type":"urn:fairdice:problem:`+code+`","title":"t","status":1,"detail":"why"}`)
	}
}

func text(status int, body string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) { w.WriteHeader(status); io.WriteString(w, body) }
}

// cut drops the connection before or in the middle of an answer.
func cut(part string) func(http.ResponseWriter) {
	return func(w http.ResponseWriter) {
		if part != "" {
			w.Header().Set("Content-Length", "1000")
			io.WriteString(w, part)
		}
		panic(http.ErrAbortHandler)
	}
}

func TestRepeats(t *testing.T) {
	taken := text(200, `{"match":"`+match+`","game":1,"line":3,"lines":3,"head":"00","due":"end"}`)
	for _, c := range []struct {
		name string
		acts []func(http.ResponseWriter)
		sent int
		code string // of the refusal in the end; "" for success, "-" for another error
	}{
		{"at once", []func(http.ResponseWriter){taken}, 1, ""},
		{"after a lost answer", []func(http.ResponseWriter){cut(""), taken}, 2, ""},
		{"after half an answer", []func(http.ResponseWriter){cut(`{"match":`), taken}, 2, ""},
		{"after a restart", []func(http.ResponseWriter){problem(503, "unavailable", "0"), text(502, "bad gateway"), taken}, 3, ""},
		{"not public yet", []func(http.ResponseWriter){problem(409, "not-yet-public", "0"), taken}, 2, ""},
		{"too many", []func(http.ResponseWriter){problem(429, "rate-limited", "0"), taken}, 2, ""},
		{"refused for good", []func(http.ResponseWriter){problem(409, "other-content", ""), taken}, 1, "other-content"},
		{"illegal", []func(http.ResponseWriter){problem(422, "illegal-event", ""), taken}, 1, "illegal-event"},
		{"failed inside", []func(http.ResponseWriter){problem(500, "internal", ""), taken}, 1, "internal"},
		{"never there", []func(http.ResponseWriter){problem(503, "unavailable", "0")}, 4, "unavailable"},
		{"no problem at all", []func(http.ResponseWriter){text(404, "<html>")}, 1, "-"},
		{"an answer that is none", []func(http.ResponseWriter){text(200, "<html>")}, 1, "-"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := &script{acts: c.acts}
			server := httptest.NewServer(s)
			defer server.Close()
			cl, err := client.New(server.URL+"/", client.WithKey("fd_k"), client.WithAttempts(4))
			if err != nil {
				t.Fatal(err)
			}
			_, err = cl.Append(t.Context(), match, 1, 3, "end A 1")
			if code := client.Code(err); (err == nil) != (c.code == "") || code != c.code && c.code != "-" {
				t.Errorf("ended with %v", err)
			}
			sent := s.seen()
			if len(sent) != c.sent {
				t.Errorf("sent %d times, want %d", len(sent), c.sent)
			}
			for _, b := range sent {
				if b != "PUT /v1/matches/"+match+`/games/1/events/3 Bearer fd_k {"lines":["end A 1"]}` {
					t.Errorf("sent %q", b)
				}
			}
		})
	}
}

// A caller who stops waiting is not kept.
func TestContextEnds(t *testing.T) {
	s := &script{acts: []func(http.ResponseWriter){problem(503, "unavailable", "60")}}
	server := httptest.NewServer(s)
	defer server.Close()
	cl, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	start := time.Now()
	_, err = cl.Match(ctx, match)
	if !errors.Is(err, context.DeadlineExceeded) || client.Code(err) != "unavailable" || time.Since(start) > 5*time.Second {
		t.Errorf("after %s: %v", time.Since(start), err)
	}
}

func TestAddresses(t *testing.T) {
	for _, bad := range []string{"", "dice.example", "ftp://dice.example", "http://", "http://dice.example/?x=1", "http://dice.example/#x", "http://%zz"} {
		if _, err := client.New(bad); err == nil {
			t.Errorf("%q is an address", bad)
		}
	}
}
