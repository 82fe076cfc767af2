package sgf

import (
	"bufio"
	"errors"
	"io"

	"fairdice/internal/phrase"
	"fairdice/replay"
	"fairdice/replay/sheet"
	"fairdice/rules"
)

// Limits of a file.
const (
	MaxValue = 64 << 10 // one property value
	MaxGame  = 1 << 20  // one game tree, analysis included
	MaxGames = 1 << 20
	maxDepth = 64 // variations within variations
)

// Options say what a file does not.
type Options struct {
	Variant *rules.Variant // nil: as the file says
	Observe func(game, line int, what string, st replay.State)
	Keep    func(sheet.Game) // nil, or given every game without a finding
}

// Report is what [Check] has found.
type Report struct {
	sheet.Report
	Variant  rules.Variant
	Length   int    // points the match is played to, 0 for a session
	Crawford bool   // the Crawford rule holds
	App      string // the program that wrote the file, as it says
	Players  [2]string
	Ignored  []sheet.Note // properties that mean nothing here, each name once
}

// ErrNoGame is returned for a text without any game.
var ErrNoGame = errors.New("the text holds no game")

// Check reads a match and judges every node. An error says that the text is no such file or breaks a limit; it is a
// *replay.LineError where a line is to blame. Everything else is in the report.
func Check(r io.Reader, o Options) (Report, error) {
	if o.Variant != nil {
		if err := sheet.Playable(*o.Variant); err != nil {
			return Report{}, phrase.Errorf("read sgf file: %w", err)
		}
	}
	f := file{in: bufio.NewReader(r), line: 1, opt: o}
	if err := f.collection(); err != nil {
		return Report{}, phrase.Errorf("read sgf file: %w", &replay.LineError{Line: f.line, Err: err})
	}
	if f.sheet == nil {
		return Report{}, phrase.Errorf("read sgf file: %w", ErrNoGame)
	}
	return Report{Report: f.sheet.Close(), Variant: f.variant, Length: f.length, Crawford: f.crawford, App: f.app, Players: f.players, Ignored: f.ignored}, nil
}

// file is a collection being read.
type file struct {
	in       *bufio.Reader
	opt      Options
	line     int
	size     int // bytes of the running game tree
	sheet    *sheet.Sheet
	variant  rules.Variant
	length   int
	crawford bool
	games    int
	value    []byte
	hops     [8]sheet.Hop

	players  [2]string
	app      string
	ignored  []sheet.Note
	skipped  map[string]bool
	resigned *replay.Seat // has resigned, and waits for an answer
}

// maxSkipped bounds how many names of skipped properties are remembered.
const maxSkipped = 100

// skip notes a property that means nothing here, analysis as a rule.
func (f *file) skip(line int, name string) {
	if f.skipped[name] || len(f.skipped) == maxSkipped {
		return
	}
	if f.skipped == nil {
		f.skipped = map[string]bool{}
	}
	f.skipped[name] = true
	f.ignored = append(f.ignored, sheet.NewNote(0, line, phrase.Errorf("the property %s and all others of the name: comments, times or analysis", name)))
}

// read returns the next byte, counting lines and bytes.
func (f *file) read() (byte, error) {
	c, err := f.in.ReadByte()
	if err != nil {
		return 0, err
	}
	if c == '\n' {
		f.line++
	}
	if f.size++; f.size > MaxGame {
		return 0, phrase.Errorf("the game is larger than %d bytes", MaxGame)
	}
	return c, nil
}

// token returns the next byte that is no white space.
func (f *file) token() (byte, error) {
	for {
		c, err := f.read()
		if err != nil || c > ' ' {
			return c, err
		}
	}
}

func (f *file) collection() error {
	for {
		f.size = 0
		c, err := f.token()
		switch {
		case err == io.EOF:
			return nil
		case err != nil:
			return err
		case c == 0xef && f.games == 0 && f.line == 1: // byte-order mark
			if mark, err := f.in.Peek(2); err != nil || string(mark) != "\xbb\xbf" {
				return errors.New("want a game tree")
			}
			f.in.Discard(2) // cannot fail: the bytes were peeked
			continue
		case c != '(':
			return phrase.Errorf("want a game tree, not %q", c)
		}
		if err := f.tree(); err != nil {
			if err == io.EOF {
				err = errors.New("the file ends inside a game tree")
			}
			return err
		}
	}
}

// tree reads one game tree after its opening parenthesis.
func (f *file) tree() error {
	g := root{line: f.line}
	nodes, depth, skip := 0, 1, 0
	for {
		c, err := f.token()
		if err != nil {
			return err
		}
		switch {
		case c == '(':
			if depth++; depth > maxDepth {
				return phrase.Errorf("variations are nested deeper than %d", maxDepth)
			}
			if skip > 0 {
				skip++
			}
		case c == ')':
			// The first way to the end of a tree is its main line; whatever follows on any level is a variation.
			if skip == 0 {
				skip = 1
			}
			if depth--; depth == 0 {
				return f.finish(&g, nodes)
			}
		case c == ';':
			if skip > 0 {
				continue
			}
			if nodes++; nodes == 2 {
				if err := f.begin(&g); err != nil {
					return err
				}
			}
		case c >= 'A' && c <= 'Z':
			if nodes == 0 {
				return errors.New("a property stands before the first node")
			}
			if err := f.property(&g, c, nodes, skip > 0); err != nil {
				return err
			}
		default:
			return phrase.Errorf("want a node or property, not %q", c)
		}
	}
}

// property reads one property with all its values and judges the first.
func (f *file) property(g *root, c byte, nodes int, skip bool) error {
	id := make([]byte, 0, 4)
	for c != '[' {
		if c < 'A' || c > 'Z' || len(id) == 8 {
			return phrase.Errorf("want a property value after %q", id)
		}
		id = append(id, c)
		var err error
		if c, err = f.token(); err != nil {
			return err
		}
	}
	name, line := string(id), f.line
	for first := true; ; first = false {
		if err := f.text(); err != nil {
			return err
		}
		switch {
		case skip:
		case nodes == 1 && (first || name == "MI"):
			g.set(name, string(f.value))
		case nodes > 1 && first:
			f.node(line, name, string(f.value))
		}
		next, err := f.peek()
		if err != nil {
			return err
		}
		if next != '[' {
			return nil
		}
		if _, err := f.token(); err != nil {
			return err
		}
	}
}

// peek returns the next byte that is no white space without taking it.
func (f *file) peek() (byte, error) {
	for {
		b, err := f.in.Peek(1)
		if err != nil {
			return 0, err
		}
		if b[0] > ' ' {
			return b[0], nil
		}
		if _, err := f.read(); err != nil {
			return 0, err
		}
	}
}

// text reads a value after its opening bracket into f.value.
func (f *file) text() error {
	f.value = f.value[:0]
	for {
		c, err := f.read()
		if err != nil {
			return err
		}
		if c == ']' {
			return nil
		}
		if c == '\\' {
			if c, err = f.read(); err != nil {
				return err
			}
		}
		if len(f.value) == MaxValue {
			return phrase.Errorf("a property value is longer than %d bytes", MaxValue)
		}
		f.value = append(f.value, c)
	}
}
