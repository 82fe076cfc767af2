//go:build !js

package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// module builds the page's verifier once for all tests, as the Makefile does.
var module = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "page")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "verify.wasm")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-s -w", "-o", path, ".")
	cmd.Env = append(os.Environ(), "GOOS=js", "GOARCH=wasm", "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build module: %w\n%s", err, out)
	}
	return path, nil
})

// browser is Node running the page's verifier.js, worker.js and module.
type browser struct {
	t       *testing.T
	in      io.WriteCloser
	out     *bufio.Reader
	loaded  told
	folder  string
	written int
}

// request is a line of testdata/page.mjs.
type request struct {
	Op      string         `json:"op"`
	Name    string         `json:"name,omitempty"`
	Path    string         `json:"path,omitempty"`
	Options map[string]any `json:"options,omitempty"`
	Lang    string         `json:"lang,omitempty"`
	Game    int            `json:"game"`
	Step    int            `json:"step"`
	Line    int            `json:"line"`
	Seat    string         `json:"seat,omitempty"`
}

// told is its answer.
type told struct {
	Value   string  `json:"value"`
	Error   string  `json:"error"`
	Version string  `json:"version"`
	MS      float64 `json:"ms"`
}

// newBrowser starts Node. Without it the test can only be skipped on a
// developer's machine; where CI says that everything is installed its absence
// is a failure.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the verifier of the page is not tested: no node in PATH, although CI=true")
		}
		t.Skip("the verifier of the page is not tested: no node in PATH")
	}
	path, err := module()
	if err != nil {
		t.Fatal(err)
	}
	static, err := filepath.Abs("../../web/static")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node, "testdata/page.mjs", static, path, "../../internal/messages/texts/details.txt")
	cmd.Stderr = os.Stderr
	b := &browser{t: t, folder: t.TempDir()}
	if b.in, err = cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	b.out = bufio.NewReaderSize(out, 1<<20)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		b.in.Close()
		cmd.Wait() // its status says nothing: the answers do
	})
	b.loaded = b.read()
	return b
}

func (b *browser) read() (answer told) {
	b.t.Helper()
	line, err := b.out.ReadBytes('\n')
	if err == nil {
		err = json.Unmarshal(line, &answer)
	}
	if err != nil {
		b.t.Fatalf("read an answer of Node: %v", err)
	}
	return answer
}

func (b *browser) ask(r request) told {
	b.t.Helper()
	line, err := json.Marshal(r)
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.in.Write(append(line, '\n')); err != nil {
		b.t.Fatal(err)
	}
	return b.read()
}

// file writes a file for both verifiers.
func (b *browser) file(content []byte) string {
	b.t.Helper()
	b.written++
	path := filepath.Join(b.folder, fmt.Sprintf("file-%d", b.written))
	if err := os.WriteFile(path, content, 0o644); err != nil {
		b.t.Fatal(err)
	}
	return path
}

// commandLine is what verify prints.
func commandLine(args ...string) (out, errors string) {
	var stdout, stderr bytes.Buffer
	run(args, strings.NewReader(""), &stdout, &stderr)
	return stdout.String(), stderr.String()
}

// same demands that the page answers, byte for byte, what the command line
// prints.
func (b *browser) same(t *testing.T, r request, args ...string) told {
	t.Helper()
	want, complaint := commandLine(args...)
	got := b.ask(r)
	if got.Error != "" || got.Value != want {
		t.Errorf("the page answers %.600q, error %q; the command line prints %.600q, error %q", got.Value, got.Error, want, complaint)
	}
	return got
}

// TestPageModule demands that the page knows which module has arrived.
func TestPageModule(t *testing.T) {
	b := newBrowser(t)
	path, err := module()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("%x", sha256.Sum256(data)); b.loaded.Value != want {
		t.Errorf("the page says that its module is %s, it is %s", b.loaded.Value, want)
	}
	if _, about, _ := strings.Cut(version(), ", "); !strings.HasSuffix(b.loaded.Version, about) {
		t.Errorf("the page's version is %q, want one that ends in %q", b.loaded.Version, about)
	}
}

func TestPageBundles(t *testing.T) {
	b := newBrowser(t)
	for _, name := range []string{"bundles-valid.json.gz", "bundles-tampered.json.gz", "bundles-more.json.gz"} {
		v := readBundleVectors(t, name)
		known := ""
		for _, r := range v.Rules {
			known += r[0] + " " + r[1] + "\n"
		}
		rules := b.file([]byte(known))
		for _, c := range v.Cases {
			t.Run(strings.TrimSuffix(name, ".json.gz")+"/"+c.Name, func(t *testing.T) {
				path := b.file([]byte(c.Bundle))
				args, options := []string{"bundle", path, "--json", "--key", v.LogKey}, map[string]any{"key": v.LogKey}
				if known != "" {
					args, options["rules"] = append(args, "--rules", rules), known
				}
				if c.MyAnchor != "" {
					args, options["myAnchor"] = append(args, "--my-anchor", c.MyAnchor), c.MyAnchor
				}
				for _, w := range c.Witnesses {
					args = append(args, "--witness", w)
				}
				if len(c.Witnesses) > 0 {
					options["witnesses"] = c.Witnesses
				}
				b.same(t, request{Op: "bundle", Path: path, Options: options}, args...)
			})
		}
	}
}

// TestPageTrust pins a policy, nothing, and what is none of them.
func TestPageTrust(t *testing.T) {
	b := newBrowser(t)
	v := readBundleVectors(t, "bundles-valid.json.gz")
	path := b.file([]byte(v.Cases[0].Bundle))
	policy := b.file([]byte(v.Policy))
	b.same(t, request{Op: "bundle", Path: path, Options: map[string]any{"policy": v.Policy}}, "bundle", path, "--json", "--policy", policy)
	b.same(t, request{Op: "bundle", Path: path}, "bundle", path, "--json")
	for _, c := range []struct {
		options map[string]any
		flags   []string
	}{
		{map[string]any{"key": "no key"}, []string{"--key", "no key"}},
		{map[string]any{"myAnchor": "12"}, []string{"--my-anchor", "12"}},
		{map[string]any{"witnesses": []string{"w"}}, []string{"--witness", "w"}},
		{map[string]any{"key": ""}, nil},
		{map[string]any{"key": 7}, nil},
		{map[string]any{"key": v.LogKey, "policy": v.Policy}, nil},
		{map[string]any{"policy": strings.Repeat("#", maxTrustFile+1)}, nil},
	} {
		got := b.ask(request{Op: "bundle", Path: path, Options: c.options})
		if got.Error == "" || got.Value != "" {
			t.Errorf("%.80v: no error but %.200q", c.options, got.Value)
		}
		if c.flags == nil {
			continue
		}
		_, complaint := commandLine(append([]string{"bundle", path, "--json"}, c.flags...)...)
		if want := strings.TrimSuffix(strings.TrimPrefix(complaint, "verify: "), "\n"); got.Error != want {
			t.Errorf("%v: the page says %q, the command line %q", c.options, got.Error, want)
		}
	}
}

// recordVectors are the texts of records in the vectors, good and bad, and
// their variant where they have no header.
func recordVectors(t *testing.T) map[string][2]string {
	t.Helper()
	all := map[string][2]string{"lines": {eventLines, "short"}, "match": {matchLines, ""}, "bad": {strings.Replace(eventLines, "13/7 8/3", "13/7", 1), "short"}}
	type text struct {
		Text string `json:"text"`
	}
	var records struct {
		Records []text `json:"records"`
		Invalid []text `json:"records_invalid"`
	}
	decode(t, "../../replay/testdata/protocol/records.json", &records)
	for i, r := range append(records.Records, records.Invalid...) {
		all[fmt.Sprintf("record-%d", i)] = [2]string{r.Text, ""}
	}
	names, err := filepath.Glob("../../replay/testdata/rules/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no vectors of games: %v", err)
	}
	for _, name := range names {
		var v struct {
			Variant string `json:"variant"`
			Games   []struct {
				Lines []string `json:"lines"`
			} `json:"games"`
		}
		decode(t, name, &v)
		for i, g := range v.Games {
			all[fmt.Sprintf("%s-%d", strings.TrimSuffix(filepath.Base(name), ".json"), i)] = [2]string{strings.Join(g.Lines, "\n") + "\n", v.Variant}
		}
	}
	return all
}

func decode(t *testing.T, path string, v any) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func TestPageRecords(t *testing.T) {
	b := newBrowser(t)
	for name, record := range recordVectors(t) {
		t.Run(name, func(t *testing.T) {
			path := b.file([]byte(record[0]))
			args, options := []string{"record", "--json", path}, map[string]any{}
			if record[1] != "" {
				args, options["variant"] = append(args, "--variant", record[1]), record[1]
			}
			b.same(t, request{Op: "record", Name: path, Path: path, Options: options}, args...)
		})
	}
}

// TestPageCorpus compares both over real match files.
func TestPageCorpus(t *testing.T) {
	dir := os.Getenv("FAIRDICE_CORPUS")
	if dir == "" {
		t.Skip("no corpus of real match files: set FAIRDICE_CORPUS")
	}
	b := newBrowser(t)
	seen := 0
	err := filepath.WalkDir(dir, func(path string, entry os.DirEntry, err error) error {
		if err == nil && !entry.IsDir() && recordName(path) {
			seen++
			b.same(t, request{Op: "record", Name: path, Path: path}, "record", "--json", path)
		}
		return err
	})
	if err != nil || seen == 0 {
		t.Errorf("%d files in the corpus: %v", seen, err)
	}
}
