package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"

	"github.com/spf13/cobra"
)

func newServe(s *settings) *cobra.Command {
	var profiles bool
	c := &cobra.Command{
		Use:   "serve",
		Short: "Run the service; everything that is missing is made",
		Args:  cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			cfg, err := s.read(c)
			if err != nil {
				return err
			}
			if cfg.pprof = profiles; profiles && cfg.metricsListen == "" {
				return errors.New("serve profiles: they are served beside the metrics, and metrics-listen is not set")
			}
			cfg.deliver = true
			return serve(c, cfg)
		},
	}
	s.flags(c, "data", "database", "database-file", "listen", "master-key", "origin", "tenant", "sealed", "link-rate", "read-rate", "work-rate", "key-rate", "tls-cert", "tls-key", "proxy-header", "trusted-proxies", "beacon-relays", "policy", "metrics-listen", "webhook-private", "backup-dir", "backup-every", "backup-keep", "log-level", "log-format")
	c.Flags().BoolVar(&profiles, "pprof", false, "serve profiles of the program beside the metrics, at /debug/pprof/: whoever reaches the address can slow the service down")
	return c
}

func serve(c *cobra.Command, cfg config) (err error) {
	ctx := c.Context()
	log := cfg.logger(c.ErrOrStderr())
	slog.SetDefault(log)
	s, err := openService(ctx, cfg, log)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.stop()) }()
	if err := s.bind(); err != nil {
		return err
	}
	out := c.OutOrStdout()
	key, err := s.prepare(ctx)
	if key != "" { // before anything else can go wrong
		if _, err := fmt.Fprintf(out, "api key   %s   (tenant %s; shown this once)\n", key, cfg.tenant); err != nil {
			return fmt.Errorf("show API key: %w; make another with \"fairdice tenants add %s\"", err, cfg.tenant)
		}
	}
	if ctx.Err() != nil {
		return nil // asked to stop before it began
	}
	if err != nil {
		return err
	}
	// Whoever finds the service ready may give orders at once.
	defer s.control(ctx)()
	if err := s.serve(); err != nil {
		return err
	}

	if s.watch.listen != nil {
		if _, err := fmt.Fprintf(out, "metrics   %s\n", s.metricsURL()); err != nil {
			return fmt.Errorf("show address of metrics: %w", err)
		}
	}
	_, err = fmt.Fprintf(out, "serving   %s\nlog key   %s\nnext      %s/openapi.yaml says what it does; \"fairdice demo --out demo\" plays a match\n",
		s.url(), s.keys.log.public, s.url())
	if err != nil {
		return err
	}

	if err := notify("READY=1"); err != nil {
		log.Warn("the supervisor does not hear that the service is ready", "error", err)
	}
	select {
	case <-ctx.Done():
		if err := notify("STOPPING=1"); err != nil {
			log.Warn("the supervisor does not hear that the service stops", "error", err)
		}
		log.Info("stopping", "cause", context.Cause(ctx))
		return nil
	case err := <-s.done:
		if errors.Is(err, http.ErrServerClosed) {
			return nil
		}
		return fmt.Errorf("serve: %w", err)
	}
}
