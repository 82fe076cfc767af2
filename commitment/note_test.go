package commitment

import (
	"strings"
	"testing"

	"golang.org/x/mod/sumdb/note"
)

// FuzzParseSingle compares the short way of reading a note with the long one.
func FuzzParseSingle(f *testing.F) {
	const line = "— example.org/log hPYfqtDKWGgxZv4M6fk9tqcGwNeeYbxHmiRYFb4wPSxyMTSH\n"
	for _, s := range []string{
		"text\n\n" + line, "text\n\n" + line + line, "text\n" + line, "a\n\nb\n\n" + line, "\n\n" + line, "text\n\n" + strings.TrimSuffix(line, "\n"),
		"text\r\n\n" + line, "text\n\n" + strings.Replace(line, "SH\n", "SI\n", 1), "text\n\n— a+b AAAAAAA=\n", "text\n\n— a AAAAAAA=\n", "text\n\n— a AAAA\n", "text\n\n— a  AAAAAAA=\n",
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, signed string) {
		n := parseSingle(signed)
		if n == nil {
			return
		}
		again, err := note.Sign(n)
		if err != nil || string(again) != signed {
			t.Fatalf("%q is read as a note that prints as %q (%v)", signed, again, err)
		}
		_, err = note.Open([]byte(signed), nil)
		if u, ok := err.(*note.UnverifiedNoteError); !ok || u.Note.Text != n.Text || len(u.Note.UnverifiedSigs) != 1 || u.Note.UnverifiedSigs[0] != n.UnverifiedSigs[0] {
			t.Fatalf("%q: package note says %v", signed, err)
		}
	})
}
