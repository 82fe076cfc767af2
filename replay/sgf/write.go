package sgf

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"fairdice/replay"
	"fairdice/replay/sheet"
)

// Writable returns why a match cannot be written in the format, or nil.
func Writable(m sheet.Match) error {
	if err := sheet.Playable(m.Variant); err != nil {
		return err
	}
	if o := m.Options; o != nil {
		if s := o.Series.Kind; s != replay.SeriesSingle && s != replay.SeriesPoints || o.Stake != replay.StakeWin {
			return fmt.Errorf("the format knows no games of %q", o)
		}
	}
	return nil
}

// Write writes a match as GNU Backgammon writes it. The draw of the opening and how a game was given up are not in the format.
func Write(w io.Writer, m sheet.Match) error {
	if err := Writable(m); err != nil {
		return fmt.Errorf("write sgf file: %w", err)
	}
	out := bufio.NewWriter(w)
	for _, g := range m.Games {
		writeGame(out, m, g)
	}
	if err := out.Flush(); err != nil {
		return fmt.Errorf("write sgf file: %w", err)
	}
	return nil
}

var escaped = strings.NewReplacer(`\`, `\\`, `]`, `\]`)

func writeGame(w *bufio.Writer, m sheet.Match, g sheet.Game) {
	fmt.Fprintf(w, "(;FF[4]GM[6]CA[UTF-8]AP[fairdice]MI[length:%d][game:%d][ws:%d][bs:%d]PW[%s]PB[%s]", m.Length, g.Number-1, g.Score[replay.A], g.Score[replay.B],
		escaped.Replace(name(m.Players, replay.A)), escaped.Replace(name(m.Players, replay.B)))
	if rules := ruleWords(m, g); len(rules) > 0 {
		fmt.Fprintf(w, "RU[%s]", strings.Join(rules, ":"))
	}
	if automatic(m, g) {
		w.WriteString("CV[2]")
	}
	if r := g.Result; r != nil && !r.Draw {
		fmt.Fprintf(w, "RE[%s+%d%s]", color(r.Winner), r.Points, givenUp(g))
	}
	writeEvents(w, m, g)
	w.WriteString(")\n")
}

func name(names [2]string, s replay.Seat) string {
	if names[s] == "" {
		return s.String()
	}
	return names[s]
}

func color(s replay.Seat) string {
	if s == replay.A {
		return "W"
	}
	return "B"
}

// ruleWords are the words of RU.
func ruleWords(m sheet.Match, g sheet.Game) []string {
	var words []string
	if m.Crawford && m.Length > 1 && (m.Options == nil || m.Options.Raise.HasCube()) {
		words = append(words, "Crawford")
	}
	if g.Crawford {
		words = append(words, "CrawfordGame")
	}
	if m.Options != nil && m.Options.Raise == replay.RaiseJacoby {
		words = append(words, "Jacoby")
	}
	for word, id := range variations {
		if id == m.Variant.ID {
			words = append(words, word)
		}
	}
	if m.Options != nil && !m.Options.Raise.HasCube() {
		words = append(words, "NoCube")
	}
	return words
}

// automatic reports whether an equal opening draw has doubled the stake.
func automatic(m sheet.Match, g sheet.Game) bool {
	return (m.Options == nil || m.Options.Raise == replay.RaiseAuto) && len(g.Events) > 0 && g.Events[0].Kind == replay.Opening && g.Events[0].Dice.IsDouble()
}

// givenUp is the letter after the result of a game that was not played to its end.
func givenUp(g sheet.Game) string {
	if n := len(g.Events); n > 0 {
		switch e := g.Events[n-1]; {
		case e.Kind == replay.Resign || e.Kind == replay.Timeout:
			return "R"
		case e.Kind == replay.Move || e.Kind == replay.Drop:
			return ""
		}
	}
	return "R"
}

func writeEvents(w *bufio.Writer, m sheet.Match, g sheet.Game) {
	thrown := ""
	for i, e := range g.Events {
		switch e.Kind {
		case replay.Opening:
			if a, b := e.Dice.A, e.Dice.B; m.Variant.Rules.OpeningIsRoll() && a != b {
				thrown = fmt.Sprintf("%d%d", max(a, b), min(a, b))
			}
		case replay.Roll:
			thrown = fmt.Sprintf("%d%d", e.Dice.A, e.Dice.B)
			if i+1 == len(g.Events) || g.Events[i+1].Kind != replay.Move { // thrown, then given up
				fmt.Fprintf(w, "\n;PL[%s]DI[%s]", color(e.Seat), thrown)
			}
		case replay.Move:
			fmt.Fprintf(w, "\n;%s[%s%s]", color(e.Seat), thrown, letters(e))
		case replay.Double, replay.Beaver, replay.Raccoon:
			fmt.Fprintf(w, "\n;%s[double]", color(e.Seat))
		case replay.Take:
			fmt.Fprintf(w, "\n;%s[take]", color(e.Seat))
		case replay.Drop:
			fmt.Fprintf(w, "\n;%s[drop]", color(e.Seat))
		}
	}
}

// letters words the steps of a play; the inverse of point.
func letters(e replay.Event) string {
	var b []byte
	for _, h := range e.Steps {
		b = append(b, letter(e.Seat, h.From), letter(e.Seat, h.To))
	}
	return string(b)
}

func letter(who replay.Seat, number uint8) byte {
	switch {
	case number == replay.BarNumber:
		return 'y'
	case number == replay.OffNumber:
		return 'z'
	case who == replay.A:
		return 'a' + number - 1
	default:
		return 'a' + 24 - number
	}
}
