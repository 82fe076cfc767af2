package main

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// The module is published unpacked under the hash that the page shows, and not
// at all if it is missing or another.
func TestModule(t *testing.T) {
	const sum = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad" // of "abc", FIPS 180-4
	r := &release{source: t.TempDir(), out: t.TempDir()}
	if _, err := r.module(); err == nil || !strings.Contains(err.Error(), "make build") {
		t.Errorf("nothing built: %v", err)
	}
	dir := filepath.Join(r.source, "web", "wasm", "built")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte("abc")); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string][]byte{"verify.wasm.gz": packed.Bytes(), "verify.wasm.sha256": []byte(sum + "\n")} {
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := r.module(); err != nil || got != sum {
		t.Errorf("got %s, %v, want %s", got, err, sum)
	}
	if data, err := os.ReadFile(filepath.Join(r.out, moduleFile)); err != nil || string(data) != "abc" {
		t.Errorf("published %q, %v", data, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "verify.wasm.sha256"), []byte(strings.Repeat("0", 64)), 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := r.module(); err == nil {
		t.Error("a module of another hash is published")
	}
}
