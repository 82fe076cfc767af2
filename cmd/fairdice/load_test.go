package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"fairdice/commitment"
	"fairdice/house"
)

func newTestLoad(address string) *loadRun {
	return &loadRun{
		terms: demo{variant: "tavla", mode: "random", level: "L0", profile: "refereed", options: demoOptions, games: 1},
		url:   address, clients: 3, duration: 300 * time.Millisecond, verify: "all",
	}
}

// Matches of every kind are played, measured by kind of request, and audited.
func TestLoad(t *testing.T) {
	t.Parallel()
	s, key := startService(t)
	for _, c := range []struct {
		name   string
		change func(*loadRun)
		kinds  []string
	}{
		{"refereed", func(l *loadRun) { l.key, l.rate = s.keys.log.public, 500 }, []string{"open", "game", "state", "draw", "move", "close", "bundle", "other"}},
		{"dice-only", func(l *loadRun) { l.terms.profile, l.verify = "dice-only", "sample:2" }, []string{"open", "game", "draw", "close", "bundle", "other"}},
		{"links", func(l *loadRun) { l.terms.level = "L2" }, []string{"open", "game", "link", "state", "draw", "move", "close", "bundle", "other"}},
		{"live", func(l *loadRun) { l.terms.level, l.terms.mode, l.clients = "L3", "live", 2 }, []string{"open", "game", "link", "state", "draw", "move", "close", "bundle", "other"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			l := newTestLoad(s.url())
			c.change(l)
			r, err := l.run(t.Context(), key, io.Discard)
			if err != nil {
				t.Fatalf("%v\n%+v", err, r)
			}
			var measured []string
			for _, k := range r.Requests {
				measured = append(measured, k.Kind)
				if k.Count == 0 || k.P50 <= 0 || k.P50 > k.P90 || k.P90 > k.P99 || k.P99 > k.P999 || k.P999 > k.Max {
					t.Errorf("%+v", k)
				}
				if k.Kind == "draw" && k.Count != uint64(r.Rolls) || k.Kind == "close" && k.Count != uint64(r.Matches) {
					t.Errorf("%d requests of kind %s for %d rolls in %d matches", k.Count, k.Kind, r.Rolls, r.Matches)
				}
			}
			if d := cmp.Diff(c.kinds, measured); d != "" {
				t.Errorf("kinds of requests (-want +measured):\n%s", d)
			}
			want := r.Matches
			if l.verify == "sample:2" {
				want = 2
			}
			if r.Matches < l.clients || r.Audit.Bundles != want || r.Audit.After <= r.Audit.Before || r.Audit.Before == 0 || r.Audit.Checkpoints == 0 {
				t.Errorf("%+v", r)
			}
			var text, encoded bytes.Buffer
			must(t, r.text(&text))
			if from := "service itself"; strings.Contains(text.String(), from) != (l.key == "") {
				t.Errorf("who named the key is not told:\n%s", &text)
			}
			must(t, r.json(&encoded))
			var back loadReport
			must(t, json.Unmarshal(encoded.Bytes(), &back))
			if d := cmp.Diff(*r, back); d != "" {
				t.Errorf("JSON (-report +read):\n%s", d)
			}
		})
	}
}

// twisted is a service behind somebody who changes its answers.
func twisted(t *testing.T, s *service, change func(path string, body []byte) []byte) string {
	t.Helper()
	to, err := url.Parse(s.url())
	must(t, err)
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.ModifyResponse = func(r *http.Response) error {
		data, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		data = change(r.Request.URL.Path, data)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(data)), int64(len(data))
		r.Header.Del("Content-Length")
		return nil
	}
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)
	return front.URL
}

// A load whose archive does not prove what was played fails, and says which
// match it was.
func TestLoadFindsLies(t *testing.T) {
	t.Parallel()
	s, key := startService(t)
	other, _ := startService(t)
	head := func(s *service) []byte {
		resp, err := http.Get(s.url() + "/checkpoint")
		must(t, err)
		defer resp.Body.Close()
		data, err := io.ReadAll(resp.Body)
		must(t, err)
		return data
	}
	var first atomic.Pointer[[]byte]
	for _, c := range []struct {
		name, failure string
		change        func(path string, body []byte) []byte
		load          func(*loadRun)
	}{
		{"a bundle with other dice", "the bundle is failed", func(path string, body []byte) []byte {
			if !strings.HasSuffix(path, "/bundle") {
				return body
			}
			const opening = `\nopening `
			body = bytes.Clone(body)
			die := &body[bytes.Index(body, []byte(opening))+len(opening)]
			*die = '1' + (*die-'0')%6
			return body
		}, nil},
		{"the bundle of another match", "the bundle is that of match", func(path string, body []byte) []byte {
			if strings.HasSuffix(path, "/bundle") && !first.CompareAndSwap(nil, &body) {
				return *first.Load()
			}
			return body
		}, nil},
		{"another level", "proves level L0, played was L2", nil, func(l *loadRun) { l.terms.level = "L2" }},
		{"another record", "tells another game", nil, func(l *loadRun) {}},
		{"a proof that is none", "is not the beginning", func(path string, body []byte) []byte {
			if !strings.HasPrefix(path, "/v1/statements/") {
				return body
			}
			at := bytes.Index(body, []byte(`"consistency":["`)) + len(`"consistency":["`)
			return append(append(bytes.Clone(body[:at]), strings.Repeat("0", 64)...), body[at+64:]...)
		}, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			if c.change == nil {
				c.change = func(_ string, body []byte) []byte { return body }
			}
			l := newTestLoad(twisted(t, s, c.change))
			l.duration = time.Millisecond
			if c.load == nil {
				r, err := l.run(t.Context(), key, io.Discard)
				if err == nil || r == nil || len(r.Failures) > 0 || !strings.Contains(strings.Join(r.Audit.Failures, "\n"), c.failure) {
					t.Errorf("%v, %+v", err, r)
				}
				return
			}
			// What was played and what is asked for differ afterwards.
			r, err := l.run(t.Context(), key, io.Discard)
			must(t, err)
			c.load(l)
			a, err := l.newLoadAudit(t.Context(), r.Audit.Key)
			must(t, err)
			if l.terms.level == "L0" {
				l.played[0].record[0]++
			}
			if found := a.audit(t.Context()); !strings.Contains(strings.Join(found.Failures, "\n"), c.failure) {
				t.Errorf("%+v", found)
			}
		})
	}
	for name, load := range map[string]func(*loadRun){
		"the key of another log":          func(l *loadRun) { l.key = other.keys.log.public },
		"a host elsewhere":                func(l *loadRun) { l.url = "http://dice.example" },
		"a host that begins like this":    func(l *loadRun) { l.url = "http://localhost.example:80" },
		"an address that is not loopback": func(l *loadRun) { l.url = "http://192.0.2.1" },
		"a level nobody can wait for":     func(l *loadRun) { l.terms.level = "L1" },
		"a sample of nothing":             func(l *loadRun) { l.verify = "sample:0" },
		"a rate that is no number":        func(l *loadRun) { l.rate = -1 },
	} {
		l := newTestLoad(s.url())
		load(l)
		if r, err := l.run(t.Context(), key, io.Discard); err == nil || r != nil || len(l.played) > 0 {
			t.Errorf("%s: %v, %+v", name, err, r)
		}
	}
	// Two checkpoints of one size are a fork, whatever else is proved.
	a := &loadAudit{log: s.keys.log.verifier, heads: map[int64]commitment.Hash{}}
	size, err := a.see(string(head(s)))
	must(t, err)
	a.heads[size] = commitment.Hash{1}
	if _, err := a.see(string(head(s))); err == nil {
		t.Error("a fork is not seen")
	}
}

// A service that is busy is waited for as long as it says, and a key that is
// refused ends the load; both are told by their codes.
func TestLoadProblems(t *testing.T) {
	t.Parallel()
	s, key := startService(t)
	to, err := url.Parse(s.url())
	must(t, err)
	proxy := httputil.NewSingleHostReverseProxy(to)
	var busy atomic.Int64
	var refused, back atomic.Int64 // when, in nanoseconds
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/rolls/") {
			switch busy.Add(1) {
			case 1:
				refused.Store(time.Now().UnixNano())
				w.Header().Set("Retry-After", "1")
				w.Header().Set("Content-Type", "application/problem+json")
				w.WriteHeader(http.StatusServiceUnavailable)
				io.WriteString(w, `{"type":"urn:fairdice:problem:unavailable","title":"t","status":503,"detail":"d"}`)
				return
			case 2:
				back.Store(time.Now().UnixNano())
			}
		}
		proxy.ServeHTTP(w, r)
	}))
	defer front.Close()
	l := newTestLoad(front.URL)
	l.clients, l.duration = 1, time.Millisecond
	r, err := l.run(t.Context(), key, io.Discard)
	must(t, err)
	if d := cmp.Diff(map[string]int{"unavailable": 1}, r.Problems); d != "" {
		t.Error(d)
	}
	if waited := time.Duration(back.Load() - refused.Load()); waited < time.Second {
		t.Errorf("a client that was told to wait a second has waited %s", waited)
	}
	weak, err := s.house.IssueKey(t.Context(), "default", "weak", []string{house.ScopeRead})
	must(t, err)
	l = newTestLoad(s.url())
	l.duration = time.Minute
	r, err = l.run(t.Context(), weak, io.Discard)
	if err == nil || r == nil || r.Problems["forbidden"] != l.clients || len(r.Failures) != l.clients {
		t.Errorf("with a key that may not play: %v, %+v", err, r)
	}
}
