package client

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Defaults of a Client.
const (
	// DefaultAttempts with the pauses below outlast a restart of the service.
	DefaultAttempts = 8
	firstPause      = 50 * time.Millisecond
	longestPause    = 2 * time.Second
	// MaxAnswer is the largest answer read: a bundle of PROTOCOL.md §8.
	MaxAnswer = 64 << 20
)

// Client is safe for concurrent use.
type Client struct {
	base     string
	key      string
	http     *http.Client
	attempts int
}

// Option changes a Client that New makes.
type Option func(*Client)

// WithKey sends an API key with every request.
func WithKey(key string) Option { return func(c *Client) { c.key = key } }

// WithHTTP uses a given HTTP client.
func WithHTTP(h *http.Client) Option { return func(c *Client) { c.http = h } }

// WithAttempts bounds how often a request is sent in all; 1 never repeats.
func WithAttempts(n int) Option { return func(c *Client) { c.attempts = max(n, 1) } }

// New makes a client of the service at base, an http or https URL.
func New(base string, options ...Option) (*Client, error) {
	u, err := url.Parse(base)
	if err != nil {
		return nil, fmt.Errorf("parse service address: %w", err)
	}
	if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
		return nil, fmt.Errorf("parse service address: %q is not of the form http://HOST[:PORT][/PATH]", base)
	}
	c := &Client{base: strings.TrimSuffix(u.String(), "/"), http: http.DefaultClient, attempts: DefaultAttempts}
	for _, o := range options {
		o(c)
	}
	return c, nil
}

func since(size int64) url.Values {
	if size <= 0 {
		return nil
	}
	return url.Values{"since": {strconv.FormatInt(size, 10)}}
}

func gamePath(match string, game int, rest ...any) string {
	var b strings.Builder
	fmt.Fprintf(&b, "/v1/matches/%s/games/%d", url.PathEscape(match), game)
	for _, r := range rest {
		fmt.Fprintf(&b, "/%v", r)
	}
	return b.String()
}

func matchPath(match, rest string) string { return "/v1/matches/" + url.PathEscape(match) + rest }

// call sends a request, repeats it while that may help, and decodes the
// answer into a T.
func call[T any](ctx context.Context, c *Client, method, path string, query url.Values, body any) (T, error) {
	var out T
	data, err := c.send(ctx, method, path, query, body)
	if err != nil {
		return out, err
	}
	if err := json.Unmarshal(data, &out); err != nil {
		return out, fmt.Errorf("%s %s: decode answer: %w", method, path, err)
	}
	return out, nil
}

// file is a body that is sent as it is.
type file []byte

func (c *Client) send(ctx context.Context, method, path string, query url.Values, body any) ([]byte, error) {
	var payload []byte
	if f, ok := body.(file); ok {
		payload = f
	} else if body != nil {
		var err error
		if payload, err = json.Marshal(body); err != nil {
			return nil, fmt.Errorf("%s %s: encode request: %w", method, path, err)
		}
	}
	address := c.base + path
	if len(query) > 0 {
		address += "?" + query.Encode()
	}
	pause := firstPause
	for attempt := 1; ; attempt++ {
		data, again, err := c.once(ctx, method, address, payload)
		if err == nil {
			return data, nil
		}
		if again < 0 || attempt >= c.attempts || ctx.Err() != nil {
			return nil, fmt.Errorf("%s %s: %w", method, path, err)
		}
		// Full jitter, so that the clients of a service that was away do not
		// all come back at once.
		wait := max(again, time.Duration(rand.Int64N(int64(pause))))
		pause = min(2*pause, longestPause)
		select {
		case <-ctx.Done():
			return nil, fmt.Errorf("%s %s: %w", method, path, errors.Join(err, ctx.Err()))
		case <-time.After(wait):
		}
	}
}

// once answers after how long the same request may be sent again, negative
// for never.
func (c *Client) once(ctx context.Context, method, address string, payload []byte) (data []byte, again time.Duration, err error) {
	var body io.Reader
	if payload != nil {
		body = bytes.NewReader(payload)
	}
	req, err := http.NewRequestWithContext(ctx, method, address, body)
	if err != nil {
		return nil, -1, err
	}
	if payload != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.key != "" {
		req.Header.Set("Authorization", "Bearer "+c.key)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, 0, err
	}
	defer resp.Body.Close()
	data, err = io.ReadAll(io.LimitReader(resp.Body, MaxAnswer+1))
	if err != nil {
		return nil, 0, fmt.Errorf("read answer: %w", err)
	}
	if len(data) > MaxAnswer {
		return nil, -1, fmt.Errorf("answer is larger than %d bytes", MaxAnswer)
	}
	if resp.StatusCode == http.StatusOK {
		return data, 0, nil
	}
	return nil, pauseOf(resp), refusalOf(resp, data)
}

// pauseOf says when to repeat a request that was refused: never, unless the
// service says when or is merely not there.
func pauseOf(resp *http.Response) time.Duration {
	if seconds, err := strconv.Atoi(resp.Header.Get("Retry-After")); err == nil && seconds >= 0 {
		return time.Duration(seconds) * time.Second
	}
	switch resp.StatusCode {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return 0
	}
	return -1
}

func refusalOf(resp *http.Response, data []byte) error {
	r := &Refusal{RetryAfter: max(pauseOf(resp), 0)}
	if err := json.Unmarshal(data, &r.Problem); err != nil || r.Type == "" {
		return fmt.Errorf("the service answered %s", resp.Status)
	}
	return r
}
