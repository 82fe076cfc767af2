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

// What is wrong is said in the visitor's language, after the texts of it have
// come: the statement with another opponent has another hash, and the board
// stands before the move that lost a step.
func TestFaultInEveryLanguage(t *testing.T) {
	t.Parallel()
	built(t)
	tb := shared(t)
	p := browser.Open(t, browser.Look{})
	tampered := bytes.Replace(tb.bundle, []byte(`\nb ben\n`), []byte(`\nb eve\n`), 1)
	match := []byte(" 5 point match\n Game 1\n Ann : 0                        Bob : 0\n  1) 31: 8/5 6/x                   42: 8/4 6/4\n")
	for lang, want := range map[string][2]string{
		"en": {"invalid transparency proof", `cannot read the step "6/x"`},
		"ka": {"მტკიცება არასწორია", `ნაბიჯი არ იკითხება: "6/x"`},
		"hy": {"ապացույցը սխալ է", `տեղաշարժը չի կարդացվում՝ "6/x"`},
		"ru": {"доказательство неверно", `шаг не читается: "6/x"`},
	} {
		p.Go(tb.url + "/?lang=" + lang)
		p.Drop("main", "tampered.json", tampered)
		if got := verdict(p); got != "failed" {
			t.Errorf("%s: a bundle with another opponent is %s", lang, got)
		}
		if row := browser.Eval[string](p, `document.querySelector('.report tbody tr').textContent`); !strings.Contains(row, want[0]) {
			t.Errorf("%s: the first check says %q, not %q", lang, row, want[0])
		}
		p.Drop("main", "match.mat", match)
		if got := verdict(p); got != "failed" {
			t.Errorf("%s: a match with an unreadable step is %s", lang, got)
		}
		if fault := p.Text(".report .faults"); !strings.Contains(fault, want[1]) {
			t.Errorf("%s: the fault is %q, not %q", lang, fault, want[1])
		}
	}
	p.Quiet()
}
