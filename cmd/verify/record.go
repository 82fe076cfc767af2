//go:build !js

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"fairdice/audit"
	"fairdice/replay"
	"fairdice/replay/files"
	"fairdice/rules"
)

// recordFlags are the flags of "verify record".
type recordFlags struct {
	variant, options, rules string
	json, board, step       bool
}

func recordCommand() *cobra.Command {
	var flags recordFlags
	cmd := &cobra.Command{
		Use:   "record FILE|DIR…",
		Short: "check the moves, the cube and the result of recorded games",
		Long: `Check recorded games: native records, .mat and .txt match files, .sgf files. The
format is recognised by content. Every finding names the line, the rule that is
broken and what would have been legal.

In a directory only .mat, .txt, .sgf and .record files are read; all others are
listed as skipped. A .mat match to points has a cube, and the Crawford rule
unless the file says otherwise; in a session of single games beavers, and
results with and without the Jacoby rule, are accepted.`,
		Example: `  verify record game-1.record
  verify record --variant nackgammon --json matches/
  verify record --variant short --options "raise=cube stake=win series=single crawford=off" events.record`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("give at least one FILE or DIR")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := refuseEmpty(cmd); err != nil {
				return err
			}
			options, err := flags.parse()
			if err != nil {
				return err
			}
			return checkRecords(cmd, args, flags, options)
		},
	}
	f := cmd.Flags()
	f.StringVar(&flags.variant, "variant", "", "`VARIANT` of records without header and of files that name none")
	f.StringVar(&flags.options, "options", "", "`OPTIONS` of records without header (default \""+files.DefaultOptions().String()+"\")")
	f.StringVar(&flags.rules, "rules", "", "`FILE` of further known rules versions, one VERSION HASH a line; it must know the rules of the variant")
	f.BoolVar(&flags.json, "json", false, "print one JSON object per file")
	f.BoolVar(&flags.board, "board", false, "draw the board: with --json in every finding, else also where a file ends")
	f.BoolVar(&flags.step, "step", false, "print every line with the position after it")
	return cmd
}

func (f recordFlags) parse() (files.Options, error) {
	var o files.Options
	if f.variant != "" {
		v, err := rules.Lookup(f.variant)
		if err != nil {
			return o, fmt.Errorf("%w: --variant", err)
		}
		o.Variant = &v
	}
	if f.options != "" {
		options, err := replay.ParseOptions(f.options)
		if err != nil {
			return o, fmt.Errorf("%w: --options", err)
		}
		o.Options = &options
	}
	if f.rules != "" {
		text, err := readFile(f.rules, maxTrustFile)
		if err != nil {
			return o, err
		}
		if _, err := audit.ParseRules(string(text)); err != nil {
			return o, fmt.Errorf("%w: %s", err, f.rules)
		}
	}
	return o, nil
}

// recordExtensions are the names read in a directory.
var recordExtensions = map[string]bool{".mat": true, ".txt": true, ".sgf": true, ".record": true}

// checkRecords checks every file and returns the status of the worst: failed before malformed before incomplete.
func checkRecords(cmd *cobra.Command, paths []string, flags recordFlags, o files.Options) error {
	out := recordPrinter{out: cmd.OutOrStdout(), flags: flags, counts: map[files.Verdict]int{}}
	for _, path := range paths {
		err := filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir():
				return nil
			case name != path && (!recordExtensions[strings.ToLower(filepath.Ext(name))] || !entry.Type().IsRegular()):
				return out.print(files.Report{File: name, Verdict: files.Skipped, Findings: []files.Finding{}}, nil)
			}
			return out.check(name, o)
		})
		if err != nil {
			return fmt.Errorf("check records: %w", err)
		}
	}
	return out.status()
}

// recordPrinter prints the reports of files.
type recordPrinter struct {
	out    io.Writer
	flags  recordFlags
	counts map[files.Verdict]int
}

func (p *recordPrinter) check(name string, o files.Options) error {
	file, err := os.Open(name)
	if err != nil {
		return err
	}
	defer file.Close()
	var last replay.State
	var steps []files.Step
	failed := error(nil)
	o.Observe = func(game, line int, what string, st replay.State) {
		last = st
		switch {
		case p.flags.step && p.flags.json:
			steps = append(steps, files.Step{Game: game, Line: line, What: what, Position: st.Position().String()})
		case p.flags.step && failed == nil:
			_, failed = fmt.Fprintf(p.out, "%s:%d: game %d: %s: %s\n", name, line, game, what, st.Position())
		}
	}
	report := files.Check(name, file, o)
	report.Steps = steps
	if failed != nil {
		return failed
	}
	return p.print(report, &last)
}

func (p *recordPrinter) print(r files.Report, last *replay.State) error {
	p.counts[r.Verdict]++
	if p.flags.json {
		if p.flags.board {
			for i := range r.Findings {
				if st := r.Findings[i].State; st != nil {
					r.Findings[i].Board = drawState(*st)
				}
			}
		}
		encoder := json.NewEncoder(p.out)
		encoder.SetEscapeHTML(false)
		return encoder.Encode(r)
	}
	_, err := io.WriteString(p.out, p.text(r, last))
	return err
}

// text words a report for people.
func (p *recordPrinter) text(r files.Report, last *replay.State) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s", r.File, r.Verdict)
	if r.Variant != "" {
		fmt.Fprintf(&b, ": %s, %s, %s", r.Variant, plural(r.Games, "game"), plural(r.Rolls, "roll"))
	}
	b.WriteByte('\n')
	for _, f := range r.Findings {
		b.WriteString("  ")
		if f.Line > 0 {
			fmt.Fprintf(&b, "line %d: ", f.Line)
		}
		if r.Games > 1 && f.Game > 0 {
			fmt.Fprintf(&b, "game %d: ", f.Game)
		}
		fmt.Fprintf(&b, "%s (%s): %s\n", f.Check, f.Category, f.Message)
		if !strings.Contains(f.Message, "; legal: ") {
			for _, line := range f.Legal {
				fmt.Fprintf(&b, "    legal: %s\n", line)
			}
		}
		if f.State != nil {
			b.WriteString(indent(drawState(*f.State)))
		}
	}
	for _, n := range r.Notes {
		b.WriteString("  note: ")
		if n.Line > 0 {
			fmt.Fprintf(&b, "line %d: ", n.Line)
		}
		fmt.Fprintf(&b, "%s\n", n.Text)
	}
	if p.flags.board && last != nil {
		b.WriteString(indent(drawState(*last)))
	}
	return b.String()
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

func (p *recordPrinter) status() error {
	switch {
	case p.counts[files.Failed] > 0:
		return status(1)
	case p.counts[files.Malformed] > 0:
		return status(3)
	case p.counts[files.Incomplete] > 0:
		return status(2)
	case p.counts[files.Verified] > 0:
		return nil
	}
	return errors.New("check records: no record among the files given")
}
