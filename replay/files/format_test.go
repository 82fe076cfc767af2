package files

import (
	"regexp"
	"testing"

	"pgregory.net/rapid"
)

// The lines that give a .mat file away are those of this expression.
func TestMatLine(t *testing.T) {
	expression := regexp.MustCompile(`(?i)^\s*(game +\d+|\d+ +points? +match)\s*$`)
	word := rapid.SampledFrom([]string{"game", "Game", "GAME", "points", "Point", "match", "MATCH", "7", "11", "x", "7x", " ", "   ", "\r", "-3"})
	rapid.Check(t, func(t *rapid.T) {
		line := ""
		for _, w := range rapid.SliceOfN(word, 0, 7).Draw(t, "words") {
			line += w
		}
		if got, want := matLine([]byte(line)), expression.MatchString(line); got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	})
	for line, want := range map[string]bool{" Game 3": true, "7 point match\r": true, " 5 points  match ": true, "Game": false, "Game x": false, "point match": false} {
		if got := matLine([]byte(line)); got != want {
			t.Errorf("%q: %t, want %t", line, got, want)
		}
	}
}
