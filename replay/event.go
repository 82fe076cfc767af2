package replay

import (
	"errors"
	"strconv"
	"strings"

	"fairdice/internal/phrase"
	"fairdice/rules"
)

// EventKind is what one line of a record says happened (PROTOCOL.md §5).
type EventKind uint8

// The kinds of events, in the order of the protocol's table.
const (
	Opening EventKind = iota
	Roll
	Move
	Double
	Take
	Drop
	Beaver
	Raccoon
	Resign
	Timeout
	End
)

var eventNames = [...]string{"opening", "roll", "move", "double", "take", "drop", "beaver", "raccoon", "resign", "timeout", "end"}

// String returns the first word of the event's line.
func (k EventKind) String() string { return name(eventNames[:], uint8(k)) }

// Limits of an event line.
const (
	MaxHops   = 16        // steps of one move line; a legal stage has at most four
	MaxResign = 3         // the most that can be given up, times the cube: a koks
	MaxPoints = 1<<53 - 1 // the largest integer of any text (PROTOCOL.md §1)
)

// Numbers that stand for "bar" and "off" in a [Hop].
const (
	BarNumber = 25
	OffNumber = 0
)

// Hop is one step as it is written in a record: point numbers 1…24 of the record's own notation (RULES.md §1), BarNumber or
// OffNumber, and whether a star follows.
type Hop struct {
	From, To uint8
	Star     bool
}

// Event is one line of a record. Which fields mean something follows from Kind.
type Event struct {
	Kind   EventKind
	Seat   Seat       // all but Opening and a drawn End
	Dice   rules.Dice // Opening (seat A's die, seat B's) and Roll
	Steps  []Hop      // Move; none: nothing is playable
	Points int64      // Resign: 1…MaxResign; End: 1…MaxPoints, 0 in a draw
	Draw   bool       // End
}

// String returns the line as the strict writer writes it: every step by itself, nothing merged, no line end.
func (e Event) String() string { return string(e.Append(nil)) }

// Append appends the line of [Event.String] to b.
func (e Event) Append(b []byte) []byte {
	b = append(b, e.Kind.String()...)
	if e.Kind == End && e.Draw {
		return append(b, " draw"...)
	}
	if e.Kind != Opening {
		b = append(b, ' ', 'A'+byte(e.Seat))
	}
	switch e.Kind {
	case Opening, Roll:
		b = append(b, ' ')
		b = strconv.AppendUint(b, uint64(e.Dice.A), 10)
		b = append(b, ' ')
		b = strconv.AppendUint(b, uint64(e.Dice.B), 10)
	case Move:
		if len(e.Steps) == 0 {
			b = append(b, " -"...)
		}
		for _, h := range e.Steps {
			b = h.Append(append(b, ' '))
		}
	case Resign, End:
		b = append(b, ' ')
		b = strconv.AppendInt(b, e.Points, 10)
	}
	return b
}

// Append appends the step as [Hop.String] writes it.
func (h Hop) Append(b []byte) []byte {
	if h.From == BarNumber {
		b = append(b, "bar"...)
	} else {
		b = strconv.AppendUint(b, uint64(h.From), 10)
	}
	b = append(b, '/')
	if h.To == OffNumber {
		b = append(b, "off"...)
	} else {
		b = strconv.AppendUint(b, uint64(h.To), 10)
	}
	if h.Star {
		b = append(b, '*')
	}
	return b
}

// String returns the step as the strict writer writes it, for example "bar/20*".
func (h Hop) String() string { return string(h.Append(nil)) }

var errEmptyLine = errors.New("the line is empty")

// ParseEvent reads one line of a record, without its line end. Besides what [Event.String] writes it accepts the two
// shorthands of PROTOCOL.md §5, from/to(n) and joined steps such as 24/22*/20, and resolves them into single steps; a line is
// in the writer's form exactly if the event prints as the same line.
func ParseEvent(line string) (Event, error) {
	e, err := parseEvent(line)
	if err != nil {
		return Event{}, phrase.Errorf("parse event %q: %w", clip(line), err)
	}
	return e, nil
}

func parseEvent(line string) (Event, error) {
	if line == "" {
		return Event{}, errEmptyLine
	}
	word, rest, more := strings.Cut(line, " ")
	var e Event
	kind := -1
	for i, n := range eventNames {
		if n == word {
			kind = i
		}
	}
	if kind < 0 {
		return e, phrase.Errorf("no event is called %q", clip(word))
	}
	e.Kind = EventKind(kind)
	if e.Kind == End && rest == "draw" {
		e.Draw = true
		return e, nil
	}
	if e.Kind != Opening {
		word, rest, more = strings.Cut(rest, " ")
		if word != "A" && word != "B" {
			return e, phrase.Errorf("the seat is %q, not A or B", clip(word))
		}
		e.Seat = Seat(word[0] - 'A')
	}
	switch e.Kind {
	case Opening, Roll:
		if len(rest) != 3 || rest[1] != ' ' || !die(rest[0]) || !die(rest[2]) {
			return e, phrase.Errorf("the dice are %q, not two numbers 1 to 6", clip(rest))
		}
		e.Dice = rules.Dice{A: rest[0] - '0', B: rest[2] - '0'}
		return e, nil
	case Move:
		if !more {
			return e, errors.New(`the steps are missing; "-" says that nothing is playable`)
		}
		var err error
		e.Steps, err = parseHops(rest)
		return e, err
	case Resign, End:
		limit := int64(MaxResign)
		if e.Kind == End {
			limit = MaxPoints
		}
		n, ok := parseNumber(rest, limit)
		if !ok || n == 0 {
			return e, phrase.Errorf("the points are %q, not a number 1 to %d", clip(rest), limit)
		}
		e.Points = n
		return e, nil
	default:
		if more {
			return e, phrase.Errorf("%q follows the seat", clip(rest))
		}
		return e, nil
	}
}

func die(c byte) bool { return c >= '1' && c <= '6' }

func parseHops(text string) ([]Hop, error) {
	if text == "-" {
		return nil, nil
	}
	hops := make([]Hop, 0, 4)
	for word := range strings.SplitSeq(text, " ") {
		var err error
		if hops, err = appendWord(hops, word); err != nil {
			return nil, phrase.Errorf("step %q: %w", clip(word), err)
		}
		if len(hops) > MaxHops {
			return nil, phrase.Errorf("more than %d steps", MaxHops)
		}
	}
	return hops, nil
}

// appendWord resolves one word of a move line. A star of from/to*(n) belongs to the first of the n checkers: the second
// finds its own there.
func appendWord(hops []Hop, word string) ([]Hop, error) {
	count := 1
	if n := len(word); n > 3 && word[n-1] == ')' && word[n-3] == '(' {
		if word[n-2] < '2' || word[n-2] > '4' {
			return nil, errors.New("the number in brackets must be 2 to 4")
		}
		count = int(word[n-2] - '0')
		word = word[:n-3]
	}
	start := len(hops)
	from, rest, ok := strings.Cut(word, "/")
	if !ok {
		return nil, errors.New("want from/to")
	}
	at, ok := pointNumber(from, "bar", BarNumber)
	if !ok {
		return nil, errors.New(`from must be a point 1 to 24 or "bar"`)
	}
	for more := true; more; {
		var to string
		to, rest, more = strings.Cut(rest, "/")
		to, star := strings.CutSuffix(to, "*")
		next, ok := pointNumber(to, "off", OffNumber)
		switch {
		case !ok:
			return nil, errors.New(`to must be a point 1 to 24 or "off"`)
		case next == OffNumber && star:
			return nil, errors.New("nothing can be hit while bearing off")
		case next == OffNumber && more:
			return nil, errors.New("a checker borne off goes nowhere")
		case len(hops) >= MaxHops:
			return nil, phrase.Errorf("more than %d steps", MaxHops)
		}
		hops = append(hops, Hop{From: at, To: next, Star: star})
		at = next
	}
	chain := hops[start:]
	for range count - 1 {
		for _, h := range chain {
			hops = append(hops, Hop{From: h.From, To: h.To})
		}
	}
	return hops, nil
}

func pointNumber(text, word string, number uint8) (uint8, bool) {
	if text == word {
		return number, true
	}
	n, ok := parseNumber(text, 24)
	return uint8(n), ok && n > 0
}
