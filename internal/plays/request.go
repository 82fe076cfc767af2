package plays

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	"fairdice/rules"
)

// request is one question. Missing fields mean an ordinary roll in the middle of a game.
type request struct {
	Variant    string    `json:"variant"`
	Position   *position `json:"position"`
	PID        *string   `json:"pid"`
	Mover      string    `json:"mover"`
	Kind       string    `json:"kind"`
	Thrown     []int     `json:"thrown"`
	Dice       []int     `json:"dice"`
	Stage      *int      `json:"stage"`
	Roll       *int      `json:"roll"`
	FirstTurn  bool      `json:"first_turn"`
	WhiteFirst []int     `json:"white_first_roll"`
	HeadTaken  int       `json:"head_taken"`
}

// position is an arrangement as the rules vectors write it.
type position struct {
	White side `json:"white"`
	Black side `json:"black"`
}

// side is one colour of a position; its points are record numbers.
type side struct {
	Points map[string]int `json:"points"`
	Bar    int            `json:"bar"`
	Off    int            `json:"off"`
	Pinned []int          `json:"pinned"`
}

// middleRoll is the roll number of a request that names none: late enough for every progression.
const middleRoll = 7

func parseRequest(line []byte, o Options) (rules.Variant, rules.Position, rules.Stage, error) {
	var q request
	fail := func(err error) (rules.Variant, rules.Position, rules.Stage, error) {
		return rules.Variant{}, rules.Position{}, rules.Stage{}, err
	}
	if err := decode(line, &q); err != nil {
		return fail(fmt.Errorf("read request: %w", err))
	}
	if q.Variant == "" {
		q.Variant = o.Variant
	}
	if q.Variant == "" && o.PID {
		q.Variant = "short"
	}
	if q.Variant == "" {
		return fail(errors.New("read request: the variant is missing"))
	}
	v, err := rules.Lookup(q.Variant)
	if err != nil {
		return fail(err)
	}
	s, err := q.stage()
	if err != nil {
		return fail(err)
	}
	p, err := q.board(v.Rules, s.Mover, o)
	if err != nil {
		return fail(err)
	}
	if err := v.Rules.CheckStage(s); err != nil {
		return fail(err)
	}
	return v, p, s, nil
}

func (q *request) board(r rules.Rules, mover rules.Color, o Options) (rules.Position, error) {
	switch {
	case o.PID && q.PID == nil:
		return rules.Position{}, errors.New("read request: pid is missing")
	case o.PID:
		return r.ParsePositionID(*q.PID, mover)
	case q.Position == nil:
		return rules.Position{}, errors.New("read request: position is missing")
	}
	var setup rules.Setup
	for c, s := range map[rules.Color]side{rules.White: q.Position.White, rules.Black: q.Position.Black} {
		setup.Bar[c], setup.Off[c] = s.Bar, s.Off
		for text, n := range s.Points {
			number, err := strconv.Atoi(text)
			if err != nil || number < 1 || number > 24 || strconv.Itoa(number) != text {
				return rules.Position{}, fmt.Errorf("read position: %s has a point %q, want 1 to 24", c, text)
			}
			setup.Points[c][r.PointIndex(c, number)] = n
		}
		for _, number := range s.Pinned {
			if number < 1 || number > 24 {
				return rules.Position{}, fmt.Errorf("read position: %s has a pinned point %d, want 1 to 24", c, number)
			}
			setup.Pinned[c][r.PointIndex(c, number)] = true
		}
	}
	return r.Position(setup)
}

func (q *request) stage() (rules.Stage, error) {
	s := rules.Stage{Index: 1, Roll: middleRoll, First: q.FirstTurn}
	if q.FirstTurn {
		s.Roll = 1
	}
	kinds := []string{"own", "bonus", "handed"}
	if q.Kind == "" {
		q.Kind = kinds[0]
	}
	kind := slices.Index(kinds, q.Kind)
	if kind < 0 {
		return s, fmt.Errorf("read request: kind %q is not own, bonus or handed", q.Kind)
	}
	s.Kind = rules.Kind(kind)
	switch q.Mover {
	case "", "white":
	case "black":
		s.Mover = rules.Black
	default:
		return s, fmt.Errorf("read request: mover %q is not white or black", q.Mover)
	}
	for _, f := range []struct {
		name  string
		value *int
		limit int
		set   func(int)
	}{
		{"stage", q.Stage, 6, func(n int) { s.Index = uint8(n) }},
		{"roll", q.Roll, 1 << 15, func(n int) { s.Roll = uint16(n) }},
		{"head_taken", &q.HeadTaken, 15, func(n int) { s.HeadTaken = uint8(n) }},
	} {
		if f.value == nil {
			continue
		}
		if *f.value < 0 || *f.value > f.limit {
			return s, fmt.Errorf("read request: %s is %d, want 0 to %d", f.name, *f.value, f.limit)
		}
		f.set(*f.value)
	}
	var err error
	if s.WhiteFirst, err = pair("white_first_roll", q.WhiteFirst); err != nil {
		return s, err
	}
	if s.Thrown, err = pair("thrown", q.Thrown); err != nil {
		return s, err
	}
	return s, q.dice(&s)
}

// pair reads two dice or none.
func pair(name string, dice []int) (rules.Dice, error) {
	if len(dice) == 0 {
		return rules.Dice{}, nil
	}
	if len(dice) != 2 || dice[0] < 1 || dice[0] > 6 || dice[1] < 1 || dice[1] > 6 {
		return rules.Dice{}, fmt.Errorf("read request: %s is %v, want two dice of 1 to 6", name, dice)
	}
	return rules.Dice{A: uint8(dice[0]), B: uint8(dice[1])}, nil
}

// dice fills in the dice of the stage and the throw, each from the other where it is missing.
func (q *request) dice(s *rules.Stage) error {
	if len(q.Dice) == 0 && s.Thrown != (rules.Dice{}) && s.Index == 1 {
		s.Dice = rules.StageOf(s.Mover, s.Kind, s.Thrown).Dice
		return nil
	}
	if len(q.Dice) == 0 || len(q.Dice) > len(s.Dice) {
		return fmt.Errorf("read request: dice is %v, want one to four dice", q.Dice)
	}
	for i, d := range q.Dice {
		if d < 1 || d > 6 {
			return fmt.Errorf("read request: dice is %v, want dice of 1 to 6", q.Dice)
		}
		s.Dice[i] = uint8(d)
	}
	if s.Kind == rules.Handed {
		return nil
	}
	if len(q.Dice) == 1 {
		if s.Thrown == (rules.Dice{}) {
			return fmt.Errorf("read request: dice is %v, one die: kind %s has two that were thrown, or name them in thrown", q.Dice, q.Kind)
		}
		return nil
	}
	// Two equal dice are a double that was thrown.
	if len(q.Dice) == 2 && s.Dice[0] == s.Dice[1] {
		s.Dice[2], s.Dice[3] = s.Dice[0], s.Dice[0]
	}
	if s.Thrown == (rules.Dice{}) {
		s.Thrown = rules.Dice{A: s.Dice[0], B: s.Dice[1]}
		if first := int(s.Dice[0]) - int(s.Index) + 1; s.Index > 1 && first >= 1 {
			s.Thrown = rules.Dice{A: uint8(first), B: uint8(first)}
		}
	}
	return nil
}
