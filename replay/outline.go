package replay

import (
	"errors"

	"fairdice/internal/phrase"
	"fairdice/rules"
)

// Outline is what can still be said of a game after a line that cannot stand where it stands: whose turn it is, the cube, and what the
// result may be. It knows no checkers, so that nothing it finds follows from the first fault. It begins with [State.Outline].
type Outline struct {
	setting   Setting
	alternate bool // turns alternate strictly: no bonus rolls, nothing handed over
	turn      Seat
	known     bool // turn means something
	rolled    bool // a throw waits for its play

	offered  bool
	beavered bool
	answerer Seat
	cube     int64
	owned    bool
	owner    Seat

	decided bool
	winner  Seat
	points  int64 // 0: not known
	why     Why
	over    bool // the end line stands
}

// Outline returns what is known of the game without its checkers.
func (st State) Outline() Outline {
	r := st.setting.Variant.Rules
	o := Outline{setting: st.setting, alternate: r.Doubles == rules.DoublesFour && r.Leftover == rules.LeftoverLost && st.setting.Options.Series.Kind != SeriesDraw,
		cube: st.cube, owned: st.owned, owner: st.owner, offered: st.offer != offerNone, beavered: st.offer == offerBeaver, answerer: st.answerer}
	if st.begun() && st.phase == phasePlay {
		o.known, o.turn = true, st.OnTurn()
		o.rolled = st.game.Due() == rules.DueStage
	}
	if st.Decided() {
		o.decided, o.winner, o.points, o.why, o.over = true, st.result.Seat, st.result.Points, st.result.Why, st.Over()
		if st.result.Draw {
			o.points = -1
		}
	}
	return o
}

// Next takes one more line and returns what is wrong with it whatever stands on the board, or nil. Either way the line counts as
// having happened.
func (o *Outline) Next(e Event) *Refusal {
	code, check, why := o.judge(e)
	o.take(e)
	if code == "" {
		return nil
	}
	return &Refusal{Check: check, Code: code, Message: why.Error(), Why: why, Event: e}
}

// Skip takes a line for which a finding stands already. What a refused resignation gave up says nothing about the end line.
func (o *Outline) Skip(e Event) {
	o.take(e)
	if e.Kind == Resign {
		o.points = 0
	}
}

func (o *Outline) judge(e Event) (code, check string, why error) {
	switch {
	case o.over:
		return "after-end", CheckResult, errors.New("the game is over: nothing follows its end line")
	case e.Kind == End:
		return o.judgeEnd(e)
	case o.decided:
		return "end-missing", CheckResult, phrase.Errorf("the game is decided (%s): its end line must follow", o.why)
	}
	switch e.Kind {
	case Roll, Move:
		return o.judgeTurn(e)
	case Double:
		return o.judgeDouble(e)
	case Take, Drop, Beaver, Raccoon:
		switch {
		case !o.offered:
			return "answer-without-double", CheckCube, errors.New("no double waits for an answer")
		case e.Seat != o.answerer:
			return "answer-wrong-seat", CheckCube, phrase.Errorf("%s must answer the double", o.answerer)
		}
	case Resign:
		if limit := o.maxLevel(); e.Points > limit {
			return "resign-points", CheckResult, phrase.Errorf("at most %d times the cube can be given up here", limit)
		}
	}
	return "", "", nil
}

func (o *Outline) judgeTurn(e Event) (code, check string, why error) {
	switch {
	case o.offered:
		return "answer-missing", CheckCube, phrase.Errorf("%s must answer the double first", o.answerer)
	case !o.alternate || !o.known:
	case e.Seat != o.turn:
		return "wrong-seat", CheckMoves, phrase.Errorf("it is %s's turn", o.turn)
	case e.Kind == Move && !o.rolled:
		return "not-due", CheckMoves, errors.New("a play without a throw before it")
	case e.Kind == Roll && o.rolled:
		return "not-due", CheckMoves, errors.New("a second throw: the one before it was not played")
	}
	return "", "", nil
}

func (o *Outline) judgeDouble(e Event) (code, check string, why error) {
	switch {
	case !o.setting.Options.Raise.HasCube():
		why = errors.New("the game is played without a cube")
	case o.setting.Crawford:
		why = errors.New("there is no cube in the Crawford game")
	case o.offered:
		why = phrase.Errorf("%s must answer the double first", o.answerer)
	case o.owned && o.owner != e.Seat:
		why = phrase.Errorf("the cube is %s's", o.owner)
	case o.alternate && o.known && o.rolled:
		why = errors.New("a double is offered only before an ordinary own roll")
	case o.alternate && o.known && o.turn != e.Seat:
		why = phrase.Errorf("it is not %s's roll", e.Seat)
	default:
		return "", "", nil
	}
	return "double", CheckCube, why
}

func (o *Outline) judgeEnd(e Event) (code, check string, why error) {
	switch {
	case o.decided && e.Draw != (o.points < 0):
		return "result-draw", CheckResult, phrase.Errorf("the game ended %s", o.why)
	case o.decided && !e.Draw && e.Seat != o.winner:
		return "result-winner", CheckResult, phrase.Errorf("%s has won (%s)", o.winner, o.why)
	case o.decided && o.points > 0 && e.Points != o.points:
		return "result-points", CheckResult, phrase.Errorf("the game is worth %d", o.points)
	case e.Draw || o.Fits(e.Points):
		return "", "", nil
	}
	return "result-points", CheckResult, phrase.Errorf("with the cube at %d no game is worth %d", o.cube, e.Points)
}

// Fits reports whether some end of the game is worth the points.
func (o *Outline) Fits(points int64) bool {
	limit := o.maxLevel()
	if o.setting.Options.Stake == StakeUnborne {
		limit = int64(o.setting.Variant.Rules.Checkers())
	}
	return points%o.cube == 0 && points/o.cube <= limit
}

func (o *Outline) maxLevel() int64 {
	if !o.setting.marsCounts(true) {
		return 1
	}
	return int64(o.setting.Variant.Rules.MaxLevel())
}

// Redouble returns how a seat that doubles answers a double with it, where beavers were agreed on, else the double itself.
func (o *Outline) Redouble(s Seat) EventKind {
	switch {
	case o.setting.Options.Raise != RaiseBeaver || !o.offered || o.answerer != s:
		return Double
	case o.beavered:
		return Raccoon
	default:
		return Beaver
	}
}

// Cube returns what a lost game costs at least.
func (o *Outline) Cube() int64 { return o.cube }

// Decided returns who has won, and how much if that is known, else 0.
func (o *Outline) Decided() (winner Seat, points int64, ok bool) {
	return o.winner, max(0, o.points), o.decided
}

func (o *Outline) take(e Event) {
	switch e.Kind {
	case Roll:
		o.turn, o.known, o.rolled, o.offered = e.Seat, true, true, false
	case Move:
		o.turn, o.known, o.rolled, o.offered = e.Seat.Other(), true, false, false
	case Double:
		o.turn, o.known, o.rolled = e.Seat, true, false
		o.offered, o.beavered, o.answerer = true, false, e.Seat.Other()
	case Take:
		if o.offered {
			o.cube, o.owned, o.offered = min(2*o.cube, MaxCube), true, false
			if !o.beavered {
				o.owner = e.Seat
			}
		}
	case Beaver, Raccoon:
		if o.offered {
			o.cube, o.owned, o.answerer, o.beavered = min(2*o.cube, MaxCube), true, o.answerer.Other(), e.Kind == Beaver
			if o.beavered {
				o.owner = e.Seat
			}
		}
	case Drop:
		o.decide(e, WhyDrop, o.cube)
	case Resign:
		points := e.Points * o.cube
		if e.Points > o.maxLevel() {
			points = 0 // more was given up than a game can cost, so nobody can say what this one did
		}
		o.decide(e, WhyResign, points)
	case Timeout:
		o.decide(e, WhyTimeout, 0)
	case End:
		o.decided, o.over = true, true
	}
}

func (o *Outline) decide(e Event, why Why, points int64) {
	if o.setting.Options.Stake == StakeUnborne {
		points = 0
	}
	o.decided, o.winner, o.why, o.points, o.offered = true, e.Seat.Other(), why, points, false
}
