package api_test

import (
	"net/http"
	"net/http/httptest"
	"testing"

	"fairdice/client/player"
	"fairdice/internal/browser"
	"fairdice/internal/messages"
	"fairdice/replay"
)

// inBrowser are the pages of a service where one game was played to its end.
func inBrowser(t *testing.T, b *bench) []string {
	id := b.openL0("short")
	b.playOn(id, 1, setting(t, single), [2]*player.Player{}, func(st replay.State) bool { return st.Due().Kind == replay.DueStage })
	must(t, second(b.client.AbortGame(t.Context(), id, 1, "crash", 0)))
	page, err := b.client.Sequences(t.Context(), tenant, "random", "", 0)
	must(t, err)
	return []string{
		"/", "/match/" + id, "/commitments", "/commitments?sequence=none", "/commitments/" + page.Sequences[0].Sequence, "/log", "/how", "/my-chain", "/nowhere",
	}
}

// Every page, in every language, in light and dark, on a desk and on a small
// telephone: no script fails, the policy refuses nothing, no file is missing,
// nothing is cut off, and axe-core finds nothing.
func TestPagesInBrowser(t *testing.T) {
	b := newPages(t)
	pages := inBrowser(t, b)
	for i, lang := range messages.Languages() {
		look := browser.Look{Language: lang, Dark: i%2 == 1, Width: []int{1024, 320}[i/2]}
		t.Run(lang, func(t *testing.T) {
			p := browser.Open(t, look)
			colours := func(dark bool, path string) {
				want := "light"
				if dark {
					want = "dark"
				}
				if got := browser.Eval[string](p, `getComputedStyle(document.documentElement).colorScheme`); got != want {
					t.Errorf("%s is %s, want %s", path, got, want)
				}
			}
			for _, path := range pages {
				p.Go(b.url + path)
				if browser.Eval[bool](p, `document.querySelector('.proof') !== null`) {
					p.Until(`document.querySelector('.proof [data-part=waiting]').hidden`)
					if n := browser.Eval[int](p, `document.querySelectorAll('.outcomes [data-outcome=fail]:not([hidden]), .proof .warning:not([hidden])').length`); n > 0 {
						t.Errorf("%s: %s", path, browser.Eval[string](p, `document.querySelector('.proof').innerText`))
					}
				}
				if got := browser.Eval[string](p, `document.documentElement.lang`); got != lang {
					t.Errorf("%s is in %q, want %s", path, got, lang)
				}
				if over := browser.Eval[int](p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
					t.Errorf("%s is %d pixels wider than the window", path, over)
				}
				colours(look.Dark, path)
				p.Accessible()
				// The other colours are the visitor's own choice.
				choose := func(theme string) {
					browser.Eval[bool](p, `(() => { const s = document.getElementById('theme'); s.value = '`+theme+`'; return s.dispatchEvent(new Event('change')) })()`)
				}
				choose(map[bool]string{true: "light", false: "dark"}[look.Dark])
				colours(!look.Dark, path)
				p.Accessible("color-contrast")
				choose("")
				for _, f := range p.Faults() {
					if path != "/nowhere" { // whose own 404 the console tells
						t.Errorf("%s: %s", path, f)
					}
				}
			}
		})
	}
}

// The proof of a sequence is computed in the browser, under the key that the
// visitor has pinned, and the log must extend what the browser has seen of it.
func TestProofInBrowser(t *testing.T) {
	b := newPages(t)
	pages := inBrowser(t, b)
	p := browser.Open(t, browser.Look{})
	outcome := func(part string) string {
		p.Until(`document.querySelector('.proof [data-part=waiting]').hidden`)
		return browser.Eval[string](p, `[...document.querySelectorAll('.proof [data-part="`+part+`"]:not([hidden])')].map((e) => e.dataset.outcome).join()`)
	}
	sequence := b.url + pages[4]
	p.Go(sequence)
	for part, want := range map[string]string{"key": "site", "signature": "pass", "inclusion": "pass", "consistency": "first"} {
		if got := outcome(part); got != want {
			t.Errorf("at first %s is %q, want %s", part, got, want)
		}
	}
	b.openL0("short") // the log grows
	p.Go(b.url + "/log")
	if got := outcome("consistency"); got != "pass" {
		t.Errorf("after the log has grown: %q", got)
	}
	// A key that the visitor has pinned counts, not that of the page.
	other := newPages(t)
	pin := func(key string) {
		browser.Eval[bool](p, `import('/static/pinned.js').then((m) => (m.pin('`+key+`', 'typed'), true))`)
	}
	pin(other.logKey)
	p.Go(sequence)
	if got := outcome("signature"); got != "fail" {
		t.Errorf("under another key the signature is %q", got)
	}
	pin(b.logKey)
	p.Go(sequence)
	if got := outcome("key") + outcome("signature"); got != "passpass" {
		t.Errorf("under the pinned key: %q", got)
	}
	p.Quiet()
}

// Pages that were loaded once are there without a connection, with all they
// load, in the language that was chosen.
func TestOffline(t *testing.T) {
	b := newPages(t)
	service := httptest.NewServer(b.handler)
	p := browser.Open(t, browser.Look{})
	p.Go(service.URL + "/?lang=hy")
	browser.Eval[bool](p, `navigator.serviceWorker.ready.then((r) => new Promise((done) => {
		const active = () => r.active?.state === 'activated' ? done(true) : setTimeout(active, 50)
		active()
	}))`)
	p.Quiet()
	service.CloseClientConnections()
	service.Close()
	if _, err := http.Get(service.URL + "/how"); err == nil {
		t.Fatal("the service still answers")
	}
	for _, path := range []string{"/", "/how", "/my-chain"} {
		p.Go(service.URL + path)
		if got := browser.Eval[string](p, `document.documentElement.lang + ' ' + getComputedStyle(document.querySelector('.top')).display + ' ' + document.fonts.check('16px "Noto Sans"', 'ա')`); got != "hy flex true" {
			t.Errorf("%s without a connection: %q", path, got)
		}
	}
	// What the API says is never kept.
	if got := browser.Eval[string](p, `fetch('/version').then((r) => r.status + '', () => 'no connection')`); got != "no connection" {
		t.Errorf("the API without a connection: %s", got)
	}
}

// Without JavaScript all that is known stands on the page, and nothing waits.
func TestNoScript(t *testing.T) {
	b := newPages(t)
	p := browser.Open(t, browser.Look{NoScript: true})
	for _, path := range inBrowser(t, b)[:8] {
		p.Go(b.url + path)
		text := browser.Eval[string](p, `document.querySelector('main').innerText`)
		if text == "" || browser.Eval[bool](p, `[...document.querySelectorAll('.proof, .theme')].some((e) => e.checkVisibility())`) {
			t.Errorf("%s without JavaScript:\n%s", path, text)
		}
		p.Quiet()
	}
}
