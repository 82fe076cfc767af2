package fairdice_test

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// The sessions of the README run as they stand, line by line in one shell,
// every line successfully, and once more over what the first time has left. Only `make build` is done beforehand and the port
// is one that is free.
func TestReadme(t *testing.T) {
	text, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "bin")+"/", "./cmd/...")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, out)
	}
	sessions := strings.Split(string(text), "```console\n")[1:]
	if len(sessions) < 2 {
		t.Fatalf("the README has %d sessions", len(sessions))
	}
	for _, s := range append(sessions, sessions...) {
		s, _, _ = strings.Cut(s, "```")
		script := "set -ex\n"
		for line := range strings.Lines(s) {
			if command, ok := strings.CutPrefix(line, "$ "); ok && command != "make build\n" {
				script += command
			}
		}
		// What the session leaves running is asked to stop, and must do so well.
		script += "if [ -n \"$!\" ]; then kill -TERM $!; wait $!; fi\n"
		script = strings.ReplaceAll(script, "127.0.0.1:8080", freeAddress(t))
		cmd := exec.Command("bash", "-c", script)
		cmd.Dir, cmd.WaitDelay = dir, time.Minute
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s\n%s", err, script, out)
		}
	}
}

func freeAddress(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().String()
}
