package audit

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/commitment"
)

// vectorFile is bundles-valid.json or bundles-tampered.json.
type vectorFile struct {
	LogKey   string       `json:"log_key"`
	Policy   string       `json:"policy"`
	Rules    [][2]string  `json:"rules"`
	Cases    []vectorCase `json:"cases"`
	Unpinned vectorCase   `json:"unpinned"`
}

type vectorCase struct {
	Name      string          `json:"name"`
	What      string          `json:"what"`
	Bundle    string          `json:"bundle"`
	Witnesses []string        `json:"witnesses"`
	MyAnchor  string          `json:"my_anchor"`
	Level     string          `json:"level"`
	Note      *string         `json:"note"`
	Says      []string        `json:"says"`
	Exit      json.RawMessage `json:"exit"`
	NotRun    json.RawMessage `json:"not_checked"`
	MustFail  []ID            `json:"must_fail"`
	Fails     []ID            `json:"fails"`
}

func readVectors(t testing.TB, name string) vectorFile {
	t.Helper()
	var v vectorFile
	if err := json.Unmarshal(gunzip(t, name), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

func gunzip(t testing.TB, name string) []byte {
	t.Helper()
	file, err := os.Open("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	z, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func (v vectorFile) trust(t testing.TB, c vectorCase) Trust {
	t.Helper()
	trust := Trust{Key: v.LogKey, Witnesses: c.Witnesses, Rules: map[string][]Hash{}}
	for _, r := range v.Rules {
		trust.Rules[r[0]] = append(trust.Rules[r[0]], hash(t, r[1]))
	}
	if c.MyAnchor != "" {
		h := hash(t, c.MyAnchor)
		trust.MyAnchor = &h
	}
	return trust
}

func hash(t testing.TB, s string) Hash {
	t.Helper()
	h, err := commitment.ParseHash(s)
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func TestValidVectors(t *testing.T) {
	v := readVectors(t, "bundles-valid.json.gz")
	for _, c := range v.Cases {
		t.Run(c.Name, func(t *testing.T) {
			r := Verify([]byte(c.Bundle), v.trust(t, c))
			if failed := r.Failed(); failed != nil {
				t.Errorf("failed checks of a good bundle:\n%s", r.Text(TextStyle{}))
			}
			note := ""
			if c.Note != nil {
				note = *c.Note
			}
			if r.Level != c.Level || r.LevelNote != note {
				t.Errorf("level %s %q, want %s %q", r.Level, r.LevelNote, c.Level, note)
			}
			if diff := cmp.Diff(c.Says, r.Says); diff != "" {
				t.Errorf("says (-want +got):\n%s", diff)
			}
			var exit int
			if err := json.Unmarshal(c.Exit, &exit); err != nil {
				t.Fatal(err)
			}
			if got := r.Verdict.ExitCode(); got != exit {
				t.Errorf("exit %d (%s), want %d", got, r.Verdict, exit)
			}
			var want []ID
			if err := json.Unmarshal(c.NotRun, &want); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, notRun(r)); diff != "" {
				t.Errorf("checks that were not carried out (-want +got):\n%s", diff)
			}
			everyID(t, r)
		})
	}
}

// notRun lists the checks of which no part was carried out.
func notRun(r Report) []ID {
	var out []ID
	for _, id := range IDs() {
		if !slices.ContainsFunc(r.Checks, func(c Check) bool { return c.ID == id && c.Status != Unchecked }) {
			out = append(out, id)
		}
	}
	return out
}

// everyID demands that every check appears, and that what is not checked has a
// reason.
func everyID(t *testing.T, r Report) {
	t.Helper()
	for _, id := range IDs() {
		if !slices.ContainsFunc(r.Checks, func(c Check) bool { return c.ID == id }) {
			t.Errorf("check %s is not in the report", id)
		}
	}
	for _, c := range r.Checks {
		if c.Detail == "" {
			t.Errorf("check %s (%s) has no detail", c.ID, c.Status)
		}
	}
}

func TestTamperedVectors(t *testing.T) { testTampered(t, readVectors(t, "bundles-tampered.json.gz")) }

// TestMoreTamperedVectors: dishonest houses that a second implementation, written from docs/protocol.md, has found.
func TestMoreTamperedVectors(t *testing.T) { testTampered(t, readVectors(t, "bundles-more.json.gz")) }

func testTampered(t *testing.T, v vectorFile) {
	t.Helper()
	for _, c := range v.Cases {
		t.Run(c.Name, func(t *testing.T) {
			r := Verify([]byte(c.Bundle), v.trust(t, c))
			failed := r.Failed()
			for _, id := range c.MustFail {
				if !slices.Contains(failed, id) {
					t.Errorf("%s: check %s did not fail", c.What, id)
				}
			}
			var exit []int
			if err := json.Unmarshal(c.Exit, &exit); err != nil {
				t.Fatal(err)
			}
			if got := r.Verdict.ExitCode(); !slices.Contains(exit, got) {
				t.Errorf("exit %d, want one of %v", got, exit)
			}
			if diff := cmp.Diff(c.Fails, failed); c.Fails != nil && diff != "" {
				t.Errorf("%s: all failed checks (-want +got):\n%s\n%s", c.What, diff, r.Text(TextStyle{}))
			}
			everyID(t, r)
		})
	}
}

func TestUnpinned(t *testing.T) {
	v := readVectors(t, "bundles-valid.json.gz")
	i := slices.IndexFunc(v.Cases, func(c vectorCase) bool { return c.Name == v.Unpinned.Bundle })
	trust := v.trust(t, v.Cases[i])
	trust.Key = ""
	r := Verify([]byte(v.Cases[i].Bundle), trust)
	if r.Verdict != Incomplete || r.LevelNote != NoteUnpinned {
		t.Errorf("verdict %s, note %q, want %s, %q", r.Verdict, r.LevelNote, Incomplete, NoteUnpinned)
	}
	if !slices.Contains(notRun(r), LogSignature) {
		t.Error("log.signature was carried out without a key")
	}
}

func TestBundleFile(t *testing.T) {
	data, err := os.ReadFile("testdata/bundle-l2.json")
	if err != nil {
		t.Fatal(err)
	}
	v := readVectors(t, "bundles-valid.json.gz")
	if r := Verify(bytes.TrimSpace(data), v.trust(t, vectorCase{})); r.Verdict != Verified {
		t.Error(r.Text(TextStyle{}))
	}
}
