package audit

import (
	"bytes"
	"errors"
	"fmt"
	"slices"

	"fairdice/internal/phrase"
	"fairdice/internal/wire"
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

// number is a phrase that counts, with its singular.
func number(n int, one, many string) error {
	if n == 1 {
		return errors.New(one)
	}
	return phrase.Errorf(many, n)
}

// JSON is the report as a line of JSON, the form that scripts rely on: its
// members are those of the struct's tags, in their order.
func (r Report) JSON() ([]byte, error) {
	var out bytes.Buffer
	w := wire.NewReport(&out)
	w.Object("", func() {
		w.Text("verdict", string(r.Verdict))
		w.Text("level", r.Level)
		w.Text("levelNote", r.LevelNote)
		w.Text("match", r.Match)
		w.Text("variant", r.Variant)
		w.Text("mode", r.Mode)
		wire.List(w, "checks", r.Checks, func(c Check) { c.write(w) })
		wire.List(w, "games", r.Games, func(g GameSummary) {
			w.Object("", func() {
				w.Int("game", g.Game)
				w.Int("rolls", g.Rolls)
				w.Text("result", g.Result)
				w.TextIf("position", g.Position)
			})
		})
		w.Texts("overdue", r.Overdue)
		w.Texts("says", r.Says)
		wire.List(w, "sentences", r.Sentences, func(s Sentence) {
			w.Object("", func() {
				w.Text("key", s.Key)
				if len(s.Args) > 0 {
					w.Texts("args", s.Args)
				}
				w.Text("text", s.Text)
			})
		})
		wire.List(w, "faults", r.Faults, func(f Fault) { f.write(w) })
	})
	if err := w.Err(); err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	return out.Bytes(), nil
}

func (c Check) write(w *wire.Writer) {
	w.Object("", func() {
		w.Text("id", string(c.ID))
		w.Text("status", string(c.Status))
		w.TextIf("kind", string(c.Kind))
		w.TextIf("match", c.Match)
		w.TextIf("tenant", c.Tenant)
		w.TextIf("mode", c.Mode)
		w.IntIf("game", c.Game)
		w.IntIf("line", c.Line)
		w.TextIf("detail", c.Detail)
	})
}

func (f Fault) write(w *wire.Writer) {
	w.Object("", func() {
		w.Int("game", f.Game)
		w.Int("line", f.Line)
		w.Text("text", f.Text)
		w.Text("check", string(f.Check))
		w.Text("code", f.Code)
		w.Text("message", f.Message)
		w.Text("due", f.Due)
		w.Texts("alternatives", f.Alternatives)
	})
}
