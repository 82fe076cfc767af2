//go:build !js

package main

import (
	"archive/tar"
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"fairdice/audit"
	"fairdice/audit/archive"
	"fairdice/commitment"
	"fairdice/internal/dealer"
)

// smallArchive writes an archive of a few games to a directory.
func smallArchive(t *testing.T) (dir string, h *dealer.House) {
	t.Helper()
	h = dealer.New(t, 9)
	for i := range 4 {
		m := h.Open(dealer.Terms{
			Variant: []string{"short", "hyper"}[i%2], Mode: commitment.Random, Options: dealer.SingleGame,
			Rolls: commitment.Lengths{4, 24, 24}, Anchored: true, StopAt: 9,
		})
		m.Play()
		m.Finish()
	}
	dir = t.TempDir()
	for name, data := range h.Archive() {
		put(t, filepath.Join(dir, name), data)
	}
	return dir, h
}

func put(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

// pack writes the directory as one .tar.zst.
func pack(t *testing.T, dir string) string {
	t.Helper()
	var buf bytes.Buffer
	z, err := zstd.NewWriter(&buf)
	if err != nil {
		t.Fatal(err)
	}
	w := tar.NewWriter(z)
	if err := w.AddFS(os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []interface{ Close() error }{w, z} {
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
	}
	name := filepath.Join(t.TempDir(), "archive.tar.zst")
	put(t, name, buf.Bytes())
	return name
}

// command runs a command line.
func command(t *testing.T, args ...string) (exit int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	exit = run(args, strings.NewReader(""), &out, &errs)
	return exit, out.String(), errs.String()
}

// TestArchivePlaces audits the same archive in a directory, behind an address
// and in one file: three times the same report.
func TestArchivePlaces(t *testing.T) {
	dir, h := smallArchive(t)
	server := httptest.NewServer(http.FileServer(http.Dir(dir)))
	defer server.Close()
	var reports []archive.Result
	for _, where := range []string{dir, server.URL, pack(t, dir)} {
		exit, out, errs := command(t, "archive", where, "--key", h.Key, "--json")
		if exit != 0 {
			t.Fatalf("%s: exit %d, %s\n%s", where, exit, errs, out)
		}
		var r archive.Result
		if err := json.Unmarshal([]byte(out), &r); err != nil {
			t.Fatal(err)
		}
		if r.Verdict != audit.Verified || r.Matches != 4 {
			t.Errorf("%s: %s, %d matches", where, r.Verdict, r.Matches)
		}
		reports = append(reports, r)
		if exit, out, _ := command(t, "log", where, "--key", h.Key); exit != 0 || !strings.Contains(out, "VERIFIED") {
			t.Errorf("verify log %s: exit %d\n%s", where, exit, out)
		}
		exit, bundle, errs := command(t, "archive", "extract", where, h.MatchID(2), "--key", h.Key)
		if exit != 0 {
			t.Fatalf("extract from %s: exit %d, %s", where, exit, errs)
		}
		file := filepath.Join(t.TempDir(), "bundle.json")
		put(t, file, []byte(bundle))
		if exit, out, _ := command(t, "bundle", file, "--key", h.Key); exit != 0 {
			t.Errorf("the bundle extracted from %s: exit %d\n%s", where, exit, out)
		}
		if exit, out, _ := command(t, "luck", file); exit != 0 || !strings.Contains(out, "One game cannot prove anything") {
			t.Errorf("luck: exit %d\n%s", exit, out)
		}
	}
	if !slices.Contains(reports[1].LeftOut, "older checkpoints cannot be listed over HTTP; give those you kept") {
		t.Errorf("behind an address nothing was left out: %v", reports[1].LeftOut)
	}
}

// TestArchiveCommand runs what else a command line can say.
func TestArchiveCommand(t *testing.T) {
	dir, h := smallArchive(t)
	packed := pack(t, dir)
	data, err := os.ReadFile(packed)
	if err != nil {
		t.Fatal(err)
	}
	cut := filepath.Join(t.TempDir(), "cut.tar.zst")
	put(t, cut, data[:len(data)*2/3])
	kept := filepath.Join(t.TempDir(), "kept")
	put(t, kept, []byte(h.Checkpoint(7)))
	state := filepath.Join(t.TempDir(), "state")
	page := filepath.Join(t.TempDir(), "report.html")
	empty := t.TempDir()
	service := t.TempDir() // what a service serves: the log alone
	if err := os.CopyFS(service, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"log.key", "matches", "checkpoints"} {
		if err := os.RemoveAll(filepath.Join(service, name)); err != nil {
			t.Fatal(err)
		}
	}
	lost := t.TempDir() // log.key and no matches: an archive, and everything is missing
	put(t, filepath.Join(service, "log.key"), []byte(h.Key+"\n"))
	if err := os.CopyFS(lost, os.DirFS(service)); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(service, "log.key")); err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.FileServer(http.Dir(service)))
	defer server.Close()
	tests := []struct {
		name string
		args string
		exit int
		want string
	}{
		{"every signature", "archive DIR --key KEY --signatures all --workers 3", 0, "pass  receipts.signature"},
		{"unpinned", "archive DIR", 2, "INCOMPLETE"},
		{"another key", "archive DIR --key " + dealer.New(t, 77).Key, 1, "FAIL  log.signature"},
		{"another key is none too few", "archive DIR --key " + dealer.New(t, 77).Key, 1, "not of the log that was named"},
		{"kept checkpoint", "archive DIR --key KEY --seen " + kept, 0, "pass  log.consistency"},
		{"state", "archive DIR --key KEY --state " + state, 0, "VERIFIED"},
		{"page", "archive DIR --key KEY --html " + page, 0, "VERIFIED"},
		{"overdue", "log DIR --key KEY --now 2030-01-01T00:00:00Z", 0, "VERIFIED"},
		{"file cut off", "archive " + cut + " --key KEY", 3, "unexpected EOF"},
		{"no archive", "archive " + empty + " --key KEY", 3, "the file is missing"},
		{"log of a service", "log SERVICE --key KEY", 0, "VERIFIED"},
		{"log of a service without a key", "log SERVICE", 3, "read log key: there is no log.key: give --key or --policy"},
		{"archive of a service", "archive SERVICE --key KEY", 3, "there is a log here, and no archive"},
		{"archive that lost a match", "archive " + lost + " --key KEY", 1, "not in the archive"},
		{"no place", "archive --key KEY", 3, "give one"},
		{"no such directory", "archive nowhere --key KEY", 3, "nowhere"},
		{"bad time", "log DIR --now yesterday", 3, "--now"},
		{"bad signatures", "archive DIR --signatures some", 3, "--signatures"},
		{"no such match", "archive extract DIR 01970000-0000-7000-8000-ffffffffffff --key KEY", 3, "no match"},
		{"not a match", "archive extract DIR x --key KEY", 3, "check id"},
		{"luck of nothing", "luck", 3, "at least one FILE"},
		{"luck of a match file", "luck " + filepath.Join(dir, dealer.MatchPath(h.MatchID(0))), 0, "seat B, 1 game"},
		{"luck of a stranger", "luck --player carol " + filepath.Join(dir, dealer.MatchPath(h.MatchID(0))), 3, "needs a bundle"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			args := strings.Fields(strings.NewReplacer("DIR", dir, "KEY", h.Key, "SERVICE", server.URL).Replace(test.args))
			exit, out, errs := command(t, args...)
			if exit != test.exit || !strings.Contains(out+errs, test.want) {
				t.Errorf("exit %d, want %d and %q\n%s%s", exit, test.exit, test.want, out, errs)
			}
		})
	}
	html, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"<svg", "VERIFIED", "assign.lowest", "default-src 'none'"} {
		if !bytes.Contains(html, []byte(want)) {
			t.Errorf("the page has no %s", want)
		}
	}
	for _, never := range []string{"<script", "http://", "https://"} {
		if bytes.Contains(html, []byte(never)) {
			t.Errorf("the page has %s", never)
		}
	}
	if _, err := os.Stat(state); !os.IsNotExist(err) {
		t.Errorf("the state of a finished audit is left: %v", err)
	}
}
