package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"fairdice/api"
	"fairdice/house"
	"fairdice/internal/metrics"
	"fairdice/internal/webhook"
	"fairdice/store"
	"fairdice/translog/server"
	"fairdice/web"
)

// service is everything that runs; a test can start one.
type service struct {
	config    config
	store     store.Store
	house     *house.House
	keys      keys
	http      *http.Server
	listen    net.Listener
	done      chan error
	hooks     *webhook.Sender
	witnessed bool // checkpoints get cosigned
	flights   flights
	backups   *backups // nil: none
	metrics   *metrics.Metrics
	watch     watchpost
	room      room
	pair      *pair // nil: no TLS here
	log       *slog.Logger
}

// openService opens what is there and makes what is missing. Nothing is
// served yet.
func openService(ctx context.Context, c config, log *slog.Logger) (*service, error) {
	if err := c.errEnded(); err != nil {
		return nil, err
	}
	if err := c.joins(ctx); err != nil {
		return nil, err
	}
	k, err := openKeys(c)
	if err != nil {
		return nil, err
	}
	rounds, err := c.beacon()
	if err != nil {
		return nil, err
	}
	witnesses, trusted, err := c.watched(k.log.public)
	if err != nil {
		return nil, err
	}
	headless, err := c.headless()
	if err != nil {
		return nil, err
	}
	m := metrics.New(version(), statsAge)
	db, err := openDatabase(ctx, c.database(), m.Committed)
	if err != nil {
		return nil, err
	}
	db = m.Store(db)
	hooks := webhook.New(webhook.Config{Private: c.hooksTo, Now: c.now})
	h, err := house.New(ctx, house.Config{
		Store: db, Origin: k.log.signer.Name(),
		Log: k.log.signer, LogVerifier: k.log.verifier, LogKey: k.log.public,
		Receipts: k.receipt().signer, ReceiptKey: k.receipt().public, OldReceipts: k.oldReceipts(),
		Master: k.master, HeadFile: c.headFile(), Logger: log,
		Shared: isShared(c.database()),
		Pool:   house.PoolMarks{Low: c.sealed / 4, Full: c.sealed},
		Beacon: rounds, Witnesses: witnesses, Policy: trusted, Observer: m, Courier: courier{hooks}, Deliver: c.deliver, Now: c.now, Rolls: c.rolls,
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if err := c.begun(headless, log); err != nil {
		return nil, errors.Join(err, h.Close(), db.Close())
	}
	m.Watch(h)
	return &service{config: c, store: db, metrics: m, hooks: hooks, house: h, keys: k, log: log, done: make(chan error, 1), witnessed: len(witnesses) > 0}, nil
}

// prepare makes the first tenant with its key, shown this once, and has
// sequences sealed for every tenant. The key is "" unless it was made now; it
// comes with an error too if something failed after it was made.
func (s *service) prepare(ctx context.Context) (key string, err error) {
	if err := s.house.AddTenant(ctx, s.config.tenant); err != nil && !errors.Is(err, store.ErrExists) {
		return "", fmt.Errorf("add tenant %s: %w", s.config.tenant, err)
	}
	var tenants []store.Tenant
	var keys []store.APIKey
	if err := s.store.View(ctx, func(r store.Reader) (err error) {
		if tenants, err = r.Tenants(); err == nil {
			keys, err = r.APIKeys(s.config.tenant)
		}
		return err
	}); err != nil {
		return "", fmt.Errorf("list tenants: %w", err)
	}
	// A crash may have come between the tenant and its key.
	if len(keys) == 0 {
		if key, err = s.house.IssueKey(ctx, s.config.tenant, "first", house.Scopes()); err != nil {
			return "", err
		}
	}
	for _, t := range tenants {
		if err := s.seal(ctx, t.Name); err != nil {
			return key, err
		}
	}
	return key, nil
}

func (s *service) seal(ctx context.Context, tenant string) error {
	for _, mode := range house.Sealable() {
		if err := s.house.TopUp(ctx, tenant, mode, s.config.sealed); err != nil {
			return fmt.Errorf("seal first sequences of %s: %w", tenant, err)
		}
	}
	return nil
}

// bind takes the address. It comes before anything that is shown only once: a
// start that fails because the port is taken must not have made an API key.
func (s *service) bind() (err error) {
	if s.config.tlsCert != "" {
		if s.pair, err = openPair(s.config.tlsCert, s.config.tlsKey, s.log); err != nil {
			return err
		}
	}
	if s.listen, err = net.Listen("tcp", s.config.listen); err != nil {
		return fmt.Errorf("listen: %w", err)
	}
	return s.bindMetrics()
}

// serve starts to answer on the address that was taken; it returns at once.
func (s *service) serve() error {
	log := server.New(s.store)
	if s.witnessed {
		log = server.NewCosigned(s.store)
	}
	// A stop waits for requests that are being answered, so it ends what would
	// never end by itself; the followers go on at another instance or the next start.
	streams, endStreams := context.WithCancel(context.Background())
	site, err := web.New(web.Config{Key: s.house.VerifierKey(), Origin: s.house.Origin(), Version: version(), Logger: s.log})
	if err != nil {
		endStreams()
		return err
	}
	handler, err := api.New(api.Config{
		House: s.house, Log: log, Site: site, Ready: s.ready, Outage: outage, Version: version(),
		LinkRate: s.config.linkRate, ReadRate: s.config.readRate, WorkRate: s.config.workRate, KeyRate: s.config.keyRate, Streams: streams, ProxyHeader: s.config.proxy, TrustedProxies: s.config.proxies, Logger: s.log, Observer: s.metrics, Now: s.config.now,
	})
	if err != nil {
		endStreams()
		return err
	}
	s.http = &http.Server{
		Handler:           s.flights.follow(handler),
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		WriteTimeout:      2 * api.DefaultTimeout,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	s.http.RegisterOnShutdown(endStreams)
	s.serveMetrics()
	if s.backups, err = startBackups(s.config, s.metrics, s.log); err != nil {
		endStreams()
		return err
	}
	go func() {
		if s.pair != nil {
			s.http.TLSConfig = s.pair.config()
			s.done <- s.http.ServeTLS(s.listen, "", "")
		} else {
			s.done <- s.http.Serve(s.listen)
		}
	}()
	return nil
}

func (s *service) url() string {
	if s.pair != nil {
		return "https://" + s.listen.Addr().String()
	}
	return "http://" + s.listen.Addr().String()
}

// Patience is how long a stop waits for requests that are being answered.
const Patience = 20 * time.Second

// Grace is how long a stop waits for the rest of requests that came in half.
const Grace = 2 * time.Second

// stop answers what has come in, then closes everything in the order in which
// the parts rely on each other.
func (s *service) stop() error {
	var err error
	switch {
	case s.http != nil:
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		s.flights.hurry(time.Now().Add(Grace))
		err = s.http.Shutdown(ctx)
		if errors.Is(err, context.DeadlineExceeded) {
			s.log.Warn("stopped hard: requests were cut off, their clients may repeat them", "requests", s.flights.names())
			err = s.http.Close()
		}
	case s.listen != nil:
		err = s.listen.Close()
	}
	s.backups.stop()
	err = errors.Join(err, s.watch.close(), s.house.Close(), s.store.Close())
	s.hooks.Close()
	return err
}
