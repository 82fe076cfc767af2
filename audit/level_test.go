package audit

import (
	"encoding/json"
	"os"
	"testing"

	"fairdice/commitment"
)

func TestLevels(t *testing.T) {
	var v struct {
		Levels []struct {
			Mode      string  `json:"mode"`
			A         *string `json:"anchor_a"`
			B         *string `json:"anchor_b"`
			Beacon    string  `json:"beacon"`
			Witnessed bool    `json:"witnessed"`
			Mine      bool    `json:"my_anchor"`
			Level     string  `json:"level"`
			Note      *string `json:"note"`
		} `json:"levels"`
	}
	data, err := os.ReadFile("testdata/anchors.json")
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	anchor := func(s *string) *commitment.Anchor {
		if s == nil {
			return nil
		}
		return &commitment.Anchor{Custodial: *s == "custodial"}
	}
	if len(v.Levels) == 0 {
		t.Fatal("no vectors")
	}
	for _, c := range v.Levels {
		mode, err := commitment.ParseMode(c.Mode)
		if err != nil {
			t.Fatal(err)
		}
		o := &commitment.Open{Mode: mode, AnchorA: anchor(c.A), AnchorB: anchor(c.B), Beacon: c.Beacon == "quicknet"}
		want := ""
		if c.Note != nil {
			want = *c.Note
		}
		if level, note := levelOf(o, c.Witnessed, c.Mine); level != c.Level || note != want {
			t.Errorf("%+v: level %s %q, want %s %q", c, level, note, c.Level, want)
		}
	}
}
