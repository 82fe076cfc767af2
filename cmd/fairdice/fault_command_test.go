//go:build linux && amd64

package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// ways are how a call is struck in a command.
var ways = []fault{{errno: syscall.EIO}, {errno: syscall.ENOSPC}, {kill: true}}

// strike runs a command with every call struck in its turn that changes a file
// of a directory, which prepare makes, or some of them in a short test. check
// is told whether the command succeeded.
func strike(t *testing.T, prepare func(t *testing.T) (dir string, args []string), check func(t *testing.T, dir string, done bool)) {
	t.Helper()
	lead := func(t *testing.T, f fault) *tracer {
		dir, args := prepare(t)
		cmd := exec.Command(os.Args[0], args...)
		cmd.Env = append(os.Environ(), runAs+"=1")
		said, err := os.CreateTemp(t.TempDir(), "said")
		if err != nil {
			t.Fatal(err)
		}
		defer said.Close()
		cmd.Stdout, cmd.Stderr = said, said
		tr := &tracer{dir: dir, fault: f}
		tr.trace(t, cmd)
		<-tr.done
		cmd.Process.Release()
		told, err := os.ReadFile(said.Name())
		if err != nil || tr.err != nil {
			t.Fatal(err, tr.err)
		}
		tr.judge(t, told)
		check(t, dir, tr.status.Exited() && tr.status.ExitStatus() == 0)
		if t.Failed() {
			t.Fatalf("%s, %v; it ended with %#x and said:\n%s", f, tr.struck, tr.status, told)
		}
		return tr
	}
	whole := lead(t, fault{})
	step := 1
	if _, thorough := kills(); !thorough {
		step = max(1, len(whole.calls)/3)
	}
	for _, f := range ways {
		t.Run(f.way(), func(t *testing.T) {
			t.Parallel()
			done := 0
			for f.nth = 1; ; f.nth += step {
				if tr := lead(t, f); tr.struck == nil {
					break
				}
				done++
			}
			t.Logf("the command changes files %d times; %d runs, each struck at another", len(whole.calls), done)
		})
	}
}

// stopped is the data of a service that has led a life and stopped; grown is
// called between two of them.
func stopped(t *testing.T, grown func(data string)) (data, logKey string) {
	t.Helper()
	l := life{T: t, dir: t.TempDir(), listen: freeAddress(t), ledger: newLedger()}
	p := startProcess(t, l.dir, l.listen, "--sealed", "4")
	l.key = p.apiKey
	for i := range 2 {
		if l.match = benchID(t); i > 0 {
			grown(l.dir)
		}
		if err := l.lead(t.Context(), persistence); err != nil {
			t.Fatal(err)
		}
	}
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	return l.dir, p.logKey
}

// An export that fails, or is killed, leaves the archive that was there or the
// new one, either of them whole; the next export goes on from it.
func TestExportFaults(t *testing.T) {
	base := filepath.Join(t.TempDir(), "base")
	data, logKey := stopped(t, func(data string) {
		if out, err := run(t, "archive", "export", "--data", data, base); err != nil {
			t.Fatalf("export: %v\n%s", err, out)
		}
	})
	old := verifyArchive(t, base, logKey, nil).Size
	strike(t, func(t *testing.T) (string, []string) {
		out := filepath.Join(t.TempDir(), "archive")
		if err := os.CopyFS(out, os.DirFS(base)); err != nil {
			t.Fatal(err)
		}
		return out, []string{"archive", "export", "--data", data, out}
	}, func(t *testing.T, out string, done bool) {
		size := verifyArchive(t, out, logKey, nil).Size
		if done && size == old {
			t.Errorf("the export succeeded, and the archive ends at %d as before", size)
		}
		if said, err := run(t, "archive", "export", "--data", data, out); err != nil {
			t.Fatalf("export again: %v\n%s", err, said)
		}
		if now := verifyArchive(t, out, logKey, nil).Size; now == old || size != old && now != size {
			t.Errorf("the archive had %d statements at first, %d after the fault, and has %d in the end", old, size, now)
		}
	})
}

// The keys are the old ones, or the old ones and a new one, whatever fails.
func TestRotateFaults(t *testing.T) {
	data, _ := stopped(t, func(string) {})
	keys := func(t *testing.T, dir string) int {
		out, err := run(t, "keys", "show", "--data", dir)
		if err != nil {
			t.Fatalf("show keys: %v\n%s", err, out)
		}
		return strings.Count(out, "\nreceipts") // the log key comes first
	}
	strike(t, func(t *testing.T) (string, []string) {
		dir := copied(t, data)
		return dir, []string{"keys", "rotate", "--data", dir}
	}, func(t *testing.T, dir string, done bool) {
		before := keys(t, dir)
		if before < 1 || before > 2 || done && before != 2 {
			t.Errorf("%d receipt keys, the command succeeded: %v", before, done)
		}
		if out, err := run(t, "keys", "rotate", "--data", dir); err != nil {
			t.Errorf("rotate again: %v\n%s", err, out)
		}
		if after := keys(t, dir); after != before+1 {
			t.Errorf("%d receipt keys after another rotation of %d", after, before)
		}
	})
}
