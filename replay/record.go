package replay

import (
	"errors"
	"strings"
	"unicode/utf8"

	"fairdice/internal/phrase"
)

// MaxRecord is the largest record in bytes (PROTOCOL.md §5).
const MaxRecord = 1 << 20

// Record is a native record that parsed: its header, if it has one, and its event lines. Whether a legal game stands in it
// is asked with [Run].
type Record struct {
	Header    *Header // nil: event lines alone
	Lines     []string
	FirstLine int // 1-based line of Lines[0] in the text
}

// ParseRecord reads a native record strictly: LF line ends, the last one included, a header of seven lines with one blank
// line after it, then one event per line in any form [ParseEvent] accepts. A text that does not begin like a record is read as event
// lines alone. Errors are *LineError, but for a text that is empty or too large.
func ParseRecord(data []byte) (Record, error) {
	r, err := parseRecord(data)
	if err != nil {
		return Record{}, phrase.Errorf("parse record: %w", err)
	}
	return r, nil
}

func parseRecord(data []byte) (Record, error) {
	if len(data) == 0 {
		return Record{}, errEmptyRecord
	}
	if len(data) > MaxRecord {
		return Record{}, phrase.Errorf("%d bytes, more than %d", len(data), MaxRecord)
	}
	if !utf8.Valid(data) {
		return Record{}, errors.New("the text is not UTF-8")
	}
	text := string(data)
	lines := strings.Split(text, "\n")
	if last := len(lines) - 1; lines[last] != "" {
		return Record{}, &LineError{Line: last + 1, Err: errors.New("the last line has no line end")}
	}
	lines = lines[:len(lines)-1]
	r := Record{Lines: lines, FirstLine: 1}
	if strings.HasPrefix(text, "fairdice/") {
		if lines[0] != recordMagic {
			return r, &LineError{Line: 1, Err: phrase.Errorf("the text is a %q, not a %s", clip(lines[0]), recordMagic)}
		}
		h, err := parseHeader(lines)
		if err != nil {
			return r, err
		}
		if len(lines) < 8 || lines[7] != "" {
			return r, &LineError{Line: 8, Err: errors.New("a blank line must end the header")}
		}
		r.Header, r.Lines, r.FirstLine = &h, lines[8:], 9
	}
	for i, line := range r.Lines {
		if _, err := ParseEvent(line); err != nil {
			return r, &LineError{Line: r.FirstLine + i, Err: err}
		}
	}
	return r, nil
}

// Text returns the record's bytes.
func (r Record) Text() []byte {
	var b strings.Builder
	if r.Header != nil {
		b.WriteString(r.Header.Text())
	}
	for _, line := range r.Lines {
		b.WriteString(line)
		b.WriteByte('\n')
	}
	return []byte(b.String())
}

// Head returns the hash after all lines, and false if the record has no header to start from.
func (r Record) Head() (Head, bool) {
	if r.Header == nil {
		return Head{}, false
	}
	head := r.Header.Head()
	for _, line := range r.Lines {
		head = head.Next(line)
	}
	return head, true
}
