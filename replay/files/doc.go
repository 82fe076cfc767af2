// Package files checks record files of any format it knows: native records (PROTOCOL.md §5), .mat and .sgf. The format is recognised by
// content, never by name.
//
//	report := files.Check("game-1.record", f, files.Options{})
//	fmt.Println(report.Verdict, report.Findings)
//
// Specification: INTERFACES "verify record".
package files
