package commitment

import (
	"compress/gzip"
	"encoding/hex"
	"encoding/json"
	"io"
	"os"
	"strings"
	"testing"
)

// readVectors fills v from a file of testdata, compressed if its name ends in .gz.
func readVectors(t testing.TB, name string, v any) {
	t.Helper()
	f, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var r io.Reader = f
	if strings.HasSuffix(name, ".gz") {
		if r, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.NewDecoder(r).Decode(v); err != nil {
		t.Fatal(err)
	}
}

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(s)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// word is a throw in the vectors' form: "61" for 6-1.
func word(d Dice) string { return string([]byte{'0' + d.D1, '0' + d.D2}) }

func words(list []Dice) string {
	var w []string
	for _, d := range list {
		w = append(w, word(d))
	}
	return strings.Join(w, " ")
}
