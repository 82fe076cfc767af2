package commitment

import (
	"encoding/hex"
	"strconv"
	"strings"
	"time"
)

// A printer writes the lines of one text. It is the inverse of parser and decides nothing: Encode checks the result.
type printer []byte

func newPrinter(typ string) printer {
	return append(append(append(make(printer, 0, 512), typePrefix...), typ...), '\n')
}

// line writes the name and its fields. A field with an LF in it would forge a line of its own; it is written with CR
// instead, which every parser refuses.
func (w *printer) line(name string, fields ...string) {
	b := append(*w, name...)
	for _, f := range fields {
		b = append(append(b, ' '), strings.ReplaceAll(f, "\n", "\r")...)
	}
	*w = append(b, '\n')
}

func (w *printer) hash(name string, h Hash) { w.line(name, h.String()) }

func (w *printer) optionalHash(name string, h *Hash) {
	if h != nil {
		w.hash(name, *h)
	}
}

func (w *printer) hashOrDash(name string, h *Hash) {
	if h == nil {
		w.line(name, "-")
		return
	}
	w.hash(name, *h)
}

func (w *printer) integer(name string, v int)     { w.line(name, strconv.Itoa(v)) }
func (w *printer) unsigned(name string, v uint64) { w.line(name, strconv.FormatUint(v, 10)) }
func (w *printer) time(t time.Time)               { w.line("time", FormatTime(t)) }
func (w *printer) record(lines int, head Hash)    { w.line("record", strconv.Itoa(lines), head.String()) }
func (w *printer) pair(name string, a, b int)     { w.line(name, strconv.Itoa(a), strconv.Itoa(b)) }
func (w *printer) rolls(n Lengths) {
	w.line("rolls", strconv.Itoa(n[0]), strconv.Itoa(n[1]), strconv.Itoa(n[2]))
}

func (w *printer) inputs(linkA, linkB *Hash, signature []byte) {
	w.optionalHash("link-a", linkA)
	w.optionalHash("link-b", linkB)
	if signature != nil {
		w.line("signature", hex.EncodeToString(signature))
	}
}

func (w *printer) secrets(list []RevealedSecret) {
	for _, s := range list {
		w.line("secret", s.Sequence, s.Secret.Reveal())
	}
}
