package main

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/google/uuid"
	"github.com/spf13/cobra"

	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
	"fairdice/internal/selfplay"
	"fairdice/replay"
)

// loadRun is matches played against a running service for a while, and the
// audit of what the service has published about them.
type loadRun struct {
	terms    demo // what every match is
	url, key string
	anywhere bool
	clients  int
	duration time.Duration
	rate     float64 // rolls a second of all clients together; 0: as fast as they get them
	verify   string  // all, none or sample:N

	api    *client.Client
	series replay.Match
	wire   *wire
	pace   <-chan time.Time // nil: no limit
	dir    string           // of the players' chains
	rolls  atomic.Int64

	auditing, audited atomic.Int64 // matches

	mu       sync.Mutex
	played   []playedMatch
	failures []string
}

// playedMatch is what a client knows of a match it has played.
type playedMatch struct {
	id     string
	record [sha256.Size]byte // hash of the record as the client has seen it
	anchor *commitment.Hash  // of the first player
}

func newLoad(st *settings) *cobra.Command {
	l := loadRun{terms: demo{games: 1, options: demoOptions}}
	var d directRun
	var direct, asJSON bool
	c := &cobra.Command{
		Use:   "load --url URL | --direct",
		Short: "Play matches against a service, measure it, and audit what it has published of them",
		Long: `Play matches against a running service and measure how long each kind of request
takes; every roll and move is durable when it is answered. When the time is over
games are given up at the next move, and then the archive is audited: the bundle
of every match must be verified and tell what was played, every checkpoint must be
the beginning of the last one. The exit status is 1 if anything fails.

The API key comes from the environment, FAIRDICE_API_KEY, or from the file that
FAIRDICE_API_KEY_FILE names. Without --key the log's verifier key is taken from
the service itself: that proves that it agrees with itself, not who it is.

The matches stay in the service's public log for ever: do not load a service that
people rely on. Only one on this machine is loaded unless --any-host is given.

With --direct the games are played in the data directory of a stopped service,
without HTTP, as many as --games says; --throws ends each of them early. So large logs are made.`,
		Example: `  FAIRDICE_API_KEY=$(fairdice tenants add load) fairdice load --clients 64 --duration 1m
  fairdice load --direct --data ./large --games 100000`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if direct {
				cfg, err := st.read(c)
				if err != nil {
					return err
				}
				d.variant, d.mode, d.clients = l.terms.variant, l.terms.mode, l.clients
				return d.run(c, cfg)
			}
			key, err := secretVariable("FAIRDICE_API_KEY")
			if err != nil {
				return fmt.Errorf("load service: %w", err)
			}
			report, err := l.run(c.Context(), key, c.ErrOrStderr())
			if report == nil {
				return err
			}
			if asJSON {
				return cmp.Or(report.json(c.OutOrStdout()), err)
			}
			return cmp.Or(report.text(c.OutOrStdout()), err)
		},
	}
	f := c.Flags()
	f.StringVar(&l.url, "url", "http://127.0.0.1:8080", "address of the service")
	f.BoolVar(&l.anywhere, "any-host", false, "load a service that is not on this machine")
	f.StringVar(&l.key, "key", "", "verifier key of the log (default: what the service says)")
	f.StringVar(&l.terms.variant, "variant", "short", "variant to play, by its name in docs/games.md")
	f.StringVar(&l.terms.mode, "mode", "random", "dice mode: "+joined(modeNames()))
	f.StringVar(&l.terms.level, "level", "L0", "L0: nobody cuts; L2: both players do; L3: and release a link for every throw, mode live")
	f.StringVar(&l.terms.profile, "profile", "refereed", "who keeps the record: refereed (draw and move) or dice-only (draw)")
	f.IntVar(&l.clients, "clients", 32, "matches played at once")
	f.DurationVar(&l.duration, "duration", 10*time.Second, "how long to play")
	f.Float64Var(&l.rate, "rate", 0, "rolls a second of all clients together (default: as many as they get)")
	f.StringVar(&l.verify, "verify", "all", "matches to audit afterwards: all, none, or sample:N of them by chance")
	f.BoolVar(&asJSON, "json", false, "print the report as JSON")
	f.BoolVar(&direct, "direct", false, "play in the data directory, without HTTP")
	f.IntVar(&d.games, "games", 1000, "games to play with --direct")
	f.IntVar(&d.throws, "throws", 0, "throws after which a game is given up, with --direct; 0: games are played out")
	st.flags(c, "data", "master-key", "sealed")
	return c
}

// check refuses what cannot be meant, before anything is sent.
func (l *loadRun) check() (err error) {
	switch {
	case l.clients < 1 || l.duration <= 0:
		return errors.New("at least one client and some time are needed")
	case !(l.rate >= 0 && l.rate <= 1e6):
		return fmt.Errorf("a rate of %v rolls a second is not 0 to 1000000", l.rate)
	case l.terms.level == "L1":
		return errors.New("a match of level L1 waits half a minute for the beacon: L0, L2 and L3 can be loaded")
	}
	if _, err := sampleOf(l.verify); err != nil {
		return err
	}
	if l.series, err = l.terms.terms(); err != nil {
		return err
	}
	if err := loopback(l.url); err != nil && !l.anywhere {
		return err
	}
	return nil
}

// loopback refuses the address of another machine: its log would keep the matches for ever.
func loopback(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return fmt.Errorf("parse service address: %w", err)
	}
	if u.Host == "" {
		return fmt.Errorf("%q is no address of a service: want http://host:port", address)
	}
	if ip, err := netip.ParseAddr(u.Hostname()); u.Hostname() != "localhost" && (err != nil || !ip.Unmap().IsLoopback()) {
		return fmt.Errorf("%s is not on this machine, and its log would keep the matches for ever; say --any-host if you mean it", u.Host)
	}
	return nil
}

// run plays and audits. The report is nil if nothing was played; otherwise an
// error says that something in it failed.
func (l *loadRun) run(ctx context.Context, apiKey string, progress io.Writer) (*loadReport, error) {
	if apiKey == "" {
		return nil, errors.New("load service: neither FAIRDICE_API_KEY nor FAIRDICE_API_KEY_FILE is set; \"fairdice tenants add\" makes a key")
	}
	if err := l.check(); err != nil {
		return nil, fmt.Errorf("load service: %w", err)
	}
	dialer := &net.Dialer{Timeout: 10 * time.Second}
	l.wire = newWire(&http.Transport{DialContext: dialer.DialContext, MaxIdleConns: l.clients, MaxIdleConnsPerHost: l.clients})
	var err error
	l.api, err = client.New(l.url, client.WithKey(apiKey), client.WithHTTP(&http.Client{Transport: l.wire}))
	if err != nil {
		return nil, err
	}
	report := l.newReport()
	if report.Audit.Key, report.Audit.KeyFrom = l.key, "given"; l.key == "" {
		v, err := l.api.Version(ctx)
		if err != nil {
			return nil, fmt.Errorf("load service: %w", err)
		}
		report.Audit.Key, report.Audit.KeyFrom = v.Key, "service"
	}
	logged, err := l.newLoadAudit(ctx, report.Audit.Key)
	if err != nil {
		return nil, fmt.Errorf("load service: %w", err)
	}
	if l.terms.anchored() {
		if l.dir, err = os.MkdirTemp("", "fairdice-load-"); err != nil {
			return nil, fmt.Errorf("make players' directory: %w", err)
		}
		defer os.RemoveAll(l.dir)
	}
	stop := l.watch(progress)
	defer stop()
	started := time.Now()
	l.play(ctx, report.Audit.Key)
	took := time.Since(started)
	if err := ctx.Err(); err != nil {
		return nil, fmt.Errorf("load service: interrupted: %w", err)
	}
	audited := logged.audit(ctx)
	audited.Key, audited.KeyFrom = report.Audit.Key, report.Audit.KeyFrom
	report.fill(l, took, audited)
	return report, report.err()
}

// play has all clients play until the time is over.
func (l *loadRun) play(ctx context.Context, logKey string) {
	if l.rate > 0 {
		ticks := time.NewTicker(max(time.Duration(float64(time.Second)/l.rate), time.Microsecond))
		defer ticks.Stop()
		l.pace = ticks.C
	}
	over := time.Now().Add(l.duration)
	var wg sync.WaitGroup
	for n := range l.clients {
		wg.Go(func() {
			for seed := uint64(n); ctx.Err() == nil && (seed == uint64(n) || time.Now().Before(over)); seed += uint64(l.clients) {
				p, err := l.match(ctx, logKey, seed, over)
				l.mu.Lock()
				if err == nil {
					l.played = append(l.played, p)
				} else {
					l.failures = append(l.failures, fmt.Sprintf("match %s: %v", p.id, err))
				}
				l.mu.Unlock()
				if err != nil {
					return // a service in trouble is not helped by more requests
				}
			}
		})
	}
	wg.Wait()
}

// match plays one match, and gives its game up once the time is over.
func (l *loadRun) match(ctx context.Context, logKey string, seed uint64, over time.Time) (p playedMatch, err error) {
	id, err := uuid.NewV7()
	if err != nil {
		return p, fmt.Errorf("make match id: %w", err)
	}
	p.id = id.String()
	dir := filepath.Join(l.dir, p.id)
	defer func() {
		if l.dir != "" {
			err = cmp.Or(err, os.RemoveAll(dir))
		}
	}()
	seats, err := l.terms.seats(dir, logKey)
	if err != nil {
		return p, err
	}
	_, err = l.api.OpenMatch(ctx, p.id, client.OpenRequest{
		Variant: l.terms.variant, Mode: client.Mode(l.terms.mode), Profile: new(client.OpenRequestProfile(l.terms.profile)), Options: new(l.terms.options),
		A: seats[0].player(), B: seats[1].player(),
	}, 0)
	if err != nil {
		return p, err
	}
	moves := selfplay.New(selfplay.Greedy, seed)
	host := &croupier{
		api: l.api, match: p.id, moves: moves, live: l.terms.mode == "live", diceOnly: l.terms.profile == "dice-only",
		rolled: func(int, client.DrawDue, client.Roll, time.Duration) {
			l.rolls.Add(1)
			if !time.Now().Before(over) {
				moves.GiveUp = 1
				return
			}
			if l.pace != nil {
				select {
				case <-l.pace:
				case <-ctx.Done():
				}
			}
		},
	}
	for i, s := range seats {
		if s.chain == nil {
			continue
		}
		if err := s.chain.Join(player.Terms{
			Match: p.id, Token: s.token, Opponent: seats[1-i].token,
			Variant: l.terms.variant, Mode: l.terms.mode, Profile: l.terms.profile, Options: l.terms.options,
		}); err != nil {
			return p, err
		}
		host.seats = append(host.seats, s.chain)
	}
	if len(host.seats) > 0 {
		p.anchor = new(host.seats[0].Anchor())
	}
	setting := l.series.Next()
	if _, _, err := host.game(ctx, setting); err != nil {
		return p, err
	}
	header := replay.Header{Match: p.id, Game: setting.Game, Variant: setting.Variant.ID, Options: setting.Options, Score: setting.Score, Crawford: setting.Crawford}
	p.record = sha256.Sum256([]byte(header.Text() + strings.Join(host.record, "\n") + "\n"))
	return p, nil
}
