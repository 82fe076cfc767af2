package replay

import (
	"errors"
	"slices"
	"sync"

	"fairdice/rules"
)

var generators = sync.Pool{New: func() any { return new(rules.Generator) }}

// Apply is the only transition of a game: it returns the state after one more event, or a *Refusal that says which rule the event
// breaks. It is pure; services and verifiers fold the same function.
func Apply(st State, e Event) (State, error) {
	gen := generators.Get().(*rules.Generator)
	defer generators.Put(gen)
	return st.Apply(gen, e)
}

// Apply is [Apply] with the caller's generator, for long replays. It keeps nothing of e.
func (st State) Apply(gen *rules.Generator, e Event) (State, error) {
	refusal := st.apply(gen, e)
	if refusal == nil {
		return st, nil
	}
	if refusal.Message == "" {
		refusal.Message, refusal.Why = refusal.Illegal.Error(), refusal.Illegal
	}
	return refusal.State, refusal
}

// Try is [State.Apply] for callers that have several readings of one line: it says whether an event can follow, and not why not, which
// would cost more than the replay itself.
func (st State) Try(gen *rules.Generator, e Event) (State, bool) {
	if refusal := st.apply(gen, e); refusal != nil {
		return refusal.State, false
	}
	return st, true
}

// apply makes the transition in place. After a refusal the state is the refusal's. The message of an illegal move is left to the caller.
func (st *State) apply(gen *rules.Generator, e Event) *Refusal {
	if e.Seat > B {
		return st.refuse(e, CheckFormat, "unknown-event", "no such seat")
	}
	switch e.Kind {
	case Opening:
		return st.open(e)
	case Roll:
		return st.roll(e)
	case Move:
		return st.move(gen, e)
	case Double, Take, Drop, Beaver, Raccoon:
		return st.turnCube(e)
	case Resign:
		return st.resign(e)
	case Timeout:
		return st.timeout(e)
	case End:
		return st.end(e)
	default:
		return st.refuse(e, CheckFormat, "unknown-event", "no such event")
	}
}

func (st *State) open(e Event) *Refusal {
	if st.phase != phaseOpening {
		if st.phase == phasePlay && st.offer == offerNone {
			return st.refuse(e, CheckMoves, "opening-again", "the opening draw was decided: %w", st.Due().describe())
		}
		return st.refuseOrder(e)
	}
	if !e.Dice.Valid() {
		return st.refuse(e, CheckFormat, "dice-range", "dice are numbers 1 to 6")
	}
	before := *st
	st.throws[0]++
	if e.Dice.IsDouble() {
		if st.setting.Options.Raise == RaiseAuto && !st.autoUsed {
			st.autoUsed, st.cube = true, 2*st.cube
		}
		return nil
	}
	white, black := e.Dice.A, e.Dice.B
	st.white = A
	if black > white {
		st.white, white, black = B, black, white
	}
	game, err := st.game.Begin(white, black)
	if err != nil {
		return before.refuse(e, CheckMoves, "opening", "%w", err)
	}
	st.game, st.phase = game, phasePlay
	return nil
}

func (st *State) roll(e Event) *Refusal {
	if stream, ok := st.NextDraw(); !ok || stream == StreamOpening || st.OnTurn() != e.Seat {
		return st.refuseOrder(e)
	}
	if !e.Dice.Valid() {
		return st.refuse(e, CheckFormat, "dice-range", "dice are numbers 1 to 6")
	}
	game, err := st.game.Roll(e.Dice)
	if err != nil {
		return st.refuse(e, CheckMoves, "roll", "%w", err)
	}
	st.game = game
	st.throws[1+e.Seat]++
	return nil
}

func (st *State) move(gen *rules.Generator, e Event) *Refusal {
	if st.phase != phasePlay || st.offer != offerNone || st.game.Due() != rules.DueStage || st.OnTurn() != e.Seat {
		return st.refuseOrder(e)
	}
	var buffer [MaxHops]rules.Step
	steps := buffer[:0]
	r, c := st.setting.Variant.Rules, st.game.OnTurn()
	for i, h := range e.Steps {
		step, ok := h.step(r, c)
		if !ok || i >= MaxHops {
			return st.refuse(e, CheckMoves, "step-range", "step %d, %s, is not on the board", i+1, h)
		}
		steps = append(steps, step)
	}
	game, err := st.game.Play(gen, steps)
	if err != nil {
		return st.refuseSteps(e, err)
	}
	st.game = game
	if game.Due() == rules.DueOver {
		st.result, st.phase = st.finished(), phaseEnd
	}
	return nil
}

// refuseSteps refuses a play. Its message, which lists what would have been legal, is left to [State.Apply].
func (st *State) refuseSteps(e Event, err error) *Refusal {
	illegal, ok := errors.AsType[*rules.IllegalError](err)
	if !ok {
		return st.refuse(e, CheckMoves, "illegal", "%w", err)
	}
	e.Steps = slices.Clone(e.Steps)
	refusal := &Refusal{Check: CheckMoves, Code: string(illegal.Code), State: *st, Event: e, Illegal: illegal}
	if illegal.Forced() {
		refusal.Check = CheckForced
	}
	return refusal
}

// step translates a hop from record numbers into the mover's own path.
func (h Hop) step(r rules.Rules, c rules.Color) (rules.Step, bool) {
	s := rules.Step{From: rules.Bar, To: rules.Off, Contact: h.Star}
	if h.From < 1 || h.From > BarNumber || h.To > 24 {
		return s, false
	}
	if h.From != BarNumber {
		s.From = int8(r.PointIndex(c, int(h.From)))
	}
	if h.To != OffNumber {
		s.To = int8(r.PointIndex(c, int(h.To)))
	}
	return s, true
}

// hop translates a step of the mover's own path into record numbers.
func hop(r rules.Rules, c rules.Color, s rules.Step) Hop {
	h := Hop{From: BarNumber, To: OffNumber, Star: s.Contact}
	if s.From != rules.Bar {
		h.From = uint8(r.PointNumber(c, int(s.From)))
	}
	if s.To != rules.Off {
		h.To = uint8(r.PointNumber(c, int(s.To)))
	}
	return h
}

func (st *State) resign(e Event) *Refusal {
	if st.phase != phasePlay {
		return st.refuseOrder(e)
	}
	if limit := st.resignLimit(); e.Points < 1 || e.Points > limit {
		return st.refuse(e, CheckResult, "resign-points", "at most %d times the cube can be given up here", limit)
	}
	return st.give(e, st.lost(e.Seat, e.Points, WhyResign))
}

func (st *State) timeout(e Event) *Refusal {
	if st.phase != phasePlay && st.phase != phaseOpening {
		return st.refuseOrder(e)
	}
	return st.give(e, st.lost(e.Seat, st.flagLevel(e.Seat), WhyTimeout))
}

// give decides the game by a resignation or a flag. In a reply turn of an unborne game a seat may have nothing left to pay: it
// cannot lose any more.
func (st *State) give(e Event, r Result) *Refusal {
	if r.Points == 0 {
		return st.refuse(e, CheckResult, "nothing-to-lose", "%s has borne off every checker", e.Seat)
	}
	st.result, st.phase, st.offer = r, phaseEnd, offerNone
	return nil
}

func (st *State) end(e Event) *Refusal {
	due, ok := st.EndDue()
	switch {
	case st.phase == phaseDone:
		return st.refuseOrder(e)
	case !ok:
		return st.refuse(e, CheckResult, "end-early", "the game is not decided")
	case e.Draw != due.Draw:
		return st.refuse(e, CheckResult, "result-draw", "the game ended %s: want %q", st.result.Why, due)
	case !e.Draw && e.Seat != due.Seat:
		return st.refuse(e, CheckResult, "result-winner", "%s has won: want %q", due.Seat, due)
	case e.Points != due.Points:
		return st.refuse(e, CheckResult, "result-points", "the game is worth %d: want %q", due.Points, due)
	}
	st.phase = phaseDone
	return nil
}
