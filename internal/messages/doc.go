// Package messages words everything a player or an operator reads in English, Georgian, Armenian and Russian: variants and
// their rules, events, why a move was refused, options, dice modes, checks, verdicts, levels, results.
//
// The texts are embedded files, one a language, of lines "key = text with {0}", and every language has every key. Programs do
// not compare texts: they carry codes and ids, and this package words them.
//
//	c := messages.For(messages.Match(header))
//	c.Text("code.step-closed")                // the landing point is closed
//	c.Text("event.roll", "A", dice)           // A rolls 6 1
//	c.Count("unit.roll", 57)                  // 57 rolls
//	c.Say(sentence.Key, sentence.Args...)     // a sentence of an audit.Report
//
// Keys by what they word; a value that has a stable id in a text, a record or a report is looked up under that id:
//
//	variant.ID  variant.ID.about  family.NAME           RULES.md §2
//	rule.FIELD  rule.FIELD.VALUE                        the fields of a variant's canonical profile (rules.Variant.Profile)
//	code.CODE                                           rules.Code and replay.Refusal.Code
//	event.KIND  due.KIND  why.WHY  color.C  seat.S      replay and rules, their String methods
//	option.NAME  option.NAME.VALUE  option.NAME.VALUE.about  options.REASON      RULES.md §7
//	mode.ID  mode.ID.about  profile.NAME                RULES.md §8, PROTOCOL.md §5
//	check.ID.pass  check.ID.fail  check.ID.unchecked  status.STATUS              PROTOCOL.md §9
//	verdict.VERDICT  sentence.…  says.…  claim.…        the report of package audit; see [Key] for words with spaces
//	report.NAME                                         the labels of a report
//	level.LEVEL  level.LEVEL.about  note.NOTE           PROTOCOL.md §4
//	page.PAGE.…                                         the pages of package web, in files of their own: texts/pages
//	result.NAME  term.NAME  board.NAME  unit.NAME       words of the game
//
// What package fairdice/internal/phrase says is looked up by its English format: [Catalogue.Phrase].
//
// It imports neither fmt nor anything that reflects, so that it stays light in the page's js/wasm module.
package messages

import "strings"

// Key joins the parts of a key; a part that is a phrase, such as the level note "as declared", gets hyphens for its spaces.
func Key(parts ...string) string {
	return strings.ReplaceAll(strings.Join(parts, "."), " ", "-")
}
