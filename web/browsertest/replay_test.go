package browsertest

import (
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strconv"
	"sync"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"

	"fairdice/internal/browser"
)

// press presses keys of the keyboard, wherever the focus is.
func press(p *browser.Page, keys ...string) {
	for _, key := range keys {
		p.Do("press "+strconv.Quote(key), chromedp.KeyEvent(key))
	}
}

// at waits until the replay shows a step, counted from 1, and its board.
func at(p *browser.Page, step int) {
	p.Until(`document.querySelector('.replay .seek').value === '` + strconv.Itoa(step-1) + `'`)
	drawn(p)
}

// seen is what the board says to one who cannot see it.
func seen(p *browser.Page) string {
	return browser.Eval[string](p, `document.querySelector('.replay .board svg title').textContent + document.querySelector('.replay .board svg desc').textContent`)
}

// Whoever has no mouse, or wants nothing to move, replays a game by the keys.
func TestReplayKeys(t *testing.T) {
	t.Parallel()
	built(t)
	tb := shared(t)
	p := browser.Open(t, browser.Look{})
	p.Go(tb.url + "/match/" + longID)
	p.Shown(".replay .board svg")
	drawn(p)
	browser.Eval[bool](p, `(document.querySelector('.replay').focus(), true)`)
	last := browser.Eval[int](p, `document.querySelector('.replay .seek').max * 1 + 1`)

	press(p, kb.ArrowRight, kb.ArrowRight)
	at(p, 3)
	press(p, kb.ArrowLeft)
	at(p, 2)
	press(p, kb.End)
	at(p, last)
	press(p, kb.ArrowRight) // there is no more
	at(p, last)
	press(p, kb.Home)
	at(p, 1)

	// Space plays, and halts.
	playing := `document.querySelector('[data-do=play]').classList.contains('playing')`
	press(p, " ")
	p.Until(playing)
	p.Until(`document.querySelector('.replay .seek').valueAsNumber > 0`)
	if n := browser.Eval[int](p, `document.getAnimations().filter((a) => a.effect.getTiming().duration > 1).length`); n > 0 {
		t.Errorf("%d things move on the page of one who asked for none to", n)
	}
	press(p, " ")
	p.Until(`!` + playing)

	// On a button of its own, space presses that.
	browser.Eval[bool](p, `(document.querySelector('[data-do=first]').focus(), true)`)
	press(p, " ")
	at(p, 1)
	if browser.Eval[bool](p, playing) {
		t.Error("space on the button to the beginning plays")
	}

	// Both players' view of the same board.
	press(p, kb.Home, kb.ArrowRight, kb.ArrowRight)
	a := seen(p)
	step(2, "B")(t, p)
	b := seen(p)
	if a == b || a == "" {
		t.Errorf("seats A and B see the same: %s", a)
	}

	// The proof of the roll whose dice lie on the table is one key away.
	browser.Eval[bool](p, `(document.querySelector('[data-part=throw]').focus(), true)`)
	press(p, kb.Enter)
	p.Shown("[data-part=proof]")
	p.Says("[data-part=receipt]", "stream a")
	p.Says("[data-part=opening]", "stream a")
	if got := browser.Eval[string](p, `document.querySelector('[data-part=throw]').getAttribute('aria-expanded')`); got != "true" {
		t.Errorf("aria-expanded is %q", got)
	}
	p.Accessible()
	press(p, kb.Enter)
	p.Until(`!document.querySelector('[data-part=proof]').checkVisibility()`)

	// A drawing that was changed step by step is the one that is drawn anew.
	step(40, "A")(t, p)
	press(p, kb.ArrowLeft)
	at(p, 40)
	changed := browser.Eval[string](p, `[...document.querySelector('.replay .board svg').children].map((e) => e.outerHTML).join('\n')`)
	p.Go("about:blank")
	p.Go(tb.url + "/match/" + longID)
	step(39, "A")(t, p)
	if anew := browser.Eval[string](p, `[...document.querySelector('.replay .board svg').children].map((e) => e.outerHTML).join('\n')`); anew != changed {
		t.Errorf("the board is\n%s\nand drawn at once\n%s", changed, anew)
	}
	p.Quiet()
}

// The first fault of a file is one press away, from wherever the replay stands.
func TestReplayFault(t *testing.T) {
	t.Parallel()
	built(t)
	tb := shared(t)
	p := browser.Open(t, browser.Look{})
	p.Go(tb.url + "/")
	tb.fault(t, p)
	browser.Eval[bool](p, `(document.querySelector('.replay').focus(), true)`)
	press(p, kb.Home)
	at(p, 1)
	if visible(p, "[data-part=fault]") {
		t.Error("there is a fault in the first line")
	}
	browser.Eval[bool](p, `(document.querySelector('.replay [data-do=fault]').focus(), true)`)
	press(p, kb.Enter)
	p.Shown("[data-part=fault]")
	p.Says("[data-part=alternatives]", "/")
	p.Quiet()
}

// The page on which a file is checked needs no more than 1.8 MB to do so, all
// together, as the service sends it to a browser that has nothing yet.
func TestFirstVisit(t *testing.T) {
	t.Parallel()
	built(t)
	tb := shared(t)
	target, err := url.Parse(tb.url)
	must(t, err)
	var mu sync.Mutex
	sent := map[string]int{}
	proxy := httputil.NewSingleHostReverseProxy(target)
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		proxy.ServeHTTP(&counted{ResponseWriter: w, add: func(n int) {
			mu.Lock()
			defer mu.Unlock()
			sent[r.URL.Path] += n
		}}, r)
	}))
	defer front.Close()
	p := browser.Open(t, browser.Look{})
	p.Go(front.URL + "/")
	loaded(t, p)
	p.Drop("main", "match.json", tb.bundle)
	if got := verdict(p); got != "verified" {
		t.Errorf("the bundle is %s", got)
	}
	// What works without a connection is loaded then too.
	browser.Eval[bool](p, `navigator.serviceWorker.ready.then((r) => new Promise((done) => {
		const active = () => r.active?.state === 'activated' ? done(true) : setTimeout(active, 50)
		active()
	}))`)
	mu.Lock()
	defer mu.Unlock()
	total := 0
	for _, n := range sent {
		total += n
	}
	if total > 1_800_000 || total < 1_000_000 {
		t.Errorf("the first visit takes %d bytes: %v", total, sent)
	}
	p.Quiet()
}

// counted counts the bytes of a body.
type counted struct {
	http.ResponseWriter
	add func(int)
}

func (c *counted) Write(p []byte) (int, error) {
	n, err := c.ResponseWriter.Write(p)
	c.add(n)
	return n, err
}

func (c *counted) Unwrap() http.ResponseWriter { return c.ResponseWriter }
