package main

import (
	"bytes"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// injected has every such system call of a process fail until the end.
func injected(t *testing.T, p *process, inject string, paths ...string) (end func()) {
	t.Helper()
	calls, _, _ := strings.Cut(inject, ":")
	args := []string{"-f", "-p", pid(p), "-o", "/dev/null", "-e", "trace=" + calls, "-e", "inject=" + inject}
	for _, path := range paths {
		args = append(args, "-P", path)
	}
	cmd := exec.Command("strace", args...)
	var said lockedBuffer
	cmd.Stderr = &said
	if err := cmd.Start(); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("strace is needed under CI: %v", err)
		}
		t.Skipf("strace is not installed: %v", err)
	}
	gone := make(chan error, 1)
	go func() { gone <- cmd.Wait() }()
	for range 500 {
		if strings.Contains(said.String(), "attached") {
			end := sync.OnceFunc(func() {
				cmd.Process.Signal(syscall.SIGINT)
				<-gone
			})
			t.Cleanup(end)
			return end
		}
		select {
		case err := <-gone:
			if strings.Contains(said.String(), "not permitted") {
				t.Skipf("processes may not be traced here: %s", &said)
			}
			t.Fatalf("strace: %v\n%s", err, &said)
		case <-time.After(10 * time.Millisecond):
		}
	}
	t.Fatalf("strace did not attach:\n%s", &said)
	return nil
}

type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

// TestStorageErrors: whatever the disk says to the database, nothing is
// acknowledged that is not on it, and when the disk is well again the service
// goes on; a service that is killed then has everything it acknowledged.
func TestStorageErrors(t *testing.T) {
	for name, inject := range map[string]string{
		"full":            "pwrite64:error=ENOSPC",
		"read-only":       "pwrite64:error=EROFS",
		"write error":     "pwrite64:error=EIO",
		"fsync error":     "fdatasync:error=EIO",
		"fsync, no space": "fdatasync:error=ENOSPC",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			h := newHost(t, dir)
			db := filepath.Join(dir, "fairdice.db")
			end := injected(t, h.process, inject, db, db+"-wal")
			for range 2 {
				h.unavailable(h.abort(), `{"reason":"x"}`, "stor")
			}
			h.unavailable("/v1/matches/"+benchID(t), faultTerms, "stor")
			h.must(h.opening(), "")
			h.ready(http.StatusServiceUnavailable)
			end()
			h.recovers(h.abort(), `{"reason":"x"}`)
			h.killed()
			h.healthy()
			h.stop()
		})
	}
}

// TestHeadSyncFails: a head that may not be on the disk is not published. Draws
// need none and go on.
func TestHeadSyncFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := newHost(t, dir)
	end := injected(t, h.process, "fsync:error=EIO")
	before := h.send(http.MethodGet, "/checkpoint", "").body
	id := benchID(t)
	h.unavailable("/v1/matches/"+id, faultTerms, "the request was carried out, repeat it for its answer")
	if after := h.send(http.MethodGet, "/checkpoint", "").body; after != before {
		t.Errorf("published is\n%s, was\n%s", after, before)
	}
	end()
	h.recovers("/v1/matches/"+id, faultTerms)
	h.killed()
	h.healthy()
	h.stop()
}

func pid(p *process) string { return fmt.Sprint(p.cmd.Process.Pid) }
