package replay

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"fairdice/internal/phrase"
)

// Header is what stands above the events of a record (PROTOCOL.md §5). Its lines repeat the match's open statement byte for byte.
type Header struct {
	Match    string // UUIDv7
	Game     int    // from 1
	Variant  string
	Options  Options
	Score    [2]int // of seats A and B before the game
	Crawford bool   // this is the Crawford game
}

// Text returns the header with the blank line after it.
func (h Header) Text() string {
	crawford := "no"
	if h.Crawford {
		crawford = "yes"
	}
	return fmt.Sprintf("%s\nmatch %s\ngame %d\nvariant %s\noptions %s\nscore %d %d\ncrawford %s\n\n",
		recordMagic, h.Match, h.Game, h.Variant, h.Options, h.Score[A], h.Score[B], crawford)
}

const recordMagic = "fairdice/v1/record"

// Head is the running hash of a record: head_0 of the header, head_n after n events (PROTOCOL.md §5).
type Head [sha256.Size]byte

// String returns 64 lower-case hex digits.
func (h Head) String() string { return hex.EncodeToString(h[:]) }

// Head returns head_0.
func (h Header) Head() Head { return sha256.Sum256([]byte(h.Text())) }

// Next returns the head after one more line, given without its line end: H(head ‖ line ‖ LF).
func (h Head) Next(line string) Head {
	buf := make([]byte, 0, sha256.Size+len(line)+1)
	buf = append(append(append(buf, h[:]...), line...), '\n')
	return sha256.Sum256(buf)
}

// parseHeader reads the header's seven lines; a *LineError names the one that is wrong.
func parseHeader(lines []string) (Header, error) {
	names := [...]string{"match", "game", "variant", "options", "score", "crawford"}
	var h Header
	for i, n := range names {
		line := i + 2
		if line > len(lines) {
			return h, &LineError{Line: line, Err: phrase.Errorf("the header ends before its %s line", n)}
		}
		value, ok := strings.CutPrefix(lines[line-1], n+" ")
		if !ok {
			return h, &LineError{Line: line, Err: phrase.Errorf("want the header's %s line, not %q", n, clip(lines[line-1]))}
		}
		if err := h.set(n, value); err != nil {
			return h, &LineError{Line: line, Err: err}
		}
	}
	return h, nil
}

func (h *Header) set(field, value string) (err error) {
	switch field {
	case "match":
		h.Match = value
		if !matchID(value) {
			return phrase.Errorf("match %q is not a UUIDv7 in canonical form", clip(value))
		}
	case "game":
		n, ok := parseNumber(value, MaxPoints)
		if !ok || n == 0 {
			return phrase.Errorf("game %q is not a number from 1", clip(value))
		}
		h.Game = int(n)
	case "variant":
		h.Variant = value
		if !token(value) {
			return phrase.Errorf("variant %q is not a token", clip(value))
		}
	case "options":
		h.Options, err = ParseOptions(value)
		return err
	case "score":
		a, b, _ := strings.Cut(value, " ")
		na, okA := parseNumber(a, MaxPoints)
		nb, okB := parseNumber(b, MaxPoints)
		if !okA || !okB {
			return phrase.Errorf("score %q is not two numbers", clip(value))
		}
		h.Score = [2]int{int(na), int(nb)}
	case "crawford":
		h.Crawford = value == "yes"
		if value != "yes" && value != "no" {
			return phrase.Errorf("crawford is %q, not yes or no", clip(value))
		}
	}
	return nil
}

// matchID reports whether text is a UUIDv7 in canonical lower-case form (RFC 9562).
func matchID(text string) bool {
	if len(text) != 36 || text[14] != '7' || !strings.ContainsRune("89ab", rune(text[19])) {
		return false
	}
	for i := range len(text) {
		hyphen := i == 8 || i == 13 || i == 18 || i == 23
		if hyphen != (text[i] == '-') || !hyphen && !strings.ContainsRune("0123456789abcdef", rune(text[i])) {
			return false
		}
	}
	return true
}

// token reports whether text is [A-Za-z0-9._-]{1,64}.
func token(text string) bool {
	for i := range len(text) {
		c := text[i]
		if !(c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '.' || c == '_' || c == '-') {
			return false
		}
	}
	return text != "" && len(text) <= 64
}

// LineError says in which line of a text something is wrong.
type LineError struct {
	Line int // 1-based
	Err  error
}

// Error returns "line n: what is wrong".
func (e *LineError) Error() string { return "line " + strconv.Itoa(e.Line) + ": " + e.Err.Error() }

// Phrase says it in other languages.
func (e *LineError) Phrase() (string, []any) { return "line %d: %v", []any{e.Line, e.Err} }

// Unwrap returns what is wrong in the line.
func (e *LineError) Unwrap() error { return e.Err }

var errEmptyRecord = errors.New("the text is empty")
