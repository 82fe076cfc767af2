package replay

import (
	"strconv"

	"fairdice/rules"
)

// DueKind is the kind of event that must come next.
type DueKind uint8

// What may be due.
const (
	DueOpening DueKind = iota // an opening draw
	DueRoll                   // an ordinary own roll, or a double before it where the cube allows one
	DueBonus                  // a bonus roll
	DueStage                  // a move line of the mover's own roll
	DueHanded                 // a move line of steps handed over by the opponent
	DueAnswer                 // take, drop, and where agreed beaver or raccoon
	DueEnd                    // the end line
	DueDone                   // nothing more
)

// Due is what must come next. Resignations and time-outs may come at any time before the game is decided.
type Due struct {
	Kind DueKind
	Seat Seat     // not for DueOpening, DueEnd, DueDone
	Dice [4]uint8 // of a stage, zero-padded
}

var dueNames = [...]string{"opening", "roll", "bonus", "stage", "handed", "answer", "end", "done"}

// String returns the words of the rules vectors, for example "stage A 3 3 3 3" or "answer B".
func (d Due) String() string {
	text := name(dueNames[:], uint8(d.Kind))
	if d.Kind == DueOpening || d.Kind >= DueEnd {
		return text
	}
	text += " " + d.Seat.String()
	for _, v := range d.Dice {
		if v != 0 {
			text += " " + strconv.Itoa(int(v))
		}
	}
	return text
}

// Phrase says it in other languages.
func (d Due) Phrase() (string, []any) {
	text := name(dueNames[:], uint8(d.Kind))
	switch {
	case d.Kind == DueOpening || d.Kind >= DueEnd:
		return text, nil
	case d.Kind == DueStage || d.Kind == DueHanded:
		return text + " %s %s", []any{d.Seat, d.dice()}
	}
	return text + " %s", []any{d.Seat}
}

// Due returns what must come next.
func (st State) Due() Due {
	switch {
	case st.phase == phaseOpening:
		return Due{Kind: DueOpening}
	case st.phase == phaseEnd:
		return Due{Kind: DueEnd}
	case st.phase != phasePlay:
		return Due{Kind: DueDone}
	case st.offer != offerNone:
		return Due{Kind: DueAnswer, Seat: st.answerer}
	}
	d := Due{Seat: st.OnTurn()}
	switch st.game.Due() {
	case rules.DueRoll:
		d.Kind = DueRoll
	case rules.DueBonus:
		d.Kind = DueBonus
	default:
		stage := st.game.Stage()
		d.Kind, d.Dice = DueStage, stage.Dice
		if stage.Kind == rules.Handed {
			d.Kind = DueHanded
		}
		// A draw that is played as the first roll shows its dice as its line does: seat A's first.
		if st.throws[1+d.Seat] == 0 && d.Kind == DueStage && d.Seat == B {
			d.Dice[0], d.Dice[1] = d.Dice[1], d.Dice[0]
		}
	}
	return d
}
