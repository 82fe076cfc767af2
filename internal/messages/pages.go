//go:build !js

package messages

import "embed"

//go:embed texts/pages/*.txt
var pages embed.FS

// pageFiles are the texts of the pages of package web, a file for each page and
// language. The js/wasm module goes without them: what the server has rendered
// needs no words in the module.
var pageFiles = []string{"chain", "check", "commitments", "how", "log", "match", "site"}

func pageText(name, code string) string {
	text, err := pages.ReadFile("texts/pages/" + name + "." + code + ".txt")
	if err != nil {
		panic("messages: " + err.Error()) // embedded at build time and read by the tests
	}
	return string(text)
}
