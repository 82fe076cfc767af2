//go:build !js

package main

import (
	"fmt"
	"strings"
	"unicode"

	"fairdice/replay"
	"fairdice/replay/files"
)

// print words a report.
func (r *recordRun) print(report files.Report, last *replay.State) ([]byte, error) {
	if !r.flags.json {
		return []byte(r.text(report, last)), nil
	}
	if r.flags.board {
		for i := range report.Findings {
			if st := report.Findings[i].State; st != nil {
				report.Findings[i].Board = drawState(*st)
			}
		}
	}
	return report.JSON()
}

// text words a report for people.
func (r *recordRun) text(report files.Report, last *replay.State) string {
	var b strings.Builder
	s := r.flags.speech
	fmt.Fprintf(&b, "%s: %s", printable(report.File), s.label(string(report.Verdict), "verdict."+string(report.Verdict)))
	switch {
	case report.Variant == "":
	case s.words == nil:
		fmt.Fprintf(&b, ": %s, %s, %s", report.Variant, plural(report.Games, "game"), plural(report.Rolls, "roll"))
	default:
		fmt.Fprintf(&b, ": %s, %s, %s", s.words.Text("variant."+report.Variant), s.words.Count("unit.game", int64(report.Games)), s.words.Count("unit.roll", int64(report.Rolls)))
	}
	b.WriteByte('\n')
	for _, f := range report.Findings {
		b.WriteString(s.finding(f, report.Games))
		if f.State != nil {
			b.WriteString(indent(drawState(*f.State)))
		}
	}
	s.notes(&b, s.label("note", "report.note"), report.Notes)
	if r.flags.verbose {
		for _, text := range report.Understood {
			fmt.Fprintf(&b, "  %s: %s\n", s.label("understood", "report.understood"), printable(text))
		}
		s.notes(&b, s.label("ignored", "report.ignored"), report.Ignored)
		s.notes(&b, s.label("not checked", "status.unchecked"), report.Unchecked)
	}
	if r.flags.board && last != nil {
		b.WriteString(indent(drawState(*last)))
	}
	return b.String()
}

func (s speech) finding(f files.Finding, games int) string {
	var b strings.Builder
	b.WriteString("  ")
	if f.Line > 0 {
		fmt.Fprintf(&b, "%s %d: ", s.label("line", "report.line"), f.Line)
	}
	if games > 1 && f.Game > 0 {
		fmt.Fprintf(&b, "%s %d: ", s.label("game", "report.game"), f.Game)
	}
	fmt.Fprintf(&b, "%s (%s): %s\n", f.Check, f.Category, printable(s.said(f.Message, f.Why)))
	if !strings.Contains(f.Message, "; legal: ") {
		for _, line := range f.Legal {
			fmt.Fprintf(&b, "    %s: %s\n", s.label("legal", "report.legal"), line)
		}
	}
	return b.String()
}

func (s speech) notes(b *strings.Builder, what string, notes []files.Note) {
	for _, n := range notes {
		fmt.Fprintf(b, "  %s: ", what)
		if n.Line > 0 {
			fmt.Fprintf(b, "%s %d: ", s.label("line", "report.line"), n.Line)
		}
		fmt.Fprintf(b, "%s\n", printable(s.said(n.Text, n.Why)))
	}
}

// printable makes names and words of files fit for a terminal: a file could move the cursor, or change what stands above.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, text)
}

// indent moves a drawing under what it belongs to.
func indent(drawing string) string {
	if drawing == "" {
		return ""
	}
	return "    " + strings.ReplaceAll(strings.TrimRight(drawing, "\n"), "\n", "\n    ") + "\n"
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
