//go:build !js

package messages

import (
	"embed"
	"slices"
	"strings"
)

//go:embed texts/pages/*.txt
var pages embed.FS

// pageFiles are the texts of the pages of package web, a file for each page and
// language, and in games what words the games, their rules and options. The
// js/wasm module goes without them: what the server has rendered needs no words
// in the module, and a report names a game and no more.
var pageFiles = []string{"chain", "check", "commitments", "games", "how", "log", "match", "site"}

// withPages adds the texts of the pages in a language.
func withPages(list []entry, code string) []entry {
	for _, name := range pageFiles {
		file := "texts/pages/" + name + "." + code + ".txt"
		text, err := pages.ReadFile(file)
		if err != nil {
			panic("messages: " + err.Error()) // embedded at build time and read by the tests
		}
		more, err := parse(string(text))
		if err != nil {
			panic("messages: " + file + ": " + err.Error())
		}
		list = append(list, more...)
	}
	slices.SortFunc(list, func(a, b entry) int { return strings.Compare(a.key, b.key) })
	return list
}
