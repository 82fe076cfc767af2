package rules

import (
	"fmt"
	"strconv"
	"strings"
)

// Step moves one checker by one die, in the mover's own-path indices. From may be Bar, To may be Off. Contact says
// that the step hits or pins an enemy checker, and is part of the record.
type Step struct {
	From, To int8
	Contact  bool
}

// FormatStep writes a step as records do: "13/18", "bar/20", "6/off", "8/5*".
func (r Rules) FormatStep(c Color, s Step) string {
	text := r.place(c, int(s.From)) + "/" + r.place(c, int(s.To))
	if s.Contact {
		text += "*"
	}
	return text
}

// FormatSteps writes the steps of a stage, "-" for a pass.
func (r Rules) FormatSteps(c Color, steps []Step) string {
	if len(steps) == 0 {
		return "-"
	}
	words := make([]string, len(steps))
	for i, s := range steps {
		words[i] = r.FormatStep(c, s)
	}
	return strings.Join(words, " ")
}

// ParseStep reads what FormatStep writes for c, and nothing else. It asks only for a step forward from one place to
// another that the rules have; whether it is legal is the generator's answer.
func (r Rules) ParseStep(c Color, text string) (Step, error) {
	body, contact := strings.CutSuffix(text, "*")
	from, to, ok := strings.Cut(body, "/")
	if !ok {
		return Step{}, fmt.Errorf("parse step %q: want from/to", text)
	}
	s := Step{Contact: contact}
	switch n, err := pointNumber(from); {
	case from == "bar" && r.HasBar():
		s.From = Bar
	case from == "bar":
		return Step{}, fmt.Errorf("parse step %q: there is no bar in this game", text)
	case err != nil:
		return Step{}, fmt.Errorf("parse step %q: from: %w", text, err)
	default:
		s.From = int8(r.PointIndex(c, n))
	}
	switch n, err := pointNumber(to); {
	case to == "off":
		s.To = Off
	case err != nil:
		return Step{}, fmt.Errorf("parse step %q: to: %w", text, err)
	default:
		s.To = int8(r.PointIndex(c, n))
	}
	if s.To <= s.From {
		return Step{}, fmt.Errorf("parse step %q: does not lead forward on %s's path", text, c)
	}
	return s, nil
}

func (r Rules) place(c Color, idx int) string {
	switch idx {
	case Bar:
		return "bar"
	case Off:
		return "off"
	}
	return strconv.Itoa(r.PointNumber(c, idx))
}

// pointNumber reads a point number in its only form: no sign, no leading zero.
func pointNumber(text string) (int, error) {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 || n > 24 || strconv.Itoa(n) != text {
		return 0, fmt.Errorf("%q is not a point 1 to 24", text)
	}
	return n, nil
}
