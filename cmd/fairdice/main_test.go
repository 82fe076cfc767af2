package main

import (
	"os"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

// runAs makes this test binary the program itself, for tests that need a real
// process to stop or kill.
const runAs = "FAIRDICE_TEST_RUN_MAIN"

func TestMain(m *testing.M) {
	if os.Getenv(runAs) != "" {
		main()
		os.Exit(0)
	}
	testscript.Main(m, map[string]func(){"fairdice": main})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata", RequireExplicitExec: true})
}
