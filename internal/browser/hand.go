package browser

import (
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/chromedp/chromedp"
)

// Shown waits until an element that a CSS selector finds is shown.
func (p *Page) Shown(selector string) {
	p.t.Helper()
	p.Until(fmt.Sprintf("Boolean(document.querySelector(%s)?.checkVisibility())", quoted(selector)))
}

// Says waits until an element is shown with a text in it.
func (p *Page) Says(selector, text string) {
	p.t.Helper()
	p.Until(fmt.Sprintf("((e) => Boolean(e?.checkVisibility() && e.innerText.includes(%s)))(document.querySelector(%s))", quoted(text), quoted(selector)))
}

// Text is what an element shows, "" if there is none.
func (p *Page) Text(selector string) string {
	p.t.Helper()
	return Eval[string](p, fmt.Sprintf("document.querySelector(%s)?.innerText ?? ''", quoted(selector)))
}

// Click presses what is shown.
func (p *Page) Click(selector string) {
	p.t.Helper()
	p.Shown(selector)
	p.Do("click "+selector, chromedp.Click(chromedp.CSS(selector)))
}

// Press puts the focus on what is shown and types keys.
func (p *Page) Press(selector, keys string) {
	p.t.Helper()
	p.Shown(selector)
	Eval[bool](p, fmt.Sprintf("((e) => (e.focus(), document.activeElement === e))(document.querySelector(%s))", quoted(selector)))
	p.Do("press keys", chromedp.KeyEvent(keys))
}

// Fill puts a text into a field that is shown, as one who pastes.
func (p *Page) Fill(selector, text string) {
	p.t.Helper()
	p.Shown(selector)
	Eval[bool](p, fmt.Sprintf(`((e) => {
		e.focus()
		e.value = %s
		return ['input', 'change'].every((kind) => e.dispatchEvent(new Event(kind, { bubbles: true })))
	})(document.querySelector(%s))`, quoted(text), quoted(selector)))
}

// Drop drops a file on an element.
func (p *Page) Drop(selector, name string, data []byte) {
	p.t.Helper()
	p.DropMade(selector, file(name, data))
}

// DropMade drops a File that an expression makes in the page: one that is too large to be sent to it.
func (p *Page) DropMade(selector, file string) {
	p.t.Helper()
	p.Shown(selector)
	Eval[bool](p, fmt.Sprintf(`((on) => {
		const files = new DataTransfer()
		files.items.add(%s)
		for (const kind of ['dragenter', 'dragover', 'drop']) on.dispatchEvent(new DragEvent(kind, { bubbles: true, cancelable: true, dataTransfer: files }))
		return true
	})(document.querySelector(%s))`, file, quoted(selector)))
}

// Choose gives a file to a field for files.
func (p *Page) Choose(selector, name string, data []byte) {
	p.t.Helper()
	Eval[bool](p, fmt.Sprintf(`((e) => {
		const files = new DataTransfer()
		files.items.add(%s)
		e.files = files.files
		return e.dispatchEvent(new Event('change', { bubbles: true }))
	})(document.querySelector(%s))`, file(name, data), quoted(selector)))
}

// file is the expression of a File.
func file(name string, data []byte) string {
	return fmt.Sprintf("new File([Uint8Array.from(atob(%s), (c) => c.charCodeAt(0))], %s)", quoted(base64.StdEncoding.EncodeToString(data)), quoted(name))
}

func quoted(text string) string {
	b, err := json.Marshal(text)
	if err != nil {
		panic(err) // of a string
	}
	return string(b)
}
