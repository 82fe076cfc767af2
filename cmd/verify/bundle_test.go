//go:build !js

package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"fairdice/audit"
)

const testLogKey = "example.org/fairdice/test+c90ecb27+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs"

func exitStatus(err error) string {
	if e, ok := errors.AsType[*exec.ExitError](err); ok {
		return strconv.Itoa(e.ExitCode())
	}
	return err.Error()
}

type bundleVectors struct {
	LogKey string      `json:"log_key"`
	Policy string      `json:"policy"`
	Rules  [][2]string `json:"rules"`
	Cases  []struct {
		Name      string          `json:"name"`
		Bundle    string          `json:"bundle"`
		Witnesses []string        `json:"witnesses"`
		MyAnchor  string          `json:"my_anchor"`
		Level     string          `json:"level"`
		Exit      json.RawMessage `json:"exit"`
		MustFail  []audit.ID      `json:"must_fail"`
	} `json:"cases"`
}

func readBundleVectors(t *testing.T, name string) (v bundleVectors) {
	t.Helper()
	f, err := os.Open(filepath.Join("../../audit/testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}

// TestBundleVectors runs the command line over all bundles of the vectors: with
// single flags, and again with the policy that says the same.
func TestBundleVectors(t *testing.T) {
	for _, file := range []string{"bundles-valid.json.gz", "bundles-tampered.json.gz"} {
		v := readBundleVectors(t, file)
		dir := t.TempDir()
		rules := write(t, dir, "rules", v.Rules[0][0]+" "+v.Rules[0][1]+"\n")
		policy := write(t, dir, "policy", v.Policy)
		for _, c := range v.Cases {
			t.Run(c.Name, func(t *testing.T) {
				args := []string{"bundle", write(t, t.TempDir(), "bundle.json", c.Bundle), "--json", "--rules", rules}
				if c.MyAnchor != "" {
					args = append(args, "--my-anchor", c.MyAnchor)
				}
				flags := append(slices.Clone(args), "--key", v.LogKey)
				for _, w := range c.Witnesses {
					flags = append(flags, "--witness", w)
				}
				lines := [][]string{flags}
				if len(c.Witnesses) > 0 {
					lines = append(lines, append(slices.Clone(args), "--policy", policy))
				}
				for _, line := range lines {
					var stdout, stderr bytes.Buffer
					code := run(line, strings.NewReader(""), &stdout, &stderr)
					if !slices.Contains(exitsOf(t, c.Exit), code) {
						t.Errorf("exit %d, want %s", code, c.Exit)
					}
					var r audit.Report
					dec := json.NewDecoder(&stdout)
					if err := dec.Decode(&r); err != nil {
						t.Fatalf("not JSON: %v", err)
					}
					for _, id := range c.MustFail {
						if !slices.Contains(r.Failed(), id) {
							t.Errorf("check %s did not fail", id)
						}
					}
					if c.Level != "" && r.Level != c.Level {
						t.Errorf("level %s, want %s", r.Level, c.Level)
					}
					if wantErr := r.Verdict == audit.Malformed; wantErr != (stderr.Len() > 0) {
						t.Errorf("stderr %q with verdict %s", stderr.String(), r.Verdict)
					}
				}
			})
		}
	}
}

// vectorBundle returns one bundle of a vector file.
func vectorBundle(t *testing.T, file, name string) string {
	t.Helper()
	for _, c := range readBundleVectors(t, file).Cases {
		if c.Name == name {
			return c.Bundle
		}
	}
	t.Fatalf("no vector %s in %s", name, file)
	return ""
}

func exitsOf(t *testing.T, raw json.RawMessage) []int {
	t.Helper()
	var one int
	if json.Unmarshal(raw, &one) == nil {
		return []int{one}
	}
	var list []int
	if err := json.Unmarshal(raw, &list); err != nil {
		t.Fatal(err)
	}
	return list
}

func write(t *testing.T, dir, name, text string) string {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestHugeFile gives the command 100 MB of zeros. It must say no before it
// reads them.
func TestHugeFile(t *testing.T) {
	path := write(t, t.TempDir(), "zeros", "")
	if err := os.Truncate(path, 100e6); err != nil {
		t.Fatal(err)
	}
	var stdout, stderr bytes.Buffer
	start := time.Now()
	code := run([]string{"bundle", path, "--key", testLogKey, "--json"}, strings.NewReader(""), &stdout, &stderr)
	if code != 3 || !strings.Contains(stderr.String(), "too large") {
		t.Errorf("exit %d, stderr %q", code, stderr.String())
	}
	if took := time.Since(start); took > 2*time.Second {
		t.Errorf("it took %v", took)
	}
	var r audit.Report
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil || r.Verdict != audit.Malformed {
		t.Errorf("report %s, %v", stdout.String(), err)
	}
}

// TestReportMembers pins the members of the JSON that scripts rely on.
func TestReportMembers(t *testing.T) {
	var stdout, stderr bytes.Buffer
	if code := run([]string{"bundle", "testdata/bundle-l2.json", "--key", testLogKey, "--json"}, strings.NewReader(""), &stdout, &stderr); code != 0 {
		t.Fatalf("exit %d: %s", code, stderr.String())
	}
	var r struct {
		Verdict   string `json:"verdict"`
		Level     string `json:"level"`
		LevelNote string `json:"levelNote"`
		Match     string `json:"match"`
		Variant   string `json:"variant"`
		Mode      string `json:"mode"`
		Checks    []struct {
			ID     string `json:"id"`
			Status string `json:"status"`
		} `json:"checks"`
		Games []struct {
			Game   int    `json:"game"`
			Rolls  int    `json:"rolls"`
			Result string `json:"result"`
		} `json:"games"`
	}
	if err := json.Unmarshal(stdout.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	if r.Verdict != "verified" || r.Level != "L2" || r.LevelNote != "as declared" || r.Variant != "short" || r.Mode != "random" ||
		len(r.Games) != 1 || r.Games[0].Rolls != 6 || r.Games[0].Result != "A 1" {
		t.Errorf("report %+v", r)
	}
	for _, id := range audit.IDs() {
		if !slices.ContainsFunc(r.Checks, func(c struct {
			ID     string `json:"id"`
			Status string `json:"status"`
		}) bool {
			return c.ID == string(id)
		}) {
			t.Errorf("check %s is missing", id)
		}
	}
}
