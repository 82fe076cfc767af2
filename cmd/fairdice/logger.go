package main

import (
	"fmt"
	"io"
	"log/slog"
	"regexp"
	"strings"
	"unicode"
)

// logger writes the service's log, in the form that log-format names. One
// record is one line of printable text, whatever it speaks of: a path or a token
// that a stranger has chosen can neither begin another line nor move the
// cursor of whoever reads the log on a terminal. An API key that somebody has
// put where none belongs, into a path for instance, is not repeated.
func (c config) logger(w io.Writer) *slog.Logger {
	o := &slog.HandlerOptions{Level: c.level, ReplaceAttr: printable}
	if c.format == formatJSON {
		return slog.New(slog.NewJSONHandler(w, o))
	}
	return slog.New(slog.NewTextHandler(w, o))
}

// The values of log-format.
const (
	formatText = "text"
	formatJSON = "json"
)

// printable spells out the characters that a handler passes on although they
// command terminals or turn text around: DEL, the C1 controls, the marks of
// direction. Those below 0x20 both handlers escape.
func printable(_ []string, a slog.Attr) slog.Attr {
	var text string
	switch v := a.Value.Resolve(); v.Kind() {
	case slog.KindString:
		text = v.String()
	case slog.KindAny:
		switch v := v.Any().(type) {
		case error:
			text = v.Error()
		case fmt.Stringer:
			text = v.String()
		case []string: // names of requests that were cut off
			text = strings.Join(v, ", ")
		default:
			return a
		}
	default:
		return a
	}
	if !strings.ContainsFunc(text, commands) && !strings.Contains(text, "fd_") {
		return a
	}
	text = apiKey.ReplaceAllLiteralString(text, "fd_…")
	var b strings.Builder
	for _, r := range text {
		if commands(r) {
			fmt.Fprintf(&b, `\u%04x`, r)
		} else {
			b.WriteRune(r)
		}
	}
	a.Value = slog.StringValue(b.String())
	return a
}

// apiKey is what looks like a key: fd_, a tenant, and 32 characters.
var apiKey = regexp.MustCompile(`fd_[A-Za-z0-9._-]{33,}`)

func commands(r rune) bool { return r == 0x7f || r >= 0x80 && !unicode.IsPrint(r) }
