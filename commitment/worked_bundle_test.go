package commitment_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/commitment"
)

const workedBundle = "testdata/worked/bundle.json"

// The shape of a bundle, with members in the order of docs/protocol.md §8.
type workedFile struct {
	Format     string            `json:"format"`
	Log        workedLog         `json:"log"`
	Statements []workedStatement `json:"statements"`
	Games      [1]workedRecord   `json:"games"`
}

func (f *workedFile) game() *workedRecord { return &f.Games[0] }

type workedLog struct {
	Origin     string          `json:"origin"`
	Key        string          `json:"key"`
	Checkpoint string          `json:"checkpoint"`
	Earlier    []workedEarlier `json:"earlier"`
}

type workedEarlier struct {
	Checkpoint  string            `json:"checkpoint"`
	Consistency []commitment.Hash `json:"consistency"`
}

type workedStatement struct {
	Index int               `json:"index"`
	Text  string            `json:"text"`
	Path  []commitment.Hash `json:"path"`
}

type workedRecord struct {
	Game     int             `json:"game"`
	Record   string          `json:"record"`
	Receipts []string        `json:"receipts"`
	Openings []workedOpening `json:"openings"`
}

type workedOpening struct {
	Segment int               `json:"segment"`
	Stream  string            `json:"stream"`
	Index   int               `json:"index"`
	Key     commitment.Hash   `json:"key"`
	Path    []commitment.Hash `json:"path"`
}

// TestWorkedBundle keeps the bundle of the example, which the verifiers are run on.
func TestWorkedBundle(t *testing.T) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", " ")
	if err := enc.Encode(computeWorked(t).bundle); err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(workedBundle, b.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	file, err := os.ReadFile(workedBundle)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(b.String(), string(file)); diff != "" {
		t.Errorf("%s (-computed +file):\n%s", workedBundle, diff)
	}
}
