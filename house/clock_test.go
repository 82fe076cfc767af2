package house_test

import (
	"sync/atomic"
	"testing"
	"time"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/store"
)

// TestClockJumps: a clock that jumps dates nothing and ends nothing before it has
// stood by its jump; the log's times never go back, whatever it does.
func TestClockJumps(t *testing.T) {
	c := &clock{now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
	var elapsed atomic.Int64
	b := newBench(t, func(cfg *house.Config) {
		cfg.Now, cfg.Elapsed = c.Now, func() time.Duration { return time.Duration(elapsed.Load()) }
	})
	pass := func(d time.Duration) { // as time does
		elapsed.Add(int64(d))
		c.set(c.Now().Add(d))
	}
	jump := func(d time.Duration) { c.set(c.Now().Add(d)) }
	number := uint64(4) // of the next sequence
	seal := func() time.Time {
		t.Helper()
		a, err := b.Seal(b.ctx(), b.p, "random", number, 0)
		if err != nil {
			t.Fatal(err)
		}
		number++
		s, err := commitment.Parse([]byte(a.Published.Statements[0].Text))
		if err != nil {
			t.Fatal(err)
		}
		return s.When()
	}
	idle := func() {
		t.Helper()
		if got, err := b.Sweep(b.ctx()); err != nil || got != (house.Swept{}) {
			t.Errorf("swept %+v, %v", got, err)
		}
	}
	distrusted := func() {
		t.Helper()
		before := b.logSize()
		_, err := b.Seal(b.ctx(), b.p, "random", number, 0)
		if e := code(t, err, house.Unavailable); e.RetryAfter != time.Minute {
			t.Errorf("retry after %s", e.RetryAfter)
		}
		got, err := b.Sweep(b.ctx())
		code(t, err, house.Unavailable)
		if got != (house.Swept{}) || b.logSize() != before {
			t.Errorf("swept %+v; %d statements, were %d", got, b.logSize(), before)
		}
	}
	m := b.open("short", single, nil, nil)
	m.begin(1)
	start := c.Now()

	pass(time.Hour) // nothing special
	if at := seal(); !at.Equal(start.Add(time.Hour)) {
		t.Errorf("dated %s", at)
	}
	jump(house.JumpLimit) // a correction
	before := seal()
	idle()

	// A hundred days ahead, and back in time.
	jump(100 * 24 * time.Hour)
	distrusted()
	if _, err := b.Draw(b.ctx(), b.p, m.id, 1, 1, "opening", 0); house.CodeOf(err) != house.Unavailable {
		t.Errorf("a roll dated in a hundred days: %v", err)
	}
	pass(house.JumpPatience - time.Second)
	distrusted()
	jump(-100 * 24 * time.Hour)
	idle()
	if !m.step(1) {
		t.Error("the game does not go on")
	}
	if at := seal(); at.Sub(before) > time.Hour {
		t.Errorf("dated %s after %s", at, before)
	}

	// To and fro: each jump is watched from its own beginning.
	jump(50 * 24 * time.Hour)
	distrusted()
	pass(house.JumpPatience / 2)
	jump(50 * 24 * time.Hour)
	distrusted()
	pass(house.JumpPatience - time.Second)
	distrusted()
	jump(-100 * 24 * time.Hour)
	idle()

	// Back: nothing waits, nothing is dated before what is there.
	last := seal()
	jump(-10 * 24 * time.Hour)
	if at := seal(); !at.Equal(last) {
		t.Errorf("dated %s after %s", at, last)
	}
	idle()
	jump(10 * 24 * time.Hour)
	last = seal()

	// A machine that slept for two days is believed in time for its deadlines.
	jump(48 * time.Hour)
	distrusted()
	pass(house.JumpPatience)
	idle()
	if at := seal(); at.Sub(last) < 48*time.Hour {
		t.Errorf("dated %s after %s", at, last)
	}
	pass(house.AssignedLimit - 49*time.Hour)
	if got, err := b.Sweep(b.ctx()); err != nil || got.Aborted != 1 {
		t.Errorf("swept %+v, %v", got, err)
	}

	var entries []store.Entry
	if err := b.config.Store.View(b.ctx(), func(r store.Reader) (err error) {
		entries, err = r.Entries(0, b.logSize())
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for i, e := range entries[1:] {
		if e.Time.Before(entries[i].Time) {
			t.Errorf("statement %d is dated before the one in front of it", e.Index)
		}
	}
}
