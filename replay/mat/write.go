package mat

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"strings"

	"fairdice/replay"
	"fairdice/replay/sheet"
	"fairdice/rules"
)

// Write writes a match. Tags say what the format has no place for: variant and options, the opening draws, how a game was given up. Other
// programs skip them; [Check] reads them, and so nothing of a record is lost. Further stages of a roll, and steps handed over, stand in
// columns of their own, with 0 for the first die: "03: 13/16 13/16".
func Write(w io.Writer, m sheet.Match) error {
	out := writer{Writer: bufio.NewWriter(w)}
	out.tag("Site", "fairdice")
	if m.ID != "" {
		out.tag("Match ID", m.ID)
	}
	for i, name := range m.Players {
		if name != "" {
			out.tag("Player "+strconv.Itoa(i+1), name)
		}
	}
	if name, ok := variationNames[m.Variant.ID]; ok {
		out.tag("Variation", name)
	} else {
		out.tag("Variant", m.Variant.ID)
	}
	switch {
	case m.Options != nil:
		out.tag("Options", m.Options.String())
	case m.Length > 1 && !m.Crawford:
		out.tag("Crawford", "Off")
	}
	fmt.Fprintf(out, "\n %d point match\n", m.Length)
	for _, g := range m.Games {
		out.game(m, g)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write match file: %w", err)
	}
	return nil
}

// variationNames are the names that other programs know.
var variationNames = map[string]string{"short": "Backgammon", "nackgammon": "NackGammon", "hyper": "HyperGammon (3)"}

// writer writes rows. A write error stays in the buffered writer until it is flushed.
type writer struct {
	*bufio.Writer
	rows   int
	column int // of the next cell
}

func (w *writer) tag(key, value string) { fmt.Fprintf(w, "; [%s \"%s\"]\n", key, plain(value)) }

// plain makes a name fit for one line of a format without escapes.
func plain(name string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == '"' || r == 0x7f {
			return '_'
		}
		return r
	}, name)
}

// clipName keeps the columns where readers look for them; the tags hold the whole name.
func clipName(name string) string {
	if r := []rune(name); len(r) > 20 {
		return string(r[:20])
	}
	return name
}

// columnWidth is where the second column begins, after a row's number.
const columnWidth = 32

func (w *writer) game(m sheet.Match, g sheet.Game) {
	w.WriteByte('\n')
	if g.Drawn {
		var draws []string
		for _, e := range g.Events {
			if e.Kind == replay.Opening {
				draws = append(draws, fmt.Sprintf("%d%d", e.Dice.A, e.Dice.B))
			}
		}
		if len(draws) == 0 {
			draws = append(draws, "-")
		}
		w.tag("Opening", strings.Join(draws, " "))
	}
	for _, e := range g.Events {
		if e.Kind == replay.Resign || e.Kind == replay.Timeout {
			w.tag("Ending", e.String())
		}
	}
	names := m.Players
	for i := range names {
		// A colon with a number would end the name.
		if names[i] = clipName(strings.ReplaceAll(plain(names[i]), ":", "_")); names[i] == "" {
			names[i] = string(rune('A' + i))
		}
	}
	fmt.Fprintf(w, "\n Game %d\n %-*s%s : %d\n", g.Number, columnWidth+5, fmt.Sprintf("%s : %d  ", names[0], g.Score[0]), names[1], g.Score[1])
	w.rows, w.column = 0, 0
	w.events(m, g)
	if g.Result != nil {
		text := fmt.Sprintf(" Wins %d points", g.Result.Points)
		if g.Result.Points == 1 {
			text = " Wins 1 point"
		}
		if g.Result.Draw {
			text = " Draw"
		}
		w.end()
		fmt.Fprintf(w, "%*s%s\n", 5+columnWidth*int(g.Result.Winner), "", text)
	}
	w.end()
}

func (w *writer) events(m sheet.Match, g sheet.Game) {
	cube, thrown, due := int64(1), "", newStages(m, g)
	for i, e := range g.Events {
		switch e.Kind {
		case replay.Opening:
			if e.Dice.IsDouble() && (m.Options == nil || m.Options.Raise == replay.RaiseAuto) && cube == 1 {
				cube = 2
			}
			if m.Variant.Rules.OpeningIsRoll() && !e.Dice.IsDouble() {
				thrown = first(e.Dice)
			}
		case replay.Roll:
			thrown = throw(e.Dice)
			if i+1 == len(g.Events) || g.Events[i+1].Kind != replay.Move { // thrown, then given up
				w.cell(e.Seat, thrown+" ????")
			}
		case replay.Move:
			if thrown == "" {
				thrown = due.due()
			}
			w.cell(e.Seat, thrown+steps(e))
			thrown = ""
		case replay.Double:
			w.cell(e.Seat, fmt.Sprintf(" Doubles => %d", 2*cube))
		case replay.Beaver, replay.Raccoon:
			cube *= 2
			w.cell(e.Seat, fmt.Sprintf(" Doubles => %d", 2*cube))
		case replay.Take:
			cube *= 2
			w.cell(e.Seat, " Takes")
		case replay.Drop:
			w.cell(e.Seat, " Drops")
		}
		due.add(e)
	}
}

// first words a draw that is played as the first roll: the winner's die first.
func first(d rules.Dice) string {
	if d.B > d.A {
		d.A, d.B = d.B, d.A
	}
	return throw(d)
}

func throw(d rules.Dice) string { return fmt.Sprintf("%d%d:", d.A, d.B) }

// stages follows a game to name the dice of stages that are not the first of their rolls.
type stages struct {
	state replay.State
	gen   rules.Generator
	lost  bool // the game is not one of the options
}

func newStages(m sheet.Match, g sheet.Game) *stages {
	set := replay.Setting{Variant: m.Variant, Options: replay.Options{Raise: replay.RaiseMars}, Game: max(1, g.Number)}
	if m.Options != nil {
		set.Options, set.Score, set.Crawford = *m.Options, g.Score, g.Crawford
	} else if m.Variant.Rules.Cube() {
		set.Options.Raise = replay.RaiseBeaver
	}
	st, err := replay.Start(set)
	return &stages{state: st, lost: err != nil}
}

func (s *stages) add(e replay.Event) {
	if s.lost {
		return
	}
	next, ok := s.state.Try(&s.gen, e)
	s.state, s.lost = next, !ok
}

func (s *stages) due() string { return fmt.Sprintf("0%d:", s.state.Due().Dice[0]) }

func steps(e replay.Event) string {
	if len(e.Steps) == 0 {
		return " Cannot Move"
	}
	text := ""
	for _, h := range e.Steps {
		text += " " + h.String()
	}
	return text
}

// cell writes a column, beginning a row where the order of the seats demands it.
func (w *writer) cell(seat replay.Seat, text string) {
	if int(seat) < w.column {
		w.end()
	}
	if w.column == 0 {
		w.rows++
		fmt.Fprintf(w, "%3d) ", w.rows)
		if seat == replay.B {
			fmt.Fprintf(w, "%*s", columnWidth, "")
		}
	}
	if seat == replay.B {
		w.WriteString(text)
		w.column = 2
		return
	}
	fmt.Fprintf(w, "%-*s", columnWidth, text)
	if len(text) >= columnWidth {
		w.WriteByte(' ')
	}
	w.column = 1
}

// end ends a row that has begun.
func (w *writer) end() {
	if w.column > 0 {
		w.WriteByte('\n')
		w.column = 0
	}
}
