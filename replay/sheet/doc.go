// Package sheet checks matches that other programs have written down: .mat and .sgf files name the dice, the
// plays, the cube and the results, but not how the opening was drawn, not every landing of a checker and not every hit.
//
// A [Sheet] is fed row by row by the reader of a format. It turns rows into events and folds [replay.State.Apply] over them, so
// a play is legal here exactly if it is legal in a native record. Where a row leaves a choice that matters (which of two
// landings was used, and so who was hit) every legal reading is followed until a later row settles it.
//
//	s := sheet.New(sheet.Options{Variant: short, Length: 5, Crawford: true})
//	s.Game(10, &[2]int{0, 0})
//	s.Play(12, replay.A, rules.Dice{A: 3, B: 1}, sheet.Play{Hops: []sheet.Hop{{From: 8, To: 5}, {From: 6, To: 5}}})
//	s.Double(13, replay.B, 2)
//	s.Drop(14, replay.A)
//	s.Result(15, replay.B, 1)
//	report := s.Close()
//
// After a row that cannot stand, the rest of its game is judged by [replay.Outline]: turns, cube and result, never what follows from the
// first fault.
//
// Tolerated without a finding, because real programs do it: missing, merged or superfluous hit stars, steps in any order, dice
// without a play before a resignation, points capped at the end of a match. What was tolerated and may matter is a note.
// Specification: RULES.md §3, §7; INTERFACES "verify record".
package sheet
