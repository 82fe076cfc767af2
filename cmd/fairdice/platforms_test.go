package main

import (
	"context"
	"fmt"
	"net/http"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	cryptorand "crypto/rand"

	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
	"fairdice/internal/selfplay"
)

// platforms are several that work with one service at once, each doing one
// kind of thing over and over. They outlive the service: what was under way
// when it died is asked again of the next one, and the game goes on.
type platforms struct {
	t       *testing.T
	api     *client.Client // through the gate
	outside *client.Client
	ledger  *ledger
	gate    *gate
	dir     string // of the players' files
	logKey  string
	rolls   atomic.Int64
	stop    context.CancelFunc
	wg      sync.WaitGroup

	mu    sync.Mutex
	shown []string // every checkpoint that was served
}

// persistence outlasts every kill: a platform that gives up has lost a request.
const persistence = 1000

func startPlatforms(t *testing.T, p *process, key string) *platforms {
	t.Helper()
	l := &platforms{t: t, dir: t.TempDir(), logKey: p.logKey, ledger: newLedger()}
	l.gate = newGate(l.ledger)
	var err error
	l.api, err = client.New(p.url, client.WithKey(key), client.WithAttempts(persistence), client.WithHTTP(&http.Client{Transport: l.gate}))
	if err != nil {
		t.Fatal(err)
	}
	if l.outside, err = client.New(p.url); err != nil {
		t.Fatal(err)
	}
	var ctx context.Context
	ctx, l.stop = context.WithCancel(t.Context())
	for n, work := range []func(context.Context, int) error{
		l.plain, l.plain, l.plain, l.cut, l.cut, l.diceOnly, l.live, l.abandoned, l.exhausted, l.sealing, l.watching,
	} {
		l.wg.Go(func() {
			for round := n; ctx.Err() == nil; round += 100 {
				if err := work(ctx, round); err != nil && ctx.Err() == nil {
					t.Errorf("platform %d: %v", n, err)
					return
				}
			}
		})
	}
	t.Cleanup(l.end)
	return l
}

// end breaks everything off.
func (l *platforms) end() {
	l.stop()
	l.wg.Wait()
}

func (l *platforms) croupier(ctx context.Context, terms client.OpenRequest, round int) (*croupier, error) {
	c := &croupier{api: l.api, match: benchID(l.t), moves: selfplay.New(selfplay.Random, uint64(round)),
		live: terms.Mode == client.ModeLive, diceOnly: terms.Profile != nil,
		rolled: func(int, client.DrawDue, client.Roll, time.Duration) { l.rolls.Add(1) }}
	_, err := l.api.OpenMatch(ctx, c.match, terms, 0)
	return c, err
}

func (l *platforms) game(ctx context.Context, c *croupier) error {
	_, _, err := c.game(ctx, shortSetting(l.t))
	return err
}

// anchored is a match whose players hold their chains themselves.
func (l *platforms) anchored(ctx context.Context, terms client.OpenRequest, round, links int) error {
	var seats []*player.Player
	for i, seat := range []*client.Player{&terms.A, &terms.B} {
		p, err := player.New(filepath.Join(l.dir, fmt.Sprintf("%d-%d", round, i)), l.logKey, links, cryptorand.Reader)
		if err != nil {
			return err
		}
		seat.Anchor = &client.Anchor{Hash: p.Anchor().String()}
		seats = append(seats, p)
	}
	c, err := l.croupier(ctx, terms, round)
	if err != nil {
		return err
	}
	for _, p := range seats {
		if err := p.Join(player.Terms{Match: c.match}); err != nil {
			return err
		}
	}
	c.seats = seats
	return l.game(ctx, c)
}

func (l *platforms) plain(ctx context.Context, round int) error {
	c, err := l.croupier(ctx, benchTerms, round)
	if err != nil {
		return err
	}
	return l.game(ctx, c)
}

func (l *platforms) cut(ctx context.Context, round int) error {
	return l.anchored(ctx, benchTerms, round, 32)
}

func (l *platforms) live(ctx context.Context, round int) error {
	terms := benchTerms
	terms.Mode = client.ModeLive
	return l.anchored(ctx, terms, round, commitment.DefaultChain)
}

func (l *platforms) diceOnly(ctx context.Context, round int) error {
	terms := benchTerms
	terms.Profile = new(client.OpenRequestProfileDiceOnly)
	c, err := l.croupier(ctx, terms, round)
	if err != nil {
		return err
	}
	return l.game(ctx, c)
}

// abandoned is a game that is aborted after its first roll, in a match that is
// given up then.
func (l *platforms) abandoned(ctx context.Context, round int) error {
	c, err := l.croupier(ctx, benchTerms, round)
	if err != nil {
		return err
	}
	if _, err := l.api.NextGame(ctx, c.match, 1, 0); err != nil {
		return err
	}
	if _, err := l.api.Draw(ctx, c.match, 1, 1, client.StreamOpening, 0); err != nil {
		return err
	}
	l.rolls.Add(1)
	if _, err := l.api.AbortGame(ctx, c.match, 1, "table-fell-over", 0); err != nil {
		return err
	}
	_, err = l.api.Abandon(ctx, c.match, 0)
	return err
}

// exhausted draws one stream far beyond its end, so that the game goes on in
// one segment after the other.
func (l *platforms) exhausted(ctx context.Context, round int) error {
	terms := benchTerms
	terms.Profile = new(client.OpenRequestProfileDiceOnly)
	c, err := l.croupier(ctx, terms, round)
	if err != nil {
		return err
	}
	if _, err := l.api.NextGame(ctx, c.match, 1, 0); err != nil {
		return err
	}
	for len(c.shoe.lengths) < 4 {
		due := c.shoe.next(commitment.StreamOpening)
		r, err := l.api.Draw(ctx, c.match, 1, due.Segment, due.Stream, due.Index)
		if err != nil {
			return err
		}
		l.rolls.Add(1)
		if err := c.shoe.took(commitment.StreamOpening, r); err != nil {
			return err
		}
	}
	_, err = l.api.AbortGame(ctx, c.match, 1, "never-ending", 0)
	return err
}

// sealing asks for the next sequence and retires every other one. No game is
// played in its mode.
func (l *platforms) sealing(ctx context.Context, _ int) error {
	for number := int64(processSealed); ctx.Err() == nil; number++ {
		s, err := l.api.Seal(ctx, client.ModeEqual, number, 0)
		if err != nil {
			return err
		}
		if number%2 == 0 {
			if _, err := l.api.Retire(ctx, s.Sequence, "spare", 0); err != nil {
				return err
			}
		}
		pause(ctx, 20*time.Millisecond) // a log of nothing but commits tests little
	}
	return nil
}

// watching keeps every checkpoint that anybody could have seen.
func (l *platforms) watching(ctx context.Context, _ int) error {
	signed, err := l.api.Checkpoint(ctx)
	if err != nil {
		return err
	}
	l.mu.Lock()
	if !slices.Contains(l.shown[max(0, len(l.shown)-1):], signed) {
		l.shown = append(l.shown, signed)
	}
	l.mu.Unlock()
	pause(ctx, 5*time.Millisecond)
	return nil
}

// checkpoints are those served so far.
func (l *platforms) checkpoints() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.Clone(l.shown)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// gate keeps requests back while it is shut.
type gate struct {
	base http.RoundTripper
	mu   sync.Mutex
	way  chan struct{} // closed while the gate is open
}

func newGate(base http.RoundTripper) *gate { return &gate{base: base, way: make(chan struct{})} }

func (g *gate) open() { close(g.way) }

func (g *gate) shut() {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.way = make(chan struct{})
}

func (g *gate) RoundTrip(r *http.Request) (*http.Response, error) {
	g.mu.Lock()
	way := g.way
	g.mu.Unlock()
	select {
	case <-way:
	case <-r.Context().Done():
		return nil, r.Context().Err()
	}
	return g.base.RoundTrip(r)
}
