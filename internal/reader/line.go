package reader

import (
	"strconv"
	"strings"

	"fairdice/internal/messages"
	"fairdice/replay"
)

// told is a line as package replay/files tells it: an event of a native
// record, or a row of a match file, which is a roll and its play in one
// ("play A 3 1 8/5 6/5").
type told struct {
	kind, seat string
	dice       []int
	hops       []string
	rest       []string // what is neither
}

func read(line string) told {
	words := strings.Fields(line)
	if len(words) == 0 {
		return told{}
	}
	t := told{kind: words[0]}
	for _, w := range words[1:] {
		n, err := strconv.Atoi(w)
		switch {
		case (w == "A" || w == "B") && t.seat == "":
			t.seat = w
		case t.throws() && err == nil:
			t.dice = append(t.dice, n)
		case strings.Contains(w, "/"):
			t.hops = append(t.hops, w)
		default:
			t.rest = append(t.rest, w)
		}
	}
	return t
}

// throws reports whether numbers of the line are dice.
func (t told) throws() bool {
	switch t.kind {
	case "opening", "roll", "play", "stage":
		return true
	}
	return false
}

// say tells the line in a language.
func (t told) say(c messages.Catalogue) string {
	switch t.kind {
	case "opening":
		if len(t.dice) == 2 {
			return c.Text("event.opening", t.dice[0], t.dice[1])
		}
	case "roll":
		return c.Text("event.roll", t.seat, numbers(t.dice))
	case "move", "stage", "play":
		text := t.played(c)
		if t.kind == "play" && len(t.dice) > 0 {
			text = c.Text("event.roll", t.seat, numbers(t.dice)) + " · " + text
		}
		return text
	case "pass":
		return c.Text("event.pass", t.seat)
	case "resign":
		return c.Text("event.resign", t.seat, strings.Join(t.rest, " "))
	case "end":
		if t.seat == "" {
			return c.Text("event.end-draw")
		}
		return c.Text("event.end", t.seat, strings.Join(t.rest, " "))
	case "double", "take", "drop", "beaver", "raccoon", "timeout":
		return c.Text("event."+t.kind, t.seat)
	}
	return strings.Join(append([]string{t.kind, t.seat}, t.rest...), " ")
}

func (t told) played(c messages.Catalogue) string {
	if len(t.hops) == 0 {
		return c.Text("event.pass", t.seat)
	}
	return c.Text("event.move", t.seat, strings.Join(t.hops, " "))
}

func numbers(dice []int) string {
	var b strings.Builder
	for i, d := range dice {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(strconv.Itoa(d))
	}
	return b.String()
}

// mover returns the seat of the line.
func (t told) mover() (replay.Seat, bool) {
	switch t.seat {
	case "A":
		return replay.A, true
	case "B":
		return replay.B, true
	}
	return replay.A, false
}
