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
// Reading streams: memory is bounded by MaxLine and the size of a report, whatever the size of the file.
package mat
