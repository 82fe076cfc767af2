// Package selfplay plays games: given a state it says what the side on turn does, given a source of dice it plays a whole game, in
// every variant and under every option. It serves the demo, load generation and tests; it plays legally, not well.
//
//	p := selfplay.New(selfplay.Greedy, 1)
//	events, st, err := p.Game(setting, func(stream string) (rules.Dice, error) { return draw(stream) })
//
// A player is a function of its seed and the states it was shown: the same seed and dice give the same game. The seed never
// touches the dice. Events are those of PROTOCOL.md §5; what is due is decided by package replay alone.
package selfplay

import (
	"errors"
	"fmt"
	"math/rand/v2"

	"fairdice/replay"
	"fairdice/rules"
)

// Policy is a way to choose among legal moves and to handle the cube.
type Policy uint8

// The policies.
const (
	Random Policy = iota // any legal end with equal probability; any cube action now and then
	Greedy               // runs, makes points, hits; doubles when ahead, drops when far behind
)

// Player chooses events. It is not for concurrent use.
type Player struct {
	policy Policy
	random *rand.Rand
	gen    rules.Generator

	// GiveUp is the probability, per event of the side on turn, that it resigns or its time runs out. 0: games are played out.
	GiveUp float64
}

// New returns a player of the policy whose choices follow from the seed.
func New(p Policy, seed uint64) *Player {
	return &Player{policy: p, random: rand.New(rand.NewPCG(seed, 0x9e3779b97f4a7c15))}
}

// Next returns what the seat that must act does now, the end line of a decided game included. It returns false if it wants the dice
// to be thrown, or if the game is over; [replay.State.NextDraw] says which, and [Throw] makes the event.
func (p *Player) Next(st replay.State) (replay.Event, bool) {
	due := st.Due()
	if e, ok := p.giveUp(st, due); ok {
		return e, true
	}
	switch due.Kind {
	case replay.DueStage, replay.DueHanded:
		return p.move(st), true
	case replay.DueRoll:
		if st.MayDouble() && p.doubles(st, due.Seat) {
			return replay.Event{Kind: replay.Double, Seat: due.Seat}, true
		}
	case replay.DueAnswer:
		return p.answer(st, due.Seat), true
	case replay.DueEnd:
		return st.EndDue()
	}
	return replay.Event{}, false
}

func (p *Player) giveUp(st replay.State, due replay.Due) (replay.Event, bool) {
	if p.GiveUp == 0 || due.Kind == replay.DueOpening || due.Kind >= replay.DueEnd || p.random.Float64() >= p.GiveUp {
		return replay.Event{}, false
	}
	e := replay.Event{Kind: replay.Timeout, Seat: due.Seat}
	if p.random.IntN(2) == 0 {
		e.Kind, e.Points = replay.Resign, 1
	}
	return e, true
}

func (p *Player) move(st replay.State) replay.Event {
	moves := st.LegalMoves(&p.gen)
	if p.policy == Random {
		return moves[p.random.IntN(len(moves))]
	}
	best, value := 0, 0
	for i, e := range moves {
		next, err := st.Apply(&p.gen, e)
		if err != nil {
			continue // never: the generator and the state machine are one
		}
		if v := worth(next.Position(), st.Game().Rules(), st.Color(e.Seat)); i == 0 || v > value {
			best, value = i, v
		}
	}
	return moves[best]
}

// worth is how a greedy player likes a position of his after a move.
func worth(p rules.Position, r rules.Rules, c rules.Color) int {
	v := 2*(p.Pips(c.Other())-p.Pips(c)) + 3*p.Off(c)
	for idx := range 24 {
		switch n := p.At(c, idx); {
		case n == 1 && !r.ReplyTurn():
			v -= 3 // a lone checker can be hit or pinned
		case n >= 1:
			v += 4
		}
	}
	return v
}

// lead returns how far a seat is ahead, in hundredths of the opponent's pips.
func lead(st replay.State, s replay.Seat) int {
	own, other := st.Position().Pips(st.Color(s)), st.Position().Pips(st.Color(s.Other()))
	if other == 0 {
		return 0
	}
	return (other - own) * 100 / other
}

func (p *Player) doubles(st replay.State, s replay.Seat) bool {
	if p.policy == Random {
		return p.random.IntN(8) == 0
	}
	return lead(st, s) >= 10
}

func (p *Player) answer(st replay.State, s replay.Seat) replay.Event {
	answers := st.Legal(&p.gen)
	if p.policy == Random {
		// Drops end games: they come less often, so that long cube exchanges are played too.
		if e := answers[p.random.IntN(len(answers))]; e.Kind != replay.Drop || p.random.IntN(2) == 0 {
			return e
		}
		return answers[0]
	}
	if lead(st, s) < -25 {
		return replay.Event{Kind: replay.Drop, Seat: s}
	}
	return replay.Event{Kind: replay.Take, Seat: s}
}

// Throw makes the event of the throw that is due, and returns false if none is.
func Throw(st replay.State, d rules.Dice) (replay.Event, bool) {
	stream, ok := st.NextDraw()
	if !ok {
		return replay.Event{}, false
	}
	if stream == replay.StreamOpening {
		return replay.Event{Kind: replay.Opening, Dice: d}, true
	}
	return replay.Event{Kind: replay.Roll, Seat: st.OnTurn(), Dice: d}, true
}

// maxEvents ends a game that does not end by itself; real ones take a few hundred events, random ones a few thousand.
const maxEvents = 60_000

// Game plays a whole game, both seats, from the opening draw to the end line. Dice asks for the next element of a stream: "opening",
// "a" or "b".
func (p *Player) Game(s replay.Setting, dice func(stream string) (rules.Dice, error)) ([]replay.Event, replay.State, error) {
	st, err := replay.Start(s)
	if err != nil {
		return nil, st, fmt.Errorf("play game: %w", err)
	}
	var events []replay.Event
	for !st.Over() {
		if len(events) == maxEvents {
			return events, st, fmt.Errorf("play game: not decided after %d events", maxEvents)
		}
		e, ok := p.Next(st)
		if !ok {
			if e, err = throw(st, dice); err != nil {
				return events, st, fmt.Errorf("play game: %w", err)
			}
		}
		if st, err = st.Apply(&p.gen, e); err != nil {
			return events, st, fmt.Errorf("play game: %w", err)
		}
		events = append(events, e)
	}
	return events, st, nil
}

func throw(st replay.State, dice func(stream string) (rules.Dice, error)) (replay.Event, error) {
	stream, ok := st.NextDraw()
	if !ok {
		return replay.Event{}, errors.New("nothing is due")
	}
	d, err := dice(stream)
	if err != nil {
		return replay.Event{}, fmt.Errorf("draw from stream %s: %w", stream, err)
	}
	e, _ := Throw(st, d)
	return e, nil
}

// Uniform returns a source of independent uniform dice for tests and load, repeatable and therefore not fair to anyone.
func Uniform(seed uint64) func(stream string) (rules.Dice, error) {
	random := rand.New(rand.NewPCG(seed, 0xbf58476d1ce4e5b9))
	return func(string) (rules.Dice, error) {
		k := random.IntN(36)
		return rules.Dice{A: uint8(k/6 + 1), B: uint8(k%6 + 1)}, nil
	}
}
