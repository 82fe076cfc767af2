package fairdice_test

import (
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"fairdice/audit"
	"fairdice/internal/messages"

	"github.com/google/go-cmp/cmp"
)

// verifying has the document for players in every language of the texts.
func verifying(lang string) string {
	if lang == "en" {
		return "docs/verifying.md"
	}
	return "docs/verifying." + lang + ".md"
}

var language = regexp.MustCompile(`--lang [a-z]{2}( |$)`)

// outline is what a translation has to keep: the levels of the headings, the
// commands, the rows of the tables, the items of the lists and everything in
// code, in this order; words are its own.
func outline(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	inside := false
	code := regexp.MustCompile("`[^`]+`")
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSuffix(line, "\n")
		switch {
		case strings.HasPrefix(line, "```"):
			inside = !inside
			found = append(found, line)
		case inside && strings.HasPrefix(line, "$ "), inside && strings.HasPrefix(line, "verify "):
			found = append(found, language.ReplaceAllString(line, "--lang LANG "))
		case inside: // output is in the language of the document
		case strings.HasPrefix(line, "#"):
			marks, _, _ := strings.Cut(line, " ")
			found = append(found, marks)
		default:
			var kind string
			switch {
			case strings.HasPrefix(line, "|"):
				kind = "row "
			case strings.HasPrefix(line, "* "):
				kind = "item "
			case regexp.MustCompile(`^[0-9]\. `).MatchString(line):
				kind = line[:3]
			}
			names := code.FindAllString(line, -1)
			if kind != "" || len(names) > 0 {
				found = append(found, kind+strings.Join(names, " "))
			}
		}
	}
	return found
}

// The four documents for players say the same, and name verdicts, levels and
// checks as the program does in that language.
func TestTranslations(t *testing.T) {
	checks := map[string]bool{}
	for _, key := range messages.For("en").Keys() {
		if id, ok := strings.CutPrefix(key, "check."); ok {
			checks["`"+id[:strings.LastIndexByte(id, '.')]+"`"] = true
		}
	}
	want := outline(t, verifying("en"))
	for _, lang := range messages.Languages() {
		t.Run(lang, func(t *testing.T) {
			file := verifying(lang)
			if diff := cmp.Diff(want, outline(t, file)); diff != "" {
				t.Errorf("the outlines of the English document (-) and %s (+) differ:\n%s", file, diff)
			}
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			text, words := string(data), messages.For(lang)
			for i, verdict := range []string{"verified", "failed", "incomplete", "malformed"} {
				if row := "| " + words.Text("verdict."+verdict) + " | " + string(rune('0'+i)) + " |"; !strings.Contains(text, row) {
					t.Errorf("no row begins with %q", row)
				}
			}
			for _, level := range []string{"L0", "L1", "L2", "L3"} {
				if row := "| " + words.Text("level."+level) + " | " + words.Text("level."+level+".about") + " |"; !strings.Contains(text, row) {
					t.Errorf("no row begins with %q", row)
				}
			}
			named := map[string]bool{}
			for line := range strings.Lines(text) {
				if !strings.HasPrefix(line, "|") {
					continue
				}
				for _, id := range regexp.MustCompile("`[a-z]+(\\.[a-z]+)?`").FindAllString(line, -1) {
					if named[id] {
						t.Errorf("check %s is in two rows", id)
					}
					named[id] = true
				}
			}
			if diff := cmp.Diff(slices.Sorted(maps.Keys(checks)), slices.Sorted(maps.Keys(named))); diff != "" {
				t.Errorf("checks of the texts (-) and of the document (+):\n%s", diff)
			}
			for _, m := range language.FindAllString(text, -1) {
				if m != "--lang "+lang+" " {
					t.Errorf("a command of this document has %s", m)
				}
			}
		})
	}
}

// An auditor finds every kind of fault explained.
func TestAuditingNamesFaults(t *testing.T) {
	text, err := os.ReadFile("docs/auditing.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range []audit.Kind{audit.Broken, audit.Altered, audit.Reused, audit.Skipped, audit.Reordered, audit.Dropped,
		audit.Late, audit.WrongMove, audit.WrongEnd, audit.Unproved, audit.Forked} {
		if !strings.Contains(string(text), "| `"+string(kind)+"` |") {
			t.Errorf("no row for %q", kind)
		}
	}
}
