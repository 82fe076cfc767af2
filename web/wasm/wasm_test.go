package wasm

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/andybalholm/brotli"
)

// What is sent unpacks to the module that the hash names, whichever coding a
// browser takes.
func TestBuilt(t *testing.T) {
	m := Built()
	if m == nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the verifier of the page is not built: make build")
		}
		t.Skip("the verifier of the page is not built: make build")
	}
	gzipped, err := m.Bytes()
	if err != nil {
		t.Fatal(err)
	}
	brotlied, err := io.ReadAll(brotli.NewReader(bytes.NewReader(m.Brotli)))
	if err != nil {
		t.Fatal(err)
	}
	for coding, data := range map[string][]byte{"gzip": gzipped, "br": brotlied} {
		if sum := fmt.Sprintf("%x", sha256.Sum256(data)); sum != m.SHA256 || len(data) != m.Size {
			t.Errorf("%s: %d bytes with SHA-256 %s, want %d with %s", coding, len(data), sum, m.Size, m.SHA256)
		}
	}
	if !strings.Contains(Line(), m.SHA256) {
		t.Errorf("the programs' line is %q", Line())
	}
}
