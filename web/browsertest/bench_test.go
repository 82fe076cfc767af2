package browsertest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"fairdice/audit"
	"fairdice/commitment"
	"fairdice/internal/browser"
	"fairdice/internal/dealer"
)

// dealt is the bundle of one game that ends after so many rolls, and the key of
// its log.
func dealt(t testing.TB, variant string, rolls int) (bundle []byte, key string) {
	t.Helper()
	for seed := byte(1); seed < 100; seed++ {
		h := dealer.New(t, seed)
		m := h.Open(dealer.Terms{
			Variant: variant, Mode: commitment.Random, Options: dealer.SingleGame, Rolls: commitment.Lengths{16, 64, 64}, Anchored: true, StopAt: rolls,
		})
		m.Play()
		m.Finish()
		if len(m.Games[0].Receipts) < rolls {
			continue // it ended before
		}
		b := &audit.Bundle{Log: audit.BundleLog{Origin: dealer.Origin, Key: h.Key, Checkpoint: h.Checkpoint(len(h.Texts))}}
		for i, text := range h.Texts {
			b.Statements = append(b.Statements, audit.BundleStatement{Index: uint64(i), Text: string(text), Path: h.Inclusion(i)})
		}
		g := m.Games[0]
		game := audit.BundleGame{Game: g.Number, Record: g.Record, Receipts: g.Receipts}
		for _, o := range g.Openings {
			game.Openings = append(game.Openings, audit.BundleOpening{Segment: o.Segment, Stream: o.Stream, Index: o.Index, Key: o.Key, Path: o.Path})
		}
		b.Games = append(b.Games, game)
		bundle, err := b.Encode()
		must(t, err)
		return bundle, h.Key
	}
	t.Fatalf("no game of %s has %d rolls", variant, rolls)
	return nil, ""
}

// verdictTime drops a file on the page and answers the milliseconds until the
// verdict was painted.
const verdictTime = `((bytes) => new Promise((done) => {
	const reports = document.querySelector('#reports')
	let begin = 0
	const watch = new MutationObserver(() => {
		if (begin === 0 || !reports.querySelector('.report[data-verdict]')) return
		watch.disconnect()
		requestAnimationFrame(() => setTimeout(() => done(performance.now() - begin)))
	})
	reports.replaceChildren()
	watch.observe(reports, { childList: true, subtree: true, attributes: true })
	const files = new DataTransfer()
	files.items.add(new File([bytes], 'match.json'))
	begin = performance.now()
	document.body.dispatchEvent(new DragEvent('drop', { bubbles: true, cancelable: true, dataTransfer: files }))
}))`

// BenchmarkVerdict is the time from a bundle's drop until its verdict is on the
// page: of a further file, of the first one on a page that was left alone for
// two seconds, in which it loads the verifier, and of one that is dropped as
// soon as the page is there, with nothing in the browser's cache.
func BenchmarkVerdict(b *testing.B) {
	built(b)
	tb := shared(b)
	for _, rolls := range []int{60, 120} {
		bundle, key := dealt(b, "short", rolls)
		given := quotedBytes(b, bundle)
		trust := fmt.Sprintf(`(() => { const key = document.querySelector('#key'); key.value = %q; return key.dispatchEvent(new Event('change')) })()`, key)
		drop := func(b *testing.B, p *browser.Page) float64 {
			ms := browser.Eval[float64](p, verdictTime+"("+given+")")
			if got := browser.Eval[string](p, `document.querySelector('.report').dataset.verdict`); got != "verified" {
				b.Fatalf("the bundle is %s: %s", got, p.Text(".report"))
			}
			return ms
		}
		b.Run(fmt.Sprintf("further/rolls=%d", rolls), func(b *testing.B) {
			p := browser.Open(b, browser.Look{})
			p.Go(tb.url + "/")
			browser.Eval[bool](p, trust)
			drop(b, p) // has loaded the verifier
			var took []float64
			for b.Loop() {
				took = append(took, drop(b, p))
			}
			report(b, took, "ms")
		})
		b.Run(fmt.Sprintf("first/rolls=%d", rolls), func(b *testing.B) {
			var took []float64
			for b.Loop() {
				p := browser.Open(b, browser.Look{})
				p.Go(tb.url + "/")
				browser.Eval[bool](p, trust)
				p.Until(`document.querySelector('#seen').textContent.length === 64`)
				time.Sleep(2 * time.Second) // a visitor looks for his file
				took = append(took, drop(b, p))
			}
			report(b, took, "ms")
		})
		b.Run(fmt.Sprintf("cold/rolls=%d", rolls), func(b *testing.B) {
			var took []float64
			for b.Loop() {
				p := browser.Open(b, browser.Look{})
				p.Go(tb.url + "/")
				browser.Eval[bool](p, trust)
				took = append(took, drop(b, p))
			}
			report(b, took, "ms")
		})
	}
}

// frames plays a game from its beginning, a step every so many milliseconds, and
// answers how long each frame took.
const frames = `((root, speed) => new Promise((done) => {
	const [seek, choice] = [root.querySelector('[data-part=seek]'), root.querySelector('[data-part=speed]')]
	choice.append(new Option('', speed, true, true))
	root.querySelector('[data-do=first]').click()
	const took = []
	let last = 0
	requestAnimationFrame(function frame (now) {
		if (last) took.push(now - last)
		else root.querySelector('[data-do=play]').click()
		last = now
		if (seek.valueAsNumber < Number(seek.max)) requestAnimationFrame(frame)
		else done(took)
	})
}))`

// BenchmarkReplay plays a game of 200 moves in the page, with a board for every
// frame, which is faster than the page offers: how many frames a second there
// are, how long they take, and how many come one or two frames late.
func BenchmarkReplay(b *testing.B) {
	built(b)
	tb := shared(b)
	bundle, _ := dealt(b, "short", 200)
	p := browser.Open(b, browser.Look{})
	p.Go(tb.url + "/")
	p.Drop("main", "match.json", bundle)
	verdict(p)
	p.Click("[data-do=replay]")
	p.Shown(".replay .board svg")
	var all []float64
	for b.Loop() {
		all = append(all, browser.Eval[[]float64](p, frames+`(document.querySelector('.replay'), 16)`)...)
	}
	slices.Sort(all)
	sum, late, missed := 0.0, 0, 0
	for _, ms := range all {
		sum += ms
		if ms > 1.5*1000/60 {
			late++
		}
		if ms > 2.5*1000/60 {
			missed++
		}
	}
	n := float64(len(all))
	b.ReportMetric(1000*n/sum, "frames/s")
	b.ReportMetric(all[len(all)*99/100], "ms/p99")
	b.ReportMetric(all[len(all)-1], "ms/worst")
	b.ReportMetric(100*float64(late)/n, "%>25ms")
	b.ReportMetric(100*float64(missed)/n, "%>42ms")
	b.ReportMetric(0, "ns/op")
}

// report reports the median and the worst.
func report(b *testing.B, values []float64, unit string) {
	slices.Sort(values)
	b.ReportMetric(values[len(values)/2], unit+"/median")
	b.ReportMetric(values[len(values)-1], unit+"/worst")
	b.ReportMetric(0, "ns/op")
}

func quotedBytes(t testing.TB, data []byte) string {
	t.Helper()
	text, err := json.Marshal(string(data))
	must(t, err)
	return string(text)
}
