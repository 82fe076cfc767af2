// Package rules plays fourteen nardi and backgammon variants as data: one [Rules] value of small enums per
// variant, one move generator, one turn machine. It knows the board and the dice values it is given, and nothing
// of chance, clocks, cubes, seats, series or files.
//
// The vocabulary, in the order in which it is met:
//
//   - [Variant]: an identifier and its [Rules]; [Variant.Hash] is the version of the rules a match is opened under.
//   - [Setup] and [Position]: any arrangement of checkers, and one that was proved possible. A Position is a
//     comparable value without pointers, and its text form parses back to itself.
//   - [Stage]: the steps that must be chosen together, with everything their legality depends on (RULES.md §3).
//   - [Generator]: all distinct legal ends of a stage, or the verdict on one given play. An illegal play is an
//     [IllegalError] that names the rule, the step and the legal alternatives.
//   - [Game]: what is due after what: hand-over, bonus rolls, progressions, the reply turn (RULES.md §6).
//
// Points are counted along each player's own path: index 0 is the first point, 23 the last, [Bar] -1, [Off] 24.
// Records use other numbers, see [Rules.PointNumber].
//
// A first move of the short game:
//
//	v, _ := rules.Lookup("short")
//	g, _ := v.Rules.NewGame(rules.Terms{}).Begin(6, 4) // White threw the six and plays both dice
//	var gen rules.Generator
//	plays := gen.Plays(v.Rules, g.Position(), g.Stage())
//	fmt.Println(plays.K, len(plays.Ends)) // 2 14
//
// Everything here is RULES.md; the section is cited where a rule is applied.
package rules
