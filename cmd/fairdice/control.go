package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"time"
)

func (c config) socket() string { return filepath.Join(c.data, "control.sock") }

// maxOrder bounds what is read of an order or a report, in bytes.
const maxOrder = 8 << 20

// control takes orders of the operator on a socket in the data directory,
// where only its owner can come; the database has room for one process.
func (s *service) control(ctx context.Context) (stop func()) {
	l, err := listenOwner(s.config.socket())
	if err != nil {
		// The path of a socket is short by nature; the service runs without.
		s.log.WarnContext(ctx, "no control socket", "error", err)
		return func() {}
	}
	server := &http.Server{
		ReadHeaderTimeout: 5 * time.Second,
		ReadTimeout:       5 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var o order
			var rep report
			err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxOrder)).Decode(&o)
			if err == nil {
				rep, err = s.carryOut(r.Context(), o)
			}
			if err != nil {
				rep = report{Error: err.Error()}
			}
			if err := json.NewEncoder(w).Encode(rep); err != nil {
				s.log.DebugContext(r.Context(), "operator went away", "error", err)
			}
		}),
	}
	go server.Serve(l)
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), Patience)
		defer cancel()
		if err := server.Shutdown(ctx); err != nil {
			s.log.WarnContext(ctx, "control socket closed early", "error", errors.Join(err, server.Close()))
		}
	}
}

// listenOwner listens on a socket that is its owner's alone.
func listenOwner(path string) (net.Listener, error) {
	// Left by a crash: the lock on the database says that nobody listens.
	if err := os.Remove(path); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, fmt.Errorf("listen for orders: %w", err)
	}
	l, err := net.Listen("unix", path)
	if err != nil {
		return nil, fmt.Errorf("listen for orders: %w", err)
	}
	if err := os.Chmod(path, 0o600); err != nil {
		return nil, errors.Join(fmt.Errorf("listen for orders: %w", err), l.Close())
	}
	return l, nil
}

// ask sends an order to the running service; running is false if there is none.
func ask(ctx context.Context, c config, o order) (rep report, running bool, err error) {
	probe, err := net.Dial("unix", c.socket())
	if err != nil {
		return rep, false, nil
	}
	defer probe.Close()
	client := &http.Client{Transport: &http.Transport{
		DialContext: func(context.Context, string, string) (net.Conn, error) { return probe, nil },
	}}
	body, err := json.Marshal(o)
	if err != nil {
		return rep, true, fmt.Errorf("send order: %w", err)
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://control/", bytes.NewReader(body))
	if err != nil {
		return rep, true, fmt.Errorf("send order: %w", err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return rep, true, fmt.Errorf("send order: %w", err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(&rep); err != nil {
		return rep, true, fmt.Errorf("read report: %w", err)
	}
	if rep.Error != "" {
		return report{}, true, errors.New(rep.Error)
	}
	return rep, true, nil
}
