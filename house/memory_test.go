package house_test

import (
	"runtime"
	"testing"

	"fairdice/house"
)

// Matches that have ended leave little in memory, and their rolls are repeated
// as they were answered.
func TestEndedMatchesAreSmall(t *testing.T) {
	const matches, most = 24, 40 << 10 // the roll trees alone are some 70 kB
	b := newBench(t)
	if err := b.TopUp(b.ctx(), "default", "random", matches+8); err != nil {
		t.Fatal(err)
	}
	heap := func() int64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	play := func() *match {
		m := b.open("short", single, nil, nil)
		m.begin(1)
		m.step(1)
		m.step(1)
		if _, err := b.AbortGame(b.ctx(), b.p, m.id, 1, "whim", 0); err != nil {
			t.Fatal(err)
		}
		return m
	}
	id := play().id
	evidence := func() house.Evidence {
		e, err := b.Evidence(b.ctx(), id)
		if err != nil {
			t.Fatal(err)
		}
		return e
	}
	was := evidence()
	before := heap()
	for range matches {
		play()
	}
	if each := (heap() - before) / matches; each > most {
		t.Errorf("a match that has ended keeps %d bytes in memory, more than %d", each, most)
	}
	diff(t, "games of the first match", was.Games, evidence().Games)
}
