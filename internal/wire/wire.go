// Package wire writes JSON by hand: what is written stands in the code, member
// after member, and nothing reflects. The verifier's reports and files go
// through it, so that the page's js/wasm module carries no encoding/json.
//
//	w := wire.New(&out)
//	w.Object("", func() {
//		w.Text("id", id)
//		wire.List(w, "games", games, func(g int) { w.Int("", g) })
//	})
//	err := w.Err()
//
// Every method takes the name of the member it writes; the name is empty for
// an element of a list and for the value at the top. Texts are written as
// encoding/json does without its escapes for HTML, and a nil list is null.
package wire

import (
	"bytes"

	"github.com/go-json-experiment/json/jsontext"
)

// Writer writes one JSON value. After the first error every method does
// nothing.
type Writer struct {
	enc *jsontext.Encoder
	err error
}

// New returns a writer that refuses texts which are not UTF-8: what it writes
// reads back as it was.
func New(out *bytes.Buffer) *Writer { return &Writer{enc: jsontext.NewEncoder(out)} }

// NewReport returns a writer for people and scripts: bytes that are not UTF-8
// become U+FFFD, and lines end where JavaScript thinks they do.
func NewReport(out *bytes.Buffer) *Writer {
	return &Writer{enc: jsontext.NewEncoder(out, jsontext.AllowInvalidUTF8(true), jsontext.EscapeForJS(true))}
}

// Err returns the first error.
func (w *Writer) Err() error { return w.err }

func (w *Writer) put(name string, t jsontext.Token) {
	if name != "" {
		w.token(jsontext.String(name))
	}
	w.token(t)
}

func (w *Writer) token(t jsontext.Token) {
	if w.err == nil {
		w.err = w.enc.WriteToken(t)
	}
}

// Object writes an object; members writes what is in it.
func (w *Writer) Object(name string, members func()) {
	w.put(name, jsontext.BeginObject)
	members()
	w.token(jsontext.EndObject)
}

// Text writes a string.
func (w *Writer) Text(name, text string) { w.put(name, jsontext.String(text)) }

// TextIf writes a string unless it is empty.
func (w *Writer) TextIf(name, text string) {
	if text != "" {
		w.Text(name, text)
	}
}

// Int writes an integer.
func (w *Writer) Int(name string, n int) { w.put(name, jsontext.Int(int64(n))) }

// IntIf writes an integer unless it is 0.
func (w *Writer) IntIf(name string, n int) {
	if n != 0 {
		w.Int(name, n)
	}
}

// Uint writes a number without sign.
func (w *Writer) Uint(name string, n uint64) { w.put(name, jsontext.Uint(n)) }

// Bool writes true or false.
func (w *Writer) Bool(name string, b bool) { w.put(name, jsontext.Bool(b)) }

// Null writes null.
func (w *Writer) Null(name string) { w.put(name, jsontext.Null) }

// Texts writes a list of strings.
func (w *Writer) Texts(name string, texts []string) {
	List(w, name, texts, func(text string) { w.Text("", text) })
}

// List writes a list; item writes one element of it.
func List[T any](w *Writer, name string, items []T, item func(T)) {
	if items == nil {
		w.Null(name)
		return
	}
	w.put(name, jsontext.BeginArray)
	for _, i := range items {
		item(i)
	}
	w.token(jsontext.EndArray)
}

// ListIf writes a list unless it is empty.
func ListIf[T any](w *Writer, name string, items []T, item func(T)) {
	if len(items) > 0 {
		List(w, name, items, item)
	}
}
