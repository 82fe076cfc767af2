package main

import (
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
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
	testscript.Main(m, map[string]func(){"fairdice": main, "make-throws": makeThrows, "receive": receive})
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

// Whatever is in a file of throws, it is refused by line or read in order.
func FuzzReadThrows(f *testing.F) {
	f.Add("6 1\n# no throw\n\n3 3\r\n")
	f.Add("7 1\n1 2 3\n")
	f.Add("6 1")
	f.Fuzz(func(t *testing.T, text string) {
		read, err := readThrows(strings.NewReader(text))
		if err != nil {
			return
		}
		lines := strings.Split(text, "\n")
		for i, d := range read.dice {
			if want := strings.TrimSuffix(lines[read.line[i]-1], "\r"); !d.Valid() || d.String() != want {
				t.Errorf("throw %d is %s, line %d is %q", i, d, read.line[i], want)
			}
		}
	})
}
