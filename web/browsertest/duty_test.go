package browsertest

import (
	"crypto/rand"
	"path/filepath"
	"strings"
	"testing"

	"fairdice/client"
	"fairdice/client/player"
	"fairdice/internal/browser"
)

// dutiful is a page on which a player keeps the chain of seat A, in a match
// that he has agreed to play; Go plays seat B.
type dutiful struct {
	*service
	*browser.Page
	t        *testing.T
	opponent *player.Player
	anchor   string
}

const dutyMatch = "01940c3e-7b4a-7c1d-9a52-3f6d0b8e2c21"

// sitDown makes the anchor in the page and opens the match with it.
func sitDown(t *testing.T, mode client.Mode) *dutiful {
	t.Helper()
	s := startService(t)
	d := &dutiful{service: s, Page: browser.Open(t, browser.Look{}), t: t}
	var err error
	d.opponent, err = player.New(filepath.Join(t.TempDir(), "ben.json"), s.logKey, 64, rand.Reader)
	must(t, err)
	must(t, d.opponent.Join(player.Terms{Match: dutyMatch, Token: "ben"}))
	d.Go(s.url + "/my-chain#match=" + dutyMatch + "&token=ada&opponent=ben")
	d.Click("#make")
	d.Shown("#own")
	if d.anchor = d.Text("#anchor"); len(d.anchor) != 64 {
		t.Fatalf("the anchor is %q", d.anchor)
	}
	_, err = s.client.OpenMatch(t.Context(), dutyMatch, client.OpenRequest{
		Variant: "short", Mode: mode, Options: new(single),
		A: client.Player{Token: "ada", Anchor: &client.Anchor{Hash: d.anchor}},
		B: client.Player{Token: "ben", Anchor: &client.Anchor{Hash: d.opponent.Anchor().String()}},
	}, 0)
	must(t, err)
	return d
}

// agree writes the terms into the page.
func (d *dutiful) agree(terms map[string]string) {
	d.t.Helper()
	for name, value := range terms {
		d.Fill("#"+name, value)
	}
	d.Click("#join")
	d.Says("#joined", dutyMatch)
}

// agreed is what the match is.
var agreed = map[string]string{"variant": "short", "mode": "random", "options": single, "profile": "refereed", "tenant": tenant}

func (d *dutiful) deal(game int) {
	d.t.Helper()
	_, err := d.client.NextGame(d.t.Context(), dutyMatch, game, 0)
	must(d.t, err)
}

// steps are what the page says it has checked, in order, the failed one with "!".
func (d *dutiful) steps() string {
	d.t.Helper()
	return browser.Eval[string](d.Page, `[...document.querySelectorAll('#steps li:not([hidden])')].map((e) => (e.dataset.outcome === 'fail' ? '!' : '') + e.dataset.step).join(' ')`)
}

// A player makes an anchor, agrees to a match and cuts its dice: from a page, against
// an opponent who does the same with another program.
func TestDuty(t *testing.T) {
	d := sitDown(t, client.ModeRandom)
	if got := browser.Eval[string](d.Page, "document.querySelector('#token').value"); got != "ada" {
		t.Errorf("the address has filled in the token %q", got)
	}
	d.agree(agreed)
	d.Click("#release")
	d.Shown("[data-part=waiting]") // no game has begun
	d.deal(1)
	d.Click("#release")
	d.Shown("[data-part=released]")
	if got, want := d.steps(), "signature first inclusion open assign kept"; got != want {
		t.Errorf("the page says it has checked %q, want %q", got, want)
	}
	if links := d.linksTaken(); len(links) != 1 || !strings.HasSuffix(links[0], "/games/1/segments/1/links/a") {
		t.Errorf("the links that arrived: %v", links)
	}
	d.Accessible()
	_, err := d.opponent.Play(t.Context(), d.client, 1, 1)
	must(t, err)
	m, err := d.client.Match(t.Context(), dutyMatch)
	must(t, err)
	if m.Games[0].State != client.GameStatePlaying {
		t.Fatalf("after both links the game is %s", m.Games[0].State)
	}

	// What the browser keeps goes on after it was closed, and the next game's link is another one.
	first := d.Text("#link")
	d.Go(d.url + "/my-chain")
	d.Fill("#chains", d.anchor)
	d.Says("#joined", dutyMatch)
	if got := d.Text("#links"); got != "1" {
		t.Errorf("after a reload %q links are spent", got)
	}
	_, err = d.client.AbortGame(t.Context(), dutyMatch, 1, "crash", 0)
	must(t, err)
	d.deal(2)
	d.Click("#follow")
	d.Shown("[data-part=released]")
	if got, want := d.steps(), "signature consistency inclusion open assign kept"; got != want {
		t.Errorf("then the page says it has checked %q, want %q", got, want)
	}
	if second := d.Text("#link"); len(second) != 64 || second == first {
		t.Errorf("the links are %s and %s", first, second)
	}
	d.Quiet()
}
