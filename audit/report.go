package audit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"

	"fairdice/replay"
)

// Verdict is the answer to the whole bundle.
type Verdict string

const (
	Verified   Verdict = "verified"   // everything needed for the stated level passed
	Failed     Verdict = "failed"     // a check failed
	Incomplete Verdict = "incomplete" // nothing failed, but evidence is missing
	Malformed  Verdict = "malformed"  // the input is no bundle
)

// ExitCode is the exit status that goes with a verdict (INTERFACES: 0, 1, 2, 3).
func (v Verdict) ExitCode() int {
	switch v {
	case Verified:
		return 0
	case Failed:
		return 1
	case Incomplete:
		return 2
	default:
		return 3
	}
}

// Report is what [Verify] found. It encodes to the JSON that scripts rely on;
// every check id appears in Checks at least once.
type Report struct {
	Verdict   Verdict       `json:"verdict"`
	Level     string        `json:"level"`
	LevelNote string        `json:"levelNote"`
	Match     string        `json:"match"`
	Variant   string        `json:"variant"`
	Mode      string        `json:"mode"`
	Checks    []Check       `json:"checks"`
	Games     []GameSummary `json:"games"`
	Overdue   []string      `json:"overdue"`   // sequences that missed a deadline (PROTOCOL.md §7)
	Says      []string      `json:"says"`      // what lowers or qualifies the proof, one word each (C20)
	Sentences []Sentence    `json:"sentences"` // the verdict in plain words
	Faults    []Fault       `json:"faults"`    // record lines that the rules refuse
}

// GameSummary is one game of the bundle: how many rolls were drawn, how it
// ended ("A 2", "draw 0", "aborted" or "in progress"), and the last position
// that its record can be followed to.
type GameSummary struct {
	Game     int    `json:"game"`
	Rolls    int    `json:"rolls"`
	Result   string `json:"result"`
	Position string `json:"position,omitempty"`

	State replay.State `json:"-"`
}

// Failed lists the ids of the checks that failed, in report order.
func (r Report) Failed() []ID {
	var ids []ID
	for _, c := range r.Checks {
		if c.Status == Fail && !slices.Contains(ids, c.ID) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func (g *game) summary() GameSummary {
	s := GameSummary{Game: g.number, Rolls: len(g.receipts), Result: "in progress"}
	switch {
	case g.log.close != nil:
		s.Result = g.log.close.S.Result.String()
	case g.log.abort != nil:
		s.Result = "aborted"
	}
	if _, begun := g.last.White(); begun {
		s.State, s.Position = g.last, g.last.Position().String()
	}
	return s
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// JSON is the report as a line of JSON, the form that scripts rely on.
func (r Report) JSON() ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(r); err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	return b.Bytes(), nil
}
