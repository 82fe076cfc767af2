package fairdice_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// A link inside the tree leads somewhere, also to a heading.
func TestLinks(t *testing.T) {
	link := regexp.MustCompile(`\]\(([^)\s]+)\)`)
	for _, file := range documents(t) {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllStringSubmatch(string(text), -1) {
			if strings.Contains(m[1], "://") {
				continue
			}
			path, anchor, _ := strings.Cut(m[1], "#")
			target := filepath.Join(filepath.Dir(file), path)
			if path == "" {
				target = file
			}
			if _, err := os.Stat(target); err != nil {
				t.Errorf("%s: the link to %s leads nowhere", file, m[1])
			} else if anchor != "" && !slices.Contains(anchors(t, target), anchor) {
				t.Errorf("%s: the link to %s leads to no heading", file, m[1])
			}
		}
	}
}

var notInAnchors = regexp.MustCompile(`[^\p{L}\p{N} _-]`)

// anchors of the headings of a document, as they are shown on the web.
func anchors(t *testing.T, file string) []string {
	t.Helper()
	var found []string
	for _, h := range headings(t, file) {
		name := notInAnchors.ReplaceAllString(strings.ToLower(strings.TrimLeft(h, "# ")), "")
		found = append(found, strings.ReplaceAll(name, " ", "-"))
	}
	return found
}

// headings of a document, with their marks.
func headings(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	inside := false
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "```") {
			inside = !inside
		} else if !inside && strings.HasPrefix(line, "#") {
			found = append(found, strings.TrimSpace(line))
		}
	}
	return found
}
