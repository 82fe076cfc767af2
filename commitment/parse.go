package commitment

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"fairdice/internal/phrase"
)

// MaxStatement is the greatest length of a statement or receipt text in bytes, the last LF included.
const MaxStatement = 4096

// A ParseError says why a text is not a statement or receipt. Code is one of
//
//	of the text:  too-long unknown-type cr not-printable-ascii no-final-lf
//	of its lines: spacing no-value unknown-line missing-line repeated-line order fields
//	of a value:   uuid token name hex number time value vkey options
//	of a whole:   archive result equal-players equal-anchors live-needs-anchors live-needs-refereed
type ParseError struct {
	What string // "statement" or "receipt"
	Line int    // 1-based line, 0 when the text as a whole is meant
	Name string // name of the line, if known
	Code string // what kind of fault it is, stable
	Why  error  // for people
}

// Error returns "parse statement: line 3: tenant: …".
func (e *ParseError) Error() string {
	format, values := e.Phrase()
	return fmt.Sprintf(format, values...)
}

// Unwrap returns what is wrong with the line or text.
func (e *ParseError) Unwrap() error { return e.Why }

// Phrase says it in other languages.
func (e *ParseError) Phrase() (string, []any) {
	why := e.Why
	if e.Name != "" {
		why = phrase.Errorf("%s: %w", clip(e.Name), why)
	}
	if e.Line > 0 {
		why = phrase.Errorf("line %d: %w", e.Line, why)
	}
	return "parse " + e.What + ": %v", []any{why}
}

// typePrefix begins the first line of every text of the protocol.
const typePrefix = "fairdice/v1/"

// A parser reads the lines of one text in order. It is strict: every text has one reading and every reading one text, so
// that a statement has one leaf hash. After the first fault all reads return zero values and err keeps the fault.
type parser struct {
	what   string
	lines  []string // without LF; lines[0] is the type
	at     int      // index of the next line
	schema []string // all line names of this type
	split  []string // fields of the line just read; the next line reuses it
	err    *ParseError
}

// newParser splits a text and checks what holds for every line of every type.
func newParser(what string, text []byte) (*parser, *ParseError) {
	if len(text) > MaxStatement {
		return nil, &ParseError{What: what, Code: "too-long", Why: phrase.Errorf("%d bytes, at most %d", len(text), MaxStatement)}
	}
	if len(text) == 0 {
		return nil, &ParseError{What: what, Code: "unknown-type", Why: errors.New("the text is empty")}
	}
	line := 1
	for _, c := range text {
		if ' ' <= c && c <= '~' {
			continue
		}
		switch c {
		case '\n':
			line++
		case '\r':
			return nil, &ParseError{What: what, Line: line, Code: "cr", Why: errors.New("carriage return; lines end with LF alone")}
		default:
			return nil, &ParseError{What: what, Line: line, Code: "not-printable-ascii", Why: phrase.Errorf("byte %#02x is not printable ASCII", c)}
		}
	}
	body, ok := strings.CutSuffix(string(text), "\n")
	if !ok {
		return nil, &ParseError{What: what, Code: "no-final-lf", Why: errors.New("the last line does not end with LF")}
	}
	p := &parser{what: what, lines: strings.Split(body, "\n"), at: 1, split: make([]string, 0, 4)}
	if !strings.HasPrefix(p.lines[0], typePrefix) {
		return nil, &ParseError{What: what, Line: 1, Code: "unknown-type", Why: phrase.Errorf("first line %q does not begin with %s", clip(p.lines[0]), typePrefix)}
	}
	return p, nil
}

func (p *parser) fail(line int, name, code, format string, args ...any) {
	if p.err == nil {
		p.err = &ParseError{What: p.what, Line: line, Name: name, Code: code, Why: phrase.Errorf(format, args...)}
	}
}

// take returns the fields of the next line if it has the given name. Otherwise it returns false, and fails if the line
// was required or is none that may stand here at all.
func (p *parser) take(name string, required bool) ([]string, bool) {
	if p.err != nil {
		return nil, false
	}
	if p.at == len(p.lines) {
		if required {
			p.fail(0, name, "missing-line", "the line is missing")
		}
		return nil, false
	}
	line := p.lines[p.at]
	if badSpacing(line) {
		p.fail(p.at+1, "", "spacing", "fields are separated by one space, and nothing is before or after them")
		return nil, false
	}
	got, value, hasValue := strings.Cut(line, " ")
	if got == name {
		if !hasValue {
			p.fail(p.at+1, name, "no-value", "the value is missing")
			return nil, false
		}
		p.at++
		p.split = p.split[:0]
		for ok := true; ok; {
			var f string
			f, value, ok = strings.Cut(value, " ")
			p.split = append(p.split, f)
		}
		return p.split, true
	}
	if required {
		p.misplaced(got, name)
	}
	return nil, false
}

// badSpacing reports whether fields are separated by more than one space, or a
// space is before or after them.
func badSpacing(line string) bool {
	space := true
	for i := 0; i < len(line); i++ {
		if line[i] != ' ' {
			space = false
			continue
		}
		if space {
			return true
		}
		space = true
	}
	return space && line != ""
}

// seen returns the names of the lines that have been read.
func (p *parser) seen() []string {
	var names []string
	for _, line := range p.lines[1:p.at] {
		name, _, _ := strings.Cut(line, " ")
		names = append(names, name)
	}
	return names
}

// misplaced says what is wrong when the next line is called got and want is due.
func (p *parser) misplaced(got, want string) {
	line, seen := p.at+1, p.seen()
	switch {
	case !slices.Contains(p.schema, got):
		p.fail(line, "", "unknown-line", "no line %q in %s", clip(got), p.lines[0])
	case slices.Contains(seen, got) && got == seen[len(seen)-1]:
		p.fail(line, got, "repeated-line", "the line is repeated")
	case p.later(want):
		p.fail(line, got, "order", "the line stands before %s", want)
	case slices.Contains(seen, got):
		p.fail(line, got, "repeated-line", "the line is repeated")
	default:
		p.fail(line, got, "missing-line", "the line stands where %s is due", want)
	}
}

// later reports whether a line of that name follows.
func (p *parser) later(name string) bool {
	for _, line := range p.lines[p.at:] {
		if got, _, _ := strings.Cut(line, " "); got == name {
			return true
		}
	}
	return false
}

// end fails unless all lines are read.
func (p *parser) end() {
	if p.err != nil || p.at == len(p.lines) {
		return
	}
	line, seen := p.lines[p.at], p.seen()
	got, _, _ := strings.Cut(line, " ")
	switch {
	case strings.HasPrefix(line, " "):
		p.fail(p.at+1, "", "spacing", "a line begins with a space")
	case !slices.Contains(p.schema, got):
		p.fail(p.at+1, "", "unknown-line", "no line %q in %s", clip(got), p.lines[0])
	case slices.Contains(seen, got):
		code := "repeated-line"
		if got != seen[len(seen)-1] {
			code = "order"
		}
		p.fail(p.at+1, got, code, "time is the last line")
	default:
		p.fail(p.at+1, got, "order", "time is the last line")
	}
}

// fields reads a required line of exactly n fields, or of any number if n is 0.
func (p *parser) fields(name string, n int) []string {
	f, ok := p.take(name, true)
	return p.count(name, f, n, ok)
}

// optional reads a line of n fields if it is there.
func (p *parser) optional(name string, n int) ([]string, bool) {
	f, ok := p.take(name, false)
	f = p.count(name, f, n, ok)
	return f, f != nil
}

func (p *parser) count(name string, f []string, n int, ok bool) []string {
	if !ok {
		return nil
	}
	if n > 0 && len(f) != n {
		p.fail(p.at, name, "fields", "%d fields, want %d", len(f), n)
		return nil
	}
	return f
}

// The readers below take the field list of the line just read, which is nil after a fault.

func field(f []string, i int) string {
	if f == nil {
		return ""
	}
	return f[i]
}

// check records a fault in the line just read.
func (p *parser) check(name, code string, err error) {
	if err != nil {
		p.fail(p.at, name, code, "%w", err)
	}
}

func (p *parser) text(name string) string { return field(p.fields(name, 1), 0) }

func (p *parser) checked(name, code string, check func(string) error) string {
	s := p.text(name)
	if p.err == nil {
		p.check(name, code, check(s))
	}
	return s
}

func (p *parser) id(name string) string    { return p.checked(name, "uuid", checkID) }
func (p *parser) token(name string) string { return p.checked(name, "token", CheckToken) }

// oneOf reads a line whose value is one of a few words.
func (p *parser) oneOf(name string, words ...string) string {
	s := p.text(name)
	if p.err == nil && !slices.Contains(words, s) {
		p.fail(p.at, name, "value", "%q is none of %s", clip(s), strings.Join(words, ", "))
	}
	return s
}

// hashOf reads 64 hex digits from a field.
func (p *parser) hashOf(name, s string) Hash {
	if p.err != nil {
		return Hash{}
	}
	h, err := ParseHash(s)
	p.check(name, "hex", err)
	return h
}

func (p *parser) hash(name string) Hash { return p.hashOf(name, p.text(name)) }

// hashOrDash reads a hash, or nil from "-".
func (p *parser) hashOrDash(name string) *Hash {
	s := p.text(name)
	if p.err != nil || s == "-" {
		return nil
	}
	h := p.hashOf(name, s)
	return &h
}

func (p *parser) optionalHash(name string) *Hash {
	f, ok := p.optional(name, 1)
	if !ok {
		return nil
	}
	h := p.hashOf(name, f[0])
	return &h
}

func (p *parser) secretOf(name, s string) Secret {
	if p.err != nil {
		return Secret{}
	}
	v, err := ParseSecret(s)
	p.check(name, "hex", err)
	return v
}

// integerOf reads a number from lo to hi.
func (p *parser) integerOf(name, s string, lo, hi uint64) uint64 {
	if p.err != nil {
		return 0
	}
	v, err := ParseInteger(s)
	switch {
	case err != nil:
		p.check(name, "number", err)
	case v < lo || v > hi:
		p.fail(p.at, name, "number", "%d is not in %d…%d", v, lo, hi)
	}
	return v
}

func (p *parser) integer(name string, lo, hi uint64) uint64 {
	return p.integerOf(name, p.text(name), lo, hi)
}

// game and segment count from 1; a game has at most 30 segments.
func (p *parser) game() int    { return int(p.integer("game", 1, MaxInteger)) }
func (p *parser) segment() int { return int(p.integer("segment", 1, MaxSegments)) }

func (p *parser) time() time.Time {
	s := p.text("time")
	if p.err != nil {
		return time.Time{}
	}
	t, err := ParseTime(s)
	p.check("time", "time", err)
	return t
}

func (p *parser) mode() Mode {
	s := p.text("mode")
	if p.err != nil {
		return 0
	}
	m, err := ParseMode(s)
	p.check("mode", "value", err)
	return m
}

// rolls reads three numbers.
func (p *parser) rolls() Lengths {
	f := p.fields("rolls", 3)
	var n Lengths
	for i := range n {
		n[i] = int(p.integerOf("rolls", field(f, i), 0, MaxInteger))
	}
	return n
}

// record reads the number of event lines and the head.
func (p *parser) record() (int, Hash) {
	f := p.fields("record", 2)
	return int(p.integerOf("record", field(f, 0), 0, MaxInteger)), p.hashOf("record", field(f, 1))
}

func (p *parser) score() (a, b int) {
	f := p.fields("score", 2)
	return int(p.integerOf("score", field(f, 0), 0, MaxInteger)), int(p.integerOf("score", field(f, 1), 0, MaxInteger))
}

// inputs reads the optional links and beacon signature of a deal or an abort.
func (p *parser) inputs() (linkA, linkB *Hash, signature []byte) {
	linkA, linkB = p.optionalHash("link-a"), p.optionalHash("link-b")
	f, ok := p.optional("signature", 1)
	if !ok {
		return linkA, linkB, nil
	}
	signature = make([]byte, SignatureSize)
	p.check("signature", "hex", decodeHex(signature, f[0]))
	return linkA, linkB, signature
}

// secrets reads the repeated lines `secret q hex`.
func (p *parser) secrets() []RevealedSecret {
	var list []RevealedSecret
	for {
		f, ok := p.optional("secret", 2)
		if !ok {
			return list
		}
		p.check("secret", "uuid", checkID(f[0]))
		list = append(list, RevealedSecret{Sequence: f[0], Secret: p.secretOf("secret", f[1])})
	}
}
