package rules

import (
	"errors"
	"fmt"
)

// said is an error that keeps its format and values, by which package fairdice/internal/phrase says it in other languages. This
// package imports nothing, so it has its own.
type said struct {
	error
	format string
	values []any
}

func sayf(format string, values ...any) error {
	return said{fmt.Errorf(format, values...), format, values}
}

// word is a text without values.
func word(text string) error { return said{errors.New(text), text, nil} }

// Phrase returns format and values.
func (s said) Phrase() (string, []any) { return s.format, s.values }

// Unwrap returns the error of package fmt, which wraps what the format does.
func (s said) Unwrap() error { return s.error }

// Phrase says it in other languages: what [IllegalError.Error] says, part for part.
func (e *IllegalError) Phrase() (string, []any) {
	mover := e.Stage.Mover
	why := sayf("%w (%s)", word(reasons[e.Code]), e.Code)
	if e.Forced() {
		why = sayf("%w, %d of %d must be", why, e.K, e.Stage.Len())
	}
	if e.Step >= 0 {
		why = sayf("step %d, %s: %w", e.Step+1, e.Rules.FormatStep(mover, e.Given[e.Step]), why)
	}
	return "illegal move %s by %s with dice %s: %w; legal: %s",
		[]any{e.Rules.FormatSteps(mover, e.Given), word(mover.String()), diceText(e.Stage), why, e.shown()}
}
