package main

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// refusedStart demands that a start fails with these words.
func refusedStart(t *testing.T, dir string, want []string, more ...string) {
	t.Helper()
	start := command(append([]string{"serve", "--data", dir, "--listen", "127.0.0.1:0"}, more...)...)
	started := time.AfterFunc(time.Minute, func() { start.Process.Kill() })
	defer started.Stop()
	out, err := start.CombinedOutput()
	text := string(out)
	if err == nil || strings.Count(strings.TrimSpace(text), "\n") > 1 {
		t.Errorf("a start that cannot be: %v\n%s", err, text)
	}
	for _, w := range want {
		if !strings.Contains(text, w) {
			t.Errorf("a start that cannot be says\n%s\nand not %q", text, w)
		}
	}
}

// TestReadOnlyStart: a data directory that cannot be written is named, and is as
// it was when it can be written again.
func TestReadOnlyStart(t *testing.T) {
	t.Parallel()
	dir := mount(t, "size=24m")
	h := newHost(t, dir)
	h.stop()
	remount := func(flags uintptr) {
		t.Helper()
		if err := syscall.Mount("", dir, "", syscall.MS_REMOUNT|syscall.MS_NOSUID|flags, ""); err != nil {
			t.Fatal(err)
		}
	}
	remount(syscall.MS_RDONLY)
	refusedStart(t, dir, []string{"open database", "read-only file system", dir})
	remount(0)
	h.process = startProcess(t, dir, freeAddress(t))
	h.healthy()
	h.stop()
}

// TestOneServiceForOneFile: whatever path a second service is given to the
// database of a first one, it says who has it and leaves.
func TestOneServiceForOneFile(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	h := newHost(t, dir)
	aside := t.TempDir()
	link := func(old, name string, with func(old, new string) error) string {
		t.Helper()
		to := filepath.Join(aside, name)
		if err := with(old, to); err != nil {
			t.Fatal(err)
		}
		return to
	}
	used := []string{"database in use", "process " + pid(h.process)}
	refusedStart(t, dir, used)
	refusedStart(t, link(dir, "data", os.Symlink), used)
	// Another directory with the keys, and the head, but the same file.
	other := filepath.Join(aside, "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"log.key", "receipts.key", "master.key", "head"} {
		copyFile(t, filepath.Join(dir, name), filepath.Join(other, name))
	}
	refusedStart(t, other, used, "--database", filepath.Join(dir, "fairdice.db"))
	refusedStart(t, other, used, "--database", link(filepath.Join(dir, "fairdice.db"), "linked.db", os.Symlink))
	refusedStart(t, other, []string{"has 2 names (hard links)"}, "--database", link(filepath.Join(dir, "fairdice.db"), "hard.db", os.Link))
	if err := os.Remove(filepath.Join(aside, "hard.db")); err != nil {
		t.Fatal(err)
	}
	h.must(h.abort(), `{"reason":"x"}`)
	h.stop()

	// The head file of another log, and then an older one of this log.
	stranger := newHost(t, t.TempDir())
	stranger.stop()
	older := filepath.Join(aside, "older")
	copyFile(t, filepath.Join(other, "head"), older)
	copyFile(t, filepath.Join(stranger.dir, "head"), filepath.Join(dir, "head"))
	refusedStart(t, dir, []string{"read last signed checkpoint in", "a log keeps its key for ever"})
	copyFile(t, older, filepath.Join(dir, "head"))
	h.process = startProcess(t, dir, freeAddress(t))
	h.healthy()
	h.stop()
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	b, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}
