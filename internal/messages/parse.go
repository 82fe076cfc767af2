package messages

import (
	"errors"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits of a text file.
const (
	maxFile = 1 << 20 // bytes
	maxLine = 1 << 12 // bytes
	maxKey  = 64      // bytes
)

// entry is one line of a text file.
type entry struct{ key, text string }

// parse reads a text file: empty lines, lines that begin with #, and lines "key = text". Keys are lower-case words of letters,
// digits and hyphens (checks and levels keep their own spelling) joined by dots, with a plural form in brackets where there is
// one. They ascend strictly, so that a translator sees at once what is missing and nothing can be given twice.
func parse(source string) ([]entry, error) {
	if len(source) > maxFile {
		return nil, errors.New("the file has more than " + strconv.Itoa(maxFile) + " bytes")
	}
	var entries []entry
	number := 0
	for line := range strings.Lines(source) {
		number++
		line = strings.TrimSuffix(line, "\n")
		if line == "" || line[0] == '#' {
			continue
		}
		e, err := parseLine(line)
		if err == nil && len(entries) > 0 && entries[len(entries)-1].key >= e.key {
			err = errors.New("key " + e.key + " does not follow " + entries[len(entries)-1].key + " in ascending order")
		}
		if err != nil {
			return nil, errors.New("line " + strconv.Itoa(number) + ": " + err.Error())
		}
		entries = append(entries, e)
	}
	return entries, nil
}

func parseLine(line string) (entry, error) {
	key, text, ok := strings.Cut(line, " = ")
	switch {
	case len(line) > maxLine:
		return entry{}, errors.New("longer than " + strconv.Itoa(maxLine) + " bytes")
	case !ok:
		return entry{}, errors.New("want key = text")
	case !validKey(key):
		return entry{}, errors.New("malformed key " + strconv.Quote(key))
	case !utf8.ValidString(text):
		return entry{}, errors.New(key + ": the text is not UTF-8")
	case text == "" || strings.TrimSpace(text) != text:
		return entry{}, errors.New(key + ": the text is empty or has spaces at its ends")
	}
	rest := text
	for {
		at := strings.IndexAny(rest, "{}")
		if at < 0 {
			return entry{key, text}, nil
		}
		_, size := placeholder(rest[at:])
		if size == 0 {
			return entry{}, errors.New(key + ": a brace belongs to no placeholder {0} to {9}")
		}
		rest = rest[at+size:]
	}
}

func validKey(key string) bool {
	if len(key) > maxKey {
		return false
	}
	if at := strings.IndexByte(key, '['); at >= 0 {
		form, ok := strings.CutSuffix(key[at+1:], "]")
		if !ok || !validWord(form) {
			return false
		}
		key = key[:at]
	}
	for part := range strings.SplitSeq(key, ".") {
		if !validWord(part) {
			return false
		}
	}
	return true
}

func validWord(w string) bool {
	for i := range len(w) {
		switch c := w[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c >= 'A' && c <= 'Z':
		case c == '-' && i > 0 && i < len(w)-1:
		default:
			return false
		}
	}
	return w != ""
}
