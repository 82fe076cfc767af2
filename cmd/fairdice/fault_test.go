//go:build linux && amd64

package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"fairdice/client"
	"fairdice/commitment"
	"fairdice/internal/selfplay"
	"fairdice/replay"
	"fairdice/rules"
)

// TestFaults has one system call after the other fail, that the service makes
// on files of its data directory, or kills the service in its place, or cuts the
// power so that all is lost that was not synced, in the course of a short life: it starts, seals, opens a match, plays a game, closes
// it and stops. Whoever works with it must be told clearly (503, or the end of
// the process with a message), and never hear of success that was none: a start
// without a fault then finds everything that was acknowledged, and the archive
// is verified.
//
// These are chosen ones; `make crash` goes through all.
func TestFaults(t *testing.T) {
	chosen := []fault{
		{call: "write", file: ".log.key*", nth: 1, errno: syscall.ENOSPC},
		{call: "rename", file: "log.key", nth: 1, kill: true},
		{call: "create", file: "fairdice.db", nth: 1, kill: true},
		{call: "pwrite", file: "fairdice.db-wal", nth: 3, kill: true}, // while the tables are made
		{call: "pwrite", file: "fairdice.db-wal", nth: 60, errno: syscall.ENOSPC},
		{call: "fdatasync", file: "fairdice.db-wal", nth: 12, errno: syscall.EIO},
		{call: "fdatasync", file: "fairdice.db-wal", nth: 14, kill: true},
		{call: "fsync", file: ".head*", nth: 2, errno: syscall.EIO},
		{call: "rename", file: "head", nth: 3, kill: true},
		{call: "unlink", file: "first-start", nth: 1, errno: syscall.EIO},
		{call: "rename", file: "head", nth: 4, kill: true, power: true},
	}
	again := []fault{ // in the life after a kill
		{call: "fdatasync", file: "fairdice.db-wal", nth: 1, kill: true},
		{call: "pwrite", file: "fairdice.db", nth: 3, errno: syscall.EIO}, // while the log is copied into it
		{call: "unlink", file: "fairdice.db-wal", nth: 1, kill: true, power: true},
	}
	if n, thorough := kills(); thorough {
		testEveryFault(t, n)
		return
	}
	for i, f := range slices.Concat(chosen, again) {
		t.Run(f.String(), func(t *testing.T) {
			t.Parallel()
			if l := lived(t, f, i >= len(chosen)); l.struck == nil {
				t.Errorf("the life was over before: %v", l.calls)
			}
		})
	}
}

// testEveryFault strikes each call of the first life and each of the life after
// a kill in every way, or only every so many of them if few kills are wanted.
func testEveryFault(t *testing.T, kills int) {
	step := max(1, defaultThorough/kills)
	for _, again := range []bool{false, true} {
		whole := lived(t, fault{}, again)
		for _, f := range []fault{{errno: syscall.EIO}, {errno: syscall.ENOSPC}, {kill: true}, {kill: true, power: true}} {
			t.Run(fmt.Sprintf("%s again=%v", f.way(), again), func(t *testing.T) {
				var next, done atomic.Int64
				t.Cleanup(func() {
					t.Logf("the life without a fault changes files %d times; %d lives, each struck at another", len(whole.calls), done.Load())
				})
				for worker := range runtime.NumCPU() {
					t.Run(fmt.Sprint(worker), func(t *testing.T) {
						t.Parallel()
						// No two lives are equally long: past the first one's end, on to the first that is over before.
						for f, l := f, (*tracer)(nil); !t.Failed() && (l == nil || l.struck != nil); {
							f.nth = 1 + step*int(next.Add(1)-1)
							if l = lived(t, f, again); l.struck != nil {
								done.Add(1)
							}
						}
					})
				}
			})
		}
	}
}

// lived runs one life with a fault, and checks what it leaves. Again: it
// is the second one, after a kill.
func lived(t *testing.T, f fault, again bool) *tracer {
	t.Helper()
	l := life{T: t, dir: t.TempDir(), listen: freeAddress(t), match: benchID(t), ledger: newLedger()}
	if again {
		l.before()
	}
	failed := t.Failed()
	tr, told := l.faulty(f)
	l.afterwards()
	if t.Failed() && !failed {
		at := "nothing"
		if tr.struck != nil {
			at = tr.struck.String()
		}
		t.Errorf("%s: %s; the service ended with %#x and said:\n%s", f, at, tr.status, told)
	}
	return tr
}

// life is the same whenever it is led: what it does for the second time must
// be answered as the first time.
type life struct {
	*testing.T
	dir, listen string
	match       string
	key         string
	ledger      *ledger
}

// lifeSealed keeps a life short.
const lifeSealed = 4

// faulty leads a life in which the fault strikes, and answers what the service
// said about it.
func (l *life) faulty(f fault) (*tracer, string) {
	l.Helper()
	cmd := serveCommand(l.dir, l.listen, "--sealed", fmt.Sprint(lifeSealed))
	out, in, err := os.Pipe()
	if err != nil {
		l.Fatal(err)
	}
	defer out.Close()
	said, err := os.CreateTemp(l.TempDir(), "stderr")
	if err != nil {
		l.Fatal(err)
	}
	defer said.Close()
	cmd.Stdout, cmd.Stderr = in, said
	tr := &tracer{dir: l.dir, fault: f}
	tr.trace(l.T, cmd)
	in.Close()
	overdue := time.AfterFunc(3*time.Minute, func() {
		l.Errorf("the service hung")
		syscall.Kill(tr.pid, syscall.SIGKILL)
	})
	defer overdue.Stop()
	serves := false
	lines := bufio.NewScanner(out)
	for !serves && lines.Scan() {
		switch f := strings.Fields(lines.Text()); {
		case len(f) > 2 && f[0] == "api":
			l.key = f[2]
		case len(f) > 0 && f[0] == "next":
			serves = true
		}
	}
	ended := func(within time.Duration) bool {
		select {
		case <-tr.done:
			return true
		case <-time.After(within):
			return false
		}
	}
	if serves {
		for tries := 0; tries < 3; tries++ {
			err := l.lead(l.Context(), 1)
			if err == nil {
				break
			}
			if client.Code(err) == "" { // no answer
				if !ended(10 * time.Second) {
					l.Errorf("a request had no answer of the service's own: %v", err)
				}
				break
			}
			if client.Code(err) != "unavailable" {
				l.Errorf("a request was answered %v", err)
				break
			}
			pause(l.Context(), 50*time.Millisecond)
		}
		syscall.Kill(tr.pid, syscall.SIGTERM) // it may be gone
	}
	<-tr.done
	cmd.Process.Release()
	if tr.err != nil {
		l.Fatal(tr.err)
	}
	if tr.disk != nil && tr.struck != nil {
		if err := tr.disk.cut(); err != nil {
			l.Fatal(err)
		}
	}
	told, err := os.ReadFile(said.Name())
	if err != nil {
		l.Fatal(err)
	}
	tr.judge(l.T, told)
	return tr, string(told)
}

// before leads a life without a fault that ends in a kill. What it was answered
// is asked again in the next.
func (l *life) before() {
	l.Helper()
	p := startProcess(l.T, l.dir, l.listen, "--sealed", fmt.Sprint(lifeSealed))
	l.key = p.apiKey
	if err := l.lead(l.Context(), persistence); err != nil {
		l.Fatal(err)
	}
	if err := p.end(syscall.SIGKILL); err == nil {
		l.Fatal("the service survived a SIGKILL")
	}
	l.match = benchID(l)
}

// trace starts a program, or skips the test where that is not allowed.
func (tr *tracer) trace(t *testing.T, cmd *exec.Cmd) {
	t.Helper()
	err := tr.start(cmd)
	if errors.Is(err, syscall.EPERM) && os.Getenv("CI") != "true" {
		t.Skipf("this system lets nobody trace a process (ptrace: %v), so no system call can be made to fail", err)
	}
	if err != nil {
		t.Fatalf("trace a program: %v", err)
	}
}

// judge demands that a program that failed has said why.
func (tr *tracer) judge(t *testing.T, told []byte) {
	t.Helper()
	switch {
	case tr.struck != nil && tr.fault.kill:
		if tr.status.Signal() != syscall.SIGKILL {
			t.Error("it was to be killed")
		}
	case !tr.status.Exited():
		t.Error("it did not end by itself")
	case tr.status.ExitStatus() != 0 && !bytes.Contains(told, []byte("\nfairdice: ")) && !bytes.HasPrefix(told, []byte("fairdice: ")):
		t.Error("it failed without a word")
	case tr.status.ExitStatus() != 0 && tr.struck == nil:
		t.Error("it failed without a reason")
	}
}

// lead does everything once, or once more.
func (l *life) lead(ctx context.Context, attempts int) error {
	api, err := client.New("http://"+l.listen, client.WithKey(l.key), client.WithAttempts(attempts),
		client.WithHTTP(&http.Client{Transport: l.ledger, Timeout: 15 * time.Second}))
	if err != nil {
		return err
	}
	s, err := api.Seal(ctx, client.ModeEqual, lifeSealed, 0)
	if err != nil {
		return err
	}
	if _, err := api.Retire(ctx, s.Sequence, "spare", 0); err != nil {
		return err
	}
	if _, err := api.OpenMatch(ctx, l.match, benchTerms, 0); err != nil {
		return err
	}
	moves := selfplay.New(selfplay.Random, 1)
	moves.GiveUp = 0.2
	return l.game(ctx, api, moves)
}

// game plays a game that somebody gives up soon. It goes by its own record, as
// a platform does that does not know how much of it has reached the service.
func (l *life) game(ctx context.Context, api *client.Client, moves *selfplay.Player) error {
	if _, err := api.NextGame(ctx, l.match, 1, 0); err != nil {
		return err
	}
	st, err := replay.Start(shortSetting(l))
	if err != nil {
		return err
	}
	var gen rules.Generator
	for line := 1; !st.Over(); line++ {
		e, ok := moves.Next(st)
		if ok {
			_, err = api.Append(ctx, l.match, 1, line, e.String())
		} else {
			e, err = l.roll(ctx, api, st)
		}
		if err != nil {
			return err
		}
		if st, err = st.Apply(&gen, e); err != nil {
			return err
		}
	}
	_, err = api.CloseGame(ctx, l.match, 1, 0)
	return err
}

func (l *life) roll(ctx context.Context, api *client.Client, st replay.State) (replay.Event, error) {
	name, _ := st.NextDraw()
	stream, err := commitment.ParseStream(name)
	if err != nil {
		return replay.Event{}, err
	}
	r, err := api.Draw(ctx, l.match, 1, 1, client.Stream(name), int(st.Throws()[stream]))
	if err != nil {
		return replay.Event{}, err
	}
	e, ok := selfplay.Throw(st, rules.Dice{A: uint8(r.Dice[0]), B: uint8(r.Dice[1])})
	if !ok {
		err = fmt.Errorf("no throw is due but %q", st.Due())
	}
	return e, err
}

// afterwards starts the service without a fault, leads the life to its end, and
// looks at everything.
func (l *life) afterwards() {
	l.Helper()
	p := startProcess(l.T, l.dir, l.listen, "--sealed", fmt.Sprint(lifeSealed))
	switch {
	case p.apiKey != "":
		l.key = p.apiKey
	case l.key == "": // made in a start that did not live to show it
		out, err := run(l.T, "tenants", "add", "default", "--data", l.dir)
		if err != nil {
			l.Fatalf("make another key: %v\n%s", err, out)
		}
		l.key = strings.TrimSpace(out)
	}
	rows, _ := l.ledger.take()
	for _, r := range rows {
		if err := l.ledger.again(l.Context(), p.url, l.key, r); err != nil {
			l.Error(err)
		}
	}
	if err := l.lead(l.Context(), persistence); err != nil {
		l.Errorf("the life could not be taken up again: %v\n%s", err, p.errors)
	}
	if _, err := l.ledger.take(); err != nil {
		l.Error(err)
	}
	after := newAftermath(l.T, l.dir, "", p.logKey)
	if err := after.inspect(l.Context()); err != nil {
		l.Error(err)
	}
	after.audit(l.T, nil)
	if err := p.end(syscall.SIGTERM); err != nil {
		l.Errorf("after SIGTERM: %v\n%s", err, p.errors)
	}
	l.tidy()
}

// tidy demands that the next start finds a database that is one file.
func (l *life) tidy() {
	list, err := os.ReadDir(l.dir)
	if err != nil {
		l.Fatal(err)
	}
	for _, e := range list {
		if strings.HasSuffix(e.Name(), "-wal") {
			l.Errorf("after an orderly end %s is there", e.Name())
		}
	}
}
