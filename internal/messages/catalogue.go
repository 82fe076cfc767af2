package messages

import (
	"strconv"
	"strings"
	"sync"
)

// Catalogue is the texts of one language. It is a small value; the zero value speaks English.
type Catalogue struct{ language *language }

// For returns the catalogue of a language, "en", "ka", "hy" or "ru", and the English one for any other word. To choose by a
// browser's wishes ask [Match] first.
func For(lang string) Catalogue {
	for i := range languages {
		if languages[i].code == lang {
			return Catalogue{&languages[i]}
		}
	}
	return Catalogue{}
}

func (c Catalogue) lang() *language {
	if c.language == nil {
		return &languages[0]
	}
	return c.language
}

// Lang returns the language's code, the value of an HTML lang attribute.
func (c Catalogue) Lang() string { return c.lang().code }

// Name returns the language's name in itself.
func (c Catalogue) Name() string { return c.lang().name }

// Has reports whether Text knows the key.
func (c Catalogue) Has(key string) bool {
	_, ok := c.lang().texts()[key]
	return ok
}

// Keys returns every key in ascending order, plural forms with their form: "unit.roll[few]".
func (c Catalogue) Keys() []string {
	entries := c.lang().entries()
	keys := make([]string, len(entries))
	for i, e := range entries {
		keys[i] = e.key
	}
	return keys
}

// Text returns the text of the key with {0}, {1} … replaced by the arguments: strings, integers, and anything with a String or
// Error method. An unknown key is its own text, so that it is seen instead of leaving a hole; the tests of this package and of
// its callers ask for every key that programs build.
func (c Catalogue) Text(key string, args ...any) string {
	text, ok := c.lang().texts()[key]
	if !ok {
		return key
	}
	return fill(text, args)
}

// Count returns the text of a key with plural forms for the number n, which is {0}; the arguments follow as {1}, {2} …
func (c Catalogue) Count(key string, n int64, args ...any) string {
	l := c.lang()
	text, ok := l.texts()[key+"["+l.form(n)+"]"]
	if !ok {
		return key
	}
	return fill(text, append([]any{n}, args...))
}

// Say words a sentence that carries its key and its arguments as texts, such as one of a report. Where the key has plural
// forms, the number is what the first argument begins with.
func (c Catalogue) Say(key string, args ...string) string {
	all := make([]any, len(args))
	for i, a := range args {
		all[i] = a
	}
	if c.Has(key) || len(args) == 0 {
		return c.Text(key, all...)
	}
	digits := len(args[0]) - len(strings.TrimLeft(args[0], "0123456789"))
	n, err := strconv.ParseInt(args[0][:digits], 10, 64)
	if err != nil {
		return key
	}
	return c.Count(key, n, all[1:]...)
}

// fill replaces the placeholders of a text. One without an argument stays as it is.
func fill(text string, args []any) string {
	open := strings.IndexByte(text, '{')
	if open < 0 || len(args) == 0 {
		return text
	}
	var b strings.Builder
	for ; open >= 0; open = strings.IndexByte(text, '{') {
		b.WriteString(text[:open])
		n, size := placeholder(text[open:])
		if size == 0 || n >= len(args) {
			size = max(size, 1)
			b.WriteString(text[open : open+size])
		} else {
			b.WriteString(word(args[n]))
		}
		text = text[open+size:]
	}
	b.WriteString(text)
	return b.String()
}

// placeholder reads "{n}" at the start of a text and returns n and the length, 0 if there is none.
func placeholder(text string) (n, size int) {
	if len(text) >= 3 && text[0] == '{' && text[1] >= '0' && text[1] <= '9' && text[2] == '}' {
		return int(text[1] - '0'), 3
	}
	return 0, 0
}

// word prints an argument without package fmt, which is most of the weight of a small js/wasm module.
func word(arg any) string {
	switch v := arg.(type) {
	case string:
		return v
	case interface{ String() string }:
		return v.String()
	case error:
		return v.Error()
	case int:
		return strconv.Itoa(v)
	case int64:
		return strconv.FormatInt(v, 10)
	case uint64:
		return strconv.FormatUint(v, 10)
	case uint8:
		return strconv.FormatUint(uint64(v), 10)
	case uint16:
		return strconv.FormatUint(uint64(v), 10)
	default:
		panic("messages: argument is neither text nor an integer")
	}
}

// language is one of the texts/*.txt, parsed when it is first asked for.
type language struct {
	code, name string
	forms      []string // the plural forms of the language, the one for large numbers last
	form       func(n int64) string
	entries    func() []entry
	texts      func() map[string]string
}

func newLanguage(code, name, source string, forms []string, form func(int64) string) language {
	entries := sync.OnceValue(func() []entry {
		list, err := parse(source)
		if err != nil {
			panic("messages: texts/" + code + ".txt: " + err.Error()) // embedded at build time and parsed by the tests
		}
		return withPages(list, code)
	})
	return language{code: code, name: name, forms: forms, form: form, entries: entries,
		texts: sync.OnceValue(func() map[string]string {
			texts := make(map[string]string, len(entries()))
			for _, e := range entries() {
				texts[e.key] = e.text
			}
			return texts
		})}
}
