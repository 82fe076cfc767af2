package main

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"fairdice/client"
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/store/postgres/pgtest"
	"fairdice/translog"
)

// games begins games one after the other on four clients until it is stopped,
// repeating what was refused for a time; the ledger has what was acknowledged.
func games(t *testing.T, url, key string) (stop func() *ledger) {
	t.Helper()
	l := newLedger()
	c, err := client.New(url, client.WithKey(key), client.WithAttempts(100), client.WithHTTP(&http.Client{Transport: l}))
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for ctx.Err() == nil {
				id := benchID(t)
				_, err := c.OpenMatch(ctx, id, benchTerms, 0)
				if err == nil {
					_, err = c.NextGame(ctx, id, 1, 0)
				}
				if err == nil {
					_, err = c.DrawBytes(ctx, id, 1, 1, client.StreamOpening, 0)
				}
				if err == nil {
					_, err = c.AbortGame(ctx, id, 1, "test", 0)
				}
				if err != nil && ctx.Err() == nil {
					t.Errorf("a client that repeats what it may: %v", err)
					return
				}
			}
		})
	}
	return func() *ledger {
		cancel()
		wg.Wait()
		return l
	}
}

// TestFailover restarts the database's server under load, then kills it and
// promotes its synchronous standby: the clients see a delay and nothing else,
// and everything acknowledged is there.
func TestFailover(t *testing.T) {
	t.Parallel()
	primary := pgtest.Start(t)
	database := primary.Database(t)
	standby := primary.Standby(t)
	address := primary.WithStandby(t, database, standby)
	dir := t.TempDir()
	p := startProcess(t, dir, freeAddress(t), "--database", address)
	key := p.apiKey
	primary.Synchronous(t)
	verifier, err := commitment.ParseVerifier(p.logKey)
	if err != nil {
		t.Fatal(err)
	}
	acknowledged := 0
	var played []*ledger
	head := extends(t, p.url, verifier, translog.Checkpoint{})
	for _, fault := range []func(){
		func() { primary.Stop(t); primary.Restart(t) },
		func() { primary.Kill(t); primary.Restart(t) },
		func() { primary.Kill(t); standby.Promote(t) },
	} {
		stop := games(t, p.url, key)
		time.Sleep(300 * time.Millisecond)
		fault()
		time.Sleep(300 * time.Millisecond)
		p.answers(t, key)
		played = append(played, stop())
		head = extends(t, p.url, verifier, head)
	}
	for _, l := range played {
		acknowledged += l.repeated(t, key, p.url)
	}
	rehash(t, p.url, verifier)
	t.Logf("%d acknowledged requests, log of %d statements", acknowledged, head.Size)
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, p.errors)
	}
}

// answers waits until a match can be opened.
func (p *process) answers(t *testing.T, key string) {
	t.Helper()
	c, err := client.New(p.url, client.WithKey(key), client.WithAttempts(100))
	if err != nil {
		t.Fatal(err)
	}
	openBench(t, c)
}

// TestStaleStandby promotes a standby that lacks the end of the log, as an
// asynchronous one may. The service notices, signs nothing and deals nothing
// more, and says so; with the true server back it goes on by itself.
func TestStaleStandby(t *testing.T) {
	t.Parallel()
	primary := pgtest.Start(t)
	database := primary.Database(t)
	standby := primary.Standby(t)
	dir := t.TempDir()
	more := []string{"--database", primary.WithStandby(t, database, standby)}
	h := newHost(t, dir, more...)
	verifier, err := commitment.ParseVerifier(h.logKey)
	if err != nil {
		t.Fatal(err)
	}
	before := h.match
	h.match = h.open() // known to both servers
	h.must("/v1/matches/"+h.match+"/games/1", "")
	primary.CaughtUp(t)
	standby.Stop(t)
	h.must(h.opening(), "") // known to one of them
	h.open()
	head := extends(t, h.url, verifier, translog.Checkpoint{})
	primary.Kill(t)
	standby.Restart(t)
	standby.Promote(t)

	const words = "nothing is signed at present"
	lost := "/v1/matches/" + benchID(t)
	h.unavailable(lost, faultTerms, words)
	if s := h.send(http.MethodPut, lost, faultTerms); s.retry != "60" {
		t.Errorf("a user is told %s, want a minute", s)
	}
	// Its receipt was given, and is lost here: another one would contradict it.
	h.unavailable(h.opening(), "", words)
	if s := h.send(http.MethodGet, "/v1/matches/"+before, ""); s.status != http.StatusOK {
		t.Errorf("a read: %s", s)
	}
	h.ready(http.StatusServiceUnavailable)

	standby.Kill(t)
	primary.Restart(t)
	h.recovers(h.opening(), "")
	h.recovers(lost, faultTerms)
	head = extends(t, h.url, verifier, head)
	if err := h.end(syscall.SIGTERM); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
	if log := h.errors.String(); !strings.Contains(log, "refuse to sign: the ") {
		t.Errorf("the log does not say why nothing is signed:\n%s", log)
	}
	primary.Kill(t)
	standby.Restart(t)
	refusedStart(t, dir, []string{"refuse to sign: the ", "restore a newer backup"}, more...)

	standby.Kill(t)
	primary.Restart(t)
	h.process = startProcess(t, dir, freeAddress(t), more...)
	extends(t, h.url, verifier, head)
	h.healthy()
	h.stop()
}

// TestReadOnlyServer: a server that takes no writes is an outage while it does
// so, and a start on it says what is wrong.
func TestReadOnlyServer(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t)
	dir := t.TempDir()
	more := []string{"--database", server.Database(t)}
	h := newHost(t, dir, more...)
	server.Set(t, "default_transaction_read_only", "on")
	h.unavailable(h.abort(), `{"reason":"x"}`, "storage")
	if s := h.send(http.MethodGet, "/v1/matches/"+h.match, ""); s.status != http.StatusOK {
		t.Errorf("a read: %s", s)
	}
	h.ready(http.StatusServiceUnavailable)
	server.Set(t, "default_transaction_read_only", "off")
	h.recovers(h.abort(), `{"reason":"x"}`)
	h.healthy()
	h.stop()
	server.Set(t, "default_transaction_read_only", "on")
	refusedStart(t, dir, []string{"read-only"}, more...)
}

// TestSignerStopped stops the instance that signs, as a machine does that is
// moved, under load. The other takes over; the first wakes up, finds that it is
// not the signer any more, and answers again; there is one log.
func TestSignerStopped(t *testing.T) {
	t.Parallel()
	more := []string{"--database", pgtest.Start(t).Database(t)}
	dirs := []string{t.TempDir(), t.TempDir()}
	first := startProcess(t, dirs[0], freeAddress(t), more...)
	key := first.apiKey
	for _, name := range []string{"log.key", "receipts.key", "master.key"} {
		b, err := os.ReadFile(filepath.Join(dirs[0], name))
		if err == nil {
			err = os.WriteFile(filepath.Join(dirs[1], name), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	second := startProcess(t, dirs[1], freeAddress(t), more...)
	verifier, err := commitment.ParseVerifier(first.logKey)
	if err != nil {
		t.Fatal(err)
	}
	head := extends(t, second.url, verifier, translog.Checkpoint{})
	stopFirst, stopSecond := games(t, first.url, key), games(t, second.url, key)
	for range 2 {
		time.Sleep(300 * time.Millisecond)
		if err := first.cmd.Process.Signal(syscall.SIGSTOP); err != nil {
			t.Fatal(err)
		}
		time.Sleep(house.DefaultLease)
		second.answers(t, key)
		head = extends(t, second.url, verifier, head)
		if err := first.cmd.Process.Signal(syscall.SIGCONT); err != nil {
			t.Fatal(err)
		}
		first.answers(t, key)
		head = extends(t, first.url, verifier, head)
		first, second = second, first
	}
	played := []*ledger{stopFirst(), stopSecond()}
	if t.Failed() {
		first.end(syscall.SIGTERM)
		second.end(syscall.SIGTERM)
		t.Fatalf("the instances say\n%s\n%s", first.errors, second.errors)
	}
	acknowledged := 0
	for _, l := range played {
		acknowledged += l.repeated(t, key, first.url, second.url)
	}
	for _, p := range []*process{first, second} {
		rehash(t, p.url, verifier)
		if err := p.end(syscall.SIGTERM); err != nil {
			t.Errorf("after SIGTERM: %v\n%s", err, p.errors)
		}
		if log := p.errors.String(); strings.Contains(log, "refuse to sign") || strings.Contains(log, "request failed") {
			t.Errorf("an instance took the other for another log, or could not say what was wrong:\n%s", log)
		}
	}
	t.Logf("%d acknowledged requests, log of %d statements", acknowledged, head.Size)
}
