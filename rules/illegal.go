package rules

import (
	"fmt"
	"slices"
	"strings"
)

// Code names the rule an illegal play breaks. Codes are stable; programs branch on them.
type Code string

const (
	CodeDiceMismatch       Code = "dice-mismatch"       // no die that is left makes this step
	CodeTooManySteps       Code = "too-many-steps"      // more steps than dice
	CodeAfterEnd           Code = "after-end"           // the step before it ended the game
	CodeNoChecker          Code = "step-no-checker"     // the mover has no checker there
	CodePinned             Code = "step-pinned"         // the checker is pinned
	CodeClosed             Code = "step-closed"         // the landing point is closed
	CodeBarFirst           Code = "bar-first"           // a checker on the bar must enter first
	CodeHeadLimit          Code = "head-limit"          // no more checkers may leave the head
	CodeRunnerFirst        Code = "runner-first"        // only the runner moves until it has passed the enemy head
	CodeHitAndRun          Code = "hit-and-run"         // the hitter must keep the home point
	CodeBearOffEarly       Code = "bear-off-early"      // a checker stands outside the home
	CodeBearOffPinned      Code = "bear-off-pinned"     // a checker is pinned in the home
	CodeBearOffExact       Code = "bear-off-exact"      // only the exact die bears off
	CodeBearOffHigher      Code = "bear-off-higher"     // a checker stands on a higher point
	CodeInsideHome         Code = "inside-home"         // no moves inside the home once all are there
	CodeContactMissing     Code = "contact-missing"     // the step hits or pins, and is not marked so
	CodeContactSuperfluous Code = "contact-superfluous" // the step is marked as hitting or pinning, and does not
	CodeBlockPassing       Code = "block-passing"       // a forbidden block stands after a step
	CodeBlockEnd           Code = "block-end"           // a forbidden block stands at the end
	CodeStartQuarter       Code = "start-quarter"       // all six points of the own start quarter at the end
	CodeLock               Code = "lock-15"             // all enemy checkers are locked in behind a block
	CodeMustUseMore        Code = "must-use-more"       // more dice can be used
	CodeMustUseLarger      Code = "must-use-larger"     // only one die can be used, and it can be the larger
)

// reasons words the codes in plain English; other languages word them from the code.
var reasons = map[Code]string{
	CodeDiceMismatch:       "no die that is left makes this step",
	CodeTooManySteps:       "there are more steps than dice",
	CodeAfterEnd:           "the game ended before it",
	CodeNoChecker:          "there is no checker to move",
	CodePinned:             "the checker is pinned",
	CodeClosed:             "the landing point is closed",
	CodeBarFirst:           "a checker on the bar must enter first",
	CodeHeadLimit:          "no more checkers may leave the head",
	CodeRunnerFirst:        "only the runner moves until it has passed the enemy head",
	CodeHitAndRun:          "a checker must stay on the home point where it hit in this turn",
	CodeBearOffEarly:       "a checker still stands outside the home",
	CodeBearOffPinned:      "no bearing off while a checker is pinned in the home",
	CodeBearOffExact:       "only the exact die bears off",
	CodeBearOffHigher:      "a checker on a higher point must be moved first",
	CodeInsideHome:         "no moves inside the home once all checkers are there",
	CodeContactMissing:     "the step makes contact and must be marked *",
	CodeContactSuperfluous: "the step is marked * and makes no contact",
	CodeBlockPassing:       "a block of six with no enemy checker past it",
	CodeBlockEnd:           "a block of six with no enemy checker past it",
	CodeStartQuarter:       "all six points of the own start quarter are held at the end",
	CodeLock:               "all enemy checkers are locked in behind a block of six",
	CodeMustUseMore:        "more dice can be used",
	CodeMustUseLarger:      "the larger die can be used",
}

// IllegalError says why a play is illegal.
type IllegalError struct {
	Code     Code
	Step     int // 0-based index in Given; -1: the stage as a whole
	Rules    Rules
	Position Position // before the stage
	Stage    Stage
	Given    []Step
	K        int // how many steps must be played
}

func (e *IllegalError) Error() string {
	format, values := e.Phrase()
	return fmt.Errorf(format, values...).Error()
}

// shown lists the first legal plays.
func (e *IllegalError) shown() string {
	const most = 4
	var b strings.Builder
	for i, play := range e.Alternatives(most + 1) {
		if i == most {
			b.WriteString(", …")
			break
		}
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(e.Rules.FormatSteps(e.Stage.Mover, play.Steps))
	}
	return b.String()
}

func diceText(s Stage) string {
	words := make([]string, s.Len())
	for i := range words {
		words[i] = string('0' + rune(s.Dice[i]))
	}
	return strings.Join(words, " ")
}

// Alternatives returns at most max legal plays of the stage, all of them if max is not positive.
func (e *IllegalError) Alternatives(max int) []Play {
	list := new(Generator).List(e.Rules, e.Position, e.Stage)
	if max > 0 && len(list) > max {
		list = list[:max]
	}
	return list
}

// Forced reports whether the steps are legal one by one and only the obligation (RULES.md §3) is not met.
func (e *IllegalError) Forced() bool { return e.Code == CodeMustUseMore || e.Code == CodeMustUseLarger }

// explain finds the rule that an illegal play breaks. It is asked only after the verdict.
func (g *Generator) explain(r Rules, p Position, s Stage, steps []Step) *IllegalError {
	e := &IllegalError{Step: -1, Rules: r, Position: p, Stage: s, Given: slices.Clone(steps)}
	e.K = g.Plays(r, p, s).K
	e.Code, e.Step = g.blame(s, steps)
	if e.Code != "" {
		return e
	}
	e.Step = -1
	if len(steps) < e.K {
		e.Code = CodeMustUseMore
	} else {
		e.Code = CodeMustUseLarger
	}
	return e
}

// blame returns the first rule broken by the steps in the reading of the dice that gets furthest, or no code when
// the steps are in L.
func (g *Generator) blame(s Stage, steps []Step) (code Code, at int) {
	orders := [][]uint8{s.Dice[:s.Len()]}
	if s.mixed() {
		orders = append(orders, []uint8{s.Dice[1], s.Dice[0]})
	}
	at = -2
	for _, dice := range orders {
		c, i := g.blameOrder(dice, steps)
		if c == "" {
			return "", -1
		}
		// An end that is forbidden (-1) is as far as steps can get.
		if reach := uint(i); at == -2 || reach > uint(at) || i == at && code == CodeDiceMismatch {
			code, at = c, i
		}
	}
	return code, at
}

func (g *Generator) blameOrder(dice []uint8, steps []Step) (Code, int) {
	n, ended := g.start, false
	for i, st := range steps {
		if ended {
			return CodeAfterEnd, i
		}
		if i >= len(dice) {
			return CodeTooManySteps, i
		}
		if c := g.blameStep(&n, st, uint(dice[i])); c != "" {
			return c, i
		}
		ended = n.ending(g.checkers, g.pins) != NotEnded
	}
	if len(steps) > 0 {
		return g.barrier.blameEnd(g.waived, n.occ), -1
	}
	return "", -1
}

// blameStep makes the step, or names what forbids it: it goes through the conditions of sources one by one.
func (g *Generator) blameStep(n *node, st Step, d uint) Code {
	f, t := uint(st.From+1), uint(st.To+1)
	before := *n
	if f <= 24 && landing(f, d) == t && g.sources(n, d)>>f&1 != 0 {
		switch contact := g.move(n, f, t); {
		case contact && !st.Contact:
			return CodeContactMissing
		case st.Contact && !contact:
			return CodeContactSuperfluous
		}
		return g.barrier.blameStep(g.barrier.locked(before.occ), n.occ)
	}
	switch {
	case f > 24 || n.occ>>f&1 == 0:
		return CodeNoChecker
	case landing(f, d) != t:
		return CodeDiceMismatch
	case f != barSlot && n.occ&(1<<barSlot) != 0:
		return CodeBarFirst
	case g.held>>f&1 != 0:
		return CodePinned
	case t != offSlot && n.wall>>t&1 != 0:
		return CodeClosed
	case f == headSlot && g.rules.Head.barred(g.limit, g.takenOff(n), n):
		if g.limit == unlimited {
			return CodeRunnerFirst
		}
		return CodeHeadLimit
	case g.rules.Contact.stays(&g.start, n)>>f&1 != 0:
		return CodeHitAndRun
	case t != offSlot:
		return CodeInsideHome
	case n.occ&outsideSlots != 0:
		return CodeBearOffEarly
	case g.held != 0:
		return CodeBearOffPinned
	case n.occ&(1<<f-1) != 0 && !g.rules.BearOff.exact():
		return CodeBearOffHigher
	}
	return CodeBearOffExact
}

func (br *barrier) blameStep(wasLocked bool, occ uint32) Code {
	switch {
	case !br.stepBreaks(wasLocked, occ):
		return ""
	case br.every && br.blocks(occ):
		return CodeBlockPassing
	}
	return CodeLock
}

func (br *barrier) blameEnd(waived bool, occ uint32) Code {
	switch {
	case !br.endBreaks(waived, occ):
		return ""
	case br.six && br.blocks(occ):
		return CodeBlockEnd
	case br.start && !br.locked(occ):
		return CodeStartQuarter
	}
	return CodeLock
}
