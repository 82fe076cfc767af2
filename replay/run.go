package replay

import (
	"fmt"

	"fairdice/rules"
)

// RollRef is one throw of a record.
type RollRef struct {
	Line   int    // 1-based event line
	Stream string // "opening", "a" or "b"
	Dice   rules.Dice
}

// Fault is the first line of a record that cannot stand where it stands.
type Fault struct {
	Line    int // 1-based event line
	Text    string
	Refusal *Refusal // nil: the line is no event at all, or the game could not start
	Err     error    // never nil; the refusal, if there is one
}

// Error returns "line n: what is wrong".
func (f *Fault) Error() string { return fmt.Sprintf("line %d: %v", f.Line, f.Err) }

// Phrase says it in other languages.
func (f *Fault) Phrase() (string, []any) { return "line %d: %v", []any{f.Line, f.Err} }

// Unwrap returns what is wrong.
func (f *Fault) Unwrap() error { return f.Err }

// Check returns the id of PROTOCOL.md §9 that fails.
func (f *Fault) Check() string {
	if f.Refusal != nil {
		return f.Refusal.Check
	}
	return CheckFormat
}

// Replayed is how far a record got.
type Replayed struct {
	Events   []Event   // accepted, in order
	Rolls    []RollRef // of all lines that are throws, those after a fault included: receipts are compared with every one
	Last     State     // after the last accepted event
	Fault    *Fault    // nil: every line is legal
	Further  []Fault   // after it, what is wrong whatever stands on the board: turns, the cube, the result
	Finished bool      // the end line stands
	Result   Result    // when Last is decided
}

// maxFurther bounds the faults after the first one.
const maxFurther = 100

// Run folds [Apply] over the lines of a record up to the first line that is refused; the lines after it are judged by their [Outline].
func Run(s Setting, lines []string) Replayed {
	return run(s, lines, ParseEvent)
}

// RunEvents is Run for lines that have been parsed already; events are those of the lines.
func RunEvents(s Setting, lines []string, events []Event) Replayed {
	i := -1
	return run(s, lines[:len(events)], func(string) (Event, error) {
		i++
		return events[i], nil
	})
}

// run folds over the lines, which parse is given one after the other.
func run(s Setting, lines []string, parse func(string) (Event, error)) Replayed {
	var gen rules.Generator
	var out Replayed
	st, err := Start(s)
	if err != nil {
		out.Fault = &Fault{Line: 1, Err: err}
	}
	out.Events = make([]Event, 0, len(lines))
	var outline Outline
	for i, line := range lines {
		e, err := parse(line)
		if err == nil {
			switch e.Kind {
			case Opening:
				out.Rolls = append(out.Rolls, RollRef{Line: i + 1, Stream: StreamOpening, Dice: e.Dice})
			case Roll:
				out.Rolls = append(out.Rolls, RollRef{Line: i + 1, Stream: streamOf(e.Seat), Dice: e.Dice})
			}
		}
		if out.Fault != nil {
			if err == nil && out.Fault.Refusal != nil && len(out.Further) < maxFurther {
				if r := outline.Next(e); r != nil {
					out.Further = append(out.Further, Fault{Line: i + 1, Text: line, Refusal: r, Err: r})
				}
			}
			continue
		}
		if err != nil {
			out.Fault = &Fault{Line: i + 1, Text: line, Err: err}
			continue
		}
		next, err := st.Apply(&gen, e)
		if err != nil {
			refusal, _ := err.(*Refusal)
			out.Fault = &Fault{Line: i + 1, Text: line, Refusal: refusal, Err: err}
			outline = st.Outline()
			outline.Skip(e)
			continue
		}
		st = next
		out.Events = append(out.Events, e)
	}
	out.Last, out.Finished, out.Result = st, st.Over(), st.Result()
	return out
}
