package house_test

import (
	"testing"
	"time"

	"fairdice/house"
)

// TestOverdue: what nobody has ended in time is listed, in the order of the
// log and page by page, from the second after its time is up until it is ended.
func TestOverdue(t *testing.T) {
	c := &clock{now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
	b := newBench(t, func(cfg *house.Config) { cfg.Now = c.Now })
	start := c.Now()
	overdue := func(from int64, limit int) []house.Overdue {
		t.Helper()
		list, err := b.Overdue(b.ctx(), from, limit)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	first, second := b.open("short", single, nil, nil), b.open("short", single, nil, nil)
	first.begin(1)
	second.begin(1)
	c.set(start.Add(house.AssignedLimit))
	diff(t, "at the limit", []house.Overdue{}, overdue(0, 10))
	c.set(start.Add(house.AssignedLimit + time.Second))
	list := overdue(0, 10)
	if len(list) != 2 || list[0].Match != first.id || list[1].Match != second.id || list[0].Game != 1 || list[0].Mode != "random" ||
		list[0].Tenant != "default" || !list[0].Since.Equal(start) || !list[0].Due.Equal(start.Add(house.AssignedLimit)) {
		t.Errorf("overdue games: %+v", list)
	}
	diff(t, "from the second on", list[1:], overdue(list[1].Index, 10))
	if _, err := b.AbortGame(b.ctx(), b.p, first.id, 1, "late", 0); err != nil {
		t.Fatal(err)
	}
	diff(t, "after an abort", list[1:], overdue(0, 10))

	// All free sequences are overdue too; they were committed before the game.
	c.set(start.Add(house.FreeLimit + time.Second))
	all := overdue(0, house.MaxPage)
	if n := len(all); n < 10 || all[n-1].Match != second.id || all[0].Match != "" || !all[0].Due.Equal(start.Add(house.FreeLimit)) {
		t.Errorf("%d overdue: %+v", n, all)
	}
	var paged []house.Overdue
	for from := int64(0); ; {
		page := overdue(from, 3)
		if len(page) == 0 {
			break
		}
		paged = append(paged, page...)
		from = page[len(page)-1].Index + 1
	}
	diff(t, "page by page", all, paged)
	if _, err := b.Sweep(b.ctx()); err != nil {
		t.Fatal(err)
	}
	diff(t, "after a sweep", []house.Overdue{}, overdue(0, 10))
}
