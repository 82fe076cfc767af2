//go:build unix

package house_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"fairdice/commitment"
	"fairdice/house"
)

// follower reads the feed of a match behind an id.
type follower struct {
	t    *testing.T
	feed *house.Feed
	left []house.FeedEvent
}

func follow(t *testing.T, b *bench, match, last string) *follower {
	t.Helper()
	feed, _, err := b.WatchMatch(t.Context(), b.p, "", match, last)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(feed.Close)
	return &follower{t: t, feed: feed}
}

// next is the next event with its id, and its name, which is that of its content.
func (f *follower) next() (id, name string) {
	f.t.Helper()
	if len(f.left) == 0 {
		ctx, cancel := context.WithTimeout(f.t.Context(), 20*time.Second)
		defer cancel()
		events, err := f.feed.Next(ctx)
		if err != nil {
			f.t.Fatal(err)
		}
		f.left = events
	}
	e := f.left[0]
	f.left = f.left[1:]
	switch {
	case e.Statement != nil:
		return e.ID, fmt.Sprintf("%d %s", e.Statement.Index, e.Statement.Type)
	case e.Line != nil:
		return e.ID, fmt.Sprintf("%d.%d %s", e.Line.Game, e.Line.Line, e.Line.Text)
	}
	return e.ID, "end " + e.End.State
}

// upTo reads to the event with that name.
func (f *follower) upTo(name string) (ids, names []string) {
	f.t.Helper()
	for {
		id, n := f.next()
		ids, names = append(ids, id), append(names, n)
		if n == name {
			return ids, names
		}
	}
}

// A double between the deal of a segment and its first roll may stand on either
// side of the deal, on different streams. From every id of either, what
// follows is exactly what was not shown.
func TestDoubleBesideDeal(t *testing.T) {
	b := newBench(t, func(c *house.Config) { c.Rolls = commitment.Lengths{2, 2, 2} })
	m := b.open("short", "raise=cube stake=win series=single crawford=off", newPlayer(t, "a"), newPlayer(t, "b"))
	m.begin(1)
	var due *house.DrawDue
	for {
		if _, ok := m.state.NextDraw(); ok {
			view, err := b.Match(b.ctx(), m.id)
			if err != nil {
				t.Fatal(err)
			}
			if due = view.Games[0].Draw; due.Segment > view.Games[0].Segments {
				break
			}
		}
		m.step(1)
	}
	live := follow(t, b, m.id, "")
	_, err := b.Draw(b.ctx(), b.p, m.id, 1, due.Segment, due.Stream, due.Index)
	code(t, err, house.AwaitingLink)
	m.links(1, due.Segment)
	ids, names := live.upTo(fmt.Sprintf("%d deal", b.logSize()-1))
	on := m.state.OnTurn()
	for _, line := range []string{"double " + on.String(), "take " + on.Other().String()} {
		if _, err := b.Append(b.ctx(), b.p, m.id, 1, len(m.lines)+1, []string{line}); err != nil {
			t.Fatal(err)
		}
		m.apply(line)
	}
	m.step(1) // the roll
	last := fmt.Sprintf("1.%d %s", len(m.lines), m.lines[len(m.lines)-1])
	moreIDs, more := live.upTo(last)
	ids, names = append(ids, moreIDs...), append(names, more...)
	lateIDs, late := follow(t, b, m.id, "").upTo(last)
	if slices.Equal(names, late) {
		t.Error("both streams have one order; the document says they may not")
	}
	all := slices.Sorted(slices.Values(names))
	diff(t, "events of a late follower", all, slices.Sorted(slices.Values(late)))
	for _, order := range []struct{ ids, names []string }{{ids, names}, {lateIDs, late}} {
		for i, id := range order.ids[:len(order.ids)-1] {
			_, rest := follow(t, b, m.id, id).upTo(last)
			got := slices.Sorted(slices.Values(append(slices.Clone(order.names[:i+1]), rest...)))
			diff(t, "events around "+id, all, got)
		}
	}
}

// Who follows at one instance sees what is done at another, in the same events
// and under the same ids.
func TestFeedOfOtherInstance(t *testing.T) {
	both := instances(t, 2)
	m := both[0].open("short", single, nil, nil)
	far := follow(t, both[1], m.id, "")
	log, err := both[1].WatchLog(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	m.begin(1)
	for range 5 {
		m.step(1)
	}
	last := fmt.Sprintf("1.%d %s", len(m.lines), m.lines[len(m.lines)-1])
	ids, names := far.upTo(last)
	nearIDs, near := follow(t, both[0], m.id, "").upTo(last)
	diff(t, "events", near, names)
	diff(t, "ids", nearIDs, ids)
	// Each goes on where the other has stopped.
	m.step(1)
	last = fmt.Sprintf("1.%d %s", len(m.lines), m.lines[len(m.lines)-1])
	for i, b := range both {
		if _, names := follow(t, b, m.id, ids[len(ids)-1]).upTo(last); len(names) != 1 {
			t.Errorf("instance %d shows %v", i, names)
		}
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for seen := false; !seen; {
		events, err := log.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			seen = seen || e.Statement != nil && e.Statement.Type == "assign"
		}
	}
}
