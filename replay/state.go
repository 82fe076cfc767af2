package replay

import (
	"errors"

	"fairdice/internal/phrase"
	"fairdice/rules"
)

// Setting is what one game starts from: the variant, the options, and its place in the series.
type Setting struct {
	Variant  rules.Variant
	Options  Options
	Game     int    // number in the match, from 1; in combined series every second game is reversed
	Score    [2]int // of seats A and B before the game
	Crawford bool   // this is the Crawford game: no cube
}

// Streams a throw comes from (PROTOCOL.md §2).
const (
	StreamOpening = "opening"
	StreamA       = "a"
	StreamB       = "b"
)

// MaxCube is the highest value of the cube: one more doubling could make a result that no text can hold. A double beyond
// it is refused.
const MaxCube = 1 << 48

// State is a game between two events. It is a comparable value: equal states have the same future. The zero value is no state;
// games begin with [Start].
type State struct {
	setting  Setting
	game     rules.Game
	white    Seat
	phase    phase
	offer    offer
	answerer Seat  // who must answer the offer
	cube     int64 // what is at stake if the offer is dropped
	owned    bool  // the cube is not centred
	owner    Seat
	accepted bool // a double was taken in this game (jacoby)
	autoUsed bool // an equal opening draw has doubled the stake
	result   Result
	throws   [3]uint32 // drawn so far: opening, a, b
}

type phase uint8

const (
	phaseNone    phase = iota
	phaseOpening       // opening draws
	phasePlay          // rolls, stages, cube
	phaseEnd           // decided: the end line is due
	phaseDone          // the end line stands
)

type offer uint8

const (
	offerNone offer = iota
	offerDouble
	offerBeaver
	offerRaccoon
)

// Start returns the state before the first opening draw. It refuses settings no match can have.
func Start(s Setting) (State, error) {
	err := s.Options.Validate(s.Variant)
	if s.Game < 1 {
		err = errors.Join(err, phrase.Errorf("game %d: games count from 1", s.Game))
	}
	if s.Crawford && !s.crawfordPossible() {
		err = errors.Join(err, errors.New("crawford: only a cube match to more than one point with crawford=on has a Crawford game"))
	}
	if err != nil {
		return State{}, phrase.Errorf("start game: %w", err)
	}
	return State{
		setting: s,
		game:    s.Variant.Rules.NewGame(rules.Terms{Head55: s.Options.Head55, Reply: s.Options.Series.Kind == SeriesDraw}),
		phase:   phaseOpening,
		cube:    1,
	}, nil
}

// crawfordPossible reports whether the options have a Crawford game at all.
func (s Setting) crawfordPossible() bool {
	o := s.Options
	return o.Crawford && o.Raise.HasCube() && o.Series.Kind == SeriesPoints && o.Series.N > 1
}

// Doubtful returns what contradicts the score before a game, and the check that fails, or nil: a match that was over, a Crawford game
// with nobody one point away. Which game is the Crawford game cannot be told from one score in general; [Match] knows.
func (s Setting) Doubtful() (check string, why error) {
	o, top := s.Options, max(s.Score[A], s.Score[B])
	switch {
	case o.Series.counted() && top >= o.Series.N:
		return CheckResult, phrase.Errorf("the score %d : %d has already decided a match to %d", s.Score[A], s.Score[B], o.Series.N)
	case !o.Series.counted() && s.Score != [2]int{}:
		return CheckResult, phrase.Errorf("a score of %d : %d before a single game", s.Score[A], s.Score[B])
	case s.Crawford && top != o.Series.N-1:
		return CheckCube, phrase.Errorf("this cannot be the Crawford game: at %d : %d nobody is one point from %d", s.Score[A], s.Score[B], o.Series.N)
	case !s.Crawford && s.crawfordPossible() && top == o.Series.N-1 && s.Score[A]+s.Score[B] == top && s.Game == 2:
		return CheckCube, errors.New("this is the Crawford game: a side came within one point in game 1")
	}
	return "", nil
}

// Reversed reports whether this game is won by the last to bear off (RULES.md §7, reverse).
func (s Setting) Reversed() bool {
	switch s.Options.Series.Kind {
	case SeriesReverse:
		return true
	case SeriesCombined:
		return s.Game%2 == 0
	default:
		return false
	}
}

// Setting returns what the game started from.
func (st State) Setting() Setting { return st.setting }

// Game returns the turn machine: whose stage is due after what, without seats and cube.
func (st State) Game() rules.Game { return st.game }

// Position returns the checkers.
func (st State) Position() rules.Position { return st.game.Position() }

// White returns the seat that plays White, and false before the opening draw has decided it.
func (st State) White() (Seat, bool) { return st.white, st.begun() }

// begun reports whether the opening draw has put colours to the seats. A flag may fall before it.
func (st State) begun() bool { return st.phase != phaseNone && st.game.Due() != rules.DueOpening }

// Color returns the colour a seat plays; it means something once White is known.
func (st State) Color(s Seat) rules.Color {
	if s == st.white {
		return rules.White
	}
	return rules.Black
}

func (st State) seat(c rules.Color) Seat {
	if c == rules.White {
		return st.white
	}
	return st.white.Other()
}

// OnTurn returns the seat whose roll or stage is due; it means something while the game is being played.
func (st State) OnTurn() Seat { return st.seat(st.game.OnTurn()) }

// Cube is the doubling cube.
type Cube struct {
	Value int64
	Owned bool // false: centred
	Owner Seat
}

// Cube returns the cube. While a double waits for its answer it shows the value before that double.
func (st State) Cube() Cube { return Cube{Value: st.cube, Owned: st.owned, Owner: st.owner} }

// Decided reports whether the game has been decided, though its end line may still be due.
func (st State) Decided() bool { return st.phase >= phaseEnd }

// Over reports whether the end line stands.
func (st State) Over() bool { return st.phase == phaseDone }

// Result returns the result; it means something once the game is decided.
func (st State) Result() Result { return st.result }

// EndDue returns the end line that must come next, if the game is decided and lacks it.
func (st State) EndDue() (Event, bool) {
	if st.phase != phaseEnd {
		return Event{}, false
	}
	return Event{Kind: End, Seat: st.result.Seat, Points: st.result.Points, Draw: st.result.Draw}, true
}

// NextDraw returns the stream the next throw must come from, and false if no throw is due now. Where the seat on turn may
// still double, the throw is due as well: drawing it is his refusal to double.
func (st State) NextDraw() (stream string, ok bool) {
	switch {
	case st.phase == phaseOpening:
		return StreamOpening, true
	case st.phase != phasePlay || st.offer != offerNone:
		return "", false
	}
	switch st.game.Due() {
	case rules.DueRoll, rules.DueBonus:
		return streamOf(st.OnTurn()), true
	default:
		return "", false
	}
}

func streamOf(s Seat) string {
	if s == A {
		return StreamA
	}
	return StreamB
}

// Throws returns how many elements of each stream the game has used: opening, a, b.
func (st State) Throws() [3]int {
	return [3]int{int(st.throws[0]), int(st.throws[1]), int(st.throws[2])}
}

// Doubled reports whether a double was accepted in the game; an equal opening draw that doubled the stake does not count.
func (st State) Doubled() bool { return st.accepted }

// Beavered reports whether a beaver waits for its answer.
func (st State) Beavered() bool { return st.offer == offerBeaver }
