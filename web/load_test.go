package web

import (
	"bytes"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"strings"
	"testing"
)

// Limits of what a browser loads, in bytes as they are sent: of the verifier,
// and of everything together the first time.
const (
	maxModule    = 1_300_000
	maxFirstLoad = 1_800_000
)

// TestFirstLoad counts every file there is, which is more than one page asks
// for, and the page that asks for most.
func TestFirstLoad(t *testing.T) {
	a, err := load()
	if err != nil {
		t.Fatal(err)
	}
	if a.module == nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("the verifier of the page is not built: make build")
		}
		t.Skip("the verifier of the page is not built: make build")
	}
	if a.module.Sent > maxModule {
		t.Errorf("the module has %d bytes with brotli, at most %d", a.module.Sent, maxModule)
	}
	total := 0
	for name, f := range a.files {
		switch {
		case path.Ext(name) == ".txt" && name != detailsName: // licences
		case f.br != nil:
			total += len(f.br())
		default:
			plain, err := f.plain()
			if err != nil {
				t.Fatal(err)
			}
			total += len(plain)
		}
	}
	if total > maxFirstLoad {
		t.Errorf("all files have %d bytes, at most %d", total, maxFirstLoad)
	}
	t.Logf("module %d bytes, all files %d", a.module.Sent, total)
}

// TestRuntime demands that wasm_exec.js is that of the Go which builds the
// module: the two only work together.
func TestRuntime(t *testing.T) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(root)), "lib", "wasm", "wasm_exec.js"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("static/wasm_exec.js")
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Error("static/wasm_exec.js is not that of this Go: copy lib/wasm/wasm_exec.js")
	}
}
