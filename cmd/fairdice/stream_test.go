package main

import (
	"bufio"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
)

// A SIGTERM ends the streams that are open, between two events, and the service does not
// wait for those who follow: nothing is cut off hard, as it is after Patience.
func TestTerminatedWithStreams(t *testing.T) {
	p := startProcess(t, t.TempDir(), freeAddress(t))
	var open []*bufio.Reader
	for range 3 {
		resp, err := http.Get(p.url + "/v1/feed")
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		r := bufio.NewReader(resp.Body)
		if line, err := r.ReadString('\n'); err != nil || line != "retry: 2000\n" {
			t.Fatalf("a stream begins with %q, %v", line, err)
		}
		open = append(open, r)
	}
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Errorf("the service ended with %v:\n%s", err, p.errors)
	}
	for _, r := range open {
		rest, err := io.ReadAll(r)
		if err != nil || len(rest) > 0 && string(rest[max(0, len(rest)-2):]) != "\n\n" {
			t.Errorf("a stream ended with %q, %v", rest, err)
		}
	}
	if text := p.errors.String(); strings.Contains(text, "stopped hard") {
		t.Errorf("streams were cut off:\n%s", text)
	}
}
