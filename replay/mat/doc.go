// Package mat reads match files in the .mat format, also called Jellyfish text, as real programs and sites write them, and checks
// every row of them.
//
//	report, err := mat.Check(file, mat.Options{})
//	if err != nil {
//		return err // malformed: not a match file, or beyond a limit
//	}
//	for _, f := range report.Findings {
//		fmt.Println(f.Line, f.Message)
//	}
//
// The format: comment lines "; [Key "value"]", a line "7 point match", and per game a line "Game 1", a line with both players and
// scores, then numbered rows of two columns. A column holds dice and a play ("31: 8/5 6/5"), a cube action ("Doubles => 2", "Takes",
// "Drops") or a result ("Wins 2 points"). There is no specification; what is accepted was learned from files: byte-order marks,
// Latin-1 names, CRLF, empty names, "????", "Cannot Move", "Concedes", "Losses", "00:". The rows are judged by package sheet.
//
// Tags of this package, which other programs skip, carry what the format has no place for: [Variant "long-classic"] any of the fourteen
// games, with the points of records (RULES.md §1); [Options "raise=… stake=… series=… crawford=…"]; before a game [Opening "33 21"], its
// opening draws, and [Ending "resign A 2"]. Further stages of a roll, and steps handed over, are columns with 0 for the first die. What
// [Write] writes [Check] reads back as the same record.
//
// Reading streams: memory is bounded by MaxLine and the size of a report, whatever the size of the file.
package mat
