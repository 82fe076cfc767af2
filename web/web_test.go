package web_test

import (
	"io/fs"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"fairdice/web"
)

// proof.js knows all answers of the protocol's vectors. That player.js refuses
// what the Go player refuses is tested where his scenarios are, in client/player.
func TestVectors(t *testing.T) {
	t.Parallel()
	node, err := exec.LookPath("node")
	if err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatal("proof.js is not tested: no node in PATH, although CI=true")
		}
		t.Skip("proof.js is not tested: no node in PATH")
	}
	out, err := exec.Command(node, "testdata/vectors.mjs").CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if n, err := strconv.Atoi(strings.TrimSpace(string(out))); err != nil || n < 290 {
		t.Errorf("not all of at least 290 answers are as they should be:\n%s", out)
	}
}

// A page that serves the file system serves all that the modules import.
func TestImports(t *testing.T) {
	found := regexp.MustCompile(`(?m)^(?:import|export) .* from '(.*)'$`)
	modules, err := fs.Glob(web.Player, "*")
	if err != nil {
		t.Fatal(err)
	}
	imports := 0
	for _, m := range modules {
		text, err := fs.ReadFile(web.Player, m)
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range found.FindAllSubmatch(text, -1) {
			imports++
			name, relative := strings.CutPrefix(string(x[1]), "./")
			if _, err := fs.Stat(web.Player, name); err != nil || !relative {
				t.Errorf("%s imports %s, which is not served", m, x[1])
			}
		}
	}
	if imports < 3 {
		t.Errorf("%d imports found in %v", imports, modules)
	}
}
