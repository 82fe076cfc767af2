package mat_test

import (
	"bufio"
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"fairdice/replay/mat"
)

// corpus returns the folder of real match files, or skips.
func corpus(t testing.TB) string {
	t.Helper()
	dir := os.Getenv("FAIRDICE_CORPUS")
	if dir == "" {
		dir = filepath.Join("..", "..", "..", "shared", "corpus")
	}
	if _, err := os.Stat(dir); err != nil {
		if os.Getenv("FAIRDICE_REQUIRE_CORPUS") != "" {
			t.Fatal(err)
		}
		t.Skipf("no corpus of real match files (%v): set FAIRDICE_CORPUS", err)
	}
	return dir
}

// files returns the .mat files of the corpus.
func files(t testing.TB, pattern string) []string {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(corpus(t), pattern))
	if err != nil || len(names) == 0 {
		t.Fatalf("no files %s in the corpus (%v)", pattern, err)
	}
	return names
}

func TestRealFilesRaiseNoFalseAlarm(t *testing.T) {
	rolls := 0
	for _, name := range append(files(t, "mat/*.mat"), files(t, "selfplay/*.mat")...) {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		report, err := mat.Check(bytes.NewReader(data), mat.Options{})
		if err != nil {
			t.Errorf("%s: %v", filepath.Base(name), err)
			continue
		}
		for _, f := range report.Findings {
			t.Errorf("%s:%d: game %d: %s (%s): %s", filepath.Base(name), f.Line, f.Game, f.Check, f.Category, f.Message)
		}
		for _, n := range report.Notes {
			t.Logf("%s:%d: note: %s", filepath.Base(name), n.Line, n.Text)
		}
		if report.Unfinished {
			t.Logf("%s: unfinished", filepath.Base(name))
		}
		rolls += report.Rolls
	}
	t.Logf("%d rolls", rolls)
}

func TestManifestCounts(t *testing.T) {
	dir := filepath.Join(corpus(t), "mat")
	manifest, err := os.Open(filepath.Join(dir, "manifest.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer manifest.Close()
	lines := bufio.NewScanner(manifest)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if len(fields) < 3 || fields[0] == "file" {
			continue
		}
		file, err := os.Open(filepath.Join(dir, fields[0]))
		if err != nil {
			t.Fatal(err)
		}
		report, err := mat.Check(file, mat.Options{})
		file.Close()
		if err != nil {
			t.Fatal(err)
		}
		if got := strconv.Itoa(report.Games) + "\t" + strconv.Itoa(report.Rolls); got != fields[1]+"\t"+fields[2] {
			t.Errorf("%s: games and rolls %q, want %q", fields[0], got, fields[1]+"\t"+fields[2])
		}
	}
}
