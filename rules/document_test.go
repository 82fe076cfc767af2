package rules_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/rules"
)

const document = "../docs/rules.md"

// TestDocument: the tables of docs/rules.md say what the code does. -update rewrites them.
func TestDocument(t *testing.T) {
	text, err := os.ReadFile(document)
	if err != nil {
		t.Fatal(err)
	}
	begin, end := []byte("<!-- generated: table -->\n"), []byte("<!-- end -->\n")
	before, rest, ok := bytes.Cut(text, begin)
	old, after, ok2 := bytes.Cut(rest, end)
	if !ok || !ok2 {
		t.Fatalf("%s has no place for the table", document)
	}
	table := variantTable()
	if *update {
		whole := bytes.Join([][]byte{before, begin, []byte(table), end, after}, nil)
		if err := os.WriteFile(document, whole, 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if diff := cmp.Diff(string(old), table); diff != "" {
		t.Errorf("%s is out of date (-document +code):\n%s", document, diff)
	}
}

// meanings tells the values of every field in the order of the profile.
var meanings = []struct{ field, value, meaning string }{
	{"array", "head", "all fifteen on the first point of the path"},
	{"array", "eleven-four", "eleven on the first home point, four on the first point of the path"},
	{"array", "standard", "24×2 13×5 8×3 6×5"},
	{"array", "split", "24×2 23×2 13×4 8×3 6×4"},
	{"array", "runners", "one each on 24, 23, 22"},
	{"route", "parallel", "both sides run the same way, half a board apart; absolute point numbers"},
	{"route", "opposed", "the sides run against each other; own point numbers"},
	{"contact", "closed", "one enemy checker closes a point"},
	{"contact", "hit", "two close a point, a lone one is hit"},
	{"contact", "hit-and-stay", "as hit; on a home point hit in this turn one checker stays to its end"},
	{"contact", "pin", "two close a point, a lone one is pinned"},
	{"head", "free", "any number leaves"},
	{"head", "classic", "one a turn; two on a first 6-6, 4-4, 3-3, and on Black's 5-5 under H1"},
	{"head", "sport", "one a turn; two on Black's first 6-6, 4-4, 3-3"},
	{"head", "stage", "one a stage; two on a first 6-6, 4-4, 3-3"},
	{"head", "roll", "one for the whole roll; two on a first 6-6, 4-4, 3-3, 1-1"},
	{"head", "runner", "F1"},
	{"barrier", "none", "any block is legal"},
	{"barrier", "stage", "C7 at the end of a stage"},
	{"barrier", "step", "C7 after every step"},
	{"barrier", "start", "F2"},
	{"doubles", "four", "four steps"},
	{"doubles", "bonus", "four steps, and one bonus roll if all were made"},
	{"doubles", "bonus-void", "as bonus; a double that bears the last checker off ends the game without a reply turn"},
	{"doubles", "progression", "four steps of every value up to six"},
	{"doubles", "late-progression", "four steps in personal rolls 1 to 5, then a progression"},
	{"leftover", "lost", "unplayed steps are lost"},
	{"leftover", "handed", "the opponent plays them"},
	{"leftover", "handed-started", "likewise, if at least one step of the rolled double was made"},
	{"chain-end", "none", "there is no progression"},
	{"chain-end", "home", "it stops when all are home"},
	{"chain-end", "home-one-more", "likewise; after an entry on the fourth step one more stage is due"},
	{"home-moves", "free", "checkers move inside the home"},
	{"home-moves", "with-outside", "not while no own checker is outside it"},
	{"bear-off", "highest", "B1"},
	{"bear-off", "exact", "a die bears off from its own point only"},
	{"bear-off", "unpinned", "B1, but not while an own checker is pinned in the home"},
	{"opening", "fresh", "White rolls afresh"},
	{"opening", "draw", "the draw dice are White's first roll"},
	{"score", "mars", "1, 2"},
	{"score", "koks", "1, 2, 3"},
	{"score", "plain", "1, 2, never a cube"},
}

// variantTable writes one column per variant family, read from the canonical profiles.
func variantTable() string {
	var b strings.Builder
	profiles := map[string]map[string]string{}
	var fields []string
	for _, v := range rules.Variants() {
		profiles[v.ID] = map[string]string{}
		for line := range strings.Lines(v.Profile()) {
			field, value, ok := strings.Cut(strings.TrimSpace(line), " ")
			if !ok || field == "variant" || field == "version" {
				continue
			}
			profiles[v.ID][field] = value
			if v.ID == rules.Variants()[0].ID {
				fields = append(fields, field)
			}
		}
	}
	for _, part := range [][]rules.Variant{rules.Variants()[:5], rules.Variants()[5:9], rules.Variants()[9:]} {
		b.WriteString("| |")
		for _, v := range part {
			fmt.Fprintf(&b, " `%s` |", v.ID)
		}
		b.WriteString("\n|---|" + strings.Repeat("---|", len(part)) + "\n")
		for _, field := range fields {
			fmt.Fprintf(&b, "| %s |", field)
			for _, v := range part {
				fmt.Fprintf(&b, " %s |", profiles[v.ID][field])
			}
			b.WriteString("\n")
		}
		b.WriteString("\n")
	}
	b.WriteString("| value | meaning |\n|---|---|\n")
	for _, m := range meanings {
		fmt.Fprintf(&b, "| %s %s | %s |\n", m.field, m.value, m.meaning)
	}
	b.WriteString("\n| variant | rules hash, version " + rules.Version + " |\n|---|---|\n")
	for _, v := range rules.Variants() {
		fmt.Fprintf(&b, "| `%s` | `%x` |\n", v.ID, v.Hash())
	}
	return b.String()
}

// TestMeaningsAreComplete: every value some variant uses is told in the document.
func TestMeaningsAreComplete(t *testing.T) {
	told := map[string]bool{}
	for _, m := range meanings {
		told[m.field+" "+m.value] = true
	}
	for _, v := range rules.Variants() {
		for line := range strings.Lines(v.Profile()) {
			line = strings.TrimSpace(line)
			if strings.Count(line, " ") == 1 && !strings.HasPrefix(line, "variant ") && !strings.HasPrefix(line, "version ") && !told[line] {
				t.Errorf("%s: %q is told nowhere", v.ID, line)
			}
		}
	}
}
