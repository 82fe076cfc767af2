// Package plays answers questions about single stages: given a position and dice, what are all the legal ends? Requests and answers
// are JSON, one object a line, so that another engine can be compared with this one, or a client can draw what may be played.
//
//	{"variant":"short","position":{"white":{"points":{"6":2}, …},"black":{…}},"mover":"white","dice":[3,1]}
//	{"k":2,"pass":false,"count":17,"ends":["…"],"final":{}}
//
// Specification: INTERFACES "verify plays", RULES.md §3; positions are written as in the rules vectors.
package plays

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// MaxLine is the longest request.
const MaxLine = 64 << 10

// Options say how requests are read.
type Options struct {
	Variant string // for requests that name none; "": they must
	PID     bool   // positions are GNU Backgammon Position IDs, seen by the mover
}

var errTooLong = fmt.Errorf("read request: a line is longer than %d bytes", MaxLine)

// ErrNothingAsked is returned when there was no request at all.
var ErrNothingAsked = errors.New("read request: nothing was asked")

// Serve answers every line of in with one line of out, in order, and returns how many requests were bad. A line that is
// longer than MaxLine is the last one to be answered. An error means that nothing was asked, or that reading or writing failed.
func Serve(in io.Reader, out io.Writer, o Options) (bad int, err error) {
	asked := 0
	lines := bufio.NewScanner(in)
	lines.Buffer(make([]byte, 0, 4096), MaxLine+2)
	buffered := bufio.NewWriter(out)
	encoder := json.NewEncoder(buffered)
	encoder.SetEscapeHTML(false)
	var s server
	for ; lines.Scan(); asked++ {
		if len(lines.Bytes()) > MaxLine {
			return bad + 1, refuseRest(encoder, buffered)
		}
		answer, err := s.answer(lines.Bytes(), o)
		if err != nil {
			bad++
			err = encoder.Encode(refusal{Error: err.Error()})
		} else {
			err = encoder.Encode(answer)
		}
		if err == nil {
			// A program that asks one question at a time waits for the answer before it writes the next line.
			err = buffered.Flush()
		}
		if err != nil {
			return bad, fmt.Errorf("write answer: %w", err)
		}
	}
	if err := buffered.Flush(); err != nil {
		return bad, fmt.Errorf("write answer: %w", err)
	}
	if err := lines.Err(); errors.Is(err, bufio.ErrTooLong) {
		return bad + 1, refuseRest(encoder, buffered)
	} else if err != nil {
		return bad, fmt.Errorf("read request: %w", err)
	}
	if asked == 0 {
		return 0, ErrNothingAsked
	}
	return bad, nil
}

// refuseRest answers a line that is too long. Nothing after it is answered: whoever wrote it is not speaking this language, and its rest
// would have to be read to find the next line.
func refuseRest(encoder *json.Encoder, out *bufio.Writer) error {
	err := encoder.Encode(refusal{Error: errTooLong.Error()})
	if err == nil {
		err = out.Flush()
	}
	if err != nil {
		return fmt.Errorf("write answer: %w", err)
	}
	return nil
}
