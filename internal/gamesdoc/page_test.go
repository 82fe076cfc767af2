package main

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/rules"
)

// TestPage fails when docs/games.md is not what the data says: go generate ./internal/gamesdoc.
func TestPage(t *testing.T) {
	want, err := render()
	if err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile("../../docs/games.md")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(got)); diff != "" {
		t.Errorf("docs/games.md is out of date (-want +have):\n%s", diff)
	}
}

// TestLinks follows every link of the page: fragments to headings, files to files.
func TestLinks(t *testing.T) {
	text, err := render()
	if err != nil {
		t.Fatal(err)
	}
	headings := map[string]bool{}
	for line := range strings.Lines(string(text)) {
		if title, ok := strings.CutPrefix(strings.TrimLeft(line, "#"), " "); ok && line[0] == '#' {
			fragment := anchor(strings.TrimSpace(title))
			if headings[fragment] {
				t.Errorf("two headings %q", fragment)
			}
			headings[fragment] = true
		}
	}
	links := regexp.MustCompile(`\]\(([^)]*)\)`).FindAllStringSubmatch(string(text), -1)
	if len(links) < len(rules.Variants()) {
		t.Fatalf("only %d links", len(links))
	}
	for _, link := range links {
		file, fragment, _ := strings.Cut(link[1], "#")
		if file == "" && !headings[fragment] {
			t.Errorf("no heading for %s", link[1])
		}
		if file != "" {
			if _, err := os.Stat("../../docs/" + file); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestParseSources(t *testing.T) {
	got, err := parseSources("# comment\n\na.b S0 OWN\nc P\n")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(map[string][]string{"a.b": {"S0", "OWN"}, "c": {"P"}}, got); diff != "" {
		t.Error(diff)
	}
	for _, bad := range []string{"a\n", "a S5\n", "a S0\na S1\n"} {
		if _, err := parseSources(bad); err == nil {
			t.Errorf("accepted %q", bad)
		}
	}
}

func TestAgreeable(t *testing.T) {
	for _, c := range []struct {
		variant, option, value string
		want                   bool
	}{
		{"short", "raise", "cube", true},
		{"tavla", "raise", "cube", false},
		{"short", "series", "draw", false},
		{"gyulbar", "series", "draw", true},
		{"plakoto", "series", "combined", false},
		{"plakoto", "stake", "unborne", true},
	} {
		v, err := rules.Lookup(c.variant)
		if err != nil {
			t.Fatal(err)
		}
		got, err := agreeable(v, c.option, c.value)
		if err != nil {
			t.Fatal(err)
		}
		if got != c.want {
			t.Errorf("%s %s=%s: %t", c.variant, c.option, c.value, got)
		}
	}
}

func TestRun(t *testing.T) {
	path := t.TempDir() + "/games.md"
	if err := run([]string{path}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		t.Fatal(err)
	}
	if run(nil) == nil || run([]string{t.TempDir()}) == nil {
		t.Error("no error")
	}
}
