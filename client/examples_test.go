package client_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The complete examples, in Go and in TypeScript's JavaScript, play a match
// against a service as it is shipped, to a bundle that the verifier as it is
// shipped accepts.
func TestExamples(t *testing.T) {
	t.Parallel()
	bin := t.TempDir()
	run(t, nil, ".", "go", "build", "-o", bin+"/", "../cmd/fairdice", "../cmd/verify", "./example")
	address, logKey, key := serve(t, filepath.Join(bin, "fairdice"))
	environment := []string{"FAIRDICE_KEY=" + key}

	t.Run("go", func(t *testing.T) {
		t.Parallel()
		out := t.TempDir()
		run(t, environment, ".", filepath.Join(bin, "example"), "-service", address, "-log-key", logKey, "-out", out)
		verify(t, bin, filepath.Join(out, "bundle.json"), logKey)
	})
	t.Run("ts", func(t *testing.T) {
		t.Parallel()
		dir := compiled(t)
		bundle := filepath.Join(t.TempDir(), "bundle.json")
		run(t, environment, dir, "node", "example/match.mjs", address, logKey, bundle)
		verify(t, bin, bundle, logKey)
		run(t, nil, dir, "node", "--test", "test/")
	})
}

// The types of client/ts are those of the document, to the byte.
func TestTypesAreCurrent(t *testing.T) {
	document, err := os.ReadFile("../openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	types, err := os.ReadFile("ts/src/types.gen.ts")
	if err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("// Of the openapi.yaml with the SHA-256 %x.\n", sha256.Sum256(document)); !bytes.HasPrefix(types, []byte(want)) {
		t.Error("client/ts/src/types.gen.ts is not made from openapi.yaml as it is: run make generate where npx is")
	}
}

// compiled is a copy of client/ts, beside one of web, after its compiler has
// accepted the package and the example. Nothing is left in the source tree.
func compiled(t *testing.T) string {
	t.Helper()
	modules, err := filepath.Abs("ts/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(modules, "typescript")); err != nil {
		if os.Getenv("CI") == "true" {
			t.Fatalf("client/ts is not tested: run npm ci there: %v", err)
		}
		t.Skipf("client/ts is not tested: run npm ci there: %v", err)
	}
	root := t.TempDir()
	dir := filepath.Join(root, "client", "ts")
	for _, part := range []string{"client/ts/src", "client/ts/example", "client/ts/test", "web"} {
		if err := os.CopyFS(filepath.Join(root, part), os.DirFS("../"+part)); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"package.json", "tsconfig.json"} {
		data, err := os.ReadFile(filepath.Join("ts", file))
		if err == nil {
			err = os.WriteFile(filepath.Join(dir, file), data, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Symlink(modules, filepath.Join(dir, "node_modules")); err != nil {
		t.Fatal(err)
	}
	for _, project := range []string{".", "example"} {
		run(t, nil, dir, "node", "node_modules/typescript/bin/tsc", "-p", project)
	}
	return dir
}

// serve starts a service of its own and answers its address, the log's key
// and an API key.
func serve(t *testing.T, program string) (address, logKey, key string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	listen, data := l.Addr().String(), t.TempDir()
	l.Close()
	log := filepath.Join(data, "stdout")
	stdout, err := os.Create(log)
	if err != nil {
		t.Fatal(err)
	}
	defer stdout.Close()
	cmd := exec.Command(program, "serve", "--data", data, "--listen", listen)
	cmd.Stdout = stdout
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		if err := cmd.Wait(); err != nil {
			t.Errorf("the service has ended badly: %v", err)
		}
	})
	address = "http://" + listen
	for range 300 {
		if resp, err := http.Get(address + "/readyz"); err == nil {
			resp.Body.Close()
			if resp.StatusCode == http.StatusOK {
				break
			}
		}
		time.Sleep(100 * time.Millisecond)
	}
	text, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^log key\s+(\S+)`).FindSubmatch(text)
	if found == nil {
		t.Fatalf("the service does not print its log key:\n%s", text)
	}
	key = strings.TrimSpace(run(t, nil, ".", program, "tenants", "add", "default", "--data", data, "--label", "examples"))
	return address, string(found[1]), key
}

func verify(t *testing.T, bin, bundle, logKey string) {
	t.Helper()
	out := run(t, nil, ".", filepath.Join(bin, "verify"), "bundle", bundle, "--key", logKey)
	if !strings.Contains(out, "VERIFIED  L2") {
		t.Errorf("the verifier says\n%s", out)
	}
}

// run answers the standard output of a program that must succeed.
func run(t *testing.T, environment []string, dir, program string, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), environment...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s %s: %v\n%s%s", filepath.Base(program), strings.Join(args, " "), err, &stdout, &stderr)
	}
	return stdout.String()
}
