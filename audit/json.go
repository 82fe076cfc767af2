package audit

import (
	"bytes"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"fairdice/commitment"
	"fairdice/internal/phrase"
)

// decoder reads JSON against a fixed shape. The standard library's decoder
// ignores letter case and takes the last of two equal members, so two
// verifiers could read two different bundles out of the same bytes; here any
// deviation is an error. After the first error every method does nothing.
type decoder struct {
	dec *jsontext.Decoder
	err error
}

func newDecoder(data []byte) *decoder {
	return &decoder{dec: jsontext.NewDecoder(bytes.NewBuffer(data))} // a Buffer is read in place, without a copy
}

// fail records a fault at the current place in the file.
func (d *decoder) fail(format string, args ...any) {
	if d.err == nil {
		where := errors.New("the top")
		if pointer := string(d.dec.StackPointer()); pointer != "" {
			where = errors.New(clip(pointer))
		}
		d.err = phrase.Errorf("%w: at %w, byte %d", phrase.Errorf(format, args...), where, d.dec.InputOffset())
	}
}

func (d *decoder) token() (jsontext.Token, bool) {
	if d.err != nil {
		return jsontext.Token{}, false
	}
	t, err := d.dec.ReadToken()
	if err == nil {
		return t, true
	}
	d.refuse(err)
	return jsontext.Token{}, false
}

// refuse words an error of the JSON reader.
func (d *decoder) refuse(err error) {
	switch {
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		d.fail("the file ends too early")
	case errors.Is(err, jsontext.ErrDuplicateName):
		d.fail("a member is given twice")
	default:
		d.fail("not JSON")
	}
}

func (d *decoder) want(kind jsontext.Kind, what string) (jsontext.Token, bool) {
	t, ok := d.token()
	if ok && t.Kind() != kind {
		d.fail("found %w where %w belongs", kindName(t.Kind()), errors.New(what))
		return t, false
	}
	return t, ok
}

func kindName(k jsontext.Kind) error {
	switch k {
	case '{', '}':
		return errors.New("an object")
	case '[', ']':
		return errors.New("an array")
	case '"':
		return errors.New("a string")
	case '0':
		return errors.New("a number")
	default:
		return errors.New(k.String())
	}
}

// object reads an object with exactly these members; a name that ends in "?"
// may be absent. read is called for each member with its value still to come.
func (d *decoder) object(names []string, read func(name string)) {
	if _, ok := d.want('{', "an object"); !ok {
		return
	}
	seen := make([]bool, len(names))
	for d.err == nil && d.dec.PeekKind() != '}' {
		t, ok := d.want('"', "a member name")
		if !ok {
			return
		}
		name := t.String()
		i := slices.IndexFunc(names, func(n string) bool { return strings.TrimSuffix(n, "?") == name })
		if i < 0 {
			d.fail("unknown member %q", clip(name))
			return
		}
		seen[i] = true
		read(name)
	}
	if _, ok := d.token(); !ok {
		return
	}
	for i, n := range names {
		if !seen[i] && !strings.HasSuffix(n, "?") {
			d.fail("member %q is missing", n)
			return
		}
	}
}

// array reads an array; read consumes one element.
func (d *decoder) array(read func()) {
	if _, ok := d.want('[', "an array"); !ok {
		return
	}
	for d.err == nil && d.dec.PeekKind() != ']' {
		read()
	}
	d.token()
}

func (d *decoder) text() string {
	t, ok := d.want('"', "a string")
	if !ok {
		return ""
	}
	return t.String()
}

// number reads a plain decimal integer up to 2^53-1: no sign, point, exponent
// or leading zero (C15).
func (d *decoder) number() uint64 {
	t, ok := d.want('0', "a number")
	if !ok {
		return 0
	}
	raw := t.String()
	n, err := strconv.ParseUint(raw, 10, 64)
	if err != nil || n > 1<<53-1 {
		d.fail("number %s is not a plain integer up to 2^53-1", clip(raw))
	}
	return n
}

// small reads a number that counts games, segments or elements.
func (d *decoder) small() int {
	n := d.number()
	if n > math.MaxInt32 {
		d.fail("number %d is too large here", n)
		return 0
	}
	return int(n)
}

// hash reads 64 lower-case hex digits. Most of a bundle is hashes, so they are
// read from where they stand; only a string with escapes is unquoted first.
func (d *decoder) hash() (h commitment.Hash) {
	if d.err != nil {
		return h
	}
	if k := d.dec.PeekKind(); k != '"' {
		d.want('"', "a string")
		return h
	}
	raw, err := d.dec.ReadValue()
	if err != nil {
		d.refuse(err)
		return h
	}
	digits := raw[1 : len(raw)-1]
	if bytes.IndexByte(digits, '\\') >= 0 {
		digits, _ = jsontext.AppendUnquote(nil, raw) // ReadValue has checked it
	}
	if err := h.UnmarshalText(digits); err != nil {
		d.fail("%q is not a hash of 64 lower-case hex digits", clip(string(digits)))
	}
	return h
}

func (d *decoder) stream() commitment.Stream {
	s := d.text()
	if d.err != nil {
		return 0
	}
	st, err := commitment.ParseStream(s)
	if err != nil {
		d.fail("%q is not a stream", clip(s))
	}
	return st
}

func (d *decoder) path() []commitment.Hash {
	out := make([]commitment.Hash, 0, 12) // enough for a roll tree of the default size
	d.array(func() {
		if len(out) == maxPath {
			d.fail("more than %d hashes in a proof", maxPath)
			return
		}
		out = append(out, d.hash())
	})
	return out
}

// end demands that nothing but white space follows.
func (d *decoder) end() {
	if d.err != nil {
		return
	}
	if _, err := d.dec.ReadToken(); !errors.Is(err, io.EOF) {
		d.fail("something follows the object")
	}
}

// clip shortens foreign text for an error message.
func clip(s string) string {
	if len(s) > 64 {
		return s[:64] + "…"
	}
	return s
}
