// Package sgf reads and writes backgammon matches in the Smart Game Format (FF[4], GM[6]) as GNU Backgammon and gibbon write them, and
// checks every row of them.
//
//	report, err := sgf.Check(file, sgf.Options{})
//
// A file is a sequence of game trees, one per game; of variations the first is followed. The root names length and score
// (MI), players, rules (RU) and result (RE); a node W[53hcfc] or B[take] is one throw with its play or one cube action. Points are
// the letters a…x counted from White's first, y is the bar, z is off. Seat A plays the nodes W. All other properties, such as
// analysis, are skipped. The rows are judged by package sheet.
//
// Reading streams: memory is bounded by MaxValue and the size of a report, whatever the size of the file.
package sgf
