package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Luck is told in the language that is asked for; JSON is the same in all.
func TestLuckLanguages(t *testing.T) {
	file := filepath.Join("..", "..", "audit", "testdata", "bundle-l2.json")
	_, english, _ := command(t, "luck", "--lang", "en", file)
	_, inJSON, _ := command(t, "luck", "--json", file)
	number := regexp.MustCompile(`\d+(\.\d+)?`)
	latin := regexp.MustCompile(`[A-Za-z]{2,}`)
	for lang, want := range map[string]string{"ka": "კამათლების ჯამი: 27", "hy": "զառերի գումարը՝ 27", "ru": "сумма очков: 27"} {
		exit, out, errs := command(t, "luck", "--lang", lang, file)
		if exit != 0 || !strings.Contains(out, want) {
			t.Errorf("%s: exit %d, no %q in\n%s%s", lang, exit, want, out, errs)
		}
		if word := latin.FindString(out); word != "" {
			t.Errorf("%s: %q is not translated:\n%s", lang, word, out)
		}
		if a, b := len(number.FindAllString(english, -1)), len(number.FindAllString(out, -1)); a != b {
			t.Errorf("%s: %d numbers, in English %d:\n%s", lang, b, a, out)
		}
		if _, again, _ := command(t, "luck", "--json", "--lang", lang, file); again != inJSON {
			t.Errorf("%s: the JSON differs:\n%s%s", lang, again, inJSON)
		}
	}
	if exit, _, errs := command(t, "luck", "--lang", "fr", file); exit != 3 || !strings.Contains(errs, `no language "fr"`) {
		t.Errorf("French: exit %d, %s", exit, errs)
	}
}

// A player is called by the token in every language, also if it is one of its
// words.
func TestLuckOfPlayer(t *testing.T) {
	bundle, err := os.ReadFile(filepath.Join("..", "..", "audit", "testdata", "bundle-l2.json"))
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "bundle.json")
	named := regexp.MustCompile(`\\na [A-Za-z0-9._-]+\\n`).ReplaceAll(bundle, []byte(`\na white\n`)) // of the open; luck verifies nothing
	if err := os.WriteFile(file, named, 0o600); err != nil {
		t.Fatal(err)
	}
	exit, out, errs := command(t, "luck", "--lang", "ru", "--player", "white", file)
	if exit != 0 || !strings.HasPrefix(out, "white, ") {
		t.Errorf("exit %d, want the player called white:\n%s%s", exit, out, errs)
	}
}
