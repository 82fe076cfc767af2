package reader

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"fairdice/audit"
	"fairdice/internal/board"
	"fairdice/internal/messages"
	"fairdice/internal/wire"
	"fairdice/replay"
	"fairdice/replay/files"
	"fairdice/rules"
)

// MaxSteps bounds the steps of a show: a state takes some hundred bytes, and
// nobody looks at more.
const MaxSteps = 100_000

// maxLine is how much of a line that was refused is shown, in bytes.
const maxLine = 200

// Options say what a file may not say itself, and in which language events
// are told.
type Options struct {
	Variant *rules.Variant
	Options *replay.Options
	Words   messages.Catalogue

	Refused  bool           // of a record or match file only the lines that were refused are kept
	Progress func(done int) // nil, or told how many bytes of a record or match file have been read

	// Before, if not nil, says how the games before this one ended: the end
	// line of each, "" of one that was aborted. The file then is a record
	// without header, of the next game of a match under Variant and Options.
	Before []string

	start *replay.Setting // that follows from it
}

// setting is what the game after those before starts from: its number, score
// and whether it is the Crawford game decide what is legal in it, and what it
// counts (RULES.md §7).
func (o Options) setting() (replay.Setting, error) {
	if o.Variant == nil || o.Options == nil {
		return replay.Setting{}, errors.New("the variant and the options of a match must be given")
	}
	m, err := replay.NewMatch(*o.Variant, *o.Options)
	for i, line := range o.Before {
		if err != nil {
			break
		}
		if line == "" {
			m, err = m.Skip()
			continue
		}
		var e replay.Event
		if e, err = replay.ParseEvent(line); err == nil && e.Kind != replay.End {
			err = errors.New("the line is no end of a game")
		}
		if err == nil {
			m, err = m.Add(replay.Result{Seat: e.Seat, Points: e.Points, Draw: e.Draw})
		}
		if err != nil {
			err = fmt.Errorf("game %d: %w", i+1, err)
		}
	}
	if err == nil && m.Over() {
		err = errors.New("the match was over before")
	}
	return m.Next(), err
}

// Show is the games of one file step by step.
type Show struct {
	games []game
	place map[int]int // where a game stands in games, by its number
	words messages.Catalogue
	steps int
	more  bool // steps beyond MaxSteps were left out
}

// game is one game. Number is the one it has in the match.
type game struct {
	number int
	steps  []step
}

// step is a line that was accepted, with the state after it, or one that was
// refused, with the state before it.
type step struct {
	line  int
	text  string
	state replay.State
	begun bool // there is a state
	fault *files.Finding
}

// Open reads a bundle, a native record, or a .mat or .sgf match. In a bundle
// lines are event lines of a game's record, from 1, as in the report of
// package audit; elsewhere lines of the file. An error says why there is
// nothing to show.
func Open(data []byte, o Options) (*Show, error) {
	s := newShow(o.Words)
	if !IsBundle(data) {
		number := 0
		if o.Before != nil {
			setting, err := o.setting()
			if err != nil {
				return nil, fmt.Errorf("read games before: %w", err)
			}
			number, o.start = setting.Game, &setting
		}
		report := s.add("", data, number, 0, o)
		if report.Verdict == files.Malformed && s.steps == 0 {
			return nil, errors.New(report.Findings[0].Message)
		}
		return s, nil
	}
	b, err := audit.ParseBundle(data)
	if err != nil {
		return nil, err
	}
	for _, g := range b.Games {
		record, err := replay.ParseRecord([]byte(g.Record))
		if err != nil {
			return nil, fmt.Errorf("read record of game %d: %w", g.Game, err)
		}
		s.add("", []byte(g.Record), g.Game, record.FirstLine-1, Options{})
	}
	return s, nil
}

// IsBundle reports whether a file is to be read as a bundle.
func IsBundle(data []byte) bool {
	return bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{"))
}

// Check judges a record or match file as package replay/files does, and keeps
// its games, or of a large file those lines that were refused: to keep a
// hundred thousand states takes longer than to judge them.
func Check(name string, data []byte, o Options) (files.Report, *Show) {
	s := newShow(o.Words)
	return s.add(name, data, 0, 0, o), s
}

func newShow(c messages.Catalogue) *Show { return &Show{words: c, place: map[int]int{}} }

// Speak has the show told in a language from now on.
func (s *Show) Speak(c messages.Catalogue) { s.words = c }

// Empty reports whether there is no step to show.
func (s *Show) Empty() bool { return s == nil || s.steps == 0 }

// Line finds the step of a line, with its game, both counted from 0 as in the
// JSON: the one at which the line was refused, else the one after it. Game is
// its number in the match.
func (s *Show) Line(number, line int) (game, step int, err error) {
	at, ok := s.place[number]
	if !ok {
		return 0, 0, fmt.Errorf("there is no game %d to show", number)
	}
	step = -1
	for i, st := range s.games[at].steps {
		switch {
		case st.line != line:
		case st.fault != nil:
			return at, i, nil
		case step < 0:
			step = i
		}
	}
	if step < 0 {
		return 0, 0, fmt.Errorf("game %d has no step in line %d", number, line)
	}
	return at, step, nil
}

// find returns a game by its number.
func (s *Show) find(number int) *game {
	at, ok := s.place[number]
	if !ok {
		at = len(s.games)
		s.place[number] = at
		s.games = append(s.games, game{number: number})
	}
	return &s.games[at]
}

// counted tells how much of a file has been read.
type counted struct {
	io.Reader
	read int
	tell func(done int)
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.read += n
	c.tell(c.read)
	return n, err
}

// add takes the games of a record or match file. A number other than 0 is that
// of the only game; skip is how many lines of the file are not counted.
func (s *Show) add(name string, data []byte, number, skip int, o Options) files.Report {
	numbered := func(n int) int {
		if number > 0 {
			return number
		}
		return n
	}
	in := io.Reader(bytes.NewReader(data))
	if o.Progress != nil {
		in = &counted{Reader: in, tell: o.Progress}
	}
	terms := files.Options{Variant: o.Variant, Options: o.Options, Setting: o.start}
	if !o.Refused {
		terms.Observe = func(n, line int, what string, st replay.State) {
			if s.steps == MaxSteps {
				s.more = true
				return
			}
			s.steps++
			g := s.find(numbered(n))
			g.steps = append(g.steps, step{line: line - skip, text: what, state: st, begun: true})
		}
	}
	report := files.Check(name, in, terms)
	lines := newLines(data)
	for i, f := range report.Findings {
		if f.Game == 0 {
			continue
		}
		s.find(numbered(f.Game)).fault(&report.Findings[i], f.Line-skip, lines.at(f.Line))
	}
	return report
}

// fault puts a finding behind the last step that is not after its line.
func (g *game) fault(f *files.Finding, line int, text string) {
	at := len(g.steps)
	for at > 0 && g.steps[at-1].line > line {
		at--
	}
	st := step{line: line, text: text, fault: f}
	switch {
	case f.State != nil:
		st.state, st.begun = *f.State, true
	case at > 0:
		st.state, st.begun = g.steps[at-1].state, g.steps[at-1].begun
	}
	g.steps = append(g.steps, step{})
	copy(g.steps[at+1:], g.steps[at:])
	g.steps[at] = st
}

// lines finds lines of a text in ascending order without keeping their places.
type lines struct {
	rest []byte
	next int // number of the first line in rest
	all  []byte
}

func newLines(data []byte) *lines { return &lines{rest: data, next: 1, all: data} }

// at returns a line, cut to what fits into a page.
func (l *lines) at(n int) string {
	if n < l.next {
		l.rest, l.next = l.all, 1
	}
	var line []byte
	for l.next <= n && len(l.rest) > 0 {
		line, l.rest, _ = bytes.Cut(l.rest, []byte("\n"))
		l.next++
	}
	if l.next <= n {
		return ""
	}
	if len(line) > maxLine {
		line = line[:maxLine]
		for !utf8.Valid(line) && len(line) > maxLine-utf8.UTFMax {
			line = line[:len(line)-1]
		}
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, string(line)))
}

// JSON is the show without its boards, as the page reads it.
func (s *Show) JSON() ([]byte, error) {
	var out bytes.Buffer
	w := wire.NewReport(&out)
	w.Object("", func() {
		w.Bool("more", s.more)
		wire.List(w, "games", present(s.games), func(g game) { s.write(w, g) })
	})
	if err := w.Err(); err != nil {
		return nil, fmt.Errorf("write games: %w", err)
	}
	return out.Bytes(), nil
}

func (s *Show) write(w *wire.Writer, g game) {
	w.Object("", func() {
		w.Int("game", g.number)
		for _, st := range g.steps {
			if st.begun {
				setting := st.state.Setting()
				w.Text("variant", setting.Variant.ID)
				w.Text("options", setting.Options.String())
				wire.List(w, "score", setting.Score[:], func(n int) { w.Int("", n) })
				w.Bool("crawford", setting.Crawford)
				break
			}
		}
		if after := g.after(); after == nil {
			w.Null("after")
		} else {
			wire.List(w, "after", after, func(n int) { w.Int("", n) })
		}
		var before *step
		wire.List(w, "steps", present(g.steps), func(st step) {
			w.Object("", func() { s.step(w, before, st) })
			if st.fault == nil {
				before = &st
			}
		})
	})
}

// after is the score after a game that has ended, nil if it has not.
func (g game) after() []int {
	for i := len(g.steps) - 1; i >= 0; i-- {
		switch st := g.steps[i]; {
		case !st.begun:
		case !st.state.Over():
			return nil
		default:
			score, result := st.state.Setting().Score, st.state.Result()
			if !result.Draw {
				score[result.Seat] += int(result.Points)
			}
			return score[:]
		}
	}
	return nil
}

// step writes one step; before is the last one that was accepted.
func (s *Show) step(w *wire.Writer, before *step, st step) {
	t := read(st.text)
	w.Int("line", st.line)
	w.Text("text", st.text)
	if st.fault != nil {
		w.Text("event", st.text)
		w.Text("kind", "fault")
	} else {
		w.Text("event", t.say(s.words))
		w.Text("kind", t.kind)
	}
	if t.seat == "" || st.fault != nil {
		w.Null("seat")
	} else {
		w.Text("seat", t.seat)
	}
	if len(t.dice) == 0 || st.fault != nil {
		w.Null("dice")
	} else {
		wire.List(w, "dice", t.dice, func(d int) { w.Int("", d) })
	}
	w.Bool("handed", before != nil && st.fault == nil && t.kind == "move" && before.state.Due().Kind == replay.DueHanded)
	if st.begun {
		st.board(w)
	}
	if st.fault == nil {
		w.Null("fault")
		return
	}
	w.Object("fault", func() {
		w.Text("check", st.fault.Check)
		w.Text("category", st.fault.Category)
		w.Text("message", fault(s.words, *st.fault))
		w.Text("detail", said(s.words, st.fault.Message, st.fault.Why))
		w.Texts("alternatives", present(st.fault.Legal))
	})
}

// board writes what stands on the table in the state of the step.
func (st step) board(w *wire.Writer) {
	w.Text("position", st.state.Position().String())
	white, begun := st.state.White()
	if begun {
		w.Text("white", white.String())
	} else {
		w.Null("white")
	}
	w.Text("due", st.state.Due().String())
	wire.List(w, "primes", st.primes(), func(wall prime) {
		w.Object("", func() {
			w.Text("seat", wall.seat.String())
			w.Int("from", wall.from)
			w.Int("to", wall.to)
		})
	})
	cube := st.state.Cube()
	w.Object("cube", func() {
		w.Uint("value", uint64(cube.Value))
		if cube.Owned {
			w.Text("owner", cube.Owner.String())
		} else {
			w.Null("owner")
		}
	})
}

// prime is a wall of a seat, in the numbers of its own records.
type prime struct {
	seat     replay.Seat
	from, to int
}

func (st step) primes() []prime {
	walls := []prime{}
	if _, begun := st.state.White(); !begun {
		return walls
	}
	r := st.state.Setting().Variant.Rules
	for _, seat := range [2]replay.Seat{replay.A, replay.B} {
		c := st.state.Color(seat)
		for _, points := range board.Primes(st.state.Position(), r, c) {
			walls = append(walls, prime{seat, r.PointNumber(c, points[0]), r.PointNumber(c, points[len(points)-1])})
		}
	}
	return walls
}

func present[T any](items []T) []T {
	if items == nil {
		return []T{}
	}
	return items
}
