package replay

import (
	"fmt"
	"slices"

	"fairdice/internal/phrase"
	"fairdice/rules"
)

// Check ids of PROTOCOL.md §9 that a refusal belongs to.
const (
	CheckFormat = "format"
	CheckMoves  = "rules.moves"
	CheckForced = "rules.forced"
	CheckCube   = "cube"
	CheckResult = "result"
)

// Refusal is the error of [Apply]: why an event cannot follow.
type Refusal struct {
	Check   string // the check that fails, PROTOCOL.md §9
	Code    string // stable, for machines
	Message string // what is wrong, for people
	Why     error  // what the message is the English text of
	State   State  // before the event
	Event   Event
	Illegal *rules.IllegalError // for a move line whose steps are illegal, else nil
}

// Error returns the message after the event's line.
func (r *Refusal) Error() string { return fmt.Sprintf("%q: %s", r.Event, r.Message) }

// Phrase says it in other languages.
func (r *Refusal) Phrase() (string, []any) { return "%q: %s", []any{r.Event, r.Why} }

// Unwrap returns the illegal stage, if that is what was refused.
func (r *Refusal) Unwrap() error {
	if r.Illegal == nil {
		return nil
	}
	return r.Illegal
}

// Alternatives returns at most max lines that would have been accepted instead, the ones that keep the game going first.
// Dice of an opening or roll line are written "d1 d2": they come from the stream.
func (r *Refusal) Alternatives(max int) []string {
	var gen rules.Generator
	lines := make([]string, 0, max)
	switch d := r.State.Due(); d.Kind {
	case DueOpening:
		lines = append(lines, "opening d1 d2")
	case DueRoll, DueBonus:
		lines = append(lines, "roll "+d.Seat.String()+" d1 d2")
	}
	for _, e := range r.State.Legal(&gen) {
		lines = append(lines, e.String())
	}
	return lines[:min(max, len(lines))]
}

// refuse makes a refusal. The event's steps are copied: callers may reuse their buffer.
func (st State) refuse(e Event, check, code, format string, args ...any) *Refusal {
	e.Steps = slices.Clone(e.Steps)
	why := phrase.Errorf(format, args...)
	return &Refusal{Check: check, Code: code, Message: why.Error(), Why: why, State: st, Event: e}
}

// refuseOrder refuses an event that is not due.
func (st State) refuseOrder(e Event) *Refusal {
	d := st.Due()
	check, code := CheckMoves, "not-due"
	switch {
	case e.Kind >= Double && e.Kind <= Raccoon || d.Kind == DueAnswer:
		check = CheckCube
	case e.Kind >= Resign || d.Kind >= DueEnd:
		check = CheckResult
	}
	switch d.Kind {
	case DueDone:
		return st.refuse(e, check, "after-end", "the game is over: nothing follows its end line")
	case DueEnd:
		due, _ := st.EndDue()
		return st.refuse(e, check, "end-missing", "the game is decided (%s): %q must follow", st.result.Why, due)
	case DueAnswer:
		return st.refuse(e, check, "answer-missing", "%s must answer the %s first", d.Seat, st.offer)
	case DueOpening:
		return st.refuse(e, check, code, "the opening draw is not decided yet")
	}
	if d.Seat != e.Seat && (e.Kind == Roll && d.Kind <= DueBonus || e.Kind == Move && d.Kind >= DueStage) {
		code = "wrong-seat"
	}
	return st.refuse(e, check, code, "not due here: %w", d.describe())
}

func (d Due) describe() error {
	switch d.Kind {
	case DueRoll:
		return phrase.Errorf("%s must roll", d.Seat)
	case DueBonus:
		return phrase.Errorf("%s has a bonus roll", d.Seat)
	case DueHanded:
		return phrase.Errorf("%s must play the steps handed over (%s)", d.Seat, d.dice())
	default:
		return phrase.Errorf("%s must play %s", d.Seat, d.dice())
	}
}

func (d Due) dice() string {
	text := ""
	for i, v := range d.Dice {
		if v != 0 {
			if i > 0 {
				text += " "
			}
			text += string('0' + rune(v))
		}
	}
	return text
}

func (o offer) String() string {
	return [...]string{"none", "double", "beaver", "raccoon"}[o]
}

// Phrase says it in other languages.
func (o offer) Phrase() (string, []any) { return o.String(), nil }
