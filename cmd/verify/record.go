//go:build !js

package main

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"fairdice/replay/files"
)

// recordFlags are the flags of "verify record".
type recordFlags struct {
	variant, options, rules, export string
	json, board, step, verbose      bool
	workers                         int
	speech                          speech
}

func recordCommand() *cobra.Command {
	var flags recordFlags
	cmd := &cobra.Command{
		Use:   "record FILE|DIR|ARCHIVE…",
		Short: "check the moves, the cube and the result of recorded games",
		Long: `Check recorded games: native records, .mat and .txt match files, .sgf files. The
format is recognised by content. Every finding names the line, the rule that is
broken and what would have been legal; after the first one of a game its turns,
cube and result are still checked.

In a directory only .mat, .txt, .sgf and .record files are read, and the members
of .zip, .tar, .tar.gz and .tar.zst archives with such names; all others are
listed as skipped. A single file may be packed with gzip or zstandard. Files are
checked on all cores and reported in their order.

A .mat match to points has a cube, and the Crawford rule unless the file says
otherwise; in a session of single games beavers, and results with and without
the Jacoby rule, are accepted. A comment such as ; [Variant "long-classic"]
names any of the fourteen games. Points are those of the records: the long games
count 1 to 24 for both sides. A further stage of a roll, or steps handed over,
stand in a column of their own, 0 and the die for the dice: "03: 13/16 13/16".

With --step the game is walked through: on a terminal by the keys (space or →
next, ← back, n and p for games, q leaves), otherwise one line of input, Enter
alone, for each step, to the end when there is no more input.

With --export the games are written as one match: OUT.mat or OUT.txt, OUT.sgf
(as GNU Backgammon reads them), or OUT.record for a single game.

Limits: 64 KiB a line, 1 MiB a game, ` + fmt.Sprint(1<<20) + ` games a file, 4 GiB unpacked and
` + fmt.Sprint(1<<20) + ` members an archive; an archive inside of an archive is not opened.`,
		Example: `  verify record game-1.record
  verify record --variant nackgammon --json matches/ more.tar.zst
  verify record --step match.mat
  verify record --export match.mat demo/game-*.record
  verify record --variant short --options "raise=cube stake=win series=single crawford=off" events.record`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("give at least one FILE, DIR or ARCHIVE")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := refuseEmpty(cmd); err != nil {
				return err
			}
			if err := flags.speech.choose(cmd); err != nil {
				return err
			}
			options, err := flags.parse()
			if err != nil {
				return err
			}
			return checkRecords(cmd, args, flags, options)
		},
	}
	flags.speech.register(cmd)
	f := cmd.Flags()
	f.StringVar(&flags.variant, "variant", "", "`VARIANT` of records without header and of files that name none")
	f.StringVar(&flags.options, "options", "", "`OPTIONS` of records without header (default \""+files.DefaultOptions().String()+"\")")
	f.StringVar(&flags.rules, "rules", "", "`FILE` of further known rules versions, one VERSION HASH a line; it must know the rules of the variant")
	f.BoolVar(&flags.json, "json", false, "print one JSON object per file")
	f.BoolVar(&flags.board, "board", false, "draw the board: with --json in every finding, else also where a file ends")
	f.BoolVar(&flags.step, "step", false, "walk through the games line by line, with the position after it")
	f.BoolVarP(&flags.verbose, "verbose", "v", false, "say what was understood, ignored and not checked")
	f.StringVar(&flags.export, "export", "", "write the games as one match to `OUT`.mat, .txt, .sgf or .record")
	f.IntVar(&flags.workers, "workers", 0, "check `N` files at a time (default: one per core)")
	return cmd
}

func (f recordFlags) parse() (files.Options, error) {
	known, err := readText(f.rules)
	if err != nil {
		return files.Options{}, err
	}
	o, err := recordTerms(f.variant, f.options, known)
	if err != nil {
		return o, err
	}
	if f.export != "" && exportFormat(f.export) == "" {
		return o, fmt.Errorf("the name must end in .mat, .txt, .sgf or .record: --export %s", f.export)
	}
	if f.workers < 0 {
		return o, fmt.Errorf("there cannot be %d workers: --workers", f.workers)
	}
	return o, nil
}

// recordExtensions are the names read in a directory or an archive.
var recordExtensions = map[string]bool{".mat": true, ".txt": true, ".sgf": true, ".record": true}

func recordName(name string) bool { return recordExtensions[strings.ToLower(filepath.Ext(name))] }
