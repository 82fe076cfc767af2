// Package archive audits a whole log and, if they are at hand, the records and
// receipts of all of its games: everything at once, on all processors, in
// memory that hardly grows with the number of games.
//
//	result, err := archive.Verify(ctx, files, archive.Options{Trust: audit.Trust{Key: vkey}})
//	if err == nil {
//		fmt.Print(result.Text())
//		os.Exit(result.Verdict.ExitCode())
//	}
//
// It works in two passes. The first reads the log from its tiles, rebuilds
// every tile and every root that a checkpoint names, and enters each statement
// into the [audit.Book]; the texts go to a scratch file. The second verifies
// the matches, each on its own, with the very checks of a bundle
// ([audit.Auditor]), and adds their dice to the statistics (package
// audit/stats). Where the files come from is behind the interface [Files]; the
// package opens nothing itself.
//
// Receipts are authenticated by their chain up to the one that the close of
// their game names in the log; [Options].Signatures verifies each of them too.
package archive
