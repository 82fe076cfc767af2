package mat_test

import (
	"fmt"
	"strings"
	"testing"

	"fairdice/internal/selfplay"
	"fairdice/replay"
	"fairdice/replay/mat"
	"fairdice/rules"
)

// TestSelfplayWithoutStars writes games as the tersest of programs would: one checker's steps as one sum, and no stars at all. Every game
// must be found legal, whoever was hit on the way.
func TestSelfplayWithoutStars(t *testing.T) {
	for _, id := range []string{"short", "nackgammon", "hyper", "tavla"} {
		t.Run(id, func(t *testing.T) {
			v, err := rules.Lookup(id)
			if err != nil {
				t.Fatal(err)
			}
			merged, closed := 0, 0
			for seed := range uint64(15) {
				o := replay.Options{Raise: replay.RaiseCube, Series: replay.Series{Kind: replay.SeriesPoints, N: 7}, Crawford: true}
				if !v.Rules.Cube() {
					o.Raise = replay.RaiseMars
				}
				match, err := replay.NewMatch(v, o)
				if err != nil {
					t.Fatal(err)
				}
				var text strings.Builder
				text.WriteString(" 7 point match\n")
				player, dice := selfplay.New(selfplay.Policy(seed%2), seed), selfplay.Uniform(seed)
				player.GiveUp = 0.002
				rolls := 0
				for !match.Over() {
					setting := match.Next()
					events, st, err := player.Game(setting, dice)
					if err != nil {
						t.Fatal(err)
					}
					fmt.Fprintf(&text, "\n Game %d\n Ann : %d%28sBob : %d\n", setting.Game, setting.Score[0], "", setting.Score[1])
					n, m, c := export(t, &text, setting, events)
					rolls, merged, closed = rolls+n, merged+m, closed+c
					r := st.Result()
					fmt.Fprintf(&text, "%*sWins %d points\n", 6+28*int(r.Seat), "", r.Points)
					if match, err = match.Add(r); err != nil {
						t.Fatal(err)
					}
				}
				report, err := mat.Check(strings.NewReader(text.String()), mat.Options{Variant: &v})
				if err != nil {
					t.Fatal(err)
				}
				if len(report.Findings) > 0 || report.Rolls != rolls {
					t.Fatalf("seed %d: %d rolls, want %d, %+v\n%s", seed, report.Rolls, rolls, report.Findings, text.String())
				}
			}
			t.Logf("%d sums, %d passes without dice", merged, closed)
		})
	}
}

// export writes the rows of a game and returns how many throws, sums and passes without dice it wrote. A side that is closed out does not
// throw: "00:".
func export(t *testing.T, w *strings.Builder, s replay.Setting, events []replay.Event) (rolls, sums, closed int) {
	st, err := replay.Start(s)
	if err != nil {
		t.Fatal(err)
	}
	row, column := 1, 0
	cell := func(seat replay.Seat, text string) {
		if int(seat) < column {
			w.WriteByte('\n')
			column = 0
		}
		if column == 0 {
			fmt.Fprintf(w, "%3d) ", row)
			row++
		}
		if seat == replay.B && column == 0 {
			fmt.Fprintf(w, "%33s", "")
		}
		if fmt.Fprintf(w, "%-33s", text); seat == replay.B {
			w.WriteByte('\n')
			column = 0
			return
		}
		column = 1
	}
	var dice rules.Dice
	cube, out := 1, false
	for i, e := range events {
		before := st
		if st, err = replay.Apply(st, e); err != nil {
			t.Fatal(err)
		}
		switch e.Kind {
		case replay.Opening, replay.Roll:
			dice, out = e.Dice, e.Kind == replay.Roll && closedOut(before, e.Seat)
			if i+1 < len(events) && e.Kind == replay.Roll && events[i+1].Kind != replay.Move { // thrown, then given up
				rolls++
				cell(e.Seat, fmt.Sprintf("%d%d:", dice.A, dice.B))
			}
		case replay.Move:
			if out {
				closed++
				cell(e.Seat, "00:")
				continue
			}
			rolls++
			text, n := sum(e.Steps)
			sums += n
			cell(e.Seat, fmt.Sprintf("%d%d:%s", dice.A, dice.B, text))
		case replay.Double:
			cell(e.Seat, fmt.Sprintf(" Doubles => %d", 2*cube))
		case replay.Take:
			cube *= 2
			cell(e.Seat, " Takes")
		case replay.Drop:
			cell(e.Seat, " Drops")
		}
	}
	if column > 0 {
		w.WriteByte('\n')
	}
	return rolls, sums, closed
}

// closedOut reports whether a seat can play no dice at all.
func closedOut(st replay.State, seat replay.Seat) bool {
	for a := uint8(1); a <= 6; a++ {
		for b := uint8(1); b <= a; b++ {
			thrown, err := replay.Apply(st, replay.Event{Kind: replay.Roll, Seat: seat, Dice: rules.Dice{A: a, B: b}})
			if err != nil {
				return false
			}
			if _, err := replay.Apply(thrown, replay.Event{Kind: replay.Move, Seat: seat}); err != nil {
				return false
			}
		}
	}
	return true
}

// sum words the steps of a play, those of one checker joined without naming where it landed.
func sum(steps []replay.Hop) (text string, sums int) {
	var joined []replay.Hop
next:
	for _, s := range steps {
		for i := range joined {
			if joined[i].To == s.From && s.From != replay.BarNumber {
				joined[i].To = s.To
				sums++
				continue next
			}
		}
		joined = append(joined, s)
	}
	for _, h := range joined {
		h.Star = false
		text += " " + h.String()
	}
	return text, sums
}
