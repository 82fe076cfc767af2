package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairdice/house"
	"fairdice/store/postgres/pgtest"
)

// Kills in one run on each kind of database; `make crash` asks for more, and
// then has the archive audited after each.
const defaultKills = 10

// defaultThorough is KILLS in the Makefile.
const defaultThorough = 200

func kills() (n int, thorough bool) {
	if n, err := strconv.Atoi(os.Getenv("FAIRDICE_KILLS")); err == nil && n > 0 {
		return n, true
	}
	return defaultKills, false
}

// The service is killed again and again while platforms play, and started
// again; they ask once more for what was under way and go on. After each kill:
//
//   - every request that was acknowledged has the same answer, byte for byte,
//     when it is repeated: no roll, line or statement is lost, none is given
//     twice with other content;
//   - sequences, games, rolls, lines of records and statements are numbered
//     without a gap;
//   - every checkpoint that was served or stored is a state of the log;
//   - the archive, exported beside the service, is verified.
func TestKilled(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		testKilled(t, nil)
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		testKilled(t, pgtest.Start(t))
	})
}

// blow is one way of pulling the plug. It leaves no process.
type blow struct {
	name   string
	strike func(*killing)
}

// killing is a run of TestKilled.
type killing struct {
	*testing.T
	server    *pgtest.Server // nil: SQLite
	data      string
	more      []string // arguments
	listen    string
	process   *process
	platforms *platforms
	said      bytes.Buffer // by those that are gone
}

// Most kills come under load; the others at the moments that have a story of
// their own.
func (k *killing) blows() []blow {
	load := blow{"under load", (*killing).underLoad}
	list := []blow{load, {"at the start", (*killing).atStart}, load, {"while it stops", (*killing).whileStopping}, load}
	if k.server != nil {
		database := blow{"the database alone", (*killing).databaseAlone}
		list = append(list, database, load, blow{"both", (*killing).both}, database)
	}
	return list
}

func testKilled(t *testing.T, server *pgtest.Server) {
	n, thorough := kills()
	k := &killing{T: t, server: server, data: t.TempDir(), listen: freeAddress(t)}
	var database string
	if server != nil {
		database = server.Database(t)
		k.more = []string{"--database", database}
	}
	k.process = startProcess(t, k.data, k.listen, k.more...)
	key := k.process.apiKey
	after := newAftermath(t, k.data, database, k.process.logKey)
	k.platforms = startPlatforms(t, k.process, key)
	struck := map[string]int{}
	var size, games int64
	for i, blows := 0, k.blows(); i < n; i++ {
		b := blows[i%len(blows)]
		struck[b.name]++
		b.strike(k)
		if k.process == nil {
			k.process = startProcess(t, k.data, k.listen, k.more...)
		}
		if k.process.apiKey != "" && i > 0 {
			t.Error("a start after a crash made a new tenant")
		}
		rows, err := k.platforms.ledger.take()
		if err != nil {
			t.Error(err)
		}
		all := k.platforms.ledger.everything() // in no order
		rows = append(rows, all[:min(len(all), 50)]...)
		if i == n-1 {
			rows = all
		}
		spread(t, len(rows), func(i int) error {
			return k.platforms.ledger.again(t.Context(), k.process.url, key, rows[i])
		})
		if err := after.inspect(t.Context()); err != nil {
			t.Error(err)
		}
		if thorough || i%3 == 0 || i == n-1 {
			r := after.audit(t, k.platforms.checkpoints())
			size = r.Size
			closed, aborted, _ := r.Games()
			games = closed + aborted
		}
		if t.Failed() {
			t.Fatalf("after kill %d, %s; the service said:\n%s", i+1, b.name, append(k.said.Bytes(), k.process.errors.Bytes()...))
		}
		k.said.Reset()
	}
	kinds := k.platforms.ledger.kinds()
	for _, kind := range []string{"matches", "games", "rolls", "further rolls", "events", "links", "throws", "close", "abort", "abandon", "modes sequences", "sequences retire"} {
		if kinds[kind] == 0 && n >= defaultThorough/4 {
			t.Errorf("no request of the kind %q was acknowledged: %v", kind, kinds)
		}
	}
	t.Logf("%d kills %v; %d acknowledged requests, all repeated: %v; %d games ended, log of %d statements, %d checkpoints seen; %d archives verified",
		n, struck, len(k.platforms.ledger.everything()), kinds, games, size, len(k.platforms.checkpoints()), after.audited)
	k.platforms.end()
	if err := k.process.end(syscall.SIGTERM); err != nil {
		t.Errorf("after SIGTERM: %v\n%s", err, k.process.errors)
	}
}

// load lets the platforms work for a while. On a database that others may
// share nothing is signed before the lease of the one that was killed has
// ended: half the loads come while the new one waits for that, half after.
func (k *killing) load(then func()) {
	if k.server != nil && rand.IntN(2) == 0 {
		time.Sleep(house.DefaultLease)
	}
	k.platforms.gate.open()
	time.Sleep(time.Duration(20+rand.IntN(480)) * time.Millisecond)
	then()
	k.platforms.gate.shut()
}

func (k *killing) kill() {
	if err := k.process.end(syscall.SIGKILL); err == nil {
		k.Fatal("the service survived a SIGKILL")
	}
	k.gone()
}

func (k *killing) gone() {
	k.said.Write(k.process.errors.Bytes())
	k.process = nil
}

func (k *killing) underLoad() { k.load(k.kill) }

// atStart kills the service under load, and the next one before it serves.
func (k *killing) atStart() {
	k.underLoad()
	killStart(k.T, time.Duration(rand.IntN(150))*time.Millisecond, k.data, k.listen, k.more...)
}

// whileStopping kills it in the middle of an orderly end.
func (k *killing) whileStopping() {
	k.load(func() {
		if err := k.process.cmd.Process.Signal(syscall.SIGTERM); err != nil {
			k.Fatal(err)
		}
		time.Sleep(time.Duration(rand.IntN(40)) * time.Millisecond)
		k.process.end(syscall.SIGKILL) // it may have ended already
		k.gone()
	})
}

// databaseAlone takes the database away from a service that goes on.
func (k *killing) databaseAlone() {
	k.load(func() {
		k.server.Kill(k.T)
		time.Sleep(time.Duration(rand.IntN(300)) * time.Millisecond)
		k.server.Restart(k.T)
		time.Sleep(time.Duration(rand.IntN(500)) * time.Millisecond) // it must find the way back
	})
}

// both is what a power cut is where both run on one machine.
func (k *killing) both() {
	k.load(func() {
		k.server.Kill(k.T)
		k.kill()
	})
	k.server.Restart(k.T)
}

// killStart starts a service and kills it after a while, or when it serves.
func killStart(t *testing.T, after time.Duration, dir, listen string, more ...string) {
	t.Helper()
	cmd := serveCommand(dir, listen, more...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(after, func() { cmd.Process.Kill() })
	defer timer.Stop()
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if strings.HasPrefix(lines.Text(), "serving ") {
			cmd.Process.Kill()
		}
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || exit.ExitCode() != -1 {
		t.Fatalf("a start that was to be killed ended with %v", err)
	}
}

// A service is killed while it begins: while it makes its keys, while the
// database gets its tables, while the first sequences are sealed. However
// often that happens, in the end there is one service, with its keys, whose
// sequences are numbered from the first.
func TestKilledBeginning(t *testing.T) {
	n, _ := kills()
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		for range (n + 4) / 5 {
			testKilledBeginning(t, "")
		}
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		server := pgtest.Start(t)
		for range (n + 4) / 5 {
			testKilledBeginning(t, server.Database(t))
		}
	})
}

func testKilledBeginning(t *testing.T, database string) {
	t.Helper()
	data, listen := t.TempDir(), freeAddress(t)
	var more []string
	if database != "" {
		more = []string{"--database", database}
	}
	for range 5 {
		killStart(t, time.Duration(rand.IntN(250))*time.Millisecond, data, listen, more...)
	}
	p := startProcess(t, data, listen, more...)
	key := p.apiKey
	if key == "" { // made in a start that did not live to show it
		out, err := run(t, "tenants", "add", "default", "--data", data)
		if err != nil {
			t.Fatalf("make another key: %v\n%s", err, out)
		}
		key = strings.TrimSpace(out)
	}
	platforms := startPlatforms(t, p, key)
	for begun := time.Now(); time.Since(begun) < house.SignerPatience; pause(t.Context(), 10*time.Millisecond) {
		if _, err := platforms.outside.Checkpoint(t.Context()); err == nil {
			break // the lease of the last one that was killed is over
		}
	}
	platforms.gate.open()
	for platforms.rolls.Load() < 10 && !t.Failed() {
		pause(t.Context(), 10*time.Millisecond)
	}
	platforms.end()
	after := newAftermath(t, data, database, p.logKey)
	if err := after.inspect(t.Context()); err != nil {
		t.Error(err)
	}
	after.audit(t, platforms.checkpoints())
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Error(fmt.Errorf("after SIGTERM: %w\n%s", err, p.errors))
	}
}
