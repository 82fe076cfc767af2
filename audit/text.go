package audit

import (
	"fmt"
	"strings"

	"fairdice/internal/phrase"
	"fairdice/replay"
)

// TextStyle says how [Report.Text] is printed. Board draws the position of a
// fault; without it the boards are left out.
type TextStyle struct {
	Color bool
	Board func(replay.State) string
	Words Words // of another language; nil: English
}

// Words is a language: texts by the stable keys of checks, verdicts, notes and
// sentences, and those of what details are made of.
// [fairdice/internal/messages.Catalogue] is one.
type Words interface {
	Text(key string, args ...any) string
	Count(key string, n int64, args ...any) string
	Say(key string, args ...string) string
	Has(key string) bool
	phrase.Words
}

// Title is the verdict with its level in a language; nil words are English.
func (r Report) Title(w Words) string {
	title, note := strings.ToUpper(string(r.Verdict)), r.LevelNote
	if w != nil {
		title = w.Text("verdict." + string(r.Verdict))
		if note != "" {
			note = w.Text("note." + hyphened(note))
		}
	}
	if r.Level != "" {
		title += "  " + r.Level
		if note != "" {
			title += ", " + note
		}
	}
	return title
}

// In is the sentence in a language; nil words are English.
func (s Sentence) In(w Words) string {
	if w == nil {
		return s.Text
	}
	if s.why != nil {
		return w.Text(s.Key, phrase.In(s.why, w))
	}
	return w.Say(s.Key, s.Args...)
}

// In is what the answer to a check means in a language; nil words are English,
// in which the detail says it.
func (c Check) In(w Words) string {
	if w == nil {
		return c.Detail
	}
	text := w.Text("check." + string(c.ID) + "." + string(c.Status))
	if c.Status != Pass && c.Detail != "" {
		text += " (" + c.DetailIn(w) + ")"
	}
	return text
}

// DetailIn is the detail in a language; nil words are English, and so is the
// detail of a pass, which the words of the check say, and of a report that was
// read.
func (c Check) DetailIn(w Words) string {
	if w == nil || c.Why == nil {
		return c.Detail
	}
	return phrase.In(c.Why, w)
}

// In is the rule broken in a language; nil words are English.
func (f Fault) In(w Words) string {
	switch {
	case w == nil:
		return f.Message
	case w.Has("code." + f.Code):
		return w.Text("code." + f.Code)
	case f.Why == nil: // the report was read
		return f.Message
	}
	return phrase.In(f.Why, w)
}

// DueIn is what is due there in a language; nil words are English.
func (f Fault) DueIn(w Words) string {
	if w == nil || f.Due == "" || f.Why == nil {
		return f.Due
	}
	return phrase.Say(f.State.Due(), w)
}

// In is one line about the game in a language; nil words are English.
func (g GameSummary) In(w Words) string {
	if w == nil {
		return fmt.Sprintf("game %d: %s, %s", g.Game, g.Result, plural(g.Rolls, "roll"))
	}
	result := g.Result
	switch result {
	case "aborted", "in progress":
		result = w.Text("result." + hyphened(result))
	}
	return fmt.Sprintf("%s %d: %s, %s", w.Text("term.game"), g.Game, result, w.Count("unit.roll", int64(g.Rolls)))
}

// Text prints the report for people: one line per check, faults with their
// alternatives, then the verdict in plain sentences.
func (r Report) Text(style TextStyle) string {
	p := &printer{color: style.Color, words: style.Words}
	for _, d := range descriptions {
		p.check(d.id, r.Checks)
		if r.Verdict == Malformed {
			break // the other checks have nothing to look at
		}
	}
	for _, fault := range r.Faults {
		p.fault(fault, style.Board)
	}
	p.line("")
	for _, g := range r.Games {
		p.line("%s", g.In(style.Words))
	}
	color := map[Verdict]string{Verified: green, Failed: red, Incomplete: yellow, Malformed: red}[r.Verdict]
	p.line("%s", p.paint(color, r.Title(style.Words)))
	for _, s := range r.Sentences {
		p.line("%s", s.In(style.Words))
	}
	return p.String()
}

const (
	green  = "\x1b[32m"
	red    = "\x1b[31m"
	yellow = "\x1b[33m"
	reset  = "\x1b[0m"
)

type printer struct {
	strings.Builder
	color bool
	words Words
}

func (p *printer) line(format string, args ...any) {
	fmt.Fprintf(&p.Builder, format+"\n", args...)
}

func (p *printer) paint(color, s string) string {
	if !p.color {
		return s
	}
	return color + s + reset
}

// mostListed is how many findings of one kind the text lists: what follows
// from the first fault is rarely news. JSON has them all.
const mostListed = 3

// check prints the line of one check: fail if any of its findings is, with
// the first faults below it; pass if nothing was left out; else the reason.
func (p *printer) check(id ID, all []Check) {
	var fails, open []Check
	passed := ""
	meaning := func(c Check) string { return where(c, nil) }
	if p.words != nil {
		meaning = func(c Check) string { return p.words.Text("check." + string(c.ID) + "." + string(c.Status)) }
	}
	for _, c := range all {
		switch {
		case c.ID != id:
		case c.Status == Fail:
			fails = append(fails, c)
		case c.Status == Pass:
			passed = c.Detail
			if p.words != nil {
				passed = meaning(c)
			}
		default:
			open = append(open, c)
		}
	}
	name := fmt.Sprintf("%-19s", id)
	switch {
	case p.words != nil && len(fails) > 0:
		p.line("%s  %s %s", p.paint(red, "FAIL"), name, meaning(fails[0]))
		for _, c := range fails[:min(mostListed, len(fails))] {
			p.line("      %s", where(c, p.words))
		}
		if more := len(fails) - mostListed; more > 0 {
			p.line("      + %d", more)
		}
	case p.words != nil && passed == "":
		p.line("%s  %s %s", p.paint(yellow, " -  "), name, meaning(open[0]))
	case p.words != nil && len(open) > 0:
		p.line("%s  %s %s %s", p.paint(yellow, "part"), name, passed, meaning(open[0]))
	case len(fails) == 1:
		p.line("%s  %s %s", p.paint(red, "FAIL"), name, where(fails[0], nil))
	case len(fails) > 1:
		p.line("%s  %s %s", p.paint(red, "FAIL"), name, plural(len(fails), "fault"))
		for _, c := range fails[:min(mostListed, len(fails))] {
			p.line("      %s", where(c, p.words))
		}
		if more := len(fails) - mostListed; more > 0 {
			p.line("      and %d more", more)
		}
	case passed != "" && len(open) > 0:
		p.line("%s  %s %s", p.paint(yellow, "part"), name, reasons(open, "passed but for what was not checked: "))
	case passed != "":
		p.line("%s  %s %s", p.paint(green, "pass"), name, passed)
	default:
		p.line("%s  %s %s", p.paint(yellow, " -  "), name, reasons(open, "not checked: "))
	}
}

// where prints a finding with its place; nil words are English.
func where(c Check, w Words) string {
	game, line := "game", "line"
	if w != nil {
		game, line = w.Text("report.game"), w.Text("report.line")
	}
	switch detail := c.DetailIn(w); {
	case c.Game > 0 && c.Line > 0:
		return fmt.Sprintf("%s %d, %s %d: %s", game, c.Game, line, c.Line, detail)
	case c.Game > 0:
		return fmt.Sprintf("%s %d: %s", game, c.Game, detail)
	default:
		return detail
	}
}

// reasons joins why a check was left out, the first few of them.
func reasons(open []Check, prefix string) string {
	var parts []string
	for i, c := range open {
		if i == mostListed {
			parts = append(parts, fmt.Sprintf("and %d more", len(open)-mostListed))
			break
		}
		parts = append(parts, where(c, nil))
	}
	return prefix + strings.Join(parts, "; ")
}

// fault prints a record line that the rules refuse.
func (p *printer) fault(f Fault, board func(replay.State) string) {
	p.line("")
	label := func(english, key string) string {
		if p.words == nil {
			return english
		}
		return p.words.Text("report." + key)
	}
	p.line("%s %d, %s %d: %s", label("game", "game"), f.Game, label("record line", "line"), f.Line, p.paint(red, f.Text))
	p.line("  %s: %s (%s)", label("rule broken", "broken"), f.In(p.words), f.Check)
	if f.Due != "" {
		p.line("  %s: %s", label("due here", "due"), f.DueIn(p.words))
	}
	if len(f.Alternatives) > 0 {
		p.line("  %s: %s", label("legal here", "legal"), strings.Join(f.Alternatives, " | "))
	}
	if board == nil {
		return
	}
	for row := range strings.Lines(board(f.State)) {
		p.line("  %s", strings.TrimRight(row, "\n"))
	}
}
