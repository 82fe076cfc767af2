package browsertest

import (
	"testing"

	"fairdice/internal/messages"
)

// addresses are the pages there are, by the names of their golden images.
func (tb *table) addresses() map[string]string {
	return map[string]string{
		"check": "/", "match": "/match/" + tb.finished, "running": "/match/" + tb.running,
		"commitments": "/commitments", "sequence": "/commitments/" + tb.sequence, "log": "/log", "how": "/how", "chain": "/my-chain",
		"missing": "/match/01940c3e-7b4a-7c1d-9a52-000000000000",
	}
}

// Every page in every language and both sets of colours loads without a word in
// the console, and axe-core finds nothing in it.
func TestPages(t *testing.T) {
	tb := shared(t)
	for name, path := range tb.addresses() {
		t.Run(name, func(t *testing.T) {
			p := open(t, tb.service)
			if name == "missing" {
				p.expect("404")
			}
			for _, lang := range messages.Languages() {
				for _, dark := range []bool{false, true} {
					p.dark(dark)
					p.goTo(inLanguage(path, lang))
					p.wait("document.documentElement.lang === " + quoted(lang))
					p.settle()
					p.accessible()
				}
			}
		})
	}
}
