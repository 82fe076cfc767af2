package browsertest

import (
	"fmt"
	"os"
	"slices"
	"testing"
)

// atEnd are what all tests share and the last one leaves.
var atEnd []func() error

func TestMain(m *testing.M) {
	code := m.Run()
	for _, f := range slices.Backward(atEnd) {
		if err := f(); err != nil {
			fmt.Fprintln(os.Stderr, "at the end:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}
