// Package stats tests whether the dice of many games look like what their mode
// promises, and whether the games that were dropped were as lucky as those
// that were finished. The tests were chosen beforehand and are described, with
// the reasons, in docs/statistics.md.
//
//	table := stats.NewTable()
//	for _, g := range games {
//		table.Add(g.Mode, g.Tenant, g.Key, stats.Measure(g))
//	}
//	report := table.Report()
//
// Everything that is kept of a game is a row of integers that are added up, so
// the memory does not grow with the number of games, the order does not
// matter, and a table can be stored and gone on with.
//
// No test here can accuse anybody of a single game: a game is a few dozen
// rolls, and few dozen rolls look like anything. What the secrets prove
// (package audit) needs no statistics at all.
package stats
