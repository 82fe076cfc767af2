package messages

import (
	"errors"
	"strconv"
	"strings"
)

// Phrase returns the text of an English format (package fairdice/internal/phrase) in the language, with {0} for its first value.
// There is none in English, and none in the page's module before [LoadDetails].
func (c Catalogue) Phrase(format string) (text string, ok bool) {
	text, ok = details()[c.Lang()][format]
	return text, ok
}

// phrases are the texts of texts/details.txt by language and English format.
type phrases map[string]map[string]string

// maxFormat bounds an English format, in bytes.
const maxFormat = 512

// parseDetails reads blocks of an English format and one line "language = text" for every other language in the order of the
// languages, with an empty line after each. Lines before the first block that begin with # are a comment.
func parseDetails(source string) (phrases, error) {
	if len(source) > maxFile {
		return nil, errors.New("the file has more than " + strconv.Itoa(maxFile) + " bytes")
	}
	all := phrases{}
	for _, l := range languages[1:] {
		all[l.code] = map[string]string{}
	}
	for strings.HasPrefix(source, "#") {
		_, source, _ = strings.Cut(source, "\n")
	}
	for number := 1; ; number++ {
		source = strings.TrimPrefix(source, "\n")
		if source == "" {
			return all, nil
		}
		block, rest, _ := strings.Cut(source, "\n\n")
		source = rest
		if err := all.add(strings.Split(strings.TrimSuffix(block, "\n"), "\n")); err != nil {
			return nil, errors.New("block " + strconv.Itoa(number) + ": " + err.Error())
		}
	}
}

func (p phrases) add(lines []string) error {
	format := lines[0]
	switch {
	case len(lines) != len(languages):
		return errors.New("want a format and a line for each other language: " + strconv.Quote(format))
	case format == "" || len(format) > maxFormat || strings.TrimSpace(format) != format:
		return errors.New("malformed format " + strconv.Quote(format))
	}
	for i, l := range languages[1:] {
		e, err := parseLine(lines[i+1])
		if err != nil {
			return err
		}
		if e.key != l.code {
			return errors.New("want " + l.code + ", not " + e.key + ": " + strconv.Quote(format))
		}
		if _, twice := p[l.code][format]; twice {
			return errors.New("twice: " + strconv.Quote(format))
		}
		p[l.code][format] = e.text
	}
	return nil
}
