package rules

import (
	"fmt"
	"strings"
	"testing"
)

// resume is a game in the middle: c's ordinary roll is due, and he has made some rolls before.
func resume(t *testing.T, r Rules, position string, c Color, rolls uint16, terms Terms) Game {
	t.Helper()
	p, err := ParsePosition(r, position)
	if err != nil {
		t.Fatal(err)
	}
	return Game{rules: r, terms: terms, position: p, due: DueRoll, turn: c, rolls: [2]uint16{rolls, rolls}}
}

// describe says what is due in the words of these tests.
func describe(g Game) string {
	switch g.Due() {
	case DueStage:
		s := g.Stage()
		return fmt.Sprintf("%s %s %s", s.Kind, g.OnTurn(), diceText(s))
	case DueOver:
		o := g.Outcome()
		if o.Draw {
			return "draw"
		}
		return fmt.Sprintf("%s wins %d %s", o.Winner, o.Level, o.Ending)
	}
	return fmt.Sprintf("%s %s", g.Due(), g.OnTurn())
}

// TestTurnMachine walks every path of the turn machine (RULES.md §5, §6, §7). A script line is a throw or a play,
// and after the arrow what is due then.
func TestTurnMachine(t *testing.T) {
	const middle = 20
	tests := []struct {
		name, variant, position string
		mover                   Color
		rolls                   uint16
		terms                   Terms
		script                  string
	}{
		{"classic: unplayed steps are lost", "long-classic", "1:14 7:1 | 12:1 13:14", White, middle, Terms{}, `
			6 6 -> own white 6 6 6 6
			1/7 -> roll black`},
		{"gyulbar: four steps earn a bonus, once", "gyulbar", "8:15 | 1:15", White, middle, Terms{}, `
			1 1 -> own white 1 1 1 1
			8/9 8/9 8/9 8/9 -> bonus white
			2 2 -> bonus white 2 2 2 2
			8/10 8/10 8/10 8/10 -> roll black`},
		{"gyulbar: no bonus for a mixed roll", "gyulbar", "8:15 | 1:15", White, middle, Terms{}, `
			1 2 -> own white 1 2
			8/9 8/10 -> roll black`},
		{"gyulbar: an incomplete bonus is handed over too", "gyulbar", "8:15 | 1:7 9:1 11:1 12:6", White, middle, Terms{}, `
			5 5 -> own white 5 5 5 5
			8/13 8/13 8/13 8/13 -> bonus white
			1 1 -> bonus white 1 1 1 1
			13/14 13/14 13/14 13/14 -> roll black`},
		{"gyulbar: not even started is handed over", "gyulbar", "1:14 24:1 | 7:8 13:7", White, middle, Terms{}, `
			6 6 -> own white 6 6 6 6
			- -> handed black 6 6 6 6
			13/19 -> roll black
			2 1 -> own black 2 1`},
		{"gyulbar: the opponent completes it and gets no bonus", "gyulbar", "1:14 24:1 | 7:1 14:14", White, middle, Terms{}, `
			6 6 -> own white 6 6 6 6
			- -> handed black 6 6 6 6
			14/20 14/20 14/20 14/20 -> roll black`},
		{"late progression: the fifth roll is quiet", "long-crazy", "8:15 | 1:15", White, 4, Terms{}, `
			5 5 -> own white 5 5 5 5
			8/13 8/13 8/13 8/13 -> roll black`},
		{"late progression: the sixth is not", "long-crazy", "8:15 | 1:15", White, 5, Terms{}, `
			5 5 -> own white 5 5 5 5
			8/13 8/13 8/13 8/13 -> own white 6 6 6 6
			8/14 8/14 8/14 8/14 -> roll black`},
		{"crazy: a broken chain is lost", "long-crazy", "8:11 14:4 | 1:14 19:1", White, middle, Terms{}, `
			5 5 -> own white 5 5 5 5
			8/13 8/13 8/13 8/13 -> own white 6 6 6 6
			14/20 14/20 14/20 14/20 -> roll black`},
		{"crazy-gyulbar: the rest and all higher stages are handed over", "crazy-gyulbar", "18:1 19:14 | 1:14 23:1", White, 0, Terms{}, `
			4 4 -> own white 4 4 4 4
			18/22 -> handed black 4 4 4`},
		{"crazy-gyulbar: a batch stops at a stage that cannot be finished", "crazy-gyulbar", "1:14 12:1 | 6:1 9:14", White, 0, Terms{}, `
			5 5 -> own white 5 5 5 5
			12/17 17/22 -> handed black 5 5
			6/11 -> roll black`},
		{"crazy-gyulbar: a whole batch", "crazy-gyulbar", "1:14 12:1 | 6:1 14:14", White, middle, Terms{}, `
			5 5 -> own white 5 5 5 5
			12/17 17/22 -> handed black 5 5
			14/19 14/19 -> handed black 6 6 6 6
			14/20 14/20 14/20 14/20 -> roll black`},
		{"crazy-gyulbar: one more stage", "crazy-gyulbar", "15:1 19:1 20:13 | 1:15", White, middle, Terms{}, `
			1 1 -> own white 1 1 1 1
			15/16 16/17 17/18 18/19 -> own white 2 2 2 2
			- -> handed black 2 2 2 2`},
		{"crazy-gyulbar: exactly one", "crazy-gyulbar", "15:1 23:4 24:10 | 1:15", White, middle, Terms{}, `
			1 1 -> own white 1 1 1 1
			15/16 16/17 17/18 18/19 -> own white 2 2 2 2
			23/off 23/off 23/off 23/off -> roll black`},
		{"crazy-gyulbar: entering on the third step ends with its stage", "crazy-gyulbar", "16:1 23:4 24:10 | 1:15", White, middle, Terms{}, `
			1 1 -> own white 1 1 1 1
			16/17 17/18 18/19 24/off -> roll black`},
		{"crazy-gyulbar: entering on the second step with no third hands over the rest of this stage alone", "crazy-gyulbar", "13:1 23:14 | 1:15", White, middle, Terms{}, `
			3 3 -> own white 3 3 3 3
			13/16 16/19 -> handed black 3 3
			1/4 4/7 -> roll black`},
		{"crazy-gyulbar: all home and no exact checker is handed over", "crazy-gyulbar", "23:15 | 1:14 14:1", White, middle, Terms{}, `
			1 1 -> own white 1 1 1 1
			- -> handed black 1 1 1 1
			1/2 1/2 1/2 1/2 -> roll black`},
		{"crazy-fevga: handed over only if it was started", "crazy-fevga", "1:14 24:1 | 7:8 14:7", White, middle, Terms{}, `
			6 6 -> own white 6 6 6 6
			- -> roll black`},
		{"crazy-fevga: a later stage that cannot be started is", "crazy-fevga", "15:4 24:11 | 1:10 12:1 20:4", White, middle, Terms{}, `
			4 4 -> own white 4 4 4 4
			15/19 15/19 15/19 15/19 -> roll black`},
		{"crazy-fevga: started", "crazy-fevga", "8:1 9:14 | 1:8 15:7", White, middle, Terms{}, `
			6 6 -> own white 6 6 6 6
			8/14 14/20 -> handed black 6 6
			15/21 15/21 -> roll black`},
		{"crazy-fevga: nothing is handed over in a quiet roll", "crazy-fevga", "8:1 9:14 | 1:8 15:7", White, 3, Terms{}, `
			6 6 -> own white 6 6 6 6
			8/14 14/20 -> roll black`},
		{"a player can win with handed steps", "gyulbar", "1:14 24:1 | 7:3 12:1 off:11", White, middle, Terms{}, `
			6 6 -> own white 6 6 6 6
			- -> handed black 6 6 6 6
			7/off 7/off 7/off 12/off -> black wins 2 finished`},
		{"the draw: white first, black in reply", "long-classic", "24:2 off:13 | 12:2 off:13", White, middle, Terms{Reply: true}, `
			2 1 -> own white 2 1
			24/off 24/off -> roll black
			2 1 -> own black 2 1
			12/off 12/off -> draw`},
		{"the draw: the reply fails and a mars stands", "long-classic", "24:2 off:13 | 1:1 12:14", White, middle, Terms{Reply: true}, `
			2 1 -> own white 2 1
			24/off 24/off -> roll black
			2 1 -> own black 2 1
			1/3 3/4 -> white wins 2 finished`},
		{"the draw: black first ends at once", "long-classic", "24:2 off:13 | 12:2 off:13", Black, middle, Terms{Reply: true}, `
			2 1 -> own black 2 1
			12/off 12/off -> black wins 1 finished`},
		{"the draw: the reply has its bonus", "gyulbar", "24:2 off:13 | 12:5 off:10", White, middle, Terms{Reply: true}, `
			2 1 -> own white 2 1
			24/off 24/off -> roll black
			2 2 -> own black 2 2 2 2
			12/off 12/off 12/off 12/off -> bonus black
			2 1 -> bonus black 2 1
			12/off -> draw`},
		{"the draw: nothing is handed over after the reply", "crazy-gyulbar", "24:1 off:14 | 12:5 off:10", White, middle, Terms{Reply: true}, `
			3 1 -> own white 3 1
			24/off -> roll black
			3 3 -> own black 3 3 3 3
			- -> white wins 1 finished`},
		{"the draw: a decisive double in gyulbar has a reply", "gyulbar", "24:4 off:11 | 12:1 off:14", White, middle, Terms{Reply: true}, `
			2 2 -> own white 2 2 2 2
			24/off 24/off 24/off 24/off -> roll black`},
		{"the draw: in khachapuri it has none", "khachapuri", "24:4 off:11 | 12:1 off:14", White, middle, Terms{Reply: true}, `
			2 2 -> own white 2 2 2 2
			24/off 24/off 24/off 24/off -> white wins 1 finished`},
		{"the draw: a bonus double is no ordinary one", "khachapuri", "23:2 24:4 off:9 | 12:1 off:14", White, middle, Terms{Reply: true}, `
			1 1 -> own white 1 1 1 1
			23/24 23/24 24/off 24/off -> bonus white
			1 1 -> bonus white 1 1 1 1
			24/off 24/off 24/off 24/off -> roll black`},
		{"plakoto: the mother", "plakoto", "2:1 5:14 | 13:14 24:1", White, middle, Terms{}, `
			1 3 -> own white 1 3
			2/1* -> white wins 2 mother`},
		{"plakoto: pinned, and the pinner's own mother still stands", "plakoto", "2:1 5:13 24:1 | 13:14 24:1", White, middle, Terms{}, `
			1 3 -> own white 1 3
			2/1* 24/21 -> white wins 2 mother`},
		{"plakoto: both mothers", "plakoto", "2:1 5:13 24:1p | 1:1 13:13 24:1", White, middle, Terms{}, `
			1 3 -> own white 1 3
			2/1* -> draw`},
		{"fevga: a standing lock must be opened", "fevga", "2:2 3:2 4:2 5:2 6:2 7:2 8:3 | 1:15", White, middle, Terms{}, `
			1 2 -> own white 1 2
			2/3 2/4 -> roll black`},
		{"fevga: a lock that cannot be opened stays", "fevga", "19:3 20:3 21:3 22:2 23:2 24:2 | 18:15", White, middle, Terms{}, `
			6 5 -> own white 6 5
			19/off 20/off -> roll black`},
		{"short: koks", "short", "1:1 off:14 | 6:14 bar:1", White, middle, Terms{}, `
			1 2 -> own white 1 2
			1/off -> white wins 3 finished`},
		{"tavla: no koks", "tavla", "1:1 off:14 | 6:14 bar:1", White, middle, Terms{}, `
			1 2 -> own white 1 2
			1/off -> white wins 2 finished`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			v, err := Lookup(tt.variant)
			if err != nil {
				t.Fatal(err)
			}
			g := resume(t, v.Rules, tt.position, tt.mover, tt.rolls, tt.terms)
			var gen Generator
			for line := range strings.Lines(strings.TrimSpace(tt.script)) {
				do, want, _ := strings.Cut(strings.TrimSpace(line), " -> ")
				if g.Due() == DueStage {
					g, err = g.Play(&gen, parseSteps(t, g, do))
				} else {
					var d Dice
					fmt.Sscan(do, &d.A, &d.B)
					g, err = g.Roll(d)
				}
				if err != nil {
					t.Fatalf("%s: %v\n%s", do, err, g.Position())
				}
				if got := describe(g); got != want {
					t.Fatalf("after %s: %s, want %s\n%s", do, got, want, g.Position())
				}
			}
		})
	}
}

func parseSteps(t *testing.T, g Game, text string) (steps []Step) {
	t.Helper()
	for _, word := range strings.Fields(text) {
		if word == "-" {
			continue
		}
		st, err := g.Rules().ParseStep(g.OnTurn(), word)
		if err != nil {
			t.Fatal(err)
		}
		steps = append(steps, st)
	}
	return steps
}

// TestHeadAllowance follows the allowance through chains and batches (RULES.md §4, §6).
func TestHeadAllowance(t *testing.T) {
	r := func(id string) Rules {
		v, err := Lookup(id)
		if err != nil {
			t.Fatal(err)
		}
		return v.Rules
	}
	var gen Generator
	play := func(g Game, text string) Game {
		t.Helper()
		next, err := g.Play(&gen, parseSteps(t, g, text))
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	roll := func(g Game, d Dice) Game {
		t.Helper()
		next, err := g.Roll(d)
		if err != nil {
			t.Fatal(err)
		}
		return next
	}
	g := roll(resume(t, r("crazy-gyulbar"), "1:3 9:12 | 2:15", White, 20, Terms{}), Dice{5, 5})
	g = play(g, "1/6 9/14 9/14 9/14")
	if got := g.Stage().HeadTaken; got != 1 {
		t.Errorf("crazy-gyulbar carries %d checkers into the next stage, want 1", got)
	}
	g = roll(resume(t, r("long-crazy"), "1:3 9:12 | 2:15", White, 20, Terms{}), Dice{5, 5})
	g = play(g, "1/6 9/14 9/14 9/14")
	if got := g.Stage().HeadTaken; got != 0 {
		t.Errorf("long-crazy carries %d checkers into the next stage, want 0", got)
	}
	g = roll(resume(t, r("gyulbar"), "1:3 9:12 | 2:15", White, 20, Terms{}), Dice{5, 5})
	g = play(g, "1/6 9/14 9/14 9/14")
	g = roll(g, Dice{4, 3})
	if s := g.Stage(); s.Kind != Bonus || s.HeadTaken != 0 || s.First {
		t.Errorf("the bonus roll has its own allowance and is no first turn, got %+v", s)
	}
}

// TestFirstFlag: the draw dice are a first roll only where they are played, and handed steps are no rolls.
func TestFirstFlag(t *testing.T) {
	for _, v := range Variants() {
		g, err := v.Rules.NewGame(Terms{}).Begin(5, 2)
		if err != nil {
			t.Fatal(err)
		}
		wantDue, wantRolls := DueRoll, 0
		if v.Rules.OpeningIsRoll() {
			wantDue, wantRolls = DueStage, 1
		}
		if g.Due() != wantDue || g.Rolls(White) != wantRolls || g.Rolls(Black) != 0 || g.OnTurn() != White {
			t.Errorf("%s: %s with %d rolls after the opening", v.ID, describe(g), g.Rolls(White))
		}
		if wantDue == DueStage && !g.Stage().First {
			t.Errorf("%s: the draw dice are not the first roll", v.ID)
		}
	}
}
