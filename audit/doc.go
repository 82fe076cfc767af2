// Package audit decides what a bundle proves.
//
// A bundle is the one file a player keeps (PROTOCOL.md §8): the log statements
// of his match with their inclusion proofs, the signed receipts of every roll,
// the openings of those rolls against the published root, and the records of
// the games. [Verify] redoes everything with nothing but those bytes and the
// keys the caller trusts:
//
//	report := audit.Verify(data, audit.Trust{Key: vkey})
//	fmt.Println(report.Verdict, report.Level)
//	os.Exit(report.Verdict.ExitCode())
//
// Every check has a stable id (PROTOCOL.md §9) and one of three answers: it
// passed, it failed, or it was not checked, and then the reason is given. A
// check is evaluated on its own as far as its inputs are there, so one fault
// does not hide another, and nothing empty ever passes.
//
// The key inside a bundle proves nothing: whoever forged the bundle chose it.
// Without a pinned key or policy the verdict is "incomplete", never
// "verified".
//
// The package is pure: no files, no network, no clock beyond the statements'
// own times. The command line and the page share it.
package audit
