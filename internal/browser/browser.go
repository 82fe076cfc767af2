// Package browser lets tests look at pages in a real browser: Debian's Chromium
// without a window. It watches what a visitor would not see: errors of scripts,
// what the Content-Security-Policy refuses, and files that are missing.
//
//	page := browser.Open(t, browser.Look{Language: "ka", Dark: true, Width: 320})
//	page.Go(url)
//	title := browser.Eval[string](page, `document.title`)
//	page.Quiet() // fails the test if anything went wrong behind the page
package browser

import (
	"context"
	"fmt"
	"iter"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/chromedp"
)

// patience is how long a page may take for one thing; a machine that many tests
// share can be slow.
const patience = 60 * time.Second

// Look is how a visitor sees pages.
type Look struct {
	Language string // of his browser; "": en
	Dark     bool   // his system's colours
	Width    int    // of the window in pixels; 0: 1024
	NoScript bool   // JavaScript is switched off
}

// Page is one window with cookies and storage of its own.
type Page struct {
	t      testing.TB
	ctx    context.Context
	mu     sync.Mutex
	faults []string
}

// program finds Chromium. Where it is needed a test without it fails.
func program(t testing.TB) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome", "chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("pages are not tested: no chromium in PATH, although CI=true")
	}
	t.Skip("pages are not tested: no chromium in PATH")
	return ""
}

// Open starts a browser, which ends with the test.
func Open(t testing.TB, look Look) *Page {
	t.Helper()
	if look.Language == "" {
		look.Language = "en"
	}
	if look.Width == 0 {
		look.Width = 1024
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(program(t)),
		chromedp.NoSandbox, // root, as in a container, has none
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.Flag("accept-lang", look.Language), chromedp.Flag("lang", look.Language),
		chromedp.WindowSize(look.Width, 900),
	)
	allocator, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, end := chromedp.NewContext(allocator)
	t.Cleanup(func() { end(); cancel() })
	p := &Page{t: t, ctx: ctx}
	// The context of the first action is that of the browser, so it has no end of its own.
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(int64(look.Width), 900)); err != nil {
		t.Fatalf("start browser: %v", err)
	}
	go p.heed(chromedp.Console(ctx))
	colours := "light"
	if look.Dark {
		colours = "dark"
	}
	p.call("choose colours", func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
			{Name: "prefers-color-scheme", Value: colours}, {Name: "prefers-reduced-motion", Value: "reduce"},
		}})
		return err
	})
	p.call("choose language", func(ctx context.Context) error {
		_, err := chromedp.Call(ctx, network.SetExtraHTTPHeaders, network.SetExtraHTTPHeadersParams{Headers: network.Headers{"Accept-Language": look.Language}})
		return err
	})
	if look.NoScript {
		p.call("switch scripts off", func(ctx context.Context) error {
			_, err := chromedp.Call(ctx, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
			return err
		})
	}
	return p
}

// heed keeps what goes wrong: what scripts throw and complain of, what the policy refuses, files that are not there.
func (p *Page) heed(console iter.Seq2[chromedp.ConsoleMessage, error]) {
	for m, err := range console {
		if err != nil {
			return // the browser has ended
		}
		switch m.Type {
		case chromedp.ConsoleError, chromedp.ConsoleWarning, chromedp.ConsoleException, "assert":
			p.mu.Lock()
			p.faults = append(p.faults, fmt.Sprintf("%s: %s (%s:%d)", m.Type, m.Text, m.URL, m.Line))
			p.mu.Unlock()
		}
	}
}

// Faults returns what has gone wrong since it was asked last.
func (p *Page) Faults() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	f := p.faults
	p.faults = nil
	return f
}

// Quiet fails the test for everything that has gone wrong.
func (p *Page) Quiet() {
	p.t.Helper()
	for _, f := range p.Faults() {
		p.t.Error(f)
	}
}

func (p *Page) call(what string, f func(context.Context) error) {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	if err := f(ctx); err != nil {
		p.t.Fatalf("%s: %v; the page has complained of %q", what, err, p.Faults())
	}
}

// Do carries out actions of chromedp; they must succeed.
func (p *Page) Do(what string, actions ...chromedp.Action[chromedp.Void]) {
	p.t.Helper()
	p.call(what, func(ctx context.Context) error { return chromedp.Do(ctx, actions...) })
}

// Go opens an address and waits until it is loaded.
func (p *Page) Go(url string) {
	p.t.Helper()
	p.Do("open "+url, chromedp.Navigate(url))
}

// Eval is the value of a JavaScript expression in the page, or what its promise resolves to.
func Eval[T any](p *Page, expression string) (v T) {
	p.t.Helper()
	p.call("evaluate "+expression[:min(len(expression), 200)], func(ctx context.Context) (err error) {
		v, err = chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
		return err
	})
	return v
}

// Until waits for an expression to be true, also while one page follows another.
func (p *Page) Until(expression string) {
	p.t.Helper()
	p.call("wait for "+expression, func(ctx context.Context) error {
		for {
			if ok, _ := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+expression+")")); ok {
				return nil
			}
			if err := ctx.Err(); err != nil {
				return err
			}
			time.Sleep(50 * time.Millisecond)
		}
	})
}

// Picture is the whole page as PNG.
func (p *Page) Picture() (png []byte) {
	p.t.Helper()
	p.call("take picture", func(ctx context.Context) (err error) {
		png, err = chromedp.Run(ctx, chromedp.FullScreenshot(100))
		return err
	})
	return png
}
