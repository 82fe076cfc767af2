package main

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"fairdice/house"
)

// examined is what the doctor says of a service, by check; of several the worst.
func examined(t *testing.T, c config, change func(*doctor)) map[string]finding {
	t.Helper()
	d := &doctor{config: c, clock: time.Now, http: http.DefaultClient, deep: true}
	change(d)
	s := newSettings()
	var found problems
	s.inspect(c, &found)
	d.examine(t.Context(), found)
	worst := map[string]finding{}
	rank := map[string]int{skipped: 0, fine: 1, unwise: 2, failure: 3}
	for _, f := range d.found {
		if (f.Status == unwise || f.Status == failure) != (f.Do != "") {
			t.Errorf("%+v: what to do is said of what is wrong, and of that alone", f)
		}
		if old, ok := worst[f.Check]; !ok || rank[f.Status] > rank[old.Status] {
			worst[f.Check] = f
		}
	}
	return worst
}

// The doctor finds a service well while it runs and while it does not, changes
// nothing, and finds each thing that is wrong.
func TestDoctor(t *testing.T) {
	s, _ := startService(t, func(c *config) { c.relays = noBeacon })
	c := s.config
	none := func(*doctor) {}
	well := func(f map[string]finding, but ...string) {
		t.Helper()
		for check, f := range f {
			if f.Status == failure && !strings.Contains(strings.Join(but, " "), check) {
				t.Errorf("%+v", f)
			}
		}
	}
	f := examined(t, c, none)
	well(f)
	for _, check := range []string{"keys", "head", "database", "integrity", "overdue", "clock", "pool"} {
		if f[check].Status != fine {
			t.Errorf("%s: %+v", check, f[check])
		}
	}
	wrong := func(name, check, want, message string, c config, change func(*doctor)) {
		t.Helper()
		if got := examined(t, c, change)[check]; got.Status != want || !strings.Contains(got.Message, message) {
			t.Errorf("%s: %+v, want %s with %q", name, got, want, message)
		}
	}
	wrong("a clock behind", "clock", failure, "the last statement is of", c, func(d *doctor) { d.clock = func() time.Time { return time.Now().Add(-time.Hour) } })
	wrong("years later", "overdue", failure, "past their deadline", c, func(d *doctor) { d.clock = func() time.Time { return time.Now().Add(91 * 24 * time.Hour) } })
	wrong("no backup", "backups", failure, "has none", c, func(d *doctor) { d.backups = t.TempDir() })
	wrong("no directory of backups", "backups", failure, "no such file", c, func(d *doctor) { d.backups = filepath.Join(c.data, "backups") })
	nights := t.TempDir()
	if err := os.WriteFile(filepath.Join(nights, "monday.db"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	wrong("a backup", "backups", fine, "old", c, func(d *doctor) { d.backups = nights })
	wrong("an old backup", "backups", failure, "the newest is of", c, func(d *doctor) {
		d.backups, d.clock = nights, func() time.Time { return time.Now().Add(backupAge + time.Hour) }
	})
	empty := c
	empty.sealed = 100_000
	wrong("low pools", "pool", unwise, "free sequences of mode", empty, none)
	nowhere := c
	nowhere.data = filepath.Join(c.data, "nowhere")
	wrong("no directory", "data", failure, "does not exist", nowhere, none)
	lost := c
	lost.relays = "http://127.0.0.1:1"
	wrong("no relay", "beacon", failure, "gives no round", lost, none)

	headFile, err := os.ReadFile(c.headFile())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.house.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	names := func() (list map[string]string) {
		list = map[string]string{}
		files, err := os.ReadDir(c.data)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if text, err := os.ReadFile(filepath.Join(c.data, f.Name())); err == nil && !strings.HasSuffix(f.Name(), "-shm") && !strings.HasSuffix(f.Name(), "-wal") {
				list[f.Name()] = string(text)
			}
		}
		return list
	}
	before := names()
	well(examined(t, c, none))
	if after := names(); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Error("the doctor has changed something")
	}

	with := func(path, text string, look func()) {
		t.Helper()
		old, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		look()
		if err := os.WriteFile(path, old, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	other, err := house.NewMasterKey(strings.NewReader(strings.Repeat("x", 32)))
	if err != nil {
		t.Fatal(err)
	}
	with(c.master, other.Text(), func() {
		wrong("another master key", "keys", failure, "not the key the database was sealed under", c, none)
	})
	with(c.headFile(), strings.Replace(string(headFile), "\n", "x\n", 1), func() { wrong("a head that is not signed", "head", failure, c.headFile(), c, none) })
	foreign := t.TempDir()
	elsewhere := c
	elsewhere.data, elsewhere.master = foreign, filepath.Join(foreign, "master.key")
	if err := makeKeys(elsewhere); err != nil {
		t.Fatal(err)
	}
	elsewhere.db = c.database()
	wrong("keys of another service", "keys", failure, "the database has the log", elsewhere, none)
	if err := os.Chmod(c.master, 0o644); err != nil {
		t.Fatal(err)
	}
	wrong("an open key", "keys", failure, "can be read by others", c, none)
	db, err := os.ReadFile(c.database())
	if err != nil {
		t.Fatal(err)
	}
	for i := 8192; i < len(db); i += 4096 {
		copy(db[i:], make([]byte, 64))
	}
	with(c.database(), string(db), func() { wrong("a damaged file", "integrity", failure, "", c, none) })
}

func TestHealthcheck(t *testing.T) {
	cert, key := certificate(t, t.TempDir(), 1, time.Hour)
	s, _ := startService(t, func(c *config) { c.tlsCert, c.tlsKey = cert, key })
	at := s.listen.Addr().String()
	if out, err := run(t, "healthcheck", "--listen", at, "--tls-cert", cert, "--tls-key", key); err != nil {
		t.Errorf("of a service that is well: %v\n%s", err, out)
	}
	if err := s.house.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.store.Close(); err != nil {
		t.Fatal(err)
	}
	s.room.tried = time.Time{}
	if out, err := run(t, "healthcheck", "--listen", at, "--tls-cert", cert, "--tls-key", key); err == nil {
		t.Errorf("of a service without its database: %s", out)
	}
	for listen, want := range map[string]string{"0.0.0.0:1": "127.0.0.1:1", ":1": "127.0.0.1:1", "[::]:1": "[::1]:1", "192.0.2.1:1": "192.0.2.1:1", "dice.example:1": "dice.example:1"} {
		if got, err := reachable(listen); got != want || err != nil {
			t.Errorf("%s is asked at %s, %v; want %s", listen, got, err, want)
		}
	}
}

// On Windows what cannot keep its promises says so, command by command.
func TestSystems(t *testing.T) {
	if err := errSystem(runtime.GOOS, newRoot()); err != nil && runtime.GOOS != "windows" {
		t.Error(err)
	}
	works := map[string]bool{}
	for _, name := range elsewhere {
		works[name] = true
	}
	var walk func(c *cobra.Command, top string)
	walk = func(c *cobra.Command, top string) {
		if err := errSystem("windows", c); (err == nil) != (top == "" || works[top]) || err != nil && !strings.Contains(err.Error(), "does not work on Windows") {
			t.Errorf("%s on Windows: %v", c.CommandPath(), err)
		}
		if err := errSystem("darwin", c); err != nil {
			t.Error(err)
		}
		if c.PersistentPreRunE != nil && c.HasParent() {
			t.Errorf("%s would pass over the test of the system", c.CommandPath())
		}
		for _, sub := range c.Commands() {
			next := top
			if top == "" {
				next = sub.Name()
			}
			walk(sub, next)
		}
	}
	walk(newRoot(), "")
}
