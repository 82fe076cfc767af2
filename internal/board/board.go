// Package board draws positions: as text for terminals and mails, as SVG for pages, and in words for whoever reads
// with a screen reader. It draws every family the same way, along the path of the player at the bottom: his first
// point is at the top right, the twelfth at the top left, the thirteenth below it, and his home at the bottom right
// (RULES.md §1). Points carry the numbers that records use for that player.
//
//	fmt.Print(board.Text(v.Rules.Start(), board.Options{Rules: v.Rules}))
package board

import (
	"fmt"
	"strings"

	"fairdice/rules"
)

// Options say how a position is drawn.
type Options struct {
	Rules rules.Rules  // of the position; they give the points their numbers
	View  rules.Color  // the player at the bottom
	ASCII bool         // Text: only ASCII characters
	Last  []rules.Step // the last move, to be marked; the position is the one after it
	Mover rules.Color  // who made it
	Words Words        // of Describe and of the words in an SVG; nil: English
}

// Words are texts of a language by key; a messages.Catalogue has them.
type Words interface {
	Text(key string, args ...any) string
}

// english is said without Words, as package messages says it.
var english = map[string]string{
	"board.at-bottom": "%v at the bottom", "board.on": "%v on %v", "board.on-pinned": "1 pinned on %v", "board.on-bar": "%v on the bar",
	"board.borne-off": "%v borne off", "board.prime": "a prime from %v to %v", "board.side.about": "%v: %v; %v pips.", "board.last.about": "Last move, %v: %v.",
	"board.step": "%v to %v", "board.step-hit": "%v hitting", "board.step-pin": "%v pinning",
	"color.white": "White", "color.black": "Black",
}

func (o Options) say(key string, args ...any) string {
	if o.Words != nil {
		return o.Words.Text(key, args...)
	}
	return fmt.Sprintf(english[key], args...)
}

func (o Options) name(c rules.Color) string { return o.say("color." + c.String()) }

// point is what is drawn on one point, seen by the player at the bottom.
type point struct {
	idx    int  // on his path
	number int  // as records call it for him
	pinned bool // the first of the checkers is of the other colour, and pinned
	count  int  // checkers of color, the pinned one apart
	color  rules.Color
	from   bool // a step of the last move starts here
	to     bool // one ends here
}

// points collects the 24 points by own-path index of the player at the bottom.
func (o Options) points(p rules.Position) (pts [24]point) {
	for idx := range pts {
		pt := &pts[idx]
		other := o.Rules.Across(idx)
		mine, theirs := p.At(o.View, idx), p.At(o.View.Other(), other)
		pt.idx, pt.number = idx, o.Rules.PointNumber(o.View, idx)
		switch {
		case p.Held(o.View, idx):
			pt.color, pt.count, pt.pinned = o.View.Other(), theirs, true
		case p.Held(o.View.Other(), other):
			pt.color, pt.count, pt.pinned = o.View, mine, true
		case theirs > 0:
			pt.color, pt.count = o.View.Other(), theirs
		default:
			pt.color, pt.count = o.View, mine
		}
	}
	for _, s := range o.Last {
		if s.From >= 0 {
			pts[o.seen(int(s.From))].from = true
		}
		if s.To < rules.Off {
			pts[o.seen(int(s.To))].to = true
		}
	}
	return pts
}

// seen turns an index on the mover's path into one of the player at the bottom.
func (o Options) seen(idx int) int {
	if o.Mover == o.View {
		return idx
	}
	return o.Rules.Across(idx)
}

// checker returns the colour of the n-th checker of the point from the edge, 0-based.
func (pt point) checker(n int) (rules.Color, bool) {
	if pt.pinned {
		if n == 0 {
			return pt.color.Other(), true
		}
		n--
	}
	return pt.color, n < pt.count
}

// height is the number of checkers on the point.
func (pt point) height() int {
	if pt.pinned {
		return pt.count + 1
	}
	return pt.count
}

// Describe tells the position in words: each side's points in the numbers of its own records, highest first on its
// way home, then bar, borne off and pips, then the last move.
func Describe(p rules.Position, o Options) string {
	var b strings.Builder
	for _, c := range [2]rules.Color{rules.White, rules.Black} {
		var parts []string
		for idx := range 24 {
			n := p.At(c, idx)
			switch {
			case n == 0:
			case p.Held(c, idx):
				parts = append(parts, o.say("board.on-pinned", o.Rules.PointNumber(c, idx)))
			default:
				parts = append(parts, o.say("board.on", n, o.Rules.PointNumber(c, idx)))
			}
		}
		if n := p.Bar(c); n > 0 {
			parts = append(parts, o.say("board.on-bar", n))
		}
		if n := p.Off(c); n > 0 {
			parts = append(parts, o.say("board.borne-off", n))
		}
		for _, wall := range Primes(p, o.Rules, c) {
			parts = append(parts, o.say("board.prime", o.Rules.PointNumber(c, wall[0]), o.Rules.PointNumber(c, wall[len(wall)-1])))
		}
		b.WriteString(o.say("board.side.about", o.name(c), strings.Join(parts, ", "), p.Pips(c)) + "\n")
	}
	if len(o.Last) > 0 {
		words := make([]string, len(o.Last))
		for i, s := range o.Last {
			from, to, _ := strings.Cut(strings.TrimSuffix(o.Rules.FormatStep(o.Mover, s), "*"), "/")
			words[i] = o.say("board.step", from, to)
			switch {
			case s.Contact && o.Rules.Pins():
				words[i] = o.say("board.step-pin", words[i])
			case s.Contact:
				words[i] = o.say("board.step-hit", words[i])
			}
		}
		b.WriteString(o.say("board.last.about", o.name(o.Mover), strings.Join(words, ", ")) + "\n")
	}
	return b.String()
}
