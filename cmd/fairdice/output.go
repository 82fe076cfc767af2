package main

import (
	"fmt"
	"io"
)

// told is the output of a command. It remembers its first failure: a command
// that could not say what it was asked for has not done it.
type told struct {
	out io.Writer
	err error
}

// Write passes on what is said, as long as all before it was.
func (t *told) Write(p []byte) (int, error) {
	if t.err != nil {
		return 0, t.err
	}
	n, err := t.out.Write(p)
	if err != nil {
		t.err = fmt.Errorf("write output: %w", err)
	}
	return n, t.err
}
