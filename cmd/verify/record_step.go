//go:build !js

package main

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"strings"

	"golang.org/x/term"

	"fairdice/replay"
	"fairdice/replay/files"
)

// stepper walks through games. On a terminal it keeps the lines of a file and goes back and forth by keys; over a pipe it prints each
// line when a line of input asks for it, and all the rest once the input has ended.
type stepper struct {
	in     *bufio.Reader
	out    io.Writer
	board  bool
	keys   bool // both ends are a terminal
	raw    func() (restore func())
	speech speech

	ended bool // there is no more input
	lines []stepLine
	more  bool // lines beyond maxSteps were not kept
}

// stepLine is one accepted line with the state after it.
type stepLine struct {
	name       string
	game, line int
	what       string
	state      replay.State
}

func (l stepLine) String() string {
	return fmt.Sprintf("%s:%d: game %d: %s: %s", printable(l.name), l.line, l.game, printable(l.what), l.state.Position())
}

func newStepper(in io.Reader, out io.Writer, board bool) *stepper {
	s := &stepper{in: bufio.NewReader(in), out: out, board: board, raw: func() func() { return func() {} }}
	from, okIn := in.(*os.File)
	to, okOut := out.(*os.File)
	if okIn && okOut && term.IsTerminal(int(from.Fd())) && term.IsTerminal(int(to.Fd())) {
		s.keys = true
		s.raw = func() func() {
			before, err := term.MakeRaw(int(from.Fd()))
			if err != nil {
				return func() {} // keys then need Enter
			}
			return func() { term.Restore(int(from.Fd()), before) } // nothing can be done about an error
		}
	}
	return s
}

// step takes one accepted line.
func (s *stepper) step(name string, game, line int, what string, st replay.State) error {
	l := stepLine{name, game, line, what, st}
	if s.keys {
		if len(s.lines) == maxSteps {
			s.more = true
			return nil
		}
		s.lines = append(s.lines, l)
		return nil
	}
	text := l.String() + "\n"
	if s.board {
		text += indent(drawState(st))
	}
	if _, err := io.WriteString(s.out, text); err != nil {
		return err
	}
	return s.wait()
}

// wait waits for a line of input. "q" leaves.
func (s *stepper) wait() error {
	if s.ended {
		return nil
	}
	answer, err := s.in.ReadString('\n')
	switch {
	case strings.TrimSpace(answer) == "q":
		return errLeft
	case err == io.EOF:
		s.ended = true
		return nil
	}
	return err
}

// end shows the lines of a file that was kept for a terminal.
func (s *stepper) end(report files.Report) error {
	lines := s.lines
	if s.lines = nil; !s.keys || len(lines) == 0 {
		return nil
	}
	restore := s.raw()
	defer restore()
	return s.browse(lines, report)
}

// browse goes through lines by keys until the user leaves the file.
func (s *stepper) browse(lines []stepLine, report files.Report) error {
	at := 0
	for {
		if err := s.show(lines, at, report); err != nil {
			return err
		}
		key, err := s.key()
		if err != nil {
			return err
		}
		switch key {
		case ' ', '\r', '\n', 'j', keyRight:
			if at == len(lines)-1 && key != keyRight {
				return s.clear()
			}
			at = min(at+1, len(lines)-1)
		case 'k', keyLeft, 0x7f:
			at = max(0, at-1)
		case 'n':
			at = nextGame(lines, at)
		case 'p':
			at = previousGame(lines, at)
		case 'q', 0x03, 0x04:
			if err := s.clear(); err != nil {
				return err
			}
			return errLeft
		}
	}
}

// nextGame returns the first line of the next game, or the last line.
func nextGame(lines []stepLine, at int) int {
	for i := at; i < len(lines); i++ {
		if lines[i].game != lines[at].game {
			return i
		}
	}
	return len(lines) - 1
}

// previousGame returns the first line of this game, or of the one before if it is this line.
func previousGame(lines []stepLine, at int) int {
	game := lines[at].game
	if at > 0 && lines[at-1].game != game {
		game = lines[at-1].game
	}
	for i := range lines {
		if lines[i].game == game {
			return i
		}
	}
	return 0
}

// show draws one line with its board, and what was found in the game.
func (s *stepper) show(lines []stepLine, at int, report files.Report) error {
	l := lines[at]
	var b strings.Builder
	fmt.Fprintf(&b, "\x1b[H\x1b[2J%s: game %d, line %d (%d of %d)\n\n%s\n\n%s\n", printable(l.name), l.game, l.line, at+1, len(lines), printable(l.what), drawState(l.state))
	if due := l.state.Due(); due.Kind != replay.DueDone {
		fmt.Fprintf(&b, "next: %s\n", due)
	}
	if at == len(lines)-1 || lines[at+1].game != l.game {
		for _, f := range report.Findings {
			if f.Game == l.game {
				b.WriteString(s.speech.finding(f, report.Games))
			}
		}
	}
	if s.more && at == len(lines)-1 {
		fmt.Fprintf(&b, "only the first %d lines are shown\n", maxSteps)
	}
	b.WriteString("\nspace → next   ← back   n p game   q leave\n")
	_, err := io.WriteString(s.out, strings.ReplaceAll(b.String(), "\n", "\r\n"))
	return err
}

func (s *stepper) clear() error {
	_, err := io.WriteString(s.out, "\x1b[H\x1b[2J")
	return err
}

// Arrow keys, which a terminal sends as ESC [ C and ESC [ D.
const (
	keyRight = 0x100 + 'C'
	keyLeft  = 0x100 + 'D'
)

// key reads one key. The end of the input leaves.
func (s *stepper) key() (int, error) {
	c, err := s.in.ReadByte()
	if err == io.EOF {
		return 'q', nil
	}
	if c != 0x1b || s.in.Buffered() < 2 {
		return int(c), err
	}
	var rest [2]byte
	if _, err := io.ReadFull(s.in, rest[:]); err != nil || rest[0] != '[' && rest[0] != 'O' {
		return 0, err
	}
	return 0x100 + int(rest[1]), nil
}
