package rules

import (
	"errors"
	"fmt"
)

// Kind says whose dice a stage plays.
type Kind uint8

const (
	Own    Kind = iota // the mover's ordinary roll
	Bonus              // the mover's bonus roll
	Handed             // steps the opponent could not make
)

var kindNames = []string{"own", "bonus", "handed"}

func (k Kind) String() string { return nameOf(kindNames, uint8(k)+1) }

// Stage is the set of steps that must be chosen together (RULES.md §3), with everything besides the position that
// their legality depends on. It is comparable.
type Stage struct {
	Mover      Color
	Kind       Kind
	Thrown     Dice     // the roll; zero for handed steps
	Dice       [4]uint8 // two different values, four of one value, or one to four of one value when handed; zero-padded
	Index      uint8    // which stage of the roll or of the handed batch, from 1
	Roll       uint16   // personal rolls the mover has made, this one included
	First      bool     // this is the mover's first own roll
	WhiteFirst Dice     // White's first roll, which H1 asks about
	HeadTaken  uint8    // checkers already off the head under the running allowance
	Head55     Head55   // the option head55
}

// Len returns the number of dice of the stage.
func (s Stage) Len() int {
	n := 0
	for n < len(s.Dice) && s.Dice[n] != 0 {
		n++
	}
	return n
}

// mixed reports a stage of two different dice.
func (s Stage) mixed() bool { return s.Dice[1] != 0 && s.Dice[0] != s.Dice[1] }

// StageOf returns the stage that a roll opens: both dice, or four steps of a double.
func StageOf(mover Color, kind Kind, thrown Dice) Stage {
	s := Stage{Mover: mover, Kind: kind, Thrown: thrown, Index: 1, Dice: [4]uint8{thrown.A, thrown.B}}
	if thrown.IsDouble() {
		s.Dice = [4]uint8{thrown.A, thrown.A, thrown.A, thrown.A}
	}
	return s
}

// CheckStage reports every reason why the stage cannot be due under these rules, joined.
func (r Rules) CheckStage(s Stage) error {
	var errs []error
	refuse := func(format string, args ...any) { errs = append(errs, fmt.Errorf("check stage: "+format, args...)) }
	if s.Mover > Black {
		refuse("mover %d is no colour", s.Mover)
	}
	n := s.Len()
	for i, d := range s.Dice {
		if d > 6 {
			refuse("die %d shows %d, want 1 to 6", i+1, d)
		}
		if i >= n && d != 0 {
			refuse("die %d follows a missing one", i+1)
		}
	}
	if n == 0 {
		refuse("no dice")
	}
	if s.Index == 0 {
		refuse("stages count from 1")
	}
	if s.Head55.String() == "" {
		refuse("head55 has no value %d", s.Head55)
	}
	if s.Head55 != Head55Literal && !r.Head55Applies() {
		refuse("head55 %s means nothing under head %s", s.Head55, r.Head)
	}
	if errs != nil {
		return errors.Join(errs...)
	}
	switch s.Kind {
	case Own, Bonus:
		errs = append(errs, r.checkRoll(s))
	case Handed:
		if !r.Leftover.hands() {
			refuse("nothing is handed over in this game")
		}
		if s.Thrown != (Dice{}) {
			refuse("handed steps have no throw of the mover's, got %s", s.Thrown)
		}
		if s.mixed() || n > 1 && s.Dice[n-1] != s.Dice[0] {
			refuse("handed dice %v are not of one value", s.Dice[:n])
		}
	default:
		refuse("kind has no value %d", s.Kind)
	}
	if s.First && (s.Kind != Own || s.Roll != 1) {
		refuse("a first own roll is roll 1 of kind own, got roll %d of kind %s", s.Roll, s.Kind)
	}
	return errors.Join(errs...)
}

// checkRoll checks a stage of the mover's own throw against that throw.
func (r Rules) checkRoll(s Stage) error {
	if !s.Thrown.Valid() {
		return fmt.Errorf("check stage: throw %s, want two dice of 1 to 6", s.Thrown)
	}
	if s.Kind == Bonus && !r.Doubles.bonus() {
		return fmt.Errorf("check stage: there is no bonus roll under doubles %s", r.Doubles)
	}
	if s.Roll == 0 {
		return fmt.Errorf("check stage: a throw is at least the mover's roll 1")
	}
	want := StageOf(s.Mover, s.Kind, s.Thrown).Dice
	if s.Index > 1 {
		if !s.Thrown.IsDouble() || !r.Doubles.chains(s.Roll) || s.Thrown.A+s.Index-1 > 6 {
			return fmt.Errorf("check stage: roll %d of %s has no stage %d", s.Roll, s.Thrown, s.Index)
		}
		for i := range want {
			want[i] += s.Index - 1
		}
	}
	if s.Dice != want {
		return fmt.Errorf("check stage: dice %v are not stage %d of the throw %s", s.Dice[:s.Len()], s.Index, s.Thrown)
	}
	return nil
}
