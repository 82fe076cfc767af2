package browsertest

import (
	"crypto/rand"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"fairdice/client"
	"fairdice/client/player"
	"fairdice/internal/browser"
)

// dutiful is a page on which a player keeps the chain of seat A of a match; Go
// plays seat B.
type dutiful struct {
	*service
	*browser.Page
	t        *testing.T
	match    string
	opponent *player.Player
	anchor   string
}

// agreed is what the players have agreed to play.
var agreed = map[string]string{"variant": "short", "mode": "random", "options": single, "profile": "refereed", "tenant": tenant}

// sitDown makes an anchor in the page, opens a match with it as change says, and
// writes the terms into the page.
func sitDown(t *testing.T, s *service, p *browser.Page, match string, terms map[string]string, change func(*client.OpenRequest)) *dutiful {
	t.Helper()
	d := &dutiful{service: s, Page: p, t: t, match: match}
	var err error
	d.opponent, err = player.New(filepath.Join(t.TempDir(), "ben.json"), s.logKey, 64, rand.Reader)
	must(t, err)
	must(t, d.opponent.Join(player.Terms{Match: match, Token: "ben"}))
	p.Go("about:blank") // another fragment alone loads no page
	p.Go(s.url + "/my-chain#match=" + match + "&token=ada&opponent=ben")
	p.Click("#make")
	p.Shown("#own")
	if d.anchor = p.Text("#anchor"); len(d.anchor) != 64 {
		t.Fatalf("the anchor is %q", d.anchor)
	}
	o := client.OpenRequest{
		Variant: "short", Mode: client.Mode(terms["mode"]), Options: new(single),
		A: client.Player{Token: "ada", Anchor: &client.Anchor{Hash: d.anchor}},
		B: client.Player{Token: "ben", Anchor: &client.Anchor{Hash: d.opponent.Anchor().String()}},
	}
	if change != nil {
		change(&o)
	}
	_, err = s.client.OpenMatch(t.Context(), match, o, 0)
	must(t, err)
	for name, value := range terms {
		p.Fill("#"+name, value)
	}
	p.Click("#join")
	p.Says("#joined", match)
	return d
}

func (d *dutiful) begin(game int) {
	d.t.Helper()
	_, err := d.client.NextGame(d.t.Context(), d.match, game, 0)
	must(d.t, err)
}

// steps are what the page says it has checked, in order, the one that failed with "!".
func (d *dutiful) steps() string {
	d.t.Helper()
	return browser.Eval[string](d.Page, `[...document.querySelectorAll('#steps li:not([hidden])')].map((e) => (e.dataset.outcome === 'fail' ? '!' : '') + e.dataset.step).join(' ')`)
}

// matchID is the n-th of a test.
func matchID(n int) string { return fmt.Sprintf("01940c3e-7b4a-7c1d-9a52-%012d", n) }

// A player makes an anchor, agrees to a match and cuts its dice: from a page,
// against an opponent who does the same with another program.
func TestDuty(t *testing.T) {
	t.Parallel()
	p := browser.Open(t, browser.Look{})
	d := sitDown(t, startService(t), p, matchID(1), agreed, nil)
	p.Click("#release")
	p.Shown("[data-part=waiting]") // no game has begun
	d.begin(1)
	p.Click("#release")
	p.Shown("[data-part=released]")
	if got, want := d.steps(), "signature first inclusion open assign kept"; got != want {
		t.Errorf("the page says it has checked %q, want %q", got, want)
	}
	if links := d.linksTaken(); len(links) != 1 || !strings.HasSuffix(links[0], "/games/1/segments/1/links/a") {
		t.Errorf("the links that arrived: %v", links)
	}
	p.Accessible()
	_, err := d.opponent.Play(t.Context(), d.client, 1, 1)
	must(t, err)
	m, err := d.client.Match(t.Context(), d.match)
	must(t, err)
	if m.Games[0].State != client.GameStatePlaying {
		t.Fatalf("after both links the game is %s", m.Games[0].State)
	}

	// What the browser keeps goes on after it was closed, and the next game's link is another one.
	first := p.Text("#link")
	p.Go("about:blank")
	p.Go(d.url + "/my-chain")
	p.Fill("#chains", d.anchor)
	p.Says("#joined", d.match)
	if got := p.Text("#links"); got != "1" {
		t.Errorf("after a reload %q links are spent", got)
	}
	_, err = d.client.AbortGame(t.Context(), d.match, 1, "crash", 0)
	must(t, err)
	d.begin(2)
	p.Click("#follow")
	p.Shown("[data-part=released]")
	if got, want := d.steps(), "signature consistency inclusion open assign kept"; got != want {
		t.Errorf("then the page says it has checked %q, want %q", got, want)
	}
	if second := p.Text("#link"); len(second) != 64 || second == first {
		t.Errorf("the links are %s and %s", first, second)
	}
	p.Quiet()
}

// In mode live every throw takes a link of both players, the one on roll first.
func TestDutyLive(t *testing.T) {
	t.Parallel()
	p := browser.Open(t, browser.Look{})
	d := sitDown(t, startService(t), p, matchID(1), map[string]string{"mode": "live"}, nil)
	d.begin(1)
	p.Click("#follow")
	p.Shown("[data-part=released]")
	_, err := d.opponent.Play(t.Context(), d.client, 1, 1)
	must(t, err)
	p.Says("#due-game", "1 · 1 · 1") // game, segment, throw
	p.Shown("[data-part=released]")
	if got, want := d.steps(), "signature consistency inclusion open deal kept"; got != want {
		t.Errorf("for a throw the page says it has checked %q, want %q", got, want)
	}
	_, err = d.opponent.PlayThrow(t.Context(), d.client, 1, 1, 1)
	must(t, err)
	r, err := d.client.Draw(t.Context(), d.match, 1, 1, client.StreamOpening, 0)
	must(t, err)
	must(t, d.opponent.CheckRoll(r))
	p.Quiet()
}

// What a browser has lost comes back from the file, and goes on where it was.
func TestChainFile(t *testing.T) {
	t.Parallel()
	p := browser.Open(t, browser.Look{})
	d := sitDown(t, startService(t), p, matchID(1), agreed, nil)
	d.begin(1)
	p.Click("#release")
	p.Shown("[data-part=released]")
	link := p.Text("#link")
	file := downloaded(p)
	other := browser.Open(t, browser.Look{})
	other.Go(d.url + "/my-chain")
	other.Choose("#restore", "notes.json", []byte(`{"format":"something else"}`))
	other.Shown("#own-failed")
	other.Choose("#restore", "chain.json", []byte(file))
	other.Says("#joined", d.match)
	other.Click("#release")
	other.Shown("[data-part=released]")
	if again := other.Text("#link"); again != link {
		t.Errorf("for the same deal the file gives %s, the browser gave %s", again, link)
	}
	other.Quiet()
	p.Quiet()
}

// downloaded is the file of the chain.
func downloaded(p *browser.Page) string {
	return browser.Eval[string](p, `new Promise((done) => {
		const make = URL.createObjectURL
		URL.createObjectURL = (blob) => { blob.text().then(done); URL.createObjectURL = make; return make(blob) }
		document.querySelector('#download').click()
	})`)
}

// A chain that comes back from an old file gives no link, and the page says what
// to do: to open the newest file, after which it goes on, or to make a new anchor.
func TestOldChainFile(t *testing.T) {
	t.Parallel()
	p := browser.Open(t, browser.Look{})
	d := sitDown(t, startService(t), p, matchID(1), agreed, nil)
	before := downloaded(p)
	d.begin(1)
	p.Click("#release")
	p.Shown("[data-part=released]")
	after := downloaded(p)
	_, err := d.opponent.Play(t.Context(), d.client, 1, 1)
	must(t, err)
	_, err = d.client.AbortGame(t.Context(), d.match, 1, "crash", 0)
	must(t, err)
	d.begin(2)
	taken := len(d.linksTaken())

	other := browser.Open(t, browser.Look{})
	other.Go(d.url + "/my-chain")
	other.Choose("#restore", "old.json", []byte(before))
	other.Says("#joined", d.match)
	other.Click("#release")
	other.Shown("[data-part=outdated]")
	other.Says("#why", "it knows of 0 released links, but 1 have left")
	if links := d.linksTaken()[taken:]; len(links) != 0 {
		t.Errorf("links arrived: %v", links)
	}
	other.Accessible()
	other.Click("#renew")
	other.Shown("#new")
	// A newer file than the one that is kept goes on, and an older one changes nothing then.
	other.Choose("#restore", "new.json", []byte(after))
	other.Says("#joined", d.match)
	other.Click("#release")
	other.Shown("[data-part=released]")
	link := other.Text("#link")
	other.Choose("#restore", "old.json", []byte(before))
	other.Says("#links", "2")
	other.Click("#release")
	other.Shown("[data-part=released]")
	if again := other.Text("#link"); again != link {
		t.Errorf("for one deal the links %s and %s left", link, again)
	}
	other.Quiet()
	p.Quiet()
}

// A newer file of a chain replaces the one that is kept, and the later checkpoint of both stays: a log that goes
// back is known by it.
func TestNewerFileRemembers(t *testing.T) {
	t.Parallel()
	p := browser.Open(t, browser.Look{})
	p.Go(shared(t).url + "/my-chain")
	got := browser.Eval[string](p, `import('/static/chains.js').then(async ({ kept }) => {
		const text = (links, size) => JSON.stringify({ checkpoint: 'log\n' + size + '\n', released: Array.from({ length: links }, (_, i) => ({ game: i })) }, null, 2) + '\n'
		await kept.add('anchor', text(1, 9))
		await kept.add('anchor', text(2, 5))
		const older = await kept.at('anchor').get() === text(2, 9)
		await kept.add('anchor', text(3, 12))
		const later = await kept.at('anchor').get() === text(3, 12)
		await kept.add('anchor', text(2, 20))
		return [older, later, await kept.at('anchor').get() === text(3, 12)].join()
	})`)
	if got != "true,true,true" {
		t.Errorf("a file of more links with an older checkpoint, one with a later one, one of fewer links: %s", got)
	}
	p.Quiet()
}

// Two windows do not spend one chain: the one that comes second gives no link.
func TestTwoWindows(t *testing.T) {
	t.Parallel()
	p := browser.Open(t, browser.Look{})
	d := sitDown(t, startService(t), p, matchID(1), agreed, nil)
	d.begin(1)
	browser.Eval[bool](p, `import('/static/chains.js').then(async ({ kept }) => {
		const store = kept.at(document.querySelector('#anchor').textContent)
		const text = await store.get()
		await store.set(text + '\n', text)
		return true
	})`)
	p.Click("#release")
	p.Shown("[data-part=failed]")
	if links := d.linksTaken(); len(links) != 0 {
		t.Errorf("links arrived: %v", links)
	}
	p.Quiet()
}

// A platform's page, of another origin, may load the player from the service.
func TestEmbedded(t *testing.T) {
	t.Parallel()
	s := startService(t)
	platform := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/html")
		_, _ = io.WriteString(w, "<!doctype html><title>platform</title><link rel=icon href=data:,>")
	}))
	defer platform.Close()
	p := browser.Open(t, browser.Look{})
	p.Go(platform.URL)
	if got := browser.Eval[string](p, `import('`+s.url+`/static/player.js').then((m) => Object.keys(m).sort().join(' '), String)`); got != "Distrust LINKS NotDue Outdated Player Spent" {
		t.Errorf("in a page of another origin player.js is %s", got)
	}
	p.Quiet()
}

// Who follows one match after the other in a window gives each its link, though both wait for that of the same segment.
func TestTwoMatches(t *testing.T) {
	t.Parallel()
	p := browser.Open(t, browser.Look{})
	s := startService(t)
	sat := [2]*dutiful{sitDown(t, s, p, matchID(1), agreed, nil), sitDown(t, s, p, matchID(2), agreed, nil)}
	for _, d := range sat {
		d.begin(1)
		p.Fill("#chains", d.anchor)
		p.Says("#joined", d.match)
		p.Click("#follow")
		p.Shown("[data-part=released]")
		if links := d.linksTaken(); len(links) == 0 || !strings.Contains(links[len(links)-1], d.match) {
			t.Errorf("match %s got %v", d.match, links)
		}
	}
	p.Quiet()
}
