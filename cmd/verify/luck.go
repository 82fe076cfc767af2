//go:build !js

package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"fairdice/audit"
	"fairdice/audit/stats"
	"fairdice/commitment"
	"fairdice/internal/phrase"
	"fairdice/replay"
)

// luckReport is what the luck command says of one side.
type luckReport struct {
	Side  string     `json:"side"` // "seat A", "seat B", or the player's token
	Games int        `json:"games"`
	Luck  stats.Luck `json:"luck"`
	Words []string   `json:"words"`
}

// tally collects the rolls of the sides over many files.
type rollTally struct {
	player string // token; empty: by seat
	games  [2]int
	rolls  [2][]commitment.Dice
	blocks bool // some match dealt in blocks
}

func luckCommand() *cobra.Command {
	var asJSON bool
	var player string
	var speech speech
	cmd := &cobra.Command{
		Use:   "luck FILE…",
		Short: "compare a player's rolls with what fair dice give",
		Long: `Count pips and doubles of one game or many and say, in plain words, how they
compare with what fair dice give. FILE is a bundle, a match file of an archive
or a native record. Nothing is verified here: verify bundle does that.

Opening draws are not counted, since both players share them.`,
		Example: `  verify luck match.json
  verify luck --player alice january/*.json`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return errors.New("give at least one FILE")
			}
			return nil
		},
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := refuseEmpty(cmd); err != nil {
				return err
			}
			if err := speech.choose(cmd); err != nil {
				return err
			}
			t := &rollTally{player: player}
			for _, path := range args {
				data, err := readFile(path, audit.MaxBundle)
				if err != nil {
					return err
				}
				if err := t.read(data); err != nil {
					return fmt.Errorf("%w: %s", err, path)
				}
			}
			return t.print(cmd.OutOrStdout(), asJSON, speech)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print the report as JSON")
	cmd.Flags().StringVar(&player, "player", "", "count only the player with this `TOKEN` in the bundles, on whichever seat")
	speech.register(cmd)
	return cmd
}

// read counts the games of a file.
func (t *rollTally) read(data []byte) error {
	seat, records, err := t.records(data)
	if err != nil {
		return err
	}
	for _, text := range records {
		r, err := replay.ParseRecord([]byte(text))
		if err != nil {
			return err
		}
		if err := t.count(r, seat); err != nil {
			return err
		}
	}
	return nil
}

// records finds the records of a file, and on which seat the player is: -1 for
// both seats apart.
func (t *rollTally) records(data []byte) (seat int, records []string, err error) {
	if !strings.HasPrefix(strings.TrimLeft(string(data[:min(len(data), 64)]), " \t\r\n"), "{") {
		if t.player != "" {
			return 0, nil, errors.New("a record does not name the players; --player needs a bundle")
		}
		return -1, []string{string(data)}, nil
	}
	if m, err := audit.ParseMatchFile(data); err == nil {
		if t.player != "" {
			return 0, nil, errors.New("a match file does not name the players; --player needs a bundle")
		}
		return -1, recordsOf(m.Games), nil
	}
	b, err := audit.ParseBundle(data)
	if err != nil {
		return 0, nil, err
	}
	seat = -1
	for _, s := range b.Statements {
		st, err := commitment.Parse([]byte(s.Text))
		if err != nil {
			return 0, nil, err
		}
		o, ok := st.(commitment.Open)
		if !ok {
			continue
		}
		t.blocks = t.blocks || o.Mode.Blocks()
		if t.player == "" {
			continue
		}
		switch t.player {
		case o.A:
			seat = 0
		case o.B:
			seat = 1
		default:
			return 0, nil, fmt.Errorf("the players are %s and %s, not %s", o.A, o.B, t.player)
		}
	}
	return seat, recordsOf(b.Games), nil
}

func recordsOf(games []audit.BundleGame) []string {
	var list []string
	for _, g := range games {
		list = append(list, g.Record)
	}
	return list
}

// count adds the rolls of a record. One player's go to the first side whatever
// his seat was.
func (t *rollTally) count(r replay.Record, player int) error {
	for side := range t.games {
		if player < 0 || side == 0 {
			t.games[side]++
		}
	}
	for _, line := range r.Lines {
		e, err := replay.ParseEvent(line)
		if err != nil {
			return err
		}
		if e.Kind != replay.Roll {
			continue
		}
		side := int(e.Seat - replay.A)
		if player >= 0 {
			if side != player {
				continue
			}
			side = 0
		}
		t.rolls[side] = append(t.rolls[side], commitment.Dice{D1: e.Dice.A, D2: e.Dice.B})
	}
	return nil
}

// note is a remark on the figures, in English, without values.
type note string

func (n note) Error() string                         { return string(n) }
func (n note) Phrase() (format string, values []any) { return string(n), nil }

// notes say how far the figures can be trusted.
func (t *rollTally) notes() []error {
	notes := []error{note("One game cannot prove anything: dice that always looked fair in so few rolls would not be.")}
	if t.games[0] > 1 {
		notes = []error{note("Luck that stays outside of the interval over hundreds of games is worth a question; a verified bundle answers it without statistics.")}
	}
	if t.blocks {
		notes = append(notes, note("Some of these games were dealt in blocks, in which luck evens out by design: for them the intervals are too wide."))
	}
	return notes
}

func (t *rollTally) print(out io.Writer, asJSON bool, s speech) error {
	sides := []error{note("seat A"), note("seat B")}
	if t.player != "" {
		sides = []error{phrase.Errorf("%s", t.player)} // a token such as "white" is no word of a language
	}
	reports, notes := []luckReport{}, []string{}
	for i, side := range sides {
		l := stats.LuckOf(t.rolls[i])
		reports = append(reports, luckReport{Side: side.Error(), Games: t.games[i], Luck: l, Words: l.Words()})
	}
	for _, n := range t.notes() {
		notes = append(notes, n.Error())
	}
	var err error
	if asJSON {
		enc := json.NewEncoder(out)
		enc.SetEscapeHTML(false)
		err = enc.Encode(map[string]any{"players": reports, "notes": notes})
	} else {
		var b strings.Builder
		for i, r := range reports {
			games := fmt.Sprintf("%d %s", r.Games, map[bool]string{true: "game", false: "games"}[r.Games == 1])
			if s.words != nil {
				games = s.words.Count("unit.game", int64(r.Games))
			}
			fmt.Fprintf(&b, "%s, %s\n", s.said(r.Side, sides[i]), games)
			for _, w := range r.Luck.Sentences() {
				fmt.Fprintf(&b, "  %s\n", s.say(w))
			}
		}
		for i, n := range t.notes() {
			fmt.Fprintln(&b, s.said(notes[i], n))
		}
		_, err = io.WriteString(out, b.String())
	}
	if err != nil {
		return fmt.Errorf("write report: %w", err)
	}
	return nil
}
