package audit

import (
	"go/parser"
	"go/token"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPure keeps the core free of files and network: the page runs the
// same code as the command line.
func TestPure(t *testing.T) {
	allowed := []string{"fairdice/commitment", "fairdice/internal/beacon", "fairdice/internal/phrase", "fairdice/internal/wire", "fairdice/replay", "fairdice/rules", "fairdice/translog",
		"github.com/go-json-experiment/json/jsontext", "golang.org/x/mod/sumdb/note"}
	forbidden := []string{"os", "io/fs", "net", "net/http", "html/template", "text/template", "os/exec", "syscall", "log", "log/slog"}
	files, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".go") || strings.HasSuffix(f.Name(), "_test.go") {
			continue
		}
		parsed, err := parser.ParseFile(token.NewFileSet(), f.Name(), nil, parser.ImportsOnly)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range parsed.Imports {
			path, err := strconv.Unquote(i.Path.Value)
			if err != nil {
				t.Fatal(err)
			}
			std := !strings.Contains(strings.Split(path, "/")[0], ".") && !strings.HasPrefix(path, "fairdice/")
			if std && slices.Contains(forbidden, path) || !std && !slices.Contains(allowed, path) {
				t.Errorf("%s imports %s", f.Name(), path)
			}
		}
	}
}
