package main

import (
	"testing"
	"time"
)

func TestLoad(t *testing.T) {
	s, key := startService(t)
	l := &loadRun{url: s.url(), variant: "tavla", mode: "random", clients: 4, duration: 300 * time.Millisecond}
	if err := l.run(t.Context(), key); err != nil {
		t.Fatal(err)
	}
	if len(l.took) == 0 {
		t.Error("no rolls")
	}
	l = &loadRun{url: s.url(), variant: "tavla", mode: "random", clients: 4, duration: time.Minute}
	if err := l.run(t.Context(), "fd_wrong"); err == nil {
		t.Error("a wrong key can play")
	}
}
