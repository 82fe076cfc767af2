package browsertest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// patience is how long anything may take on a machine that is busy.
const patience = 90 * time.Second

// atEnd are what all tests share and the last one leaves.
var atEnd []func() error

func TestMain(m *testing.M) {
	code := m.Run()
	for _, f := range slices.Backward(atEnd) {
		if err := f(); err != nil {
			fmt.Fprintln(os.Stderr, "at the end:", err)
			code = max(code, 1)
		}
	}
	os.Exit(code)
}

var errNoBrowser = errors.New("there is no Chromium in PATH")

// chrome is the one browser process of all tests.
var chrome = sync.OnceValues(func() (context.Context, error) {
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if found, err := exec.LookPath(name); err == nil {
			path = found
			break
		}
	}
	if path == "" {
		return nil, errNoBrowser
	}
	dir, err := os.MkdirTemp("", "fairdice-chromium")
	if err != nil {
		return nil, err
	}
	atEnd = append(atEnd, func() error { return os.RemoveAll(dir) })
	options := append(slices.Clone(chromedp.DefaultExecAllocatorOptions[:]),
		chromedp.ExecPath(path), chromedp.UserDataDir(dir), chromedp.NoSandbox, chromedp.DisableGPU, chromedp.WSURLReadTimeout(patience),
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true), chromedp.Flag("font-render-hinting", "none"),
		chromedp.Flag("lang", "en"), chromedp.WindowSize(1200, 900),
	)
	alloc, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	ctx, _ := chromedp.NewContext(alloc)
	if err := chromedp.Do(ctx); err != nil {
		cancel()
		return nil, fmt.Errorf("start %s: %w", path, err)
	}
	atEnd = append(atEnd, func() error {
		limited, stop := context.WithTimeout(ctx, 10*time.Second)
		defer stop()
		_ = chromedp.Cancel(limited) // it is killed otherwise
		cancel()
		return nil
	})
	return ctx, nil
})

// tab is a window of a browser that has seen nothing before.
type tab struct {
	t    *testing.T
	ctx  context.Context
	base string

	mu      sync.Mutex
	faults  []string
	allowed []*regexp.Regexp
}

// watcher reports what breaks the content policy, also where a report in the
// console could be missed.
const watcher = `addEventListener('securitypolicyviolation', (e) => console.error('policy broken: ' + e.violatedDirective + ' by ' + (e.blockedURI || e.sample) + ' in ' + e.sourceFile + ':' + e.lineNumber))`

// open opens a window for a service. What goes wrong in it fails the test.
func open(t *testing.T, s *service) *tab {
	t.Helper()
	parent, err := chrome()
	if errors.Is(err, errNoBrowser) {
		if os.Getenv("CI") == "true" {
			t.Fatalf("the pages are not tested: %v, although CI=true", err)
		}
		t.Skipf("the pages are not tested: %v", err)
	}
	must(t, err)
	ctx, cancel := chromedp.NewContext(parent, chromedp.WithNewBrowserContext())
	p := &tab{t: t, ctx: ctx, base: s.url}
	must(t, chromedp.Do(ctx))
	must(t, chromedp.Listen(ctx, p.note))
	call(p, network.Enable, network.EnableParams{})
	call(p, page.AddScriptToEvaluateOnNewDocument, page.AddScriptToEvaluateOnNewDocumentParams{Source: watcher})
	t.Cleanup(func() {
		cancel()
		p.mu.Lock()
		defer p.mu.Unlock()
		for _, f := range p.faults {
			if !slices.ContainsFunc(p.allowed, func(r *regexp.Regexp) bool { return r.MatchString(f) }) {
				t.Error("in the page: ", f)
			}
		}
	})
	return p
}

// expect takes faults that match for what the test is about.
func (p *tab) expect(pattern string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.allowed = append(p.allowed, regexp.MustCompile(pattern))
}

func (p *tab) note(ev any) {
	var f string
	switch ev := ev.(type) {
	case *runtime.EventConsoleAPICalled:
		if ev.Type != runtime.ConsoleAPICalledTypeError && ev.Type != runtime.ConsoleAPICalledTypeWarning && ev.Type != runtime.ConsoleAPICalledTypeAssert {
			return
		}
		f = "console:"
		for _, a := range ev.Args {
			f += " " + a.Description + string(a.Value)
		}
	case *runtime.EventExceptionThrown:
		f = "exception: " + ev.ExceptionDetails.Text
		if e := ev.ExceptionDetails.Exception; e != nil {
			f += " " + e.Description
		}
	case *log.EventEntryAdded:
		if ev.Entry.Level != log.EntryLevelError && ev.Entry.Level != log.EntryLevelWarning {
			return
		}
		f = fmt.Sprintf("log: %s: %s %s", ev.Entry.Source, ev.Entry.Text, ev.Entry.URL)
	case *network.EventRequestWillBeSent:
		u := ev.Request.URL
		if strings.HasPrefix(u, p.base) || strings.HasPrefix(u, "data:") || strings.HasPrefix(u, "blob:"+p.base) {
			return
		}
		f = "request to another host: " + u
	default:
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, f)
}

// run runs an action, and gives up after patience.
func run[T any](p *tab, what string, a chromedp.Action[T]) T {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	v, err := chromedp.Run(ctx, a)
	if err != nil {
		p.t.Fatalf("%s: %v\n%s", what, err, p.seen())
	}
	return v
}

// seen is what the page shows and what it has complained of, for a test that fails.
func (p *tab) seen() string {
	ctx, cancel := context.WithTimeout(p.ctx, 5*time.Second)
	defer cancel()
	text, err := chromedp.Run(ctx, chromedp.Evaluate[string](`document.querySelector('main')?.innerText ?? document.body?.innerText ?? ''`))
	if err != nil {
		text = err.Error()
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return fmt.Sprintf("the page shows:\n%s\n%s", text, strings.Join(p.faults, "\n"))
}

// goTo opens an address of the service.
func (p *tab) goTo(path string) {
	p.t.Helper()
	run(p, "go to "+path, chromedp.Navigate(p.base+path))
}

// eval evaluates an expression, and waits for it if it is a promise.
func eval[T any](p *tab, js string) T {
	p.t.Helper()
	return run(p, js, chromedp.Evaluate[T](js, chromedp.EvalAwaitPromise))
}

// call runs a command of the browser's protocol.
func call[P, R any](p *tab, command cdp.Command[P, R], params P) R {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.ctx, patience)
	defer cancel()
	r, err := chromedp.Call(ctx, command, params)
	if err != nil {
		p.t.Fatalf("%s: %v", command.Method, err)
	}
	return r
}

// wait waits until an expression is true, also over a change of the page.
func (p *tab) wait(js string) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); ; time.Sleep(30 * time.Millisecond) {
		ctx, cancel := context.WithTimeout(p.ctx, patience)
		ok, err := chromedp.Run(ctx, chromedp.Evaluate[bool]("Boolean("+js+")"))
		cancel()
		if ok {
			return
		}
		if time.Now().After(deadline) || p.ctx.Err() != nil {
			p.t.Fatalf("waited in vain for %s (%v)\n%s", js, err, p.seen())
		}
	}
}

// text is what an element shows.
func (p *tab) text(selector string) string {
	p.t.Helper()
	return eval[string](p, fmt.Sprintf("document.querySelector(%s)?.innerText ?? ''", quoted(selector)))
}

// waitText waits until an element shows a text.
func (p *tab) waitText(selector, text string) {
	p.t.Helper()
	p.wait(fmt.Sprintf("document.querySelector(%s)?.innerText.includes(%s)", quoted(selector), quoted(text)))
}

// visible waits until there is an element that is shown.
func (p *tab) visible(selector string) {
	p.t.Helper()
	p.wait(fmt.Sprintf("document.querySelector(%s)?.checkVisibility()", quoted(selector)))
}

func (p *tab) click(selector string) {
	p.t.Helper()
	p.visible(selector)
	run(p, "click "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// fill writes into a field, as somebody who pastes.
func (p *tab) fill(selector, text string) {
	p.t.Helper()
	p.visible(selector)
	eval[bool](p, fmt.Sprintf(`(() => {
		const e = document.querySelector(%s)
		e.focus()
		e.value = %s
		e.dispatchEvent(new Event('input', { bubbles: true }))
		e.dispatchEvent(new Event('change', { bubbles: true }))
		return true
	})()`, quoted(selector), quoted(text)))
}

// drop drops a file on an element.
func (p *tab) drop(selector, name string, data []byte) {
	p.t.Helper()
	p.visible(selector)
	eval[bool](p, fmt.Sprintf(`(async () => {
		const bytes = Uint8Array.from(atob(%s), (c) => c.charCodeAt(0))
		const files = new DataTransfer()
		files.items.add(new File([bytes], %s))
		const on = document.querySelector(%s)
		for (const kind of ['dragenter', 'dragover', 'drop']) on.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: files }))
		return true
	})()`, quoted(base64.StdEncoding.EncodeToString(data)), quoted(name), quoted(selector)))
}

// dark has the visitor's system prefer dark pages, or light ones.
func (p *tab) dark(dark bool) {
	p.t.Helper()
	scheme := "light"
	if dark {
		scheme = "dark"
	}
	call(p, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: []*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: scheme}, {Name: "prefers-reduced-motion", Value: "reduce"},
	}})
}

// size sets the window's, in CSS pixels.
func (p *tab) size(width, height int64) {
	p.t.Helper()
	run(p, "set size", chromedp.EmulateViewport(width, height))
}

// inLanguage is an address of a page in a language.
func inLanguage(path, lang string) string {
	u, err := url.Parse(path)
	if err != nil {
		panic(err) // of a test's constant
	}
	q := u.Query()
	q.Set("lang", lang)
	u.RawQuery = q.Encode()
	return u.String()
}

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // of a string
	}
	return string(b)
}

// settle waits until what the page loads is there: fonts, and whatever says that
// it is busy.
func (p *tab) settle() {
	p.t.Helper()
	p.wait(`document.readyState === 'complete' && document.fonts.status === 'loaded' && !document.querySelector('[aria-busy="true"]')`)
}
