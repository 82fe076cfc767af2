package board_test

import (
	"strings"
	"testing"

	"fairdice/internal/board"
	"fairdice/internal/messages"
	"fairdice/rules"
)

// Without words a board says what it says with the English ones, and with those
// of another language nothing English is left.
func TestWords(t *testing.T) {
	for _, id := range []string{"short", "plakoto", "long-classic"} {
		v, err := rules.Lookup(id)
		if err != nil {
			t.Fatal(err)
		}
		p := v.Rules.Start()
		o := board.Options{Rules: v.Rules, View: rules.Black}
		plain := board.Describe(p, o)
		o.Words = messages.For("en")
		if got := board.Describe(p, o); got != plain {
			t.Errorf("%s in English words:\n%swithout:\n%s", id, got, plain)
		}
		for _, lang := range []string{"ka", "hy", "ru"} {
			o.Words = messages.For(lang)
			text := board.Describe(p, o)
			if i := strings.IndexFunc(text, func(r rune) bool { return r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' }); i >= 0 {
				t.Errorf("%s in %s: %s", id, lang, text)
			}
			if svg := board.SVG(p, o); !strings.Contains(svg, "<desc>"+text+"</desc>") {
				t.Errorf("%s in %s: the picture has another description", id, lang)
			}
		}
	}
}
