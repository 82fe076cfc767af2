// Package relay fetches rounds of drand's quicknet over HTTP. Its relays are
// anybody's: they may be down, hang, or lie, and none is believed. An answer
// counts only if the signature verifies under the key that is built into
// package beacon; any other is a failure of that relay, and the next is asked.
//
//	c, err := relay.New(relay.Public, nil)
//	sig, err := c.Signature(ctx, round)
//
// The one thing a relay can do is to withhold a round. Several of them make
// that hard; nothing ever takes the round's place (PROTOCOL.md §4).
package relay

import (
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"time"

	"fairdice/internal/beacon"
)

// Public are the relays that drand's documentation names for everybody.
var Public = []string{
	"https://api.drand.sh", "https://api2.drand.sh", "https://api3.drand.sh", "https://drand.cloudflare.com",
}

const (
	// Patience is how long one call may take over all relays and attempts.
	Patience = 15 * time.Second
	// Timeout is how long one relay may take to answer.
	Timeout = 5 * time.Second
	// Hedge is how long a relay may be silent before the next is asked beside it.
	Hedge = time.Second
	// Passes is how often each relay is asked in one call.
	Passes = 3
	// firstPause and longestPause bound the pause between two passes.
	firstPause   = 250 * time.Millisecond
	longestPause = 4 * time.Second
	// maxAnswer bounds what is read of an answer, in bytes: a round has about 300.
	maxAnswer = 64 << 10
)

// Client asks several relays. It is safe for concurrent use.
type Client struct {
	relays []string
	http   *http.Client
	first  atomic.Uint32 // the relay that answered last, asked first
}

// New makes a client of relays, given by the address in front of
// /CHAIN/public/ROUND. A nil HTTP client is one of its own.
func New(relays []string, h *http.Client) (*Client, error) {
	if len(relays) == 0 {
		return nil, errors.New("configure beacon: no relay is named")
	}
	if h == nil {
		h = &http.Client{}
	}
	c := &Client{http: h}
	for _, r := range relays {
		u, err := url.Parse(r)
		if err != nil {
			return nil, fmt.Errorf("configure beacon: %w", err)
		}
		if (u.Scheme != "http" && u.Scheme != "https") || u.Host == "" || u.RawQuery != "" || u.Fragment != "" {
			return nil, fmt.Errorf("configure beacon: relay %q is not of the form https://HOST[:PORT][/PATH]", r)
		}
		c.relays = append(c.relays, strings.TrimSuffix(u.String(), "/"))
	}
	return c, nil
}

// Signature fetches the signature of a round, which is public from
// beacon.Time(round) on. The error names what each relay did.
func (c *Client) Signature(ctx context.Context, round uint64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	pause := firstPause
	for pass := 1; ; pass++ {
		sig, err := c.race(ctx, round)
		if err == nil {
			return sig, nil
		}
		if pass == Passes || ctx.Err() != nil {
			return nil, err
		}
		// Jitter keeps the services that wait for one round from coming back together.
		select {
		case <-ctx.Done():
			return nil, err
		case <-time.After(pause/2 + rand.N(pause)):
		}
		pause = min(2*pause, longestPause)
	}
}

// answer is what came of asking one relay.
type answer struct {
	relay     int
	signature []byte
	err       error
}

// race asks the relays one after the other, the next as soon as one has failed
// or was silent for Hedge, and takes the first answer that verifies.
func (c *Client) race(ctx context.Context, round uint64) ([]byte, error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	n := len(c.relays)
	first := int(c.first.Load())
	answers := make(chan answer, n)
	hedge := time.NewTicker(Hedge)
	defer hedge.Stop()
	var errs []error
	asked := 0
	next := func() {
		if asked < n {
			relay := (first + asked) % n
			asked++
			go func() {
				sig, err := c.ask(ctx, c.relays[relay], round)
				answers <- answer{relay, sig, err}
			}()
		}
	}
	next()
	for len(errs) < n {
		select {
		case a := <-answers:
			if a.err == nil {
				c.first.Store(uint32(a.relay))
				return a.signature, nil
			}
			errs = append(errs, fmt.Errorf("%s: %w", c.relays[a.relay], a.err))
			next()
		case <-hedge.C:
			next()
		}
	}
	return nil, errors.Join(errs...)
}

// ask gets a round from one relay.
func (c *Client) ask(ctx context.Context, relay string, round uint64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, Timeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, fmt.Sprintf("%s/%s/public/%d", relay, beacon.ChainHash, round), nil)
	if err != nil {
		return nil, err
	}
	resp, err := c.http.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the address is named already
		}
		return nil, err
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, fmt.Errorf("read answer: %w", err)
	case resp.StatusCode != http.StatusOK:
		return nil, fmt.Errorf("the relay answered %s", resp.Status)
	case len(data) > maxAnswer:
		return nil, fmt.Errorf("the answer is larger than %d bytes", maxAnswer)
	}
	return parse(data, round)
}

// parse reads a relay's answer and believes it only if it verifies.
func parse(data []byte, round uint64) ([]byte, error) {
	var r struct {
		Round     uint64 `json:"round"`
		Signature string `json:"signature"`
	}
	if err := json.Unmarshal(data, &r); err != nil {
		return nil, fmt.Errorf("read answer: %w", err)
	}
	if r.Round != round {
		return nil, fmt.Errorf("the relay answered round %d", r.Round)
	}
	sig, err := hex.DecodeString(r.Signature)
	if err != nil {
		return nil, errors.New("the relay's signature is not hex")
	}
	if err := beacon.Verify(round, sig); err != nil {
		return nil, err
	}
	return sig, nil
}
