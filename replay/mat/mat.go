package mat

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"strings"

	"fairdice/internal/phrase"
	"fairdice/replay"
	"fairdice/replay/sheet"
	"fairdice/rules"
)

// Limits of a file. Real lines are shorter than 200 bytes, real games than 20 KiB.
const (
	MaxLine  = 64 << 10 // bytes
	MaxGame  = 1 << 20  // bytes
	MaxGames = 1 << 20
)

// Options say what a file does not.
type Options struct {
	Variant *rules.Variant // nil: as the file says, else short
	Observe func(game, line int, what string, st replay.State)
	Keep    func(sheet.Game) // nil, or given every game without a finding
}

// Report is what [Check] has found.
type Report struct {
	sheet.Report
	Variant  rules.Variant
	Length   int             // points the match is played to, 0 for a session
	Crawford bool            // the Crawford rule holds
	Options  *replay.Options // what the file says was agreed on; nil: nothing
	Site     string          // the program or site that wrote the file, as it says
	ID       string          // of the match
	Players  [2]string
	Ignored  []sheet.Note // lines outside of games that mean nothing here
}

// ErrNoGame is returned for a text without any game.
var ErrNoGame = errors.New("the text holds no game")

// Check reads a match and judges every row. An error says that the text is no match file or breaks a limit; it is a
// *replay.LineError where a line is to blame. Everything else is in the report.
func Check(r io.Reader, o Options) (Report, error) {
	f := file{in: bufio.NewScanner(r), length: -1, crawford: true, observe: o.Observe, keep: o.Keep}
	f.in.Buffer(make([]byte, 0, 4096), MaxLine+2)
	f.variant, f.fixed = rules.Variant{}, o.Variant != nil
	if f.fixed {
		f.variant = *o.Variant
	}
	if err := f.read(); err != nil {
		return Report{}, phrase.Errorf("read match file: %w", err)
	}
	return Report{Report: f.sheet.Close(), Variant: f.variant, Length: max(0, f.length), Crawford: f.crawford, Options: f.agreed,
		Site: f.site, ID: f.id, Players: f.players, Ignored: f.ignored}, nil
}

// file is a match file being read.
type file struct {
	in       *bufio.Scanner
	line     int
	size     int // bytes of the running game
	variant  rules.Variant
	fixed    bool // the variant was given
	length   int  // -1: not said yet
	crawford bool
	observe  func(game, line int, what string, st replay.State)
	keep     func(sheet.Game)
	agreed   *replay.Options
	site, id string
	players  [2]string
	ignored  []sheet.Note
	games    int
	hints    sheet.Hints // of the next game

	sheet   *sheet.Sheet
	number  int // of the game whose line with the players is due; 0: none is due
	started int // line of that game's heading
	middle  int // columns from here on are seat B's
	row     row
}

func (f *file) read() error {
	for {
		text, err := f.next()
		if err == io.EOF {
			break
		}
		if err == nil {
			err = f.take(text)
		}
		if err != nil {
			return &replay.LineError{Line: f.line, Err: err}
		}
	}
	if f.number > 0 {
		if err := f.begin(nil); err != nil {
			return err
		}
	}
	if f.sheet == nil {
		return ErrNoGame
	}
	return nil
}

var errTooLong = phrase.Errorf("the line is longer than %d bytes", MaxLine)

var byteOrderMark = []byte("\xef\xbb\xbf")

// next returns the next line without its line end. The bytes are valid until the call after.
func (f *file) next() ([]byte, error) {
	if !f.in.Scan() {
		err := f.in.Err()
		if err == nil {
			return nil, io.EOF
		}
		f.line++
		if errors.Is(err, bufio.ErrTooLong) {
			err = errTooLong
		}
		return nil, err
	}
	f.line++
	text := f.in.Bytes()
	if len(text) > MaxLine {
		return nil, errTooLong
	}
	if f.size += len(text) + 1; f.size > MaxGame {
		return nil, phrase.Errorf("the game is larger than %d bytes", MaxGame)
	}
	if f.line == 1 {
		text = bytes.TrimPrefix(text, byteOrderMark)
	}
	if bytes.IndexByte(text, 0) >= 0 {
		return nil, errors.New("the text has a zero byte: it is binary, or in UTF-16 instead of UTF-8 or an 8-bit encoding")
	}
	return bytes.TrimRight(text, " \t\r"), nil
}

// take judges one line.
func (f *file) take(text []byte) error {
	trimmed := bytes.TrimLeft(text, " \t")
	switch {
	case len(trimmed) == 0:
		return nil
	case trimmed[0] == ';':
		return f.comment(string(trimmed))
	}
	if n, ok := heading(trimmed); ok {
		if f.number > 0 {
			if err := f.begin(nil); err != nil {
				return err
			}
		}
		if f.games++; f.games > MaxGames {
			return phrase.Errorf("the file holds more than %d games", MaxGames)
		}
		f.number, f.started, f.size = n, f.line, len(text)
		return nil
	}
	if f.sheet == nil && f.number == 0 {
		if length, ok := matchLength(trimmed); ok {
			if f.length >= 0 {
				return errors.New("the length of the match is said twice")
			}
			f.length = length
			return nil
		}
	}
	if f.number > 0 {
		if score, names, second, ok := players(text); ok {
			f.name(names)
			f.middle = max(12, second/2)
			return f.begin(&score)
		}
		if err := f.begin(nil); err != nil {
			return err
		}
	}
	if f.sheet == nil {
		if _, ok := rowNumber(trimmed); ok {
			return phrase.Errorf("%q stands before the first game", clip(trimmed))
		}
		f.ignore("%s", clip(trimmed)) // a program's own words
		return nil
	}
	f.rowOrResult(text, trimmed)
	return nil
}

// begin starts the game whose heading was read.
func (f *file) begin(score *[2]int) error {
	if f.sheet == nil {
		if f.variant.ID == "" {
			f.variant, _ = rules.Lookup("short")
		}
		if err := f.agree(); err != nil {
			return err
		}
		f.row.absolute = !f.variant.Rules.HasBar() && !f.variant.Rules.Pins()
		f.sheet = sheet.New(sheet.Options{Variant: f.variant, Length: max(0, f.length), Crawford: f.crawford, Agreed: f.agreed, Observe: f.observe, Keep: f.keep})
	}
	f.hints.Number = f.number
	f.sheet.Expect(f.hints)
	f.sheet.Game(f.started, score)
	f.hints, f.number = sheet.Hints{}, 0
	if score == nil {
		f.middle = 20
	}
	return nil
}

// heading reads "Game 3".
func heading(text []byte) (int, bool) {
	rest, ok := cutWord(text, "game")
	if !ok {
		return 0, false
	}
	n, ok := decimal(bytes.TrimRight(rest, ":."))
	return int(n), ok && n > 0
}

// matchLength reads "7 point match" or "7 points match".
func matchLength(text []byte) (int, bool) {
	number, rest, ok := bytes.Cut(text, []byte(" "))
	if !ok {
		return 0, false
	}
	n, ok := decimal(number)
	lower := strings.Join(strings.Fields(strings.ToLower(string(rest))), " ")
	return int(n), ok && n <= 1<<20 && (lower == "point match" || lower == "points match")
}

func cutWord(text []byte, word string) ([]byte, bool) {
	if len(text) <= len(word) || !bytes.EqualFold(text[:len(word)], []byte(word)) || text[len(word)] != ' ' {
		return nil, false
	}
	return bytes.TrimLeft(text[len(word):], " "), true
}

// rowOrResult judges a line of a game.
func (f *file) rowOrResult(text, trimmed []byte) {
	offset, numbered := rowNumber(trimmed)
	if numbered {
		offset += len(text) - len(trimmed)
		text = text[offset:]
	}
	if bad := f.row.parse(text, offset, f.middle); bad != nil {
		f.sheet.Bad(f.line, "%w", bad)
		return
	}
	for i := range f.row.n {
		f.cell(&f.row.cells[i], numbered)
	}
}

// rowNumber returns the length of a row's number, "12)".
func rowNumber(text []byte) (n int, ok bool) {
	for n < len(text) && digit(text[n]) {
		n++
	}
	if n == 0 || n == len(text) || text[n] != ')' {
		return 0, false
	}
	return n + 1, true
}

// cell hands one column to the sheet. Numbered says whether the row has a number.
func (f *file) cell(c *cell, numbered bool) {
	switch c.kind {
	case play:
		if !c.thrown {
			// "00:", "????": the program wrote a column for a throw that never came.
			if len(c.hops) > 0 {
				f.sheet.Bad(f.line, "a play without dice")
				return
			}
			f.sheet.Halt(f.line, c.seat)
			return
		}
		if c.stage > 0 {
			f.sheet.Stage(f.line, c.seat, c.stage, sheet.Play{Hops: c.hops})
			return
		}
		f.sheet.Play(f.line, c.seat, c.dice, sheet.Play{Hops: c.hops, Unable: c.unable, Unknown: c.unknown})
	case double:
		f.sheet.Double(f.line, c.seat, c.value)
	case take:
		f.sheet.Take(f.line, c.seat)
	case drop:
		f.sheet.Drop(f.line, c.seat)
	case wins, loses:
		switch {
		case c.value == 0 && c.kind == wins:
			f.sheet.GiveUp(f.line, c.seat.Other())
		case c.value == 0:
			f.sheet.GiveUp(f.line, c.seat)
		case c.kind == wins:
			f.sheet.Result(f.line, c.seat, c.value)
		case numbered:
			f.sheet.Result(f.line, c.seat.Other(), c.value)
		default:
			// Without a number the line is not in columns: sites put it at the left whoever lost.
			f.sheet.Points(f.line, c.value)
		}
	case draws:
		f.sheet.Draw(f.line)
	case concede:
		f.concede(c)
	}
}

// concede judges a column that gives the game up; dice before it were thrown and not played.
func (f *file) concede(c *cell) {
	if c.thrown {
		f.sheet.Play(f.line, c.seat, c.dice, sheet.Play{})
	}
	f.sheet.GiveUp(f.line, c.seat)
}
