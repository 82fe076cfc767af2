package main

import (
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairdice/client"
	"fairdice/commitment"
	"fairdice/translog"
)

// A service and its witness as two processes. Both are killed; the checkpoint
// that is served meets the policy all the time and never falls back; and a
// database that was rolled back is refused although the head file is lost too.
func TestServeWitnessed(t *testing.T) {
	dir, listen := t.TempDir(), freeAddress(t)
	p := startProcess(t, dir, listen)
	logKey, apiKey := p.logKey, p.apiKey
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	watch := t.TempDir()
	w, url, witnessKey := startWitness(t, watch, logKey)
	policyText := "log " + logKey + "\nwitness w1 " + witnessKey + " " + url + "\nquorum w1\n"
	policyFile := filepath.Join(t.TempDir(), "policy")
	if err := os.WriteFile(policyFile, []byte(policyText), 0o600); err != nil {
		t.Fatal(err)
	}
	policy, err := translog.ParsePolicy(policyText)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := commitment.ParseVerifier(logKey)
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("FAIRDICE_POLICY", policyFile)
	var seen translog.Checkpoint
	cosigned := func(size int64) {
		t.Helper()
		for range 500 {
			resp, err := http.Get(p.url + "/checkpoint")
			if err != nil {
				t.Fatal(err)
			}
			text, err := io.ReadAll(resp.Body)
			resp.Body.Close()
			if err != nil {
				t.Fatal(err)
			}
			cp, err := translog.OpenCheckpoint(string(text), verifier)
			if err != nil {
				t.Fatal(err)
			}
			if policy.Check(string(text), -1) == nil {
				if cp.Size < seen.Size || cp.Size == seen.Size && cp.Root != seen.Root {
					t.Fatalf("the cosigned checkpoint went from size %d to %d", seen.Size, cp.Size)
				}
				if seen = cp; cp.Size >= size {
					return
				}
			}
			time.Sleep(10 * time.Millisecond)
		}
		t.Fatalf("no cosigned checkpoint of size %d", size)
	}
	open := func() {
		t.Helper()
		c, err := client.New(p.url, client.WithKey(apiKey))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.OpenMatch(t.Context(), benchID(t), benchTerms, 0); err != nil {
			t.Fatal(err)
		}
	}
	p = startProcess(t, dir, listen)
	open()
	cosigned(1)
	size := seen.Size
	if err := p.end(syscall.SIGKILL); err == nil {
		t.Fatal("the service survived a SIGKILL")
	}
	backup := filepath.Join(t.TempDir(), "backup.db")
	if out, err := command("backup", "--data", dir, backup).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	older, err := os.ReadFile(filepath.Join(dir, "head"))
	if err != nil {
		t.Fatal(err)
	}
	p = startProcess(t, dir, listen)
	open()
	cosigned(size + 1)

	// The witness comes back from the dead on the same address.
	w.Process.Kill()
	w.Wait()
	open()
	w2, _, _ := startWitnessAt(t, watch, logKey, strings.TrimPrefix(url, "http://"))
	cosigned(seen.Size + 1)

	if err := p.end(syscall.SIGTERM); err != nil {
		t.Error(err)
	}
	for _, f := range []string{"fairdice.db", "fairdice.db-wal", "fairdice.db-shm", "head"} {
		os.Remove(filepath.Join(dir, f))
	}
	if out, err := command("restore", "--data", dir, backup).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for _, head := range []string{"", string(older)} { // lost, or restored together with the database
		if head != "" {
			if err := os.WriteFile(filepath.Join(dir, "head"), []byte(head), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		out, err := command("serve", "--data", dir, "--listen", "127.0.0.1:0").CombinedOutput()
		if err == nil || !strings.Contains(string(out), "refuse to sign: witness") || !strings.Contains(string(out), "new origin") {
			t.Errorf("a database that was rolled back: %v\n%s", err, out)
		}
	}
	w2.Process.Signal(syscall.SIGTERM)
	if err := w2.Wait(); err != nil {
		t.Error(err)
	}
}
