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

// TestSentencesSaySomething asks for every sentence that a level, a note or one
// of C20's words can lead to.
func TestSentencesSaySomething(t *testing.T) {
	var keys []string
	for _, l := range []string{L0, L1, L2, L3} {
		keys = append(keys, "sentence.level."+l)
	}
	for _, n := range []string{NoteUnwitnessed, NoteDeclared, NoteProved} {
		keys = append(keys, "sentence.note."+hyphened(n))
	}
	custodial := &commitment.Anchor{Custodial: true}
	for _, o := range []*commitment.Open{
		{Mode: commitment.Real, Profile: commitment.DiceOnly},
		{Mode: commitment.Levelled, AnchorA: custodial, AnchorB: custodial},
	} {
		for _, s := range (&evidence{open: o}).says() {
			keys = append(keys, "says."+hyphened(s))
		}
	}
	for _, key := range keys {
		if english[key] == "" {
			t.Errorf("no sentence %s", key)
		}
	}
}
