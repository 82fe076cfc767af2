package browsertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"fairdice/internal/browser"
)

// The main states of the pages look as they did: every page, in light and dark,
// on a desk and on a small telephone, in every language somewhere.
func TestGolden(t *testing.T) {
	t.Parallel()
	built(t)
	tb := shared(t)
	match := func(id string) string { return "/match/" + id }
	for _, c := range []struct {
		name, path string
		look       browser.Look
		state      func(*testing.T, *browser.Page)
	}{
		{"check-light", "/", browser.Look{}, loaded},
		{"check-dark-ka", "/", browser.Look{Width: 800, Dark: true, Language: "ka"}, loaded},
		{"check-small-ru", "/", browser.Look{Width: 320, Language: "ru"}, loaded},
		{"check-verified-hy", "/", browser.Look{Width: 800, Language: "hy"}, tb.verified},
		{"check-failed-dark", "/", browser.Look{Width: 800, Dark: true}, tb.failed},
		{"check-failed-small-ka", "/", browser.Look{Width: 320, Language: "ka"}, tb.failed},
		{"match-long-light", match(longID), browser.Look{}, step(41, "A")},
		{"match-long-small-dark-ru", match(longID), browser.Look{Width: 320, Dark: true, Language: "ru"}, step(41, "B")},
		{"match-short-dark-hy", match(tb.finished), browser.Look{Width: 800, Dark: true, Language: "hy"}, step(40, "A")},
		{"match-plakoto-small-ka", match(plakotoID), browser.Look{Width: 360, Language: "ka"}, step(50, "B")},
		{"match-cube-proof", match(cubeID), browser.Look{Width: 800}, tb.proof},
		{"replay-fault-ru", "/", browser.Look{Width: 800, Language: "ru"}, tb.fault},
		{"live-dark", match(tb.running) + "#view=" + tb.token, browser.Look{Width: 800, Dark: true}, live},
		{"commitments-light", "/commitments", browser.Look{}, nil},
		{"commitments-small-dark-hy", "/commitments", browser.Look{Width: 320, Dark: true, Language: "hy"}, nil},
		{"sequence-light-ka", "/commitments/" + tb.sequence, browser.Look{Width: 800, Language: "ka"}, proved},
		{"log-dark", "/log", browser.Look{Dark: true}, proved},
		{"log-small-ru", "/log", browser.Look{Width: 320, Language: "ru"}, proved},
		{"how-small-hy", "/how", browser.Look{Width: 360, Language: "hy"}, nil},
		{"chain-light", "/my-chain", browser.Look{Width: 800}, nil},
		{"chain-dark-ka", "/my-chain", browser.Look{Width: 360, Dark: true, Language: "ka"}, nil},
		{"chain-joined-ru", "/my-chain", browser.Look{Width: 800, Language: "ru"}, joined},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := browser.Open(t, c.look)
			p.Go(tb.url + c.path)
			p.Until(`document.readyState === 'complete' && (!document.querySelector('#duty') || !document.querySelector('#duty').hidden)`)
			if c.state != nil {
				c.state(t, p)
			}
			golden(t, p, c.name)
			if over := browser.Eval[int](p, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
				t.Errorf("the page is %d pixels wider than the window", over)
			}
			p.Quiet()
		})
	}
}

// loaded is the page once it has the verifier.
func loaded(_ *testing.T, p *browser.Page) {
	p.Until(`document.querySelector('#seen').textContent.length === 64`)
}

func (tb *table) verified(t *testing.T, p *browser.Page) {
	loaded(t, p)
	p.Drop("main", "match.json", tb.bundle)
	if got := verdict(p); got != "verified" {
		t.Fatalf("the bundle is %s", got)
	}
	p.Click(".checks summary")
}

func (tb *table) failed(t *testing.T, p *browser.Page) {
	loaded(t, p)
	p.Drop("main", "match.json", tb.cheated(t))
	if got := verdict(p); got != "failed" {
		t.Fatalf("the bundle is %s", got)
	}
	p.Shown(".fault .board svg")
	p.Until(`!document.querySelector('[data-do=replay]').hidden`)
}

// fault is the replay of a match at the move that is against the rules.
func (tb *table) fault(t *testing.T, p *browser.Page) {
	tb.failed(t, p)
	p.Click("[data-do=replay]")
	p.Shown("[data-part=fault]")
	p.Shown(".replay .board svg")
}

// cheated is the bundle with a move that no rule allows.
func (tb *table) cheated(t *testing.T) []byte {
	t.Helper()
	var b struct {
		Games []struct{ Record string }
	}
	must(t, json.Unmarshal(tb.bundle, &b))
	lines := strings.Split(b.Games[0].Record, "\n")
	n := 0
	for i, line := range lines {
		if f := strings.Fields(line); len(f) > 2 && f[0] == "move" {
			if n++; n == 16 {
				lines[i] = "move " + f[1] + " 24/1"
			}
		}
	}
	old, err := json.Marshal(b.Games[0].Record)
	must(t, err)
	changed, err := json.Marshal(strings.Join(lines, "\n"))
	must(t, err)
	out := strings.Replace(string(tb.bundle), string(old), string(changed), 1)
	if out == string(tb.bundle) {
		t.Fatal("the record is not in the bundle as it was encoded here")
	}
	return []byte(out)
}

// step shows a step of the replay, counted from 0, seen by a seat.
func step(n int, seat string) func(*testing.T, *browser.Page) {
	return func(_ *testing.T, p *browser.Page) {
		p.Shown(".replay .board svg")
		browser.Eval[bool](p, fmt.Sprintf(`(() => {
			const part = (name) => document.querySelector('.replay [data-part=' + name + ']')
			const set = (name, value) => { part(name).value = value; part(name).dispatchEvent(new Event(name === 'seek' ? 'input' : 'change', { bubbles: true })) }
			set('view', %q)
			set('seek', %d)
			return true
		})()`, seat, n))
		drawn(p)
	}
}

// drawn waits for the board of the step that is shown.
func drawn(p *browser.Page) {
	p.Until(`document.querySelector('.replay .board').dataset.step === document.querySelector('.replay .seek').value`)
}

// proof shows the replay after the cube was turned, with the proof of the roll.
func (tb *table) proof(t *testing.T, p *browser.Page) {
	p.Shown(".replay .board svg")
	at := browser.Eval[int](p, `Array.from(document.querySelectorAll('.lines button'), (e) => e.textContent).findIndex((text, i, all) => text.startsWith('roll') && all.slice(0, i).some((t) => t.startsWith('take')))`)
	if at < 0 {
		t.Fatal("nobody takes a cube")
	}
	step(at, "A")(t, p)
	p.Click("[data-part=throw]")
	p.Shown("[data-part=proof]")
}

func live(_ *testing.T, p *browser.Page) {
	p.Shown("#live")
	p.Says("[data-part=place]", "20 of 20")
	p.Shown(".replay .board svg")
	drawn(p)
}

// proved waits for the proof that the page computes.
func proved(_ *testing.T, p *browser.Page) {
	p.Until(`document.querySelector('.proof [data-part=waiting]').hidden`)
}

func joined(_ *testing.T, p *browser.Page) {
	p.Go(strings.TrimSuffix(browser.Eval[string](p, `location.origin`), "/") + "/my-chain#match=" + runningID + "&token=ada&opponent=ben")
	p.Until(`!document.querySelector('#duty').hidden`)
	p.Click("#make")
	p.Shown("#own")
	for name, value := range agreed {
		p.Fill("#"+name, value)
	}
	p.Click("#join")
	p.Says("#joined", runningID)
}
