package api

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/house"
)

// Whatever the bytes are, they are refused with a reason or mean one request:
// writing the request and reading it again gives the same one.
func FuzzOpenRequest(f *testing.F) {
	for _, s := range []string{
		`{"variant":"short","mode":"random","a":{"token":"ada"},"b":{"token":"ben"}}`,
		`{"variant":"short","mode":"random","profile":"refereed","options":"x","beacon":"none","a":{"token":"ada","anchor":{"hash":"00","custody":"self"}},"b":{"token":"ben"}}`,
		`{"variant":"a","variant":"b"}`, `{"a":null}`, `{"a":{"anchor":{}}}`, `{"variant":"short","mode":"random","a":{"token":"","anchor":{"hash":""}},"b":{"token":""}}`, `[]`, `null`, `{} {}`, "{\"\xff\":1}", `{"variant":"\ud800"}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var r OpenRequest
		err := wellFormed(data)
		if err == nil {
			err = r.UnmarshalJSON(data)
		}
		if err != nil {
			var e *house.Error
			if !errors.As(err, &e) || e.Code != house.Malformed || e.Message == "" {
				t.Fatalf("refused with %#v", err)
			}
			return
		}
		text, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var again OpenRequest
		if err := again.UnmarshalJSON(text); err != nil {
			t.Fatalf("%s became %s: %v", data, text, err)
		}
		if diff := cmp.Diff(r, again); diff != "" {
			t.Fatalf("%s became %s:\n%s", data, text, diff)
		}
	})
}
