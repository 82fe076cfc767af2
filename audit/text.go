package audit

import (
	"fmt"
	"strings"

	"fairdice/replay"
)

// TextStyle says how [Report.Text] is printed. Board draws the position of a
// fault; without it the boards are left out.
type TextStyle struct {
	Color bool
	Board func(replay.State) string
}

// Text prints the report for people: one line per check, faults with their
// alternatives, then the verdict in plain sentences.
func (r Report) Text(style TextStyle) string {
	p := &printer{color: style.Color}
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
		p.line("game %d: %s, %s", g.Game, g.Result, plural(g.Rolls, "roll"))
	}
	title := strings.ToUpper(string(r.Verdict))
	if r.Level != "" {
		title += "  " + r.Level
		if r.LevelNote != "" {
			title += ", " + r.LevelNote
		}
	}
	color := map[Verdict]string{Verified: green, Failed: red, Incomplete: yellow, Malformed: red}[r.Verdict]
	p.line("%s", p.paint(color, title))
	for _, s := range r.Sentences {
		p.line("%s", s.Text)
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
	for _, c := range all {
		switch {
		case c.ID != id:
		case c.Status == Fail:
			fails = append(fails, c)
		case c.Status == Pass:
			passed = c.Detail
		default:
			open = append(open, c)
		}
	}
	name := fmt.Sprintf("%-19s", id)
	switch {
	case len(fails) == 1:
		p.line("%s  %s %s", p.paint(red, "FAIL"), name, where(fails[0]))
	case len(fails) > 1:
		p.line("%s  %s %s", p.paint(red, "FAIL"), name, plural(len(fails), "fault"))
		for _, c := range fails[:min(mostListed, len(fails))] {
			p.line("      %s", where(c))
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

// where prints a finding with its place.
func where(c Check) string {
	switch {
	case c.Game > 0 && c.Line > 0:
		return fmt.Sprintf("game %d, line %d: %s", c.Game, c.Line, c.Detail)
	case c.Game > 0:
		return fmt.Sprintf("game %d: %s", c.Game, c.Detail)
	default:
		return c.Detail
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
		parts = append(parts, where(c))
	}
	return prefix + strings.Join(parts, "; ")
}

// fault prints a record line that the rules refuse.
func (p *printer) fault(f Fault, board func(replay.State) string) {
	p.line("")
	p.line("game %d, record line %d: %s", f.Game, f.Line, p.paint(red, f.Text))
	p.line("  rule broken: %s (%s)", f.Message, f.Check)
	if f.Due != "" {
		p.line("  due here: %s", f.Due)
	}
	if len(f.Alternatives) > 0 {
		p.line("  legal here: %s", strings.Join(f.Alternatives, " | "))
	}
	if board == nil {
		return
	}
	for row := range strings.Lines(board(f.State)) {
		p.line("  %s", strings.TrimRight(row, "\n"))
	}
}
