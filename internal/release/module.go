package main

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
)

// moduleFile is the verifier of the page in a release: unpacked, since its hash
// is that of the unpacked module, which the page shows.
const moduleFile = "verify.wasm"

// module publishes the page's verifier that lies in the source, where the
// programs embed it from, and returns its SHA-256.
func (r *release) module() (sum string, err error) {
	path := filepath.Join(r.source, "web", "wasm", "built", moduleFile)
	packed, err := os.ReadFile(path + ".gz")
	if errors.Is(err, os.ErrNotExist) {
		return "", errors.New("publish the page's verifier: it is not built: make build")
	}
	if err != nil {
		return "", fmt.Errorf("publish the page's verifier: %w", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return "", fmt.Errorf("publish the page's verifier: %w", err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		return "", fmt.Errorf("publish the page's verifier: %w", err)
	}
	named, err := os.ReadFile(path + ".sha256")
	if err != nil {
		return "", fmt.Errorf("publish the page's verifier: %w", err)
	}
	sum = fmt.Sprintf("%x", sha256.Sum256(data))
	if strings.TrimSpace(string(named)) != sum {
		return "", fmt.Errorf("publish the page's verifier: its SHA-256 is %s, and %s.sha256 names another", sum, path)
	}
	if err := os.WriteFile(filepath.Join(r.out, moduleFile), data, 0o644); err != nil {
		return "", fmt.Errorf("publish the page's verifier: %w", err)
	}
	return sum, nil
}
