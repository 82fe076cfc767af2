package wire

import (
	"bytes"
	"encoding/json"
	"testing"

	"pgregory.net/rapid"
)

type sample struct {
	Text  string   `json:"text"`
	Maybe string   `json:"maybe,omitempty"`
	Int   int      `json:"int"`
	Some  int      `json:"some,omitempty"`
	Uint  uint64   `json:"uint"`
	Bool  bool     `json:"bool"`
	Texts []string `json:"texts"`
	Few   []int    `json:"few,omitempty"`
	Inner *sample  `json:"inner"`
}

func (s *sample) write(w *Writer, name string) {
	if s == nil {
		w.Null(name)
		return
	}
	w.Object(name, func() {
		w.Text("text", s.Text)
		w.TextIf("maybe", s.Maybe)
		w.Int("int", s.Int)
		w.IntIf("some", s.Some)
		w.Uint("uint", s.Uint)
		w.Bool("bool", s.Bool)
		w.Texts("texts", s.Texts)
		ListIf(w, "few", s.Few, func(n int) { w.Int("", n) })
		s.Inner.write(w, "inner")
	})
}

func draw(t *rapid.T, depth int) *sample {
	s := &sample{
		Text: rapid.String().Draw(t, "text"), Maybe: rapid.SampledFrom([]string{"", "<&>", "\u2028", "\x00\x1f\b\f\n", `"\`}).Draw(t, "maybe"),
		Int: rapid.Int().Draw(t, "int"), Some: rapid.IntRange(-1, 1).Draw(t, "some"), Uint: rapid.Uint64().Draw(t, "uint"), Bool: rapid.Bool().Draw(t, "bool"),
	}
	if rapid.Bool().Draw(t, "list") {
		s.Texts = rapid.SliceOfN(rapid.String(), 0, 3).Draw(t, "texts")
		s.Few = rapid.SliceOfN(rapid.Int(), 0, 3).Draw(t, "few")
	}
	if depth > 0 && rapid.Bool().Draw(t, "inner") {
		s.Inner = draw(t, depth-1)
	}
	return s
}

// What is written by hand is what encoding/json writes.
func TestAsEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := draw(t, 2)
		var got, want bytes.Buffer
		w := NewReport(&got)
		s.write(w, "")
		if w.Err() != nil {
			t.Fatal(w.Err())
		}
		e := json.NewEncoder(&want)
		e.SetEscapeHTML(false)
		if err := e.Encode(s); err != nil {
			t.Fatal(err)
		}
		if got.String() != want.String() {
			t.Errorf("got %s want %s", &got, &want)
		}
	})
}

func TestNotUTF8(t *testing.T) {
	var out bytes.Buffer
	w := New(&out)
	w.Text("", "a\xffb")
	if w.Err() == nil {
		t.Errorf("a text that is not UTF-8 was written as %q", &out)
	}
	w.Text("", "more") // after an error nothing happens
	out.Reset()
	w = NewReport(&out)
	w.Text("", "a\xffb")
	if got, want := out.String(), "\"a\ufffdb\"\n"; got != want || w.Err() != nil {
		t.Errorf("got %q, %v, want %q", got, w.Err(), want)
	}
}
