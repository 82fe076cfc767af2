package audit

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestMatchFile(t *testing.T) {
	good := `{"format":"fairdice/v1/match","match":"m","games":[{"game":1,"record":"r\n","receipts":["a","b"]}]}`
	m, err := ParseMatchFile([]byte(good))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(&MatchFile{Match: "m", Games: []BundleGame{{Game: 1, Record: "r\n", Receipts: []string{"a", "b"}}}}, m); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, test := range map[string]struct{ data, want string }{
		"empty":           {"", "empty"},
		"cut off":         {good[:40], "too early"},
		"another format":  {strings.Replace(good, "v1/match", "v1/bundle", 1), "is not"},
		"unknown member":  {strings.Replace(good, `"record"`, `"openings":[],"record"`, 1), "unknown member"},
		"missing member":  {strings.Replace(good, `"match":"m",`, "", 1), `"match" is missing`},
		"repeated member": {strings.Replace(good, `"match":"m",`, `"match":"m","match":"m",`, 1), "twice"},
		"text after":      {good + "{}", "follows"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := ParseMatchFile([]byte(test.data)); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v does not say %q", err, test.want)
			}
		})
	}
}

func FuzzParseMatchFile(f *testing.F) {
	f.Add([]byte(`{"format":"fairdice/v1/match","match":"m","games":[{"game":1,"record":"r","receipts":["a"]},{"game":2,"record":"","receipts":[]}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := ParseMatchFile(data)
		if err != nil {
			return
		}
		once, err := m.Encode()
		if err != nil {
			t.Fatal(err)
		}
		again, err := ParseMatchFile(once)
		if err != nil {
			t.Fatalf("parse what was encoded: %v", err)
		}
		if diff := cmp.Diff(m, again); diff != "" {
			t.Fatalf("another reading differs:\n%s", diff)
		}
	})
}
