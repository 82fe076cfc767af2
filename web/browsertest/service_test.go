// Package browsertest has Chromium (package internal/browser) use the pages of a
// service that runs in this process, as players do.
//
//	s := startService(t)
//	p := browser.Open(t, browser.Look{})
//	p.Go(s.url + "/my-chain")
//	p.Click("#make")
//	p.Shown("#anchor")
//	p.Quiet()
//
// The service can be told to cheat. Without Chromium the tests skip, but with
// CI=true they fail.
package browsertest

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"fairdice/api"
	"fairdice/client"
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/store"
	"fairdice/store/sqlite"
	"fairdice/translog/server"
	"fairdice/web"
)

const (
	tenant = "club"
	origin = "dice.example/log"
	single = "raise=mars stake=win series=single crawford=off"
	points = "raise=cube stake=win series=points:3 crawford=on"
)

// service is a whole one with pages, on a database of its own. Its time stands still.
type service struct {
	url    string
	logKey string
	house  *house.House
	store  store.Store
	client *client.Client // with a key of all scopes
	signer note.Signer    // of the log, for a service that lies

	mu    sync.Mutex
	now   time.Time
	cheat func(w http.ResponseWriter, r *http.Request, honest http.Handler) bool
	links []string // addresses that links were put to
	stop  func() error
}

// newService makes one; change may change what its house is made of.
func newService(dir string, log io.Writer, random io.Reader, change ...func(*house.Config)) (s *service, err error) {
	ctx := context.Background()
	s = &service{now: time.Date(2026, 11, 29, 21, 52, 6, 0, time.UTC)}
	clock := func() time.Time {
		s.mu.Lock()
		defer s.mu.Unlock()
		return s.now
	}
	logSecret, logKey, err := commitment.NewKey(origin, random)
	if err != nil {
		return nil, err
	}
	receiptSecret, receiptKey, err := commitment.NewKey(origin+"/receipts", random)
	if err != nil {
		return nil, err
	}
	logSigner, err := commitment.NewSigner(logSecret)
	if err != nil {
		return nil, err
	}
	verifier, err := commitment.ParseVerifier(logKey)
	if err != nil {
		return nil, err
	}
	receipts, err := commitment.NewSigner(receiptSecret)
	if err != nil {
		return nil, err
	}
	master, err := house.NewMasterKey(random)
	if err != nil {
		return nil, err
	}
	s.logKey, s.signer = logKey, logSigner
	if s.store, err = sqlite.Open(filepath.Join(dir, "test.db"), sqlite.Options{}); err != nil {
		return nil, err
	}
	quiet := slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelError}))
	c := house.Config{
		Store: s.store, Origin: origin, Log: logSigner, LogVerifier: verifier, LogKey: logKey,
		Receipts: receipts, ReceiptKey: receiptKey, Master: master, HeadFile: filepath.Join(dir, "head"),
		Rand: random, Now: clock, Logger: quiet, Rolls: commitment.Lengths{16, 64, 64}, Pool: house.PoolMarks{Low: 0, Full: 8},
	}
	for _, f := range change {
		f(&c)
	}
	if s.house, err = house.New(ctx, c); err != nil {
		return nil, errors.Join(err, s.store.Close())
	}
	site, err := web.New(web.Config{Key: logKey, Origin: origin, Version: "test", Logger: quiet})
	if err != nil {
		return nil, err
	}
	const any = 1_000_000
	tiles := server.New(s.store)
	if len(c.Witnesses) > 0 {
		tiles = server.NewCosigned(s.store)
	}
	handler, err := api.New(api.Config{
		House: s.house, Log: tiles, Site: site, Version: "test", Logger: quiet, Now: clock, WorkRate: any, ReadRate: any, LinkRate: any,
	})
	if err != nil {
		return nil, err
	}
	h := httptest.NewServer(s.front(handler))
	s.url = h.URL
	s.stop = func() error {
		h.CloseClientConnections() // of pages that still follow something
		h.Close()
		return errors.Join(s.house.Close(), s.store.Close())
	}
	if err := s.house.AddTenant(ctx, tenant); err != nil {
		return nil, errors.Join(err, s.stop())
	}
	key, err := s.house.IssueKey(ctx, tenant, "test", house.Scopes())
	if err == nil {
		s.client, err = client.New(s.url, client.WithKey(key), client.WithAttempts(1))
	}
	for _, mode := range []string{"random", "live"} {
		if err == nil {
			err = s.house.TopUp(ctx, tenant, mode, 8)
		}
	}
	if err != nil {
		return nil, errors.Join(err, s.stop())
	}
	return s, nil
}

// front is what stands before the service: it counts the links that arrive, and
// can be told to cheat.
func (s *service) front(honest http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		if r.Method == http.MethodPut && strings.Contains(r.URL.Path, "/links/") {
			s.links = append(s.links, r.URL.Path)
		}
		cheat := s.cheat
		s.mu.Unlock()
		if cheat == nil || !cheat(w, r, honest) {
			honest.ServeHTTP(w, r)
		}
	})
}

// cheats has f answer requests from now on; f is false for those that it leaves
// to the honest service.
func (s *service) cheats(f func(w http.ResponseWriter, r *http.Request, honest http.Handler) bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.cheat = f
}

// linksTaken are the links that have arrived.
func (s *service) linksTaken() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.links...)
}

// startService runs a service of the test's own.
func startService(t *testing.T, change ...func(*house.Config)) *service {
	t.Helper()
	s, err := newService(t.TempDir(), t.Output(), rand.Reader, change...)
	must(t, err)
	t.Cleanup(func() { must(t, s.stop()) })
	return s
}

// table is a service with the matches that pages are looked at with. Tests that
// only read share it.
type table struct {
	*service
	finished, running string // matches
	sequence          string // assigned to the finished one
	token             string // to watch the running one
	bundle, record    []byte // of the finished one
}

const (
	finishedID = "01940c3e-7b4a-7c1d-9a52-3f6d0b8e2c11"
	runningID  = "01940c3e-7b4a-7c1d-9a52-3f6d0b8e2c12"
	longID     = "01940c3e-7b4a-7c1d-9a52-3f6d0b8e2c13"
	plakotoID  = "01940c3e-7b4a-7c1d-9a52-3f6d0b8e2c14"
	cubeID     = "01940c3e-7b4a-7c1d-9a52-3f6d0b8e2c15"
)

var sharedTable = sync.OnceValues(func() (*table, error) {
	dir, err := os.MkdirTemp("", "fairdice-browser")
	if err != nil {
		return nil, err
	}
	atEnd = append(atEnd, func() error { return os.RemoveAll(dir) })
	s, err := newService(dir, os.Stderr, newSeeded(1))
	if err != nil {
		return nil, err
	}
	atEnd = append(atEnd, s.stop)
	tb := &table{service: s, finished: finishedID, running: runningID}
	if err := s.open(finishedID, "short", client.ModeRandom, single); err != nil {
		return nil, err
	}
	if err := s.play(finishedID, "short", single, 0); err != nil {
		return nil, err
	}
	if tb.token, err = s.openWatched(runningID, "long-classic", client.ModeRandom, single); err != nil {
		return nil, err
	}
	if err := s.play(runningID, "long-classic", single, 20); err != nil {
		return nil, err
	}
	if err := s.gallery(); err != nil {
		return nil, err
	}
	if tb.bundle, err = s.client.Bundle(context.Background(), finishedID); err != nil {
		return nil, err
	}
	r, err := s.client.Record(context.Background(), finishedID, 1, "")
	if err != nil {
		return nil, err
	}
	tb.record = []byte(r.Record)
	page, err := s.client.Sequences(context.Background(), tenant, client.ModeRandom, "", 0)
	if err != nil {
		return nil, err
	}
	tb.sequence = page.Sequences[0].Sequence
	return tb, nil
})

// shared is the table of all tests that only read.
func shared(t testing.TB) *table {
	t.Helper()
	tb, err := sharedTable()
	must(t, err)
	return tb
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
