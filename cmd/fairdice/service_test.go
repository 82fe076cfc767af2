package main

import (
	"io"
	"log/slog"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"fairdice/house"
	"fairdice/replay"
	"fairdice/rules"
	"fairdice/store"
)

func testConfig(dir string) config {
	return config{
		data: dir, listen: "127.0.0.1:0", master: filepath.Join(dir, "master.key"),
		tenant: "default", sealed: 16, linkRate: 1_000_000, readRate: 1_000_000, level: slog.LevelError,
	}
}

// startService runs a service on a directory of its own inside this process.
func startService(t testing.TB, change ...func(*config)) (s *service, key string) {
	t.Helper()
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))
	c := testConfig(t.TempDir())
	for _, f := range change {
		f(&c)
	}
	s, err := openService(t.Context(), c, log)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.stop(); err != nil {
			t.Error(err)
		}
	})
	if err := s.bind(); err != nil {
		t.Fatal(err)
	}
	if key, err = s.prepare(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.serve(); err != nil {
		t.Fatal(err)
	}
	return s, key
}

func shortSetting(t testing.TB) replay.Setting {
	t.Helper()
	v, err := rules.Lookup("short")
	if err != nil {
		t.Fatal(err)
	}
	o, err := replay.ParseOptions(demoOptions)
	if err != nil {
		t.Fatal(err)
	}
	m, err := replay.NewMatch(v, o)
	if err != nil {
		t.Fatal(err)
	}
	return m.Next()
}

// A tenant that is added while the service runs can play at once.
func TestTenantAddedLater(t *testing.T) {
	s, _ := startService(t, func(c *config) { c.sealed = 5 })
	rep, err := s.carryOut(t.Context(), order{Do: "add", Tenant: "late", Scopes: []string{house.ScopeDraw}, Expires: "1h"})
	if err != nil || !strings.HasPrefix(rep.Key, "fd_late_") {
		t.Fatal(rep, err)
	}
	err = s.store.View(t.Context(), func(r store.Reader) error {
		for _, mode := range house.Sealable() {
			pool, err := r.Pool("late", mode)
			if err != nil || pool.Free != 5 {
				t.Errorf("mode %s: %+v, %v; want 5 free sequences", mode, pool, err)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// A service whose disk takes no writes is not ready, although it can be read.
func TestReadyNeedsRoom(t *testing.T) {
	s, _ := startService(t)
	if err := s.ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	dir := s.config.data
	s.config.data = filepath.Join(dir, "gone")
	if err := s.ready(t.Context()); err != nil {
		t.Errorf("asked again at once: %v", err)
	}
	s.room.tried = s.room.tried.Add(-2 * roomTried)
	if err := s.ready(t.Context()); house.CodeOf(err) != house.Unavailable {
		t.Errorf("without room: %v", err)
	}
	resp, err := http.Get(s.url() + "/readyz")
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusServiceUnavailable || resp.Header.Get("Retry-After") == "" || !strings.Contains(string(body), "takes no writes") {
		t.Errorf("/readyz: %s, %s, %v", resp.Status, body, err)
	}
	s.config.data = dir
	s.room.tried = s.room.tried.Add(-2 * roomTried)
	if err := s.ready(t.Context()); err != nil {
		t.Errorf("with room again: %v", err)
	}
}
