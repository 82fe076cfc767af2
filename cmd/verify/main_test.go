//go:build !js

package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"verify": main})
}

// TestScripts runs the command lines of testdata/script. The good bundle of
// the vectors is there as bundle.json, and as forced.json one in which a player
// did not use all of his dice.
func TestScripts(t *testing.T) {
	bundle, err := filepath.Abs("testdata/bundle-l2.json")
	if err != nil {
		t.Fatal(err)
	}
	forced := vectorBundle(t, "bundles-tampered.json.gz", "platform-short-move")
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(env *testscript.Env) error {
			data, err := os.ReadFile(bundle)
			if err != nil {
				return err
			}
			env.Setenv("KEY", testLogKey)
			if err := os.WriteFile(filepath.Join(env.WorkDir, "forced.json"), []byte(forced), 0o644); err != nil {
				return err
			}
			return os.WriteFile(filepath.Join(env.WorkDir, "bundle.json"), data, 0o644)
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){"exits": exits},
	})
}

func TestColors(t *testing.T) {
	for _, c := range []struct {
		noColor, term string
		want          bool
	}{{"", "xterm", true}, {"", "", true}, {"1", "xterm", false}, {"", "dumb", false}} {
		t.Setenv("NO_COLOR", c.noColor)
		t.Setenv("TERM", c.term)
		if wantsColor() != c.want {
			t.Errorf("NO_COLOR=%s TERM=%s: colours %t, want %t", c.noColor, c.term, !c.want, c.want)
		}
	}
}

// exits runs a command line and demands its exit status: exits 2 bundle x.json.
// Without it a script could only tell success from failure.
func exits(ts *testscript.TestScript, _ bool, args []string) {
	if len(args) < 1 {
		ts.Fatalf("usage: exits STATUS ARGUMENT…")
	}
	err := ts.Exec("verify", args[1:]...)
	got := "0"
	if err != nil {
		got = exitStatus(err)
	}
	if got != args[0] {
		ts.Fatalf("exit status %s, want %s", got, args[0])
	}
}
