//go:build !js

package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"fairdice/audit"
	"fairdice/internal/messages"
	"fairdice/internal/phrase"
)

// speech is the language of what a command prints for people. JSON is the same
// in every language.
type speech struct {
	lang  string
	words audit.Words // nil: English, as the report has it
}

func (s *speech) register(cmd *cobra.Command) {
	cmd.Flags().StringVar(&s.lang, "lang", "", "`LANGUAGE` of the verdict: "+strings.Join(messages.Languages(), ", ")+" (default: that of LC_ALL or LANG, else en)")
}

// label is a text of the catalogue, in English the one given.
func (s speech) label(english, key string) string {
	if s.words == nil {
		return english
	}
	return s.words.Text(key)
}

// said is an error in the language; its English text is given.
func (s speech) said(english string, why error) string {
	if s.words == nil || why == nil {
		return english
	}
	return phrase.In(why, s.words)
}

// say is a sentence in the language.
func (s speech) say(what interface {
	fmt.Stringer
	phrase.Spoken
}) string {
	if s.words == nil {
		return what.String()
	}
	return phrase.Say(what, s.words)
}

// choose takes the language that --lang or the environment names. One that was
// asked for and does not exist is wrong usage; one that the environment
// happens to name is not.
func (s *speech) choose(cmd *cobra.Command) error {
	if !cmd.Flags().Changed("lang") {
		s.lang = environmentLanguage()
	}
	if !slices.Contains(messages.Languages(), s.lang) {
		return fmt.Errorf("there is no language %q, only %s: --lang", s.lang, strings.Join(messages.Languages(), ", "))
	}
	if s.lang != "en" {
		s.words = messages.For(s.lang)
	}
	return nil
}

// environmentLanguage is the language of LC_ALL, or without it of LANG.
func environmentLanguage() string {
	value := os.Getenv("LC_ALL")
	if value == "" {
		value = os.Getenv("LANG")
	}
	code := strings.FieldsFunc(value, func(r rune) bool { return r == '_' || r == '.' || r == '@' })
	if len(code) > 0 && slices.Contains(messages.Languages(), code[0]) {
		return code[0]
	}
	return "en"
}
