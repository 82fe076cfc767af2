package browsertest

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"fairdice/internal/browser"
)

// Files that are too large, the largest, and what is no file of games: a clear word on each, and the page goes on.
func TestLimits(t *testing.T) {
	t.Parallel()
	tb := shared(t)
	p := openCheck(t, tb.url)
	good := func() {
		t.Helper()
		p.Drop("main", "game.mat", sampleFile(t, "game.mat"))
		if got := verdict(p); got != "verified" {
			t.Errorf("a good file after that is %s", got)
		}
	}
	good()
	const header = `fairdice/v1/record\nmatch 01970000-0000-7000-8000-000000000101\ngame 1\nvariant short\noptions raise=none stake=win series=single crawford=off\nscore 0 0\ncrawford no\n\n`
	filled := func(text, size string) string {
		return `((text, size) => new File([text, ' '.repeat(size - new Blob([text]).size)], 'it'))(` + text + `, ` + size + `)`
	}
	browser.Eval[bool](p, `(window.bundle = `+literal(t, string(tb.bundle))+`, true)`)
	record := "'" + header + "' + 'roll A 1 2\\n'.repeat(100000)"
	for _, c := range []struct{ name, file, want string }{
		{"more than the largest bundle", filled("bundle", "(64 << 20) + 1"), "No more than 64 MiB"},
		{"the largest bundle", filled("bundle", "64 << 20"), "verified"},
		{"the largest record", `((text) => new File([text.slice(0, text.lastIndexOf('\n', (1 << 20) - 1) + 1)], 'it.record'))(` + record + `)`, "failed"},
		{"more than the largest record", `new File([` + record + `], 'it.record')`, "malformed"},
		{"more than the largest match", `new File([' 5 point match\n', new Uint8Array(64 << 20)], 'it.mat')`, "No more than 64 MiB"},
		{"nothing", `new File([], 'it.json')`, "The file is empty."},
		{"blanks", `new File(['\n \n'], 'it.mat')`, "malformed"},
		{"noise", `new File([crypto.getRandomValues(new Uint8Array(60000)).map((b) => b | 128)], 'it.mat')`, "malformed"},
		{"a picture", `new File([new Uint8Array([137, 80, 78, 71, 13, 10, 26, 10, 0, 0, 0, 13, 73, 72, 68, 82])], 'it.png')`, "malformed"},
		{"a page", `new File(['<!doctype html><title>x</title><script>alert(1)</script>'], 'it.html')`, "malformed"},
		{"an archive", `new File([new Uint8Array([80, 75, 3, 4, 20, 0, 0, 0])], 'it.zip')`, "malformed"},
		{"brackets", `new File(['{"a":' + '['.repeat(1 << 20)], 'it.json')`, "malformed"},
		{"another JSON", `new File(['{"format":"something else"}'], 'it.json')`, "malformed"},
	} {
		p.DropMade("main", c.file)
		got := verdict(p)
		if got != c.want && !strings.Contains(got, c.want) {
			t.Errorf("%s: %s, want %s: %.300s", c.name, got, c.want, p.Text(".report"))
		}
		if text := p.Text(".report"); len(strings.Fields(text)) < 4 || strings.Contains(text, "Game 0") {
			t.Errorf("%s: the page says only %q", c.name, text)
		}
	}
	good()
	p.Quiet()
}

// literal is a text as JavaScript writes it.
func literal(t *testing.T, text string) string {
	t.Helper()
	b, err := json.Marshal(text)
	must(t, err)
	return string(b)
}

// manyGames is the text of a match file of so many bytes: the same two games over and over, every line of which must be played.
func manyGames(size int, second string) string {
	var b strings.Builder
	b.WriteString("; [Site \"x\"]\n")
	for b.Len() < size {
		b.WriteString(" Game 1\n Ann : 0                        Bob : 0\n  1) 31: 8/5 6/5                   42: " + second + "\n  2) 31: 8/7 7/4                   Wins 1 point\n")
	}
	return b.String()
}

// While a file of 40 MB is being checked the page shows how far it is and does what the visitor wants; he can stop it.
func TestLargeMatch(t *testing.T) {
	t.Parallel()
	tb := shared(t)
	p := openCheck(t, tb.url)
	p.DropMade("main", `new File([`+literal(t, manyGames(64<<10, "8/4 6/4"))+`.repeat(640)], 'large.mat')`)
	p.Says("#work", "large.mat")
	p.Until(`document.querySelector('#work progress').value > 0 && document.querySelector('#work progress').value < 1`)
	at := browser.Eval[float64](p, `document.querySelector('#work progress').value`)
	// The page itself has nothing to do: a frame follows the other, and a click is answered.
	slowest := browser.Eval[float64](p, `new Promise((done) => {
		let [last, worst, left] = [performance.now(), 0, 30]
		const frame = (now) => {
			worst = Math.max(worst, now - last)
			last = now
			if (--left) requestAnimationFrame(frame)
			else done(worst)
		}
		requestAnimationFrame(frame)
	})`)
	t.Logf("the slowest of 30 frames took %.0f ms", slowest)
	p.Click("#check details summary")
	p.Shown("#variant")
	p.Until(`document.querySelector('#work progress').value > ` + fmt.Sprint(at))
	p.Click("#stop")
	p.Until(`document.querySelector('#work').hidden`)
	p.Says(".report .error", "The check was stopped.")
	p.Drop("main", "game.sgf", sampleFile(t, "game.sgf"))
	if got := verdict(p); got != "verified" {
		t.Errorf("after a check that was stopped a good file is %s", got)
	}
	// Another file ends the one that is being checked.
	p.DropMade("main", `new File([`+literal(t, manyGames(64<<10, "8/4 6/4"))+`.repeat(320)], 'large.mat')`)
	p.Until(`document.querySelector('#work progress').value > 0`)
	p.Accessible()
	p.Drop("main", "match.json", tb.bundle)
	if got := verdict(p); got != "verified" || p.Text(".report .file") != "match.json" {
		t.Errorf("a file dropped meanwhile: %s, %s", got, p.Text(".report"))
	}
	// A file with a thousand faults shows the first ones with their boards, and the page stays small.
	p.DropMade("main", `new File([`+literal(t, manyGames(64<<10, "8/4 6/3"))+`.repeat(4)], 'faults.mat')`)
	if got := verdict(p); got != "failed" {
		t.Errorf("a match of illegal moves is %s", got)
	}
	if n := browser.Eval[int](p, `document.querySelectorAll('.report .faults > .fault .board svg').length`); n == 0 || n > 20 { // some are of scores, where no game was running
		t.Errorf("%d boards are drawn", n)
	}
	p.Says(".report .faults > details summary", "And 9")
	// Its games are followed when somebody wants to see them.
	p.Click(".report [data-do=replay]")
	p.Says(".screen [data-part=fault]", "rules.moves")
	p.Quiet()
}

// A file that is still being read when another is dropped never reaches the verifier: the page would say its verdict of the other.
func TestReplacedWhileRead(t *testing.T) {
	t.Parallel()
	tb := shared(t)
	p := openCheck(t, tb.url)
	browser.Eval[bool](p, `(() => {
		const read = File.prototype.arrayBuffer
		let go
		const later = new Promise((done) => { go = done })
		File.prototype.arrayBuffer = async function () {
			const bytes = await read.call(this)
			if (this.name === 'slow.mat') await later
			else (async () => { for (let i = 0; i < 20; i++) await null; go() })()
			return bytes
		}
		return true
	})()`)
	p.DropMade("main", `new File([`+literal(t, manyGames(1<<10, "8/4 6/3"))+`], 'slow.mat')`)
	p.Says("#work", "slow.mat")
	p.Drop("main", "game.mat", sampleFile(t, "game.mat"))
	if got := verdict(p); got != "verified" || p.Text(".report .file") != "game.mat" {
		t.Errorf("a file dropped while another was read: %s, %s", got, p.Text(".report"))
	}
	p.Quiet()
}

// A browser that keeps nothing still checks under the key that was typed, not under the site's.
func TestKeyNotKept(t *testing.T) {
	t.Parallel()
	p := openCheck(t, shared(t).url)
	got := browser.Eval[string](p, `(() => {
		Storage.prototype.setItem = () => { throw new Error('full') }
		const key = document.querySelector('#key')
		key.value = 'other.example/log+c90ecb27+AepKbGPinFIKvvVQexMuxfmVR3auvr57kkIe6mkURtIs'
		key.dispatchEvent(new Event('change'))
		return key.value.split('+')[0] + ' ' + document.querySelector('#check').elements.trust.value
	})()`)
	if got != "other.example/log pinned" {
		t.Errorf("a typed key that cannot be kept: %q", got)
	}
}
