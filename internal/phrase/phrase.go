// Package phrase keeps how the text of an error was made, so that it can be said in another language.
//
//	err := phrase.Errorf("the deal of segment %d lacks the link of seat %s", 2, "a")
//	err.Error()           // the deal of segment 2 lacks the link of seat a
//	phrase.In(err, words) // the same in the language of words
//
// The English format is the code of a phrase: what it makes stands in reports that scripts and test vectors hold byte for
// byte, so it is as stable as a check's id. Package messages has the texts of the other languages under it. Errors nest: a
// value that is an error is said in the language as well. Other values (numbers, hashes, record lines, names of a file) are the same
// in every language.
package phrase

import (
	"errors"
	"fmt"
	"strings"
)

// Words is a language: the texts of formats, with {0} for the first value. [fairdice/internal/messages.Catalogue] is one.
type Words interface {
	Phrase(format string) (text string, ok bool)
}

// Spoken is an error or value that tells its format and values. Packages that may import nothing have one of their own.
type Spoken interface {
	Phrase() (format string, values []any)
}

// phrase is the error that [Errorf] makes.
type phrase struct {
	error  // in English, made by package fmt
	format string
	values []any
}

// Errorf is [fmt.Errorf], which it words and wraps like, and keeps format and values.
func Errorf(format string, values ...any) error {
	return &phrase{fmt.Errorf(format, values...), format, values}
}

func (p *phrase) Phrase() (string, []any) { return p.format, p.values }

func (p *phrase) Unwrap() error { return p.error }

// In says an error in a language; nil words are English. What the language has no text for stays English, with the values
// that it has in it said in the language.
func In(err error, w Words) string {
	if w == nil {
		return err.Error()
	}
	switch e := err.(type) {
	case Spoken:
		return Say(e, w)
	case interface{ Unwrap() []error }:
		if text, ok := joined(err, e.Unwrap(), w); ok {
			return text
		}
	}
	if text, ok := w.Phrase(err.Error()); ok { // made by errors.New: its text is its format
		return text
	}
	return err.Error()
}

// Say is In for a value that is no error; words may not be nil.
func Say(s Spoken, w Words) string {
	format, values := s.Phrase()
	said, rest := say(format, values, w)
	text, ok := w.Phrase(format)
	if !ok {
		return rest
	}
	holes := make([]string, 0, 2*len(said))
	for i, value := range said {
		holes = append(holes, "{"+string('0'+rune(i))+"}", value)
	}
	return strings.NewReplacer(holes...).Replace(text)
}

// joined says the parts of an [errors.Join] one by one.
func joined(err error, parts []error, w Words) (string, bool) {
	if errors.Join(parts...).Error() != err.Error() {
		return "", false
	}
	lines := make([]string, len(parts))
	for i, p := range parts {
		lines[i] = In(p, w)
	}
	return strings.Join(lines, "\n"), true
}

// say words every value of a format by its verb, and the whole format with them.
func say(format string, values []any, w Words) (said []string, whole string) {
	var out strings.Builder
	for len(format) > 0 {
		literal, rest, found := strings.Cut(format, "%")
		out.WriteString(literal)
		if !found {
			break
		}
		end := strings.IndexAny(rest, "abcdefghijklmnopqrstuvwxyz%") + 1
		verb := "%" + rest[:end]
		format = rest[end:]
		switch {
		case verb == "%%":
			out.WriteByte('%')
			continue
		case len(said) == len(values): // a text, not a format
			out.WriteString(verb)
			continue
		}
		value := ""
		switch v := values[len(said)].(type) {
		case Spoken:
			value = Say(v, w)
		case error:
			value = In(v, w)
		default:
			value = fmt.Sprintf(verb, v)
		}
		said = append(said, value)
		out.WriteString(value)
	}
	return said, out.String()
}
