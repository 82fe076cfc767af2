package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairdice/audit"
	"fairdice/client"
	"fairdice/commitment"
	"fairdice/internal/selfplay"
)

// host is a service under a fault, as its users see it: what it has
// acknowledged is kept, to be asked for again.
type host struct {
	*process
	t      *testing.T
	dir    string
	key    string
	match  string // being played: its opening roll is drawn
	ledger *ledger
}

// seen is what a user is told.
type seen struct {
	status              int
	code, detail, retry string
	body                string
}

func (s seen) String() string {
	return fmt.Sprintf("%d %s, Retry-After %q: %s", s.status, s.code, s.retry, s.detail)
}

func newHost(t *testing.T, dir string, more ...string) *host {
	t.Helper()
	h := &host{process: startProcess(t, dir, freeAddress(t), more...), t: t, dir: dir, ledger: newLedger()}
	h.key = h.apiKey
	h.match = h.open()
	h.must("/v1/matches/"+h.match+"/games/1", "")
	h.must(h.opening(), "")
	return h
}

const faultTerms = `{"variant":"short","mode":"random","options":"` + demoOptions + `","a":{"token":"ada"},"b":{"token":"ben"}}`

func (h *host) open() (match string) {
	h.t.Helper()
	match = benchID(h.t)
	h.must("/v1/matches/"+match, faultTerms)
	return match
}

// opening is the address of the opening roll, abort that of the end of the game.
func (h *host) opening() string {
	return "/v1/matches/" + h.match + "/games/1/segments/1/rolls/opening/0"
}
func (h *host) abort() string { return "/v1/matches/" + h.match + "/games/1/abort" }

// send asks once.
func (h *host) send(method, path, body string) (s seen) {
	h.t.Helper()
	req, err := http.NewRequestWithContext(h.t.Context(), method, h.url+path, strings.NewReader(body))
	if err != nil {
		h.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+h.key)
	if body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		h.t.Fatalf("%s %s: %v", method, path, err)
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		h.t.Fatal(err)
	}
	s = seen{status: resp.StatusCode, retry: resp.Header.Get("Retry-After"), body: string(b)}
	if s.status == http.StatusOK {
		if method == http.MethodPut {
			h.ledger.note(row{path, body}, s.body)
		}
		return s
	}
	var p struct{ Type, Detail string }
	if err := json.Unmarshal(b, &p); err != nil {
		h.t.Errorf("%s %s was answered %q", method, path, b)
	}
	s.code, s.detail = strings.TrimPrefix(p.Type, "urn:fairdice:problem:"), p.Detail
	return s
}

// must asks for what has to work.
func (h *host) must(path, body string) {
	h.t.Helper()
	if s := h.send(http.MethodPut, path, body); s.status != http.StatusOK {
		h.t.Fatalf("PUT %s: %s", path, s)
	}
}

// unavailable asks for what cannot be done now: the user is told so and when to
// come back, and nothing of files or hosts.
func (h *host) unavailable(path, body, detail string) {
	h.t.Helper()
	s := h.send(http.MethodPut, path, body)
	if s.status != http.StatusServiceUnavailable || s.code != "unavailable" || s.retry == "" || !strings.Contains(s.detail, detail) || strings.Contains(s.body, h.dir) {
		h.t.Errorf("PUT %s: %s; want 503 unavailable, %q", path, s, detail)
	}
}

// recovers repeats a request until it is carried out, as a client would.
func (h *host) recovers(path, body string) {
	h.t.Helper()
	var s seen
	for range 80 {
		if s = h.send(http.MethodPut, path, body); s.status == http.StatusOK {
			return
		} else if s.status != http.StatusServiceUnavailable {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	h.t.Fatalf("PUT %s: %s", path, s)
}

func (h *host) ready(want int) {
	h.t.Helper()
	var s seen
	for range 80 {
		if s = h.send(http.MethodGet, "/readyz", ""); s.status == want {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	h.t.Errorf("/readyz: %s, want %d", s, want)
}

// healthy shows that all is well again: everything acknowledged is answered
// with the same bytes, a whole match can be played and its bundle verifies, and
// the log hashes to what is signed. It goes on with the process that runs.
func (h *host) healthy() {
	h.t.Helper()
	h.ledger.repeated(h.t, h.key, h.url)
	h.ready(http.StatusOK)
	c, err := client.New(h.url, client.WithKey(h.key))
	if err != nil {
		h.t.Fatal(err)
	}
	id := benchID(h.t)
	if _, err := c.OpenMatch(h.t.Context(), id, benchTerms, 0); err != nil {
		h.t.Fatal(err)
	}
	dealer := &croupier{api: c, match: id, moves: selfplay.New(selfplay.Greedy, 1), rolled: func(int, client.DrawDue, client.Roll, time.Duration) {}}
	if _, _, err := dealer.game(h.t.Context(), shortSetting(h.t)); err != nil {
		h.t.Fatal(err)
	}
	bundle, err := c.Bundle(h.t.Context(), id)
	if err != nil {
		h.t.Fatal(err)
	}
	if r := audit.Verify(bundle, audit.Trust{Key: h.logKey}); r.Verdict != audit.Verified {
		h.t.Errorf("the match that was played afterwards: %s %v", r.Verdict, r.Failed())
	}
	verifier, err := commitment.ParseVerifier(h.logKey)
	if err != nil {
		h.t.Fatal(err)
	}
	rehash(h.t, h.url, verifier)
}

// killed ends the service hard and starts it again: what was acknowledged was
// on the disk and not in its memory.
func (h *host) killed(more ...string) {
	h.t.Helper()
	if err := h.end(syscall.SIGKILL); err == nil {
		h.t.Error("the service survived a SIGKILL")
	}
	key := h.logKey
	h.process = startProcess(h.t, h.dir, freeAddress(h.t), more...)
	if h.logKey != key {
		h.t.Errorf("the log key was %s and is %s", key, h.logKey)
	}
}

// mount gives a small disk of memory. Not everybody may: then the faults of a
// disk are those of TestStorageErrors alone.
func mount(t *testing.T, options string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	err := syscall.Mount("fairdice-test", dir, "tmpfs", syscall.MS_NOSUID, "mode=0700,"+options)
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.EACCES) {
		t.Skipf("a disk can only be mounted by root: %v", err)
	}
	if err != nil {
		t.Fatalf("mount a disk: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// fill leaves a disk without a byte of room; free gives it back.
func fillDisk(t *testing.T, dir string) (free func()) {
	t.Helper()
	ballast := filepath.Join(dir, "ballast")
	f, err := os.Create(ballast)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for size := 1 << 20; size > 0; {
		if n, err := f.Write(make([]byte, size)); errors.Is(err, syscall.ENOSPC) {
			if n == 0 {
				size /= 2
			}
		} else if err != nil {
			t.Fatal(err)
		}
	}
	return func() {
		t.Helper()
		if err := os.Remove(ballast); err != nil {
			t.Fatal(err)
		}
	}
}

// TestDiskFullForUsers: a disk without room is an outage and no more. What
// needs it is refused with a time, what is there is answered, nothing that was
// acknowledged is lost, and with room again all goes on by itself.
func TestDiskFullForUsers(t *testing.T) {
	t.Parallel()
	dir := mount(t, "size=24m")
	h := newHost(t, dir)
	free := fillDisk(t, dir)
	h.unavailable(h.abort(), `{"reason":"x"}`, "storage")
	h.unavailable("/v1/matches/"+benchID(t), faultTerms, "storage")
	h.unavailable("/v1/modes/random/sequences/70", "", "storage")
	h.must(h.opening(), "") // drawn before
	if s := h.send(http.MethodGet, "/v1/matches/"+h.match, ""); s.status != http.StatusOK {
		t.Errorf("a read: %s", s)
	}
	h.ready(http.StatusServiceUnavailable)

	// Copies need room where they go; what was begun there is not taken for one.
	small := mount(t, "size=256k")
	for _, args := range [][]string{
		{"backup", "--data", dir, filepath.Join(small, "copy.db")},
		{"archive", "export", "--data", dir, filepath.Join(small, "archive.tar.zst")},
		{"archive", "export", "--data", dir, filepath.Join(small, "archive")},
	} {
		freeSmall := fillDisk(t, small)
		out, err := command(args...).CombinedOutput()
		if text := string(out); err == nil || !strings.Contains(text, "no space left") && !strings.Contains(text, "disk is full") {
			t.Errorf("%s to a full disk: %v\n%s", args[:2], err, out)
		}
		freeSmall()
		if _, err := os.Stat(args[len(args)-1]); err == nil && args[0] == "backup" {
			t.Error("there is a backup on a full disk")
		}
	}
	big := t.TempDir() // the source may be full
	for _, args := range [][]string{
		{"backup", "--data", dir, filepath.Join(big, "copy.db")},
		{"archive", "export", "--data", dir, filepath.Join(big, "archive.tar.zst")},
	} {
		if out, err := command(args...).CombinedOutput(); err != nil {
			t.Errorf("%s of a full disk: %v\n%s", args[:2], err, out)
		}
	}

	free()
	h.recovers(h.abort(), `{"reason":"x"}`)
	h.healthy()

	// The start on a full disk says what is wrong, and harms nothing.
	if err := h.end(syscall.SIGKILL); err == nil {
		t.Error("the service survived a SIGKILL")
	}
	free = fillDisk(t, dir)
	out, err := command("serve", "--data", dir, "--listen", "127.0.0.1:0").CombinedOutput()
	if text := string(out); err == nil || !strings.Contains(text, "full") && !strings.Contains(text, "no space left") {
		t.Errorf("a start on a full disk: %v\n%s", err, out)
	}
	free()
	h.process = startProcess(t, dir, freeAddress(t))
	h.healthy()
	h.stop()
}

// stop ends the service well and answers what it has logged.
func (h *host) stop() (log string) {
	h.t.Helper()
	if err := h.end(syscall.SIGTERM); err != nil {
		h.t.Errorf("after SIGTERM: %v\n%s", err, h.errors)
	}
	return h.errors.String()
}

// TestNoRoomForHead: with a file of the head that cannot be written nothing is
// published, and what needs no signature goes on.
func TestNoRoomForHead(t *testing.T) {
	t.Parallel()
	dir := mount(t, "size=64m,nr_inodes=64")
	h := newHost(t, dir)
	var files []string
	for i := range 100 { // no file can be made, what is open can grow
		name := filepath.Join(dir, fmt.Sprint("file", i))
		if err := os.WriteFile(name, nil, 0o600); err != nil {
			break
		}
		files = append(files, name)
	}
	id := benchID(t)
	h.unavailable("/v1/matches/"+id, faultTerms, "the request was carried out, repeat it for its answer")
	h.must(h.opening(), "")
	h.ready(http.StatusServiceUnavailable)
	for _, name := range files {
		if err := os.Remove(name); err != nil {
			t.Error(err)
		}
	}
	h.recovers("/v1/matches/"+id, faultTerms)
	h.healthy()
	h.killed()
	h.healthy()
}
