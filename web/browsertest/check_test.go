package browsertest

import (
	"bytes"
	"os"
	"strings"
	"testing"

	"fairdice/internal/browser"
	"fairdice/web/wasm"
)

// built demands the verifier's module, which `make build` and `make test` make.
func built(t testing.TB) {
	t.Helper()
	if wasm.Built() != nil {
		return
	}
	if os.Getenv("CI") == "true" {
		t.Fatal("the verifier of the pages is not tested: it was not built, although CI=true")
	}
	t.Skip("the verifier of the pages is not tested: run make build")
}

// verdict waits for the report of a file and answers its verdict.
func verdict(p *browser.Page) string {
	p.Until(`document.querySelector('#work').hidden && document.querySelector('.report')`)
	return browser.Eval[string](p, `document.querySelector('.report').dataset.verdict ?? document.querySelector('.report .error').textContent`)
}

// A visitor drops files on the page and gets the verdict of the verifier; for a
// file that was tampered with, the check that caught it.
func TestDrop(t *testing.T) {
	t.Parallel()
	built(t)
	tb := shared(t)
	p := browser.Open(t, browser.Look{})
	p.Go(tb.url + "/")
	p.Drop("main", "match.json", tb.bundle)
	if got := verdict(p); got != "verified" {
		t.Errorf("the bundle of a finished match is %s: %s", got, p.Text(".report"))
	}
	p.Accessible()
	p.Drop("main", "game.record", tb.record)
	if got := verdict(p); got != "verified" {
		t.Errorf("the record of a finished game is %s: %s", got, p.Text(".report"))
	}
	tampered := bytes.Replace(tb.bundle, []byte(`\nb ben\n`), []byte(`\nb eve\n`), 1)
	if bytes.Equal(tampered, tb.bundle) {
		t.Fatal("the bundle's open does not name ben")
	}
	p.Drop("main", "tampered.json", tampered)
	if got := verdict(p); got != "failed" {
		t.Errorf("a bundle with another opponent is %s", got)
	}
	if rows := browser.Eval[string](p, `document.querySelector('.report tbody tr').textContent`); !strings.Contains(rows, "log.inclusion") {
		t.Errorf("the first check of a tampered bundle is %s", rows)
	}
	p.Quiet()
}
