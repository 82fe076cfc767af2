package phrase_test

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"fairdice/internal/phrase"
)

// backwards is a language that tells its values from the last to the first.
type backwards map[string]string

func (b backwards) Phrase(format string) (string, bool) {
	text, ok := b[format]
	return text, ok
}

// seat is a value that is said in the language.
type seat string

func (s seat) String() string          { return string(s) }
func (s seat) Phrase() (string, []any) { return string(s), nil }

var words = backwards{
	"the deal of segment %d lacks the link of seat %s": "{1} · {0}",
	"white":            "თეთრები",
	"%w: log index %d": "[{1}] {0}",
	"%q is no stream":  "no: {0}",
	"unexpected EOF":   "end",
	"%d of %d, %.3s%%": "{0}/{1}/{2}%",
	"no placeholders":  "ok",
}

func ExampleIn() {
	err := phrase.Errorf("%w: log index %d", phrase.Errorf("the deal of segment %d lacks the link of seat %s", 2, seat("white")), 7)
	fmt.Println(err)
	fmt.Println(phrase.In(err, words))
	// Output:
	// the deal of segment 2 lacks the link of seat white: log index 7
	// [7] თეთრები · 2
}

func TestIn(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"verbs":            {phrase.Errorf("%q is no stream", "c"), `no: "c"`},
		"precision":        {phrase.Errorf("%d of %d, %.3s%%", 1, 2, "abcdef"), "1/2/abc%"},
		"no text":          {phrase.Errorf("%d is %#02x", 7, 255), "7 is 0xff"},
		"no text, a value": {phrase.Errorf("read: %v", io.ErrUnexpectedEOF), "read: end"},
		"of errors":        {errors.New("no placeholders"), "ok"},
		"of others":        {io.ErrUnexpectedEOF, "end"},
		"unknown":          {io.EOF, "EOF"},
		"text with a sign": {phrase.Errorf("%v", seat("100%")), "100%"},
		"joined":           {errors.Join(io.ErrUnexpectedEOF, phrase.Errorf("%q is no stream", "c")), "end\nno: \"c\""},
		"wrapped by fmt":   {fmt.Errorf("a: %w, %w", io.EOF, io.ErrUnexpectedEOF), "a: EOF, unexpected EOF"},
		"braces of a file": {phrase.Errorf("%q is no stream", "{0}{1}"), `no: "{0}{1}"`},
		"a value in front": {phrase.Errorf("the deal of segment %d lacks the link of seat %s", 1, "{0}"), "{0} · 1"},
	} {
		t.Run(name, func(t *testing.T) {
			if got := phrase.In(c.err, words); got != c.want {
				t.Errorf("got %q, want %q", got, c.want)
			}
			if got := phrase.In(c.err, nil); got != c.err.Error() {
				t.Errorf("in English %q, want %q", got, c.err)
			}
		})
	}
}

func TestUnwrap(t *testing.T) {
	err := phrase.Errorf("%w: %w", io.EOF, phrase.Errorf("read: %w", io.ErrUnexpectedEOF))
	if !errors.Is(err, io.EOF) || !errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("%v wraps something else", err)
	}
}

// Without a text a phrase is its English, however deep it is and whatever its values are.
func TestEnglish(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		err := errors.New(rapid.String().Draw(t, "text"))
		for range rapid.IntRange(0, 4).Draw(t, "depth") {
			switch rapid.IntRange(0, 3).Draw(t, "kind") {
			case 0:
				err = phrase.Errorf("at %d: %w", rapid.Int().Draw(t, "n"), err)
			case 1:
				err = phrase.Errorf("%q%% %v", rapid.String().Draw(t, "s"), err)
			case 2:
				err = phrase.Errorf("%w (%.5s…)", err, rapid.String().Draw(t, "s"))
			case 3:
				err = errors.Join(err, phrase.Errorf("%s", err))
			}
		}
		if got := phrase.In(err, backwards{}); got != err.Error() {
			t.Errorf("got %q, want %q", got, err)
		}
		if strings.Contains(err.Error(), "%!") && !strings.Contains(phrase.In(err, nil), "%!") {
			t.Error("lost a fault of formatting")
		}
	})
}
