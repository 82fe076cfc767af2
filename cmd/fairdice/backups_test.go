package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"fairdice/audit"
	"fairdice/store/postgres/pgtest"
)

// archived is a place where backups of a service go, and how they come back.
type archived struct {
	database string                     // address; "" for the file in the data directory
	copy     func(t *testing.T) (n int) // makes backup n
	restore  func(t *testing.T, n int, data string) (database string)
}

// A backup is made while platforms play. Restored in another directory, for
// another address, it has every answer that was given before it was begun; one
// made after the stop has every answer there was. The older one is noticed
// before anything is signed, by whoever kept the head.
func TestRestoredElsewhere(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		data, dir := t.TempDir(), t.TempDir()
		var files []string
		testRestored(t, data, archived{
			copy: func(t *testing.T) int {
				files = append(files, filepath.Join(dir, "copy-"+string(rune('a'+len(files)))))
				succeed(t, "backup", "--data", data, files[len(files)-1])
				return len(files) - 1
			},
			restore: func(t *testing.T, n int, data string) string {
				succeed(t, "restore", "--data", data, files[n])
				return ""
			},
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		server := pgtest.Start(t)
		address := server.Database(t)
		var dumps [][]byte
		testRestored(t, t.TempDir(), archived{
			database: address,
			copy: func(t *testing.T) int {
				dumps = append(dumps, server.Dump(t, address))
				return len(dumps) - 1
			},
			restore: func(t *testing.T, n int, _ string) string {
				other := server.Database(t)
				server.Load(t, other, dumps[n])
				return other
			},
		})
	})
	t.Run("PostgreSQL base backup", func(t *testing.T) {
		t.Parallel()
		server := pgtest.Start(t)
		address := server.Database(t)
		_, name, _ := strings.Cut(strings.TrimPrefix(address, "postgres://"), "/")
		name, _, _ = strings.Cut(name, "?")
		var copies []*pgtest.Server
		testRestored(t, t.TempDir(), archived{
			database: address,
			copy: func(t *testing.T) int {
				copies = append(copies, server.BaseBackup(t))
				return len(copies) - 1
			},
			restore: func(t *testing.T, n int, _ string) string { return copies[n].Restored(t).Address(name) },
		})
	})
}

// succeed runs the program in a process of its own.
func succeed(t *testing.T, args ...string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), runAs+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("fairdice %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

func testRestored(t *testing.T, data string, a archived) {
	var more []string
	if a.database != "" {
		more = []string{"--database", a.database}
	}
	p := startProcess(t, data, freeAddress(t), more...)
	key, logKey := p.apiKey, p.logKey
	l := startPlatforms(t, p, key)
	l.gate.open()
	waitRolls(t, l, 100)
	covered := l.ledger.everything()
	early := a.copy(t)
	waitRolls(t, l, l.rolls.Load()+100)
	l.end()
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Fatalf("%v\n%s", err, p.errors)
	}
	all := l.ledger.everything()
	last := a.copy(t)

	// elsewhere is a directory with the keys, and the head if it was kept.
	elsewhere := func(t *testing.T, n int, head bool) (dir string, more []string) {
		dir = t.TempDir()
		for _, name := range []string{"log.key", "receipts.key", "master.key", "head"} {
			if name == "head" && !head {
				continue
			}
			b, err := os.ReadFile(filepath.Join(data, name))
			if err == nil {
				err = os.WriteFile(filepath.Join(dir, name), b, 0o600)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if database := a.restore(t, n, dir); database != "" {
			more = []string{"--database", database}
		}
		return dir, more
	}
	answers := func(t *testing.T, n int, head bool, rows []row, seen []string) {
		dir, more := elsewhere(t, n, head)
		listen := strings.Replace(freeAddress(t), "127.0.0.1", "localhost", 1)
		p := startProcess(t, dir, listen, more...)
		spread(t, len(rows), func(i int) error { return l.ledger.again(t.Context(), p.url, key, rows[i]) })
		var database string
		if len(more) > 0 {
			database = more[1]
		}
		after := newAftermath(t, dir, database, logKey)
		if err := after.inspect(t.Context()); err != nil {
			t.Error(err)
		}
		if r := after.audit(t, seen); r.Verdict != audit.Verified {
			t.Error(r.Text())
		}
		if err := p.end(syscall.SIGTERM); err != nil {
			t.Errorf("%v\n%s", err, p.errors)
		}
	}
	t.Run("the one of the stop", func(t *testing.T) { answers(t, last, true, all, l.checkpoints()) })
	t.Run("an older one is noticed", func(t *testing.T) {
		dir, more := elsewhere(t, early, true)
		out, err := serveCommand(dir, freeAddress(t), more...).CombinedOutput()
		if err == nil || !strings.Contains(string(out), "refuse to sign: ") || !strings.Contains(string(out), "new origin") {
			t.Errorf("the service started: %v\n%s", err, out)
		}
		head, err := os.ReadFile(filepath.Join(dir, "head"))
		if kept, err2 := os.ReadFile(filepath.Join(data, "head")); err != nil || err2 != nil || string(head) != string(kept) {
			t.Errorf("the head was changed: %v, %v", err, err2)
		}
	})
	t.Run("an older one without the head", func(t *testing.T) { answers(t, early, false, covered, nil) })
}

// waitRolls waits until platforms have drawn so many rolls.
func waitRolls(t *testing.T, l *platforms, n int64) {
	t.Helper()
	for l.rolls.Load() < n {
		if t.Context().Err() != nil || t.Failed() {
			t.Fatalf("%d rolls, %d are waited for", l.rolls.Load(), n)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// The backups of a running service are counted, as many as are wanted stay,
// and no file of another name is touched.
func TestBackups(t *testing.T) {
	dir := t.TempDir()
	foreign := []string{"fairdice-old.db", "notes.txt", "fairdice-20200101T000000Z.db.txt"}
	for _, name := range append(foreign, "fairdice-20200102T000000Z.db.partial") {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s, _ := startService(t, func(c *config) { c.backupDir, c.backupEvery, c.backupKeep = dir, time.Hour, 3 })
	for deadline := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
		if there, err := backupsIn(dir); err != nil || len(there) == 1 {
			break
		} else if time.Now().After(deadline) {
			t.Fatal("the first backup is not made at once")
		}
	}
	begun := time.Now().Add(time.Hour)
	for i := range 5 {
		if err := s.backups.once(t.Context(), begun.Add(time.Duration(i)*time.Minute)); err != nil {
			t.Fatal(err)
		}
	}
	there, err := backupsIn(dir)
	if err != nil || len(there) != 3 || !there[2].begun.Equal(begun.Add(4*time.Minute).Truncate(time.Second)) {
		t.Errorf("%v, %v", there, err)
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	var others []string
	for _, e := range entries {
		if !slices.ContainsFunc(there, func(b backup) bool { return filepath.Base(b.file) == e.Name() }) {
			others = append(others, e.Name())
		}
	}
	slices.Sort(foreign)
	if !slices.Equal(others, foreign) {
		t.Errorf("beside the backups are %q, there were %q", others, foreign)
	}
	// A head that the database does not reach is somebody else's.
	other, _ := startService(t)
	head, err := os.ReadFile(other.config.headFile())
	if err == nil {
		err = os.WriteFile(s.config.headFile(), head, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
	to := filepath.Join(dir, "wrong.db")
	if err := s.config.backUp(t.Context(), to); err == nil || !strings.Contains(err.Error(), "head") {
		t.Errorf("with the head of another log: %v", err)
	}
	if _, err := os.Stat(to); !os.IsNotExist(err) {
		t.Errorf("the refused backup is there: %v", err)
	}
}

// A backup of the first program that had a database can be restored.
func TestRestoreFirst(t *testing.T) {
	k := openKept(t, "first")
	file := filepath.Join(t.TempDir(), "backup.db")
	if err := os.WriteFile(file, unzip(t, "testdata/first/fairdice.db.gz"), 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := run(t, "restore", "--data", k.dir, file); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if left, err := filepath.Glob(filepath.Join(k.dir, "fairdice.db*")); err != nil || len(left) != 1 {
		t.Errorf("%v, %v", left, err)
	}
	k.goesOn(t, "")
}
