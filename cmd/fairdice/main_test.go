package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
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
	testscript.Main(m, map[string]func(){"fairdice": main, "make-throws": makeThrows})
}

// makeThrows prints as many throws as its argument says, under a comment.
func makeThrows() {
	n, err := strconv.Atoi(os.Args[1])
	if err != nil {
		panic(err) // of a script's own line
	}
	fmt.Println("# thrown by hand in July")
	rng := rand.New(rand.NewPCG(1, 2))
	for range n {
		fmt.Println(rng.IntN(6)+1, rng.IntN(6)+1)
	}
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{Dir: "testdata", RequireExplicitExec: true})
}
