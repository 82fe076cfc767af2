package mat

import (
	"bytes"
	"errors"
	"strings"

	"fairdice/internal/phrase"
	"fairdice/replay"
	"fairdice/replay/sheet"
	"fairdice/rules"
)

// maxIgnored bounds how many ignored lines are remembered.
const maxIgnored = 100

func (f *file) ignore(format string, args ...any) {
	if len(f.ignored) < maxIgnored {
		f.ignored = append(f.ignored, sheet.NewNote(0, f.line, phrase.Errorf(format, args...)))
	}
}

// name keeps the names of the players where no tag has given them.
func (f *file) name(names [2]string) {
	for i, n := range names {
		if f.players[i] == "" {
			f.players[i] = n
		}
	}
}

// comment reads a comment line: a tag, [Key "value"], or a program's own words.
func (f *file) comment(text string) error {
	inner := strings.TrimSpace(strings.TrimLeft(text, ";"))
	inner, tag := strings.CutPrefix(inner, "[")
	key, value, quoted := strings.Cut(strings.TrimSuffix(inner, "]"), "\"")
	if !quoted {
		key, value, _ = strings.Cut(key, " ")
	}
	key, value = strings.ToLower(strings.TrimSpace(key)), strings.TrimSuffix(strings.TrimSpace(value), "\"")
	if !tag {
		f.ignore("%s", clip([]byte(text)))
		return nil
	}
	switch key {
	case "opening", "ending":
		return f.hint(key, value)
	}
	if f.sheet != nil {
		f.ignore("the tag %q after the first game", clip([]byte(key)))
		return nil
	}
	switch key {
	case "crawford":
		f.crawford = !strings.EqualFold(value, "off")
	case "site":
		f.site = clip([]byte(value))
	case "match id":
		f.id = clip([]byte(value))
	case "player 1":
		f.players[replay.A] = clip([]byte(value))
	case "player 2":
		f.players[replay.B] = clip([]byte(value))
	case "variation", "variant":
		return f.variation(value)
	case "options":
		o, err := replay.ParseOptions(value)
		if err != nil {
			return err
		}
		f.agreed = &o
	default:
		f.ignore("the tag %q", clip([]byte(key)))
	}
	return nil
}

// variation chooses the variant that a tag names, by a program's name or by its id.
func (f *file) variation(value string) error {
	if f.fixed {
		return nil
	}
	lower := strings.ToLower(value)
	id, ok := variations[spaces.Replace(lower)]
	if !ok {
		id = lower
	}
	v, err := rules.Lookup(id)
	if err != nil {
		return phrase.Errorf("the variation %q is not one that can be checked", clip([]byte(value)))
	}
	f.variant = v
	return nil
}

var spaces = strings.NewReplacer(" ", "", "-", "", "(", "", ")", "")

// variations maps the names programs use to variants.
var variations = map[string]string{
	"": "short", "backgammon": "short", "standard": "short", "nackgammon": "nackgammon", "hypergammon": "hyper", "hypergammon3": "hyper",
}

// agree checks the options that a tag gives against the match.
func (f *file) agree() error {
	if f.agreed == nil {
		return nil
	}
	if err := f.agreed.Validate(f.variant); err != nil {
		return err
	}
	if n := f.agreed.Series.N; max(0, f.length) != n {
		return phrase.Errorf("the options are for a match to %d points, the file for one to %d", n, max(0, f.length))
	}
	f.crawford = f.agreed.Crawford
	return nil
}

// hint reads what a tag says of the next game: [Opening "33 21"], every draw with seat A's die first, or [Ending "resign A 2"].
func (f *file) hint(key, value string) error {
	f.hints.Line = f.line
	if key == "ending" {
		e, err := replay.ParseEvent(value)
		if err == nil && e.Kind != replay.Resign && e.Kind != replay.Timeout {
			err = errors.New("a game is given up by resign or timeout")
		}
		f.hints.Ending = &e
		return err
	}
	f.hints.Shown = true
	if value == "-" { // the time was up before the first draw
		return nil
	}
	for draw := range strings.FieldsSeq(value) {
		d := rules.Dice{}
		if len(draw) == 2 {
			d = rules.Dice{A: draw[0] - '0', B: draw[1] - '0'}
		}
		if !d.Valid() {
			return phrase.Errorf("the opening draws are %q, not pairs of dice such as 33 21", clip([]byte(value)))
		}
		f.hints.Draws = append(f.hints.Draws, d)
	}
	return nil
}

// players reads the line with both names and scores and returns the score, the names and the column where the second name begins. Names may be
// empty, and may hold anything, colons and numbers included.
func players(text []byte) (score [2]int, names [2]string, second int, ok bool) {
	head, last, ok := cutScore(text)
	if !ok {
		return score, names, 0, false
	}
	score[1] = last
	// The first name ends where a colon with a number stands before the gap between the columns; where no gap shows, at the first
	// colon with a number.
	found := -1
	for i, c := range head {
		if c != ':' {
			continue
		}
		rest := bytes.TrimLeft(head[i+1:], " \t")
		digits := 0
		for digits < len(rest) && digit(rest[digits]) {
			digits++
		}
		n, ok := decimal(rest[:digits])
		gap := rest[digits:]
		if !ok || len(gap) > 0 && gap[0] != ' ' && gap[0] != '\t' {
			continue
		}
		wide := len(gap) == 0 || gap[0] == '\t' || len(gap) > 1 && (gap[1] == ' ' || gap[1] == '\t')
		if found >= 0 && !wide {
			continue
		}
		found, score[0] = len(head)-len(bytes.TrimLeft(gap, " \t")), int(n)
		names[0], names[1] = clip(bytes.TrimSpace(head[:i])), clip(bytes.TrimSpace(head[found:]))
		if wide {
			break
		}
	}
	if found < 0 {
		return score, names, 0, false
	}
	return score, names, column(text, 0, found), true
}

// cutScore cuts ": 3" off the end of a line.
func cutScore(text []byte) (head []byte, n int, ok bool) {
	i := bytes.LastIndexByte(text, ':')
	if i < 0 {
		return nil, 0, false
	}
	v, ok := decimal(bytes.TrimSpace(text[i+1:]))
	return text[:i], int(v), ok
}
