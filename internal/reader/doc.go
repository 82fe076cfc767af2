// Package reader makes of a verified file what a person reads in a page: the
// report in one of the languages of package messages, and the games step by
// step with their boards.
//
//	show, err := reader.Open(data, reader.Options{Words: messages.For("ka")})
//	text, err := show.JSON()
//	picture, err := show.Board(0, 17, replay.B)
//
// A show decides nothing: it holds the states that the replay went through,
// and where the replay found something wrong the state before it. Whether a
// file is what it claims is told by package audit and package replay/files.
package reader
