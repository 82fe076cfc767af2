package house_test

import (
	"testing"
	"time"

	"fairdice/commitment"
	"fairdice/house"
)

// TestDeadlines: nothing misses a deadline, and nothing is ended before its time is nearly up.
func TestDeadlines(t *testing.T) {
	c := &clock{now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
	b := newBench(t, func(cfg *house.Config) { cfg.Now = c.Now })
	start := c.Now()
	sweep := func(want house.Swept) {
		t.Helper()
		got, err := b.Sweep(b.ctx())
		if err != nil {
			t.Fatal(err)
		}
		diff(t, "swept", want, got)
	}
	waiting := b.open("short", single, newPlayer(t, "a"), newPlayer(t, "b")) // for B's link
	if _, err := b.NextGame(b.ctx(), b.p, waiting.id, 1, 0); err != nil {
		t.Fatal(err)
	}
	if _, err := b.PutLink(b.ctx(), waiting.id, 1, 1, "a", waiting.a.next(t), 0); err != nil {
		t.Fatal(err)
	}
	over := b.open("short", single, nil, nil)
	over.begin(1)
	for over.step(1) {
	}
	c.set(start.Add(70 * time.Hour))
	sweep(house.Swept{})
	fresh := b.open("short", single, nil, nil)
	fresh.begin(1)
	c.set(start.Add(house.AssignedLimit - time.Minute))
	sweep(house.Swept{Closed: 1, Aborted: 1})
	sweep(house.Swept{})
	state := func(m *match) string {
		v, err := b.Match(b.ctx(), m.id)
		if err != nil {
			t.Fatal(err)
		}
		return v.Games[0].State
	}
	diff(t, "states", []string{"aborted", "closed", "playing"}, []string{state(waiting), state(over), state(fresh)})
	p, err := b.Statements(b.ctx(), waiting.id, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := commitment.Parse([]byte(p.Statements[len(p.Statements)-1].Text))
	if err != nil {
		t.Fatal(err)
	}
	abort, ok := s.(commitment.Abort)
	if !ok || abort.By != "house" || abort.LinkA == nil || len(abort.Secrets) != 1 || abort.Time.Sub(start) > house.AssignedLimit {
		t.Errorf("the statement that ended the game:\n%s", s.Text())
	}
	// The platform that asks for the close of a game the house has closed gets the usual answer.
	if _, err := b.CloseGame(b.ctx(), b.p, over.id, 1, nil, 0); err != nil {
		t.Error(err)
	}
	free := func() int {
		n := 0
		for _, mode := range house.Sealable() {
			list, _, err := b.Sequences(b.ctx(), "default", mode, "free", 0, house.MaxPage)
			if err != nil {
				t.Fatal(err)
			}
			n += len(list)
		}
		return n
	}
	n := free()
	c.set(start.Add(house.FreeLimit - time.Minute))
	got, err := b.Sweep(b.ctx())
	if err != nil {
		t.Fatal(err)
	}
	if got.Retired != n || free() != 0 || got.Aborted != 1 {
		t.Errorf("swept %+v of %d free sequences, %d are left", got, n, free())
	}
}
