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
	fmt.Fprintf(&b, "%s: %s", printable(report.File), report.Verdict)
	if report.Variant != "" {
		fmt.Fprintf(&b, ": %s, %s, %s", report.Variant, plural(report.Games, "game"), plural(report.Rolls, "roll"))
	}
	b.WriteByte('\n')
	for _, f := range report.Findings {
		b.WriteString(findingText(f, report.Games))
		if f.State != nil {
			b.WriteString(indent(drawState(*f.State)))
		}
	}
	writeNotes(&b, "note", report.Notes)
	if r.flags.verbose {
		for _, text := range report.Understood {
			fmt.Fprintf(&b, "  understood: %s\n", printable(text))
		}
		writeNotes(&b, "ignored", report.Ignored)
		writeNotes(&b, "not checked", report.Unchecked)
	}
	if r.flags.board && last != nil {
		b.WriteString(indent(drawState(*last)))
	}
	return b.String()
}

func findingText(f files.Finding, games int) string {
	var b strings.Builder
	b.WriteString("  ")
	if f.Line > 0 {
		fmt.Fprintf(&b, "line %d: ", f.Line)
	}
	if games > 1 && f.Game > 0 {
		fmt.Fprintf(&b, "game %d: ", f.Game)
	}
	fmt.Fprintf(&b, "%s (%s): %s\n", f.Check, f.Category, printable(f.Message))
	if !strings.Contains(f.Message, "; legal: ") {
		for _, line := range f.Legal {
			fmt.Fprintf(&b, "    legal: %s\n", line)
		}
	}
	return b.String()
}

func writeNotes(b *strings.Builder, what string, notes []files.Note) {
	for _, n := range notes {
		fmt.Fprintf(b, "  %s: ", what)
		if n.Line > 0 {
			fmt.Fprintf(b, "line %d: ", n.Line)
		}
		fmt.Fprintf(b, "%s\n", printable(n.Text))
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
