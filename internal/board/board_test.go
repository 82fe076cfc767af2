package board_test

import (
	"encoding/xml"
	"errors"
	"flag"
	"io"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"fairdice/internal/board"
	"fairdice/rules"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s changed (-want +got):\n%s", path, diff)
	}
}

type picture struct {
	name, variant, position string
	view, mover             rules.Color
	last                    []rules.Step
}

// pictures has every family, both views, a bar, borne-off checkers, high stacks and pins.
var pictures = []picture{
	{"long-start", "long-classic", "1:15 | 13:15", rules.White, rules.White, nil},
	{"long-moved", "long-classic", "1:13 7:2 | 13:15", rules.White, rules.White, []rules.Step{{From: 0, To: 6}, {From: 0, To: 6}}},
	{"long-black", "khachapuri", "1:3 19:11 24:1 | 7:11 8:1 13:3", rules.Black, rules.Black, []rules.Step{{From: 0, To: 19}}},
	{"long-off", "gyulbar", "23:4 24:8 off:3 | 7:2 12:12 off:1", rules.White, rules.Black, []rules.Step{{From: 23, To: 24}}},
	{"short-hit", "short", "5:1 6:5 8:2 13:5 24:2 | 6:5 8:3 13:5 24:1 bar:1", rules.White, rules.White, []rules.Step{{From: 16, To: 19, Contact: true}}},
	{"short-enter", "hyper", "6:1 20:1 off:1 | 23:2 bar:1", rules.Black, rules.White, []rules.Step{{From: rules.Bar, To: 4}}},
	{"pins", "plakoto", "12:1p 24:14 | 13:1 24:14", rules.White, rules.Black, []rules.Step{{From: 0, To: 11, Contact: true}}},
	{"pins-high", "plakoto", "12:6 20:1p 24:8 | 5:2 13:1p 24:12", rules.Black, rules.White, nil},
}

func (pic picture) draw(t *testing.T) (rules.Position, board.Options) {
	t.Helper()
	v, err := rules.Lookup(pic.variant)
	if err != nil {
		t.Fatal(err)
	}
	p, err := rules.ParsePosition(v.Rules, pic.position)
	if err != nil {
		t.Fatal(err)
	}
	return p, board.Options{Rules: v.Rules, View: pic.view, Last: pic.last, Mover: pic.mover}
}

func TestPictures(t *testing.T) {
	for _, pic := range pictures {
		t.Run(pic.name, func(t *testing.T) {
			p, o := pic.draw(t)
			text := board.Text(p, o)
			o.ASCII = true
			ascii := board.Text(p, o)
			golden(t, "testdata/"+pic.name+".txt", text+"\n"+ascii+"\n"+board.Describe(p, o))
			golden(t, "testdata/"+pic.name+".svg", board.SVG(p, o))
			for _, r := range ascii {
				if r > 127 {
					t.Fatalf("%q in plain ASCII", r)
				}
			}
			if utf8.RuneCountInString(text) != len(ascii) {
				t.Error("the two sets of characters differ in width")
			}
		})
	}
}

// TestEveryStart draws all variants from both sides and reads the checkers back out of the text.
func TestEveryStart(t *testing.T) {
	for _, v := range rules.Variants() {
		for _, view := range []rules.Color{rules.White, rules.Black} {
			o := board.Options{Rules: v.Rules, View: view}
			text := board.Text(v.Rules.Start(), o)
			for line := range strings.Lines(text) {
				if n := utf8.RuneCountInString(line); n > 53 {
					t.Errorf("%s: %d columns: %s", v.ID, n, line)
				}
			}
			for _, sign := range []string{"○", "●"} {
				if !strings.Contains(text, sign) {
					t.Errorf("%s: no %s:\n%s", v.ID, sign, text)
				}
			}
			wellFormed(t, board.SVG(v.Rules.Start(), o))
		}
	}
}

func wellFormed(t *testing.T, svg string) {
	t.Helper()
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatalf("svg: %v\n%s", err, svg)
		}
	}
}
