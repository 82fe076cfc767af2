package commitment

import (
	"bytes"
	"fmt"
	"strings"
	"time"

	"fairdice/internal/phrase"
)

// SignatureSize is the length of a quicknet signature in canonical compressed form, in bytes.
const SignatureSize = 48

// A Statement is one entry of the log: *exactly* the bytes of Text are hashed and published (PROTOCOL.md §3). The types
// are Commit, Open, Assign, Deal, Close, Abort, Retire and Finish, all plain values.
type Statement interface {
	Type() string    // word after "fairdice/v1/" in the first line
	Text() []byte    // the exact bytes; see Encode
	When() time.Time // the `time` line
}

// parsers has one entry per type: the names of its lines and how to read them.
var parsers = map[string]struct {
	schema []string
	read   func(*parser) Statement
}{
	"commit": {strings.Fields("log tenant mode number sequence rolls secret-hash root archive time"), readCommit},
	"open":   {strings.Fields("log match tenant variant rules mode profile options a b anchor-a anchor-b beacon receipt-key time"), readOpen},
	"assign": {strings.Fields("match game segment sequence number round time"), readAssign},
	"deal":   {strings.Fields("match game segment sequence link-a link-b signature cut root time"), readDeal},
	"close":  {strings.Fields("match game rolls receipt record result score secret time"), readClose},
	"abort":  {strings.Fields("match game by reason link-a link-b signature rolls receipt record secret time"), readAbort},
	"retire": {strings.Fields("sequence reason secret time"), readRetire},
	"finish": {strings.Fields("match score reason time"), readFinish},
}

// Parse reads a statement. It is strict: Parse(text) succeeds only if its result's Text is text again, byte for byte.
// The error is a *ParseError.
func Parse(text []byte) (Statement, error) {
	p, perr := newParser("statement", text)
	if perr != nil {
		return nil, perr
	}
	name := strings.TrimPrefix(p.lines[0], typePrefix)
	typ, ok := parsers[name]
	if !ok {
		return nil, &ParseError{What: p.what, Line: 1, Code: "unknown-type", Why: phrase.Errorf("no statement has the type %q", clip(name))}
	}
	p.schema = typ.schema
	s := typ.read(p)
	p.end()
	if p.err != nil {
		return nil, p.err
	}
	return s, nil
}

// Encode returns the text of a statement that somebody filled in, after making sure that a strict parser accepts it.
// Everything that is published goes through Encode; Text alone would print an impossible statement as it is.
func Encode(s Statement) ([]byte, error) {
	text := s.Text()
	back, err := Parse(text)
	if err != nil {
		return nil, fmt.Errorf("encode %s: %w", s.Type(), err)
	}
	if back.Type() != s.Type() || !bytes.Equal(back.Text(), text) {
		return nil, fmt.Errorf("encode %s: the text reads back as another statement", s.Type())
	}
	return text, nil
}

// A RevealedSecret is a `secret` line: the secret of an assigned sequence, published when its game has ended.
type RevealedSecret struct {
	Sequence string
	Secret   Secret
}
