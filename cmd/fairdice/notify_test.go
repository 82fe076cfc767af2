//go:build unix

package main

import (
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func TestNotify(t *testing.T) {
	if err := notify("READY=1"); err != nil {
		t.Errorf("without a supervisor: %v", err)
	}
	at := filepath.Join(t.TempDir(), "notify")
	l, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: at, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	t.Setenv("NOTIFY_SOCKET", at)
	if err := notify("READY=1"); err != nil {
		t.Fatal(err)
	}
	l.SetReadDeadline(time.Now().Add(5 * time.Second))
	heard := make([]byte, 64)
	if n, err := l.Read(heard); err != nil || string(heard[:n]) != "READY=1" {
		t.Errorf("the supervisor hears %q, %v", heard[:n], err)
	}
	l.Close()
	if err := notify("STOPPING=1"); err == nil {
		t.Error("a supervisor that is gone was told")
	}
}

// A credential of systemd is a secret although its group may read it; nothing
// else in such a mode is.
func TestCredential(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "master.key")
	if err := os.WriteFile(path, []byte("secret\n"), 0o440); err != nil {
		t.Fatal(err)
	}
	read := func(want bool) {
		t.Helper()
		if _, err := readPrivate(path); (err == nil) != want || err != nil && !strings.Contains(err.Error(), "can be read by others") {
			t.Errorf("read: %v, want it read: %v", err, want)
		}
	}
	read(false)
	t.Setenv("CREDENTIALS_DIRECTORY", filepath.Dir(dir))
	read(false)
	t.Setenv("CREDENTIALS_DIRECTORY", dir+"/")
	read(true)
	if err := os.Chmod(path, 0o444); err != nil {
		t.Fatal(err)
	}
	read(false)
}
