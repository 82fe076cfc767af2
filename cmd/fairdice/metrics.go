package main

import (
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// statsAge is how old sizes of the log and of pools in the metrics may be:
// the usual time between two scrapes.
const statsAge = 15 * time.Second

// watchpost is where the operator looks at a service: an address of its own,
// because what can be read there is nobody else's business. It asks for no key.
type watchpost struct {
	http   *http.Server
	listen net.Listener
}

// bindMetrics takes the address for metrics, if there is one.
func (s *service) bindMetrics() (err error) {
	if s.config.metricsListen == "" {
		return nil
	}
	if s.watch.listen, err = net.Listen("tcp", s.config.metricsListen); err != nil {
		return fmt.Errorf("listen for metrics: %w", err)
	}
	if a, ok := s.watch.listen.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		s.log.Warn("metrics can be read from other machines, without a key", "address", s.watch.listen.Addr().String())
	}
	return nil
}

// serveMetrics answers on that address; it returns at once.
func (s *service) serveMetrics() {
	if s.watch.listen == nil {
		return
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics)
	if s.config.pprof {
		mux.HandleFunc("GET /debug/pprof/", pprof.Index)
		mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
		mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	}
	s.watch.http = &http.Server{
		Handler:           mux,
		ReadHeaderTimeout: 10 * time.Second,
		ReadTimeout:       30 * time.Second,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    16 << 10,
		ErrorLog:          slog.NewLogLogger(s.log.Handler(), slog.LevelDebug),
	}
	go func() {
		if err := s.watch.http.Serve(s.watch.listen); !errors.Is(err, http.ErrServerClosed) {
			s.log.Error("metrics are not served any more", "error", err)
		}
	}()
}

func (s *service) metricsURL() string { return "http://" + s.watch.listen.Addr().String() + "/metrics" }

// close ends scrapes that are being answered: nobody waits for them.
func (w *watchpost) close() error {
	switch {
	case w.http != nil:
		return w.http.Close()
	case w.listen != nil:
		return w.listen.Close()
	}
	return nil
}
