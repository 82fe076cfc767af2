package browsertest

import (
	"strconv"
	"testing"

	"fairdice/client"
	"fairdice/internal/browser"
	"fairdice/replay"
)

// visible tells whether an element is shown now.
func visible(p *browser.Page, selector string) bool {
	return browser.Eval[bool](p, "Boolean(document.querySelector('"+selector+"')?.checkVisibility())")
}

// Whoever has the view token follows a series from game to game. What each game
// starts from is told: its number, the score, and that it is the Crawford game;
// a game that was aborted counts for nothing but its number.
func TestLive(t *testing.T) {
	t.Parallel()
	built(t)
	s := startService(t)
	id := matchID(1)
	token, err := s.openWatched(id, "short", client.ModeRandom, points)
	must(t, err)
	m, err := s.sit(id, "short", points, 5)
	must(t, err)
	p := browser.Open(t, browser.Look{})
	p.Go(s.url + "/match/" + id + "#view=" + token)
	p.Shown("#live")
	lines := func(n int) func() bool { return func() bool { return m.line >= n } }
	// at waits until the page shows as much of the game as was played.
	at := func(p *browser.Page, score, before string) {
		t.Helper()
		p.Says("[data-part=place]", "of "+strconv.Itoa(m.line))
		p.Says("[data-part=score]", before)
		p.Shown(".replay .board svg")
		p.Says("#score", score)
		if visible(p, "[data-part=fault]") {
			t.Errorf("game %d: the page finds a fault: %s", m.game, p.Text("[data-part=fault]"))
		}
	}
	must(t, m.begin())
	must(t, m.until(lines(6)))
	at(p, "0 : 0", "A 0, B 0")
	must(t, m.abort())

	must(t, m.begin())
	must(t, m.until(lines(8)))
	must(t, m.giveUp(replay.B, 2))
	at(p, "2 : 0", "A 0, B 0")

	must(t, m.begin())
	must(t, m.until(lines(5)))
	at(p, "2 : 0", "A 2, B 0")
	p.Shown("[data-part=crawford]")
	p.Accessible()

	// One who comes later has the games that have ended checked, and sees the same.
	late := browser.Open(t, browser.Look{})
	late.Go(s.url + "/match/" + id)
	late.Says(".report .verdict", "")
	late.Fill("#token", token)
	late.Click("#watch button")
	late.Shown("#live")
	at(late, "2 : 0", "A 2, B 0")

	must(t, m.giveUp(replay.A, 1))
	at(p, "2 : 1", "A 2, B 0")
	must(t, m.begin())
	must(t, m.until(lines(4)))
	for _, p := range []*browser.Page{p, late} {
		at(p, "2 : 1", "A 2, B 1")
		if visible(p, "[data-part=crawford]") {
			t.Error("the game after it is called the Crawford game too")
		}
	}
	must(t, m.giveUp(replay.A, 2))
	for _, p := range []*browser.Page{p, late} {
		p.Shown("[data-part=over]")
		p.Says("#score", "2 : 3")
		p.Quiet()
	}
}
