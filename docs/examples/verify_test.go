// Package examples holds programs that belong to the documentation. Its test runs verify.mjs, the second verifier, over
// the known-answer bundles: two programs that share nothing but docs/protocol.md must come to the same answers.
package examples

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// node finds Node.js. Without it the test can only be skipped on a developer's machine; where CI says that everything is
// installed, its absence is a failure, so that nobody loses the second verifier without noticing.
func node(t *testing.T) string {
	t.Helper()
	path, err := exec.LookPath("node")
	if err == nil {
		return path
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("verify.mjs is not tested: no node in PATH, although CI=true")
	}
	t.Skip("verify.mjs is not tested: no node in PATH")
	return ""
}

type vectors struct {
	LogKey   string      `json:"log_key"`
	Rules    [][2]string `json:"rules"`
	Cases    []vector    `json:"cases"`
	Unpinned vector      `json:"unpinned"`
}

type vector struct {
	Name      string          `json:"name"`
	Bundle    string          `json:"bundle"`
	Witnesses []string        `json:"witnesses"`
	MyAnchor  string          `json:"my_anchor"`
	Level     string          `json:"level"`
	Note      string          `json:"note"`
	Says      []string        `json:"says"`
	Exit      json.RawMessage `json:"exit"` // a status, or the acceptable ones
	NotRun    json.RawMessage `json:"not_checked"`
	MustFail  []string        `json:"must_fail"`
}

func read(t *testing.T, name string) vectors {
	t.Helper()
	file, err := os.Open(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	var v vectors
	if err := json.NewDecoder(z).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

func decode[T any](t *testing.T, raw json.RawMessage) T {
	t.Helper()
	var v T
	if err := json.Unmarshal(raw, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// report is what verify.mjs says with --json, and the checks that failed.
type report struct {
	Verdict   string   `json:"verdict"`
	Level     string   `json:"level"`
	LevelNote string   `json:"levelNote"`
	Says      []string `json:"says"`
	Failed    []string `json:"failed"`
	Checks    []struct{ ID, Status, Detail string }
}

func (r report) unchecked() []string {
	var ids []string
	for _, c := range r.Checks {
		if c.Status == "unchecked" {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

var exits = map[string]int{"verified": 0, "failed": 1, "incomplete": 2, "malformed": 3}

// driver verifies all cases in one process: starting node two hundred times would be most of the test.
const driver = `
import { verifyBundle } from './verify.mjs'
import { readFileSync } from 'node:fs'
const v = JSON.parse(readFileSync(0, 'utf8'))
const rules = new Map(v.rules.map(([version, hash]) => [version, new Set([hash])]))
console.log(JSON.stringify(v.cases.map((c) => verifyBundle(Buffer.from(c.bundle),
  { key: v.log_key, witnesses: c.witnesses ?? [], myAnchor: c.my_anchor || undefined, rules }))))
`

func verifyAll(t *testing.T, v vectors) []report {
	t.Helper()
	input, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(node(t), "--input-type=module", "--eval", driver)
	var faults bytes.Buffer
	cmd.Stdin, cmd.Stderr = bytes.NewReader(input), &faults
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("run verify.mjs: %v\n%s", err, &faults)
	}
	reports := decode[[]report](t, out)
	if len(reports) != len(v.Cases) {
		t.Fatalf("%d reports for %d bundles", len(reports), len(v.Cases))
	}
	return reports
}

// declaresBeacon reports whether the match of a bundle has a beacon, whose signatures verify.mjs cannot verify. Whatever
// else is in order it then calls the evidence incomplete.
func declaresBeacon(bundle string) bool {
	return bytes.Contains([]byte(bundle), []byte(`\nbeacon quicknet\n`))
}

func TestValidBundles(t *testing.T) {
	v := read(t, "bundles-valid.json.gz")
	for i, r := range verifyAll(t, v) {
		c := v.Cases[i]
		t.Run(c.Name, func(t *testing.T) {
			if len(r.Failed) > 0 {
				t.Errorf("checks of a good bundle failed: %s\n%+v", r.Failed, r.Checks)
			}
			if r.Level != c.Level || r.LevelNote != c.Note {
				t.Errorf("level %s %q, want %s %q", r.Level, r.LevelNote, c.Level, c.Note)
			}
			if diff := cmp.Diff(c.Says, r.Says); diff != "" {
				t.Errorf("says (-want +got):\n%s", diff)
			}
			want := decode[int](t, c.Exit)
			if declaresBeacon(c.Bundle) {
				want = exits["incomplete"]
			}
			if got := exits[r.Verdict]; got != want {
				t.Errorf("verdict %s, exit status %d, want %d", r.Verdict, got, want)
			}
			for _, id := range decode[[]string](t, c.NotRun) {
				if !slices.Contains(r.unchecked(), id) {
					t.Errorf("%s is not reported as unchecked", id)
				}
			}
		})
	}
}

// beyond lists the tampered bundles that verify.mjs cannot see through, and the checks it would need.
var beyond = map[string]string{
	"platform-illegal-move": "rules.moves", "platform-other-die": "rules.moves", "platform-short-move": "rules.forced",
	"platform-cube": "cube", "platform-end-points": "rules of the result",
	"beacon-other-round": "BLS", "beacon-flipped": "BLS", "abort-signature-other": "BLS",
}

func TestTamperedBundles(t *testing.T) {
	v := read(t, "bundles-tampered.json.gz")
	v.Cases = append(v.Cases, read(t, "bundles-more.json.gz").Cases...)
	for i, r := range verifyAll(t, v) {
		c := v.Cases[i]
		t.Run(c.Name, func(t *testing.T) {
			if need, ok := beyond[c.Name]; ok {
				if len(r.Failed) > 0 || need == "BLS" && r.Verdict != "incomplete" {
					t.Errorf("verdict %s, failed %s; the list of what is beyond verify.mjs is out of date", r.Verdict, r.Failed)
				}
				return
			}
			for _, id := range c.MustFail {
				if !slices.Contains(r.Failed, id) {
					t.Errorf("%s did not fail; failed: %s", id, r.Failed)
				}
			}
			if want := decode[[]int](t, c.Exit); !slices.Contains(want, exits[r.Verdict]) {
				t.Errorf("verdict %s, exit status %d, want one of %d", r.Verdict, exits[r.Verdict], want)
			}
		})
	}
}

// TestWorkedExample verifies the bundle of the specification's own example, with the key and the rules hash that the
// document shows.
func TestWorkedExample(t *testing.T) {
	program := node(t)
	doc, err := os.ReadFile("../protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	key := regexp.MustCompile(`(?m)^log key +(\S+)$`).FindSubmatch(doc)
	rules := regexp.MustCompile(`(?m)^rules (1 [0-9a-f]{64})$`).FindSubmatch(doc)
	if key == nil || rules == nil {
		t.Fatal("the document shows no log key or no rules hash")
	}
	known := filepath.Join(t.TempDir(), "rules")
	if err := os.WriteFile(known, append(rules[1], '\n'), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(program, "verify.mjs", "../../commitment/testdata/worked/bundle.json", "--key", string(key[1]), "--rules", known)
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.HasSuffix(out, []byte("VERIFIED  L2, as declared\n")) || !bytes.Contains(out, []byte("pass  rules.version\n")) {
		t.Errorf("%v\n%s", err, out)
	}
}

// TestHostileFiles gives verify.mjs what makes careless parsers slow or overflow their stack.
func TestHostileFiles(t *testing.T) {
	v := read(t, "bundles-valid.json.gz")
	good := v.Cases[0].Bundle
	v.Cases = nil
	for name, bundle := range map[string]string{
		"string without end": `{"format":"` + strings.Repeat("a", 1<<20),
		"escapes":            `{"format":"` + strings.Repeat(`\"`, 1<<19),
		"deep":               strings.Repeat("[", 1<<20),
		"long list":          `{"format":[1` + strings.Repeat(",1", 1<<18) + `]}`,
		"long move":          strings.Replace(good, `\nresign`, `\nmove A 1`+strings.Repeat("/2*", 1<<17)+`\nresign`, 1),
		"long statement":     strings.Replace(good, `fairdice/v1/commit\n`, `fairdice/v1/commit`+strings.Repeat(`\n`, 1<<18), 1),
		"many signatures":    strings.Replace(good, `"checkpoint": "`, `"checkpoint": "\n\n`+strings.Repeat(`— x AAAAAAAA\n`, 1<<16), 1),
	} {
		v.Cases = append(v.Cases, vector{Name: name, Bundle: bundle, Exit: json.RawMessage("3"), NotRun: json.RawMessage("[]")})
	}
	for i, r := range verifyAll(t, v) {
		if r.Verdict != "malformed" {
			t.Errorf("%s: verdict %s, failed %s", v.Cases[i].Name, r.Verdict, r.Failed)
		}
	}
}

func TestCommandLine(t *testing.T) {
	program := node(t)
	v := read(t, "bundles-valid.json.gz")
	find := func(name string) vector {
		i := slices.IndexFunc(v.Cases, func(c vector) bool { return c.Name == name })
		if i < 0 {
			t.Fatalf("no case %s", name)
		}
		return v.Cases[i]
	}
	l2, witnessed := find("l2-proved"), find("l1")
	for _, c := range []struct {
		name   string
		bundle string
		args   []string
		exit   int
		stdout string
	}{
		{"good", l2.Bundle, []string{"--key", v.LogKey}, 0, "VERIFIED  L2, as declared\n"},
		{"own anchor", l2.Bundle, []string{"--key", v.LogKey, "--my-anchor", l2.MyAnchor}, 0, "VERIFIED  L2, proved to you\n"},
		{"other anchor", l2.Bundle, []string{"--key", v.LogKey, "--my-anchor", v.Rules[0][1]}, 1, "FAILED  L2, not proved\n"},
		{"no key", l2.Bundle, nil, 2, "self-consistent only"},
		{"witness", witnessed.Bundle, []string{"--key", v.LogKey, "--witness", witnessed.Witnesses[0]}, 2, "INCOMPLETE  L1\n"},
		{"witness key as log key", l2.Bundle, []string{"--key", witnessed.Witnesses[0]}, 3, ""},
		{"empty key", l2.Bundle, []string{"--key", ""}, 3, ""},
		{"empty file", "", []string{"--key", v.LogKey}, 3, "MALFORMED\n"},
		{"unknown flag", l2.Bundle, []string{"--keys", v.LogKey}, 3, ""},
		{"json", l2.Bundle, []string{"--key", v.LogKey, "--json"}, 0, `{"verdict":"verified","level":"L2"`},
	} {
		t.Run(c.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "bundle.json")
			if err := os.WriteFile(path, []byte(c.bundle), 0o600); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command(program, append([]string{"verify.mjs", path}, c.args...)...)
			var stdout, stderr bytes.Buffer
			cmd.Stdout, cmd.Stderr = &stdout, &stderr
			if err := cmd.Run(); cmd.ProcessState == nil {
				t.Fatal(err)
			}
			if got := cmd.ProcessState.ExitCode(); got != c.exit {
				t.Errorf("exit status %d, want %d\n%s%s", got, c.exit, &stdout, &stderr)
			}
			if !bytes.Contains(stdout.Bytes(), []byte(c.stdout)) {
				t.Errorf("stdout lacks %q:\n%s", c.stdout, &stdout)
			}
		})
	}
}
