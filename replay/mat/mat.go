package mat

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"fairdice/replay"
	"fairdice/replay/sheet"
	"fairdice/rules"
)

// Limits of a file. Real lines are shorter than 200 bytes, real games than 20 KiB.
const (
	MaxLine = 64 << 10
	MaxGame = 1 << 20
)

// Options say what a file does not.
type Options struct {
	Variant *rules.Variant // nil: as the file says, else short
	Observe func(game, line int, what string, st replay.State)
}

// Report is what [Check] has found.
type Report struct {
	sheet.Report
	Variant  rules.Variant
	Length   int  // points the match is played to, 0 for a session
	Crawford bool // the Crawford rule holds
}

// ErrNoGame is returned for a text without any game.
var ErrNoGame = errors.New("the text holds no game")

// Check reads a match and judges every row. An error says that the text is no match file or breaks a limit; it is a
// *replay.LineError where a line is to blame. Everything else is in the report.
func Check(r io.Reader, o Options) (Report, error) {
	f := file{in: bufio.NewScanner(r), length: -1, crawford: true, observe: o.Observe}
	f.in.Buffer(make([]byte, 0, 4096), MaxLine+2)
	f.variant, f.fixed = rules.Variant{}, o.Variant != nil
	if f.fixed {
		f.variant = *o.Variant
		if err := sheet.Playable(f.variant); err != nil {
			return Report{}, fmt.Errorf("read match file: %w", err)
		}
	}
	if err := f.read(); err != nil {
		return Report{}, fmt.Errorf("read match file: %w", err)
	}
	return Report{Report: f.sheet.Close(), Variant: f.variant, Length: max(0, f.length), Crawford: f.crawford}, nil
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
		f.begin(nil)
	}
	if f.sheet == nil {
		return ErrNoGame
	}
	return nil
}

var errTooLong = fmt.Errorf("the line is longer than %d bytes", MaxLine)

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
		return nil, fmt.Errorf("the game is larger than %d bytes", MaxGame)
	}
	if f.line == 1 {
		text = bytes.TrimPrefix(text, byteOrderMark)
		if bytes.IndexByte(text, 0) >= 0 {
			return nil, errors.New("the text is not in an 8-bit encoding or UTF-8")
		}
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
			f.begin(nil)
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
		if score, second, ok := players(text); ok {
			f.begin(&score)
			f.middle = max(12, second/2)
			return nil
		}
		f.begin(nil)
	}
	if f.sheet == nil {
		if _, ok := rowNumber(trimmed); ok {
			return fmt.Errorf("%q stands before the first game", clip(trimmed))
		}
		return nil // a program's own words
	}
	f.rowOrResult(text, trimmed)
	return nil
}

// begin starts the game whose heading was read.
func (f *file) begin(score *[2]int) {
	if f.sheet == nil {
		if f.variant.ID == "" {
			f.variant, _ = rules.Lookup("short")
		}
		f.sheet = sheet.New(sheet.Options{Variant: f.variant, Length: max(0, f.length), Crawford: f.crawford, Observe: f.observe})
	}
	f.sheet.Game(f.started, score)
	f.number, f.middle = 0, 20
}

// comment reads the tags that matter.
func (f *file) comment(text string) error {
	inner := strings.TrimSpace(strings.TrimPrefix(text, ";"))
	key, value, ok := strings.Cut(strings.Trim(inner, "[]"), " ")
	if !ok || f.sheet != nil {
		return nil
	}
	value = strings.ToLower(strings.Trim(value, `" `))
	switch strings.ToLower(key) {
	case "crawford":
		f.crawford = value != "off"
	case "variation", "variant":
		if f.fixed {
			return nil
		}
		id, ok := variations[spaces.Replace(value)]
		if !ok {
			return fmt.Errorf("the variation %q is not one that can be checked", clip([]byte(value)))
		}
		f.variant, _ = rules.Lookup(id)
	}
	return nil
}

var spaces = strings.NewReplacer(" ", "", "-", "")

// variations maps the names programs use to variants.
var variations = map[string]string{
	"": "short", "backgammon": "short", "standard": "short", "nackgammon": "nackgammon", "hypergammon": "hyper", "hypergammon3": "hyper", "hyper": "hyper",
	"tavla": "tavla",
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

// players reads the line with both names and scores and returns the score and the column where the second name begins. Names may be
// empty, and may hold anything, colons and numbers included.
func players(text []byte) (score [2]int, second int, ok bool) {
	head, last, ok := cutScore(text)
	if !ok {
		return score, 0, false
	}
	score[1] = last
	// The first name ends where a colon with a number stands before the gap between the columns; where no gap shows, at the first
	// colon with a number.
	found := -1
	for i, c := range head {
		if c != ':' {
			continue
		}
		rest := bytes.TrimLeft(head[i+1:], " \t")
		digits := 0
		for digits < len(rest) && digit(rest[digits]) {
			digits++
		}
		n, ok := decimal(rest[:digits])
		gap := rest[digits:]
		if !ok || len(gap) > 0 && gap[0] != ' ' && gap[0] != '\t' {
			continue
		}
		wide := len(gap) == 0 || gap[0] == '\t' || len(gap) > 1 && (gap[1] == ' ' || gap[1] == '\t')
		if found >= 0 && !wide {
			continue
		}
		found, score[0] = len(head)-len(bytes.TrimLeft(gap, " \t")), int(n)
		if wide {
			break
		}
	}
	if found < 0 {
		return score, 0, false
	}
	return score, column(text, 0, found), true
}

// cutScore cuts ": 3" off the end of a line.
func cutScore(text []byte) (head []byte, n int, ok bool) {
	i := bytes.LastIndexByte(text, ':')
	if i < 0 {
		return nil, 0, false
	}
	v, ok := decimal(bytes.TrimSpace(text[i+1:]))
	return text[:i], int(v), ok
}

// rowOrResult judges a line of a game.
func (f *file) rowOrResult(text, trimmed []byte) {
	offset, numbered := rowNumber(trimmed)
	if numbered {
		offset += len(text) - len(trimmed)
		text = text[offset:]
	}
	if bad := f.row.parse(text, offset, f.middle); bad != "" {
		f.sheet.Bad(f.line, "%s", bad)
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
		f.sheet.Play(f.line, c.seat, c.dice, sheet.Play{Hops: c.hops, Unable: c.unable})
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
