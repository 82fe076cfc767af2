package fairdice_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// graph says what each package may import beside the standard library; a name
// that ends in a slash allows everything below it. Packages of this module
// come without its name. What decides a verdict (rules, replay, commitment,
// translog, audit) is small, and reaches no network, clock or database.
var graph = map[string][]string{
	"":                  nil,
	"rules":             nil,
	"commitment":        {"internal/phrase", "golang.org/x/mod/sumdb/"},
	"replay":            {"internal/phrase", "rules"},
	"replay/sheet":      {"internal/phrase", "rules", "replay"},
	"replay/mat":        {"internal/phrase", "rules", "replay", "replay/sheet"},
	"replay/sgf":        {"internal/phrase", "rules", "replay", "replay/sheet"},
	"replay/files":      {"internal/phrase", "rules", "replay", "replay/", "internal/wire"},
	"translog":          {"internal/phrase", "commitment", "golang.org/x/mod/sumdb/"},
	"translog/server":   {"translog", "store", "golang.org/x/mod/sumdb/"},
	"translog/witness":  {"commitment", "translog", "store", "golang.org/x/mod/sumdb/"},
	"audit":             {"internal/phrase", "replay", "rules", "commitment", "translog", "internal/beacon", "internal/wire", "golang.org/x/mod/sumdb/", "github.com/go-json-experiment/"},
	"audit/stats":       {"audit", "commitment", "gonum.org/v1/gonum/stat/"},
	"audit/archive":     {"audit", "audit/stats", "commitment", "replay", "translog", "golang.org/x/mod/sumdb/"},
	"store":             nil,
	"store/storetest":   {"store", "github.com/google/go-cmp/"},
	"store/sqlite":      {"store", "modernc.org/sqlite", "modernc.org/sqlite/"},
	"store/postgres":    {"store", "github.com/jackc/pgx/"},
	"house":             {"audit", "audit/stats", "commitment", "replay", "rules", "translog", "internal/beacon", "store", "golang.org/x/mod/sumdb/", "github.com/google/uuid", "github.com/hashicorp/golang-lru/"},
	"house/export":      {"commitment", "replay", "rules", "translog", "store", "golang.org/x/mod/sumdb/", "golang.org/x/sys/", "github.com/klauspost/compress/"},
	"web":               {"web/wasm", "internal/messages", "internal/board", "rules", "replay", "github.com/andybalholm/brotli"},
	"api":               {"", "house", "audit", "audit/stats", "replay", "replay/files", "rules", "commitment", "translog", "translog/server", "internal/messages", "internal/plays", "web", "github.com/go-chi/", "github.com/google/uuid", "github.com/oapi-codegen/runtime", "github.com/go-json-experiment/"},
	"web/wasm":          nil,
	"client":            nil,
	"client/example":    {"audit", "client", "client/player", "replay", "rules", "github.com/google/uuid"},
	"client/webhook":    nil,
	"client/player":     {"client", "commitment", "translog", "internal/beacon", "golang.org/x/mod/sumdb/"},
	"internal/beacon":   {"internal/phrase", "github.com/consensys/gnark-crypto/"},
	"internal/board":    {"rules", "replay"},
	"internal/browser":  {"github.com/chromedp/"},
	"internal/dealer":   {"replay", "rules", "commitment", "translog", "golang.org/x/mod/sumdb/"},
	"internal/gamesdoc": {"rules", "replay", "commitment", "internal/board", "internal/messages"},
	"internal/manual":   {"github.com/spf13/cobra", "github.com/spf13/pflag"},
	"internal/messages": {"rules"},
	"internal/metrics":  {"house", "store", "github.com/prometheus/client_golang/"},
	"internal/phrase":   nil,
	"internal/pack":     {"github.com/andybalholm/brotli"},
	"internal/plays":    {"rules", "github.com/go-json-experiment/"},
	"internal/reader":   {"internal/phrase", "audit", "replay", "replay/files", "rules", "internal/board", "internal/messages", "internal/wire"},
	"internal/relay":    {"internal/beacon"},
	"internal/release":  nil,
	"internal/selfplay": {"replay", "rules"},
	"internal/webhook":  nil,
	"internal/wire":     {"github.com/go-json-experiment/"},
	"internal/unpack":   {"github.com/klauspost/compress/"},
	"cmd/fairdice": {"", "api", "audit", "client", "client/", "commitment", "house", "house/", "internal/", "replay", "rules", "store", "store/", "translog", "translog/", "web", "web/wasm",
		"github.com/spf13/", "github.com/google/uuid", "golang.org/x/mod/sumdb/", "golang.org/x/term"},
	"cmd/verify": {"audit", "audit/", "replay", "replay/", "rules", "commitment", "translog", "client", "client/", "internal/board", "internal/manual", "internal/messages", "internal/phrase", "internal/plays", "internal/reader", "internal/unpack", "web/wasm",
		"github.com/spf13/cobra", "github.com/spf13/pflag", "golang.org/x/term", "github.com/klauspost/compress/", "github.com/vbauerster/mpb/", "gonum.org/v1/gonum/stat/"},

	"store/postgres/pgtest": {"github.com/jackc/pgx/"},
	"store/transfer":        {"store", "translog"},
}

// listed is what the go command says of a package.
type listed struct {
	ImportPath string
	Standard   bool
	GoFiles    []string
	Imports    []string
}

func list(t *testing.T, system string, args ...string) []listed {
	t.Helper()
	goos, goarch, _ := strings.Cut(system, "/")
	cmd := exec.Command("go", append([]string{"list", "-e", "-json=ImportPath,Standard,GoFiles,Imports"}, args...)...)
	cmd.Env = append(os.Environ(), "GOOS="+goos, "GOARCH="+goarch, "CGO_ENABLED=0")
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("list packages: %v", err)
	}
	var all []listed
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		err := d.Decode(&p)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

// short is a package's name in the table.
func short(path string) string {
	if path == "fairdice" {
		return ""
	}
	return strings.TrimPrefix(path, "fairdice/")
}

func isStandard(path string) bool {
	first, _, _ := strings.Cut(path, "/")
	return !strings.Contains(first, ".") && first != "fairdice"
}

func TestImports(t *testing.T) {
	for _, system := range []string{"linux/amd64", "js/wasm"} {
		t.Run(system, func(t *testing.T) {
			for _, p := range list(t, system, "./...") {
				if len(p.GoFiles) == 0 {
					continue
				}
				allowed, ok := graph[short(p.ImportPath)]
				if !ok {
					t.Errorf("%s is not in the graph", p.ImportPath)
					continue
				}
				for _, path := range p.Imports {
					name := short(path)
					if !isStandard(path) && !slices.ContainsFunc(allowed, func(a string) bool {
						return a == name || a != "" && strings.HasSuffix(a, "/") && strings.HasPrefix(name, a)
					}) {
						t.Errorf("%s imports %s", p.ImportPath, path)
					}
				}
			}
		})
	}
}

// Settings come in through one package, a driver through one, and what runs
// in the page of a verifier carries no network stack and no templates.
func TestFarImports(t *testing.T) {
	for _, p := range list(t, "linux/amd64", "./...") {
		name := short(p.ImportPath)
		if slices.Contains(p.Imports, "github.com/spf13/viper") && name != "cmd/fairdice" {
			t.Errorf("%s imports viper", p.ImportPath)
		}
		if slices.Contains(p.Imports, "modernc.org/sqlite") && name != "store/sqlite" {
			t.Errorf("%s imports the SQLite driver", p.ImportPath)
		}
	}
	for name, never := range map[string][]string{
		"linux/amd64 ./rules":      {"crypto/rand", "encoding/json", "net"},
		"linux/amd64 ./replay":     {"encoding/json", "net"},
		"linux/amd64 ./commitment": {"net/http", "os/exec"},
		"linux/amd64 ./audit":      {"net/http", "modernc.org/sqlite"},
		"linux/amd64 ./house":      {"net/http", "modernc.org/sqlite"},
		"linux/amd64 ./cmd/verify": {"modernc.org/sqlite", "fairdice/house", "fairdice/store"},
		"js/wasm ./cmd/verify": {"net/http", "html/template", "text/template", "regexp", "log/slog", "golang.org/x/text/message",
			"github.com/klauspost/compress/zstd", "modernc.org/sqlite", "github.com/spf13/cobra"},
	} {
		system, pkg, _ := strings.Cut(name, " ")
		for _, p := range list(t, system, "-deps", pkg) {
			if slices.Contains(never, p.ImportPath) {
				t.Errorf("%s on %s reaches %s", pkg, system, p.ImportPath)
			}
		}
	}
}
