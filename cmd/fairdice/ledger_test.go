package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// ledger is what the service has acknowledged: every effect whose answer has
// come back whole.
type ledger struct {
	base http.RoundTripper
	mu   sync.Mutex
	all  map[row]string // the answers
	rows []row          // those since they were last taken
	odd  []error        // two answers to one request
}

func newLedger() *ledger {
	return &ledger{base: &http.Transport{MaxIdleConnsPerHost: benchClients}, all: map[row]string{}}
}

// row is a request.
type row struct{ path, request string }

// RoundTrip notes what a PUT was answered, if it was.
func (l *ledger) RoundTrip(r *http.Request) (*http.Response, error) {
	var request []byte
	if r.Body != nil {
		var err error
		if request, err = io.ReadAll(r.Body); err != nil {
			return nil, err
		}
		r = r.Clone(r.Context())
		r.Body = io.NopCloser(bytes.NewReader(request))
	}
	resp, err := l.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	answer, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	if err != nil {
		return nil, err
	}
	resp.Body = io.NopCloser(bytes.NewReader(answer))
	if r.Method == http.MethodPut && resp.StatusCode == http.StatusOK {
		l.note(row{r.URL.RequestURI(), string(request)}, string(answer))
	}
	return resp, nil
}

func (l *ledger) note(r row, answer string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if before, ok := l.all[r]; !ok {
		l.all[r] = answer
		l.rows = append(l.rows, r)
	} else if before != answer {
		l.odd = append(l.odd, fmt.Errorf("%s %s was answered\n%s\nand then\n%s", r.path, r.request, before, answer))
	}
}

// take is what was acknowledged since the last take, and what was
// contradicted.
func (l *ledger) take() ([]row, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	rows := l.rows
	l.rows = nil
	return rows, errors.Join(l.odd...)
}

func (l *ledger) everything() (rows []row) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for r := range l.all {
		rows = append(rows, r)
	}
	return rows
}

// kinds counts the acknowledged requests by what they ask for.
func (l *ledger) kinds() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	counts := map[string]int{}
	for r := range l.all {
		counts[r.kind()]++
	}
	return counts
}

// kind is the words of a request's path that are no names.
func (r row) kind() string {
	path, _, _ := strings.Cut(r.path, "?")
	var words []string
	parts := strings.Split(strings.TrimPrefix(path, "/v1/"), "/")
	for i, part := range parts {
		if slices.Contains([]string{"matches", "games", "links", "rolls", "events", "close", "abort", "abandon", "modes", "sequences", "retire"}, part) {
			words = append(words, part)
		}
		if part == "segments" && parts[i+1] != "1" {
			words = append(words, "further")
		}
	}
	kind := strings.TrimPrefix(strings.TrimPrefix(strings.Join(words, " "), "matches "), "games ")
	if strings.HasSuffix(kind, "links") && len(parts) == 9 {
		kind = strings.TrimSuffix(kind, "links") + "throws"
	}
	return kind
}

func (l *ledger) answer(r row) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.all[r]
}

// again sends an acknowledged request to a service and demands the answer it
// had. It bears with a service that is not there yet.
func (l *ledger) again(ctx context.Context, url, key string, r row) error {
	for begun := time.Now(); ; pause(ctx, 50*time.Millisecond) {
		status, answer, err := put(ctx, l.base, url+r.path, key, r.request)
		if (err != nil || status == http.StatusServiceUnavailable) && time.Since(begun) < time.Minute && ctx.Err() == nil {
			continue
		}
		if err != nil {
			return err
		}
		if want := l.answer(r); status != http.StatusOK || answer != want {
			return fmt.Errorf("%s %s was answered\n%s\nand then, with status %d,\n%s", r.path, r.request, want, status, answer)
		}
		return nil
	}
}

func put(ctx context.Context, through http.RoundTripper, url, key, body string) (status int, answer string, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPut, url, strings.NewReader(body))
	if err != nil {
		return 0, "", err
	}
	req.Header.Set("Authorization", "Bearer "+key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := (&http.Client{Transport: through}).Do(req)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(b), err
}
