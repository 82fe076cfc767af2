package rules

// Terms are the agreements of a match that reach into the turn machine.
type Terms struct {
	Head55 Head55 // option head55
	Reply  bool   // series=draw: Black has a reply turn when White finishes first (RULES.md §7)
}

// Due says what must come next in a game.
type Due uint8

const (
	DueOpening Due = iota // the decisive opening draw
	DueRoll               // an ordinary roll of the player on turn
	DueBonus              // a bonus roll of the player on turn
	DueStage              // a stage of the player on turn, own or handed over
	DueOver               // nothing: the game is decided
)

var dueNames = []string{"opening", "roll", "bonus", "stage", "over"}

func (d Due) String() string { return nameOf(dueNames, uint8(d)+1) }

// Game is the turn machine without cube, seats and series: what is due after what (RULES.md §3, §6). It is a
// comparable value; every transition returns the next one and leaves the old.
type Game struct {
	rules      Rules
	terms      Terms
	position   Position
	due        Due
	turn       Color
	rolls      [2]uint16 // personal rolls made
	whiteFirst Dice
	stage      Stage // the stage that is due, or the last one played
	handed     queue // when a handed stage is due: the stages after it
	started    bool  // the rolled double had at least one step
	reply      bool  // Black's reply turn is running
	outcome    Outcome
}

// queue is the higher values that follow a stage: from next to six, four steps each; none if next is 0 or above 6.
type queue struct{ next uint8 }

// Outcome is how a game ended.
type Outcome struct {
	Winner Color
	Draw   bool
	Level  uint8 // 1 oin or single, 2 mars, 3 koks, by the position; 0 for a draw
	Ending Ending
}

// NewGame returns a game before its opening draw. It panics on rules that Validate refuses.
func (r Rules) NewGame(t Terms) Game { return Game{rules: r, terms: t, position: r.Start()} }

// Rules returns the rules of the game.
func (g Game) Rules() Rules { return g.rules }

// Terms returns the agreements of the game.
func (g Game) Terms() Terms { return g.terms }

// Position returns the current position.
func (g Game) Position() Position { return g.position }

// Due returns what must come next.
func (g Game) Due() Due { return g.due }

// OnTurn returns the player whose roll or stage is due.
func (g Game) OnTurn() Color { return g.turn }

// Stage returns the stage that is due. It means something only while Due is DueStage.
func (g Game) Stage() Stage { return g.stage }

// Reply reports whether Black's reply turn is running.
func (g Game) Reply() bool { return g.reply }

// Outcome returns the result by the position. It means something only while Due is DueOver.
func (g Game) Outcome() Outcome { return g.outcome }

// CubeWindow reports whether the player on turn may double if the cube is his to turn: his ordinary roll is due, and
// not in the reply turn (RULES.md §7).
func (g Game) CubeWindow() bool { return g.due == DueRoll && !g.reply }

// Rolls returns how many personal rolls c has made.
func (g Game) Rolls(c Color) int { return int(g.rolls[c]) }

// Begin takes the decisive opening draw, White's die and Black's. White's is the greater by definition.
func (g Game) Begin(white, black uint8) (Game, error) {
	if g.due != DueOpening {
		return g, sayf("begin game: %s is due, not the opening", g.due)
	}
	d := Dice{white, black}
	if !d.Valid() {
		return g, sayf("begin game: opening %s, want two dice of 1 to 6", d)
	}
	if white <= black {
		return g, sayf("begin game: opening %s: white is the side with the greater die", d)
	}
	g.turn, g.due = White, DueRoll
	if g.rules.OpeningIsRoll() {
		return g.Roll(d)
	}
	return g, nil
}

// maxRolls bounds a game; the counters never wrap. Real games take a few hundred rolls.
const maxRolls = 1 << 15

// Roll takes the throw of the player on turn.
func (g Game) Roll(d Dice) (Game, error) {
	kind := Own
	switch {
	case g.due == DueBonus:
		kind = Bonus
	case g.due != DueRoll:
		return g, sayf("roll dice: %s is due, not a roll", g.due)
	}
	if !d.Valid() {
		return g, sayf("roll dice: throw %s, want two dice of 1 to 6", d)
	}
	if g.rolls[g.turn] >= maxRolls {
		return g, sayf("roll dice: %s has made %d rolls in this game, no more are taken", g.turn, maxRolls)
	}
	g.rolls[g.turn]++
	if g.turn == White && g.rolls[White] == 1 {
		g.whiteFirst = d
	}
	g.stage = g.dress(StageOf(g.turn, kind, d))
	g.stage.First = kind == Own && g.stage.Roll == 1
	g.handed, g.started = queue{}, false
	g.due = DueStage
	return g, nil
}

// dress completes a stage with what the game knows.
func (g Game) dress(s Stage) Stage {
	s.Roll, s.WhiteFirst, s.Head55 = g.rolls[s.Mover], g.whiteFirst, g.terms.Head55
	return s
}

// Play takes the play of the stage that is due; no steps is a pass. An illegal play is an [*IllegalError].
func (g Game) Play(gen *Generator, steps []Step) (Game, error) {
	if g.due != DueStage {
		return g, sayf("play stage: %s is due, not a stage", g.due)
	}
	end, ending, err := gen.Play(g.rules, g.position, g.stage, steps)
	if err != nil {
		return g, err
	}
	before := g.position
	g.position = end
	g.started = g.started || g.stage.Index == 1 && len(steps) > 0
	for _, s := range steps {
		if s.From == 0 {
			g.stage.HeadTaken++
		}
	}
	switch {
	case ending != NotEnded:
		return g.finish(ending), nil
	case g.stage.Kind == Handed:
		return g.afterHanded(len(steps)), nil
	default:
		return g.afterOwn(before, len(steps)), nil
	}
}

// afterOwn decides what follows a stage of a throw that did not end the game.
func (g Game) afterOwn(before Position, made int) Game {
	s := g.stage
	if !s.Thrown.IsDouble() {
		return g.passTurn()
	}
	next := uint8(0)
	if g.rules.Doubles.chains(s.Roll) {
		off := g.position.Off(s.Mover) - before.Off(s.Mover)
		if !g.rules.ChainEnd.stops(before.AllHome(s.Mover), g.position.AllHome(s.Mover), made, off) {
			next = s.Dice[0] + 1
		}
	}
	if made < s.Len() {
		if g.rules.Doubles.quiet(s.Roll) || !g.rules.Leftover.passesOn(g.started) {
			return g.passTurn()
		}
		return g.handOver(s.Dice[0], s.Len()-made, next)
	}
	if next != 0 && next <= 6 {
		return g.chain(next)
	}
	if g.rules.Doubles.bonus() && s.Kind == Own {
		g.due = DueBonus
		return g
	}
	return g.passTurn()
}

// chain makes the next stage of a progression due.
func (g Game) chain(value uint8) Game {
	g.stage.Dice = [4]uint8{value, value, value, value}
	g.stage.Index++
	if !g.rules.Head.carries() {
		g.stage.HeadTaken = 0
	}
	return g
}

// handOver makes the rest of a broken stage due for the opponent, and fixes the list of what follows it.
func (g Game) handOver(value uint8, left int, next uint8) Game {
	if g.reply {
		return g.passTurn() // the reply turn is the last of the game, there is nobody to hand over to
	}
	s := Stage{Mover: g.turn.Other(), Kind: Handed, Index: 1}
	for i := range left {
		s.Dice[i] = value
	}
	g.turn, g.stage, g.handed = s.Mover, g.dress(s), queue{next}
	return g
}

// afterHanded goes on with the batch, or to the player's own roll once a stage could not be finished or none is left.
func (g Game) afterHanded(made int) Game {
	if made < g.stage.Len() || g.handed.next == 0 || g.handed.next > 6 {
		g.handed = queue{}
		g.due = DueRoll
		return g
	}
	next := g.handed.next
	g.handed.next++
	return g.chain(next)
}

// passTurn ends the turn of the player on turn.
func (g Game) passTurn() Game {
	if g.reply {
		return g.decide(Outcome{Winner: White, Level: g.rules.Level(g.position, Black), Ending: Finished})
	}
	g.turn, g.due = g.turn.Other(), DueRoll
	return g
}

// finish takes a position that ends the game, or opens Black's reply turn.
func (g Game) finish(e Ending) Game {
	mover := g.stage.Mover
	switch {
	case e == Draw:
		return g.decide(Outcome{Draw: true, Ending: Draw})
	case e == Mother:
		return g.decide(Outcome{Winner: mover, Level: 2, Ending: Mother})
	case g.reply:
		return g.decide(Outcome{Draw: true, Ending: Draw})
	case g.terms.Reply && g.rules.ReplyTurn() && mover == White && !g.rules.Doubles.voidsReply(g.stage):
		g.reply = true
		g.turn, g.due = Black, DueRoll
		return g
	}
	return g.decide(Outcome{Winner: mover, Level: g.rules.Level(g.position, mover.Other()), Ending: Finished})
}

func (g Game) decide(o Outcome) Game {
	g.due, g.outcome = DueOver, o
	return g
}
