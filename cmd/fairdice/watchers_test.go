package main

import (
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"fairdice/translog"
	"fairdice/translog/witness"
)

// A service whose policy names a witness with an address has its checkpoints
// cosigned; a policy that cannot be meant for it stops the start.
func TestPolicy(t *testing.T) {
	cfg := testConfig(t.TempDir())
	k, err := openKeys(cfg)
	must(t, err)
	skey, vkey, err := translog.NewWitnessKey("witness.example/w1", rand.Reader)
	must(t, err)
	cosigner, err := translog.NewCosigner(skey, time.Now)
	must(t, err)
	w, err := witness.New(cosigner, []note.Verifier{k.log.verifier}, witness.InMemory())
	must(t, err)
	remote := httptest.NewServer(w)
	defer remote.Close()
	cfg.policy = filepath.Join(t.TempDir(), "policy")
	write := func(lines ...string) {
		must(t, os.WriteFile(cfg.policy, []byte(strings.Join(lines, "\n")+"\n"), 0o600))
	}
	log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelError}))

	otherKey := "log other.example/log+b5f3f8ee+AZez2UACH01kEbcLW8NZASd/5TayVFg/+qHGJFQX30kK"
	for name, lines := range map[string][]string{
		"no address":    {"log " + k.log.public, "witness w1 " + vkey, "quorum w1"},
		"no witness":    {"log " + k.log.public, "quorum none"},
		"no policy":     {"hello"},
		"another log":   {otherKey, "witness w1 " + vkey + " " + remote.URL, "quorum w1"},
		"a bad address": {"log " + k.log.public, "witness w1 " + vkey + " nowhere", "quorum w1"},
	} {
		write(lines...)
		if s, err := openService(t.Context(), cfg, log); err == nil {
			t.Errorf("%s: the service starts", name)
			must(t, s.stop())
		}
	}

	write("log "+k.log.public, "witness w1 "+vkey+" "+remote.URL, "quorum w1")
	s, err := openService(t.Context(), cfg, log)
	must(t, err)
	defer func() { must(t, s.stop()) }()
	must(t, s.bind())
	_, err = s.prepare(t.Context())
	must(t, err)
	must(t, s.serve())
	trusted, err := translog.ParsePolicy(string(readFile(t, cfg.policy)))
	must(t, err)
	for range 100 {
		if err = trusted.Check(string(get(t, s.url()+"/checkpoint")), -1); err == nil {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Errorf("the newest checkpoint is not cosigned: %v", err)
}

func readFile(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	must(t, err)
	return data
}

func get(t *testing.T, url string) []byte {
	t.Helper()
	resp, err := http.Get(url)
	must(t, err)
	defer resp.Body.Close()
	data, err := io.ReadAll(resp.Body)
	must(t, err)
	return data
}
