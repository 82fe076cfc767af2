package sheet_test

import (
	"fmt"
	"testing"

	"fairdice/replay"
	"fairdice/replay/sheet"
	"fairdice/rules"
)

func short(t testing.TB) rules.Variant {
	t.Helper()
	v, err := rules.Lookup("short")
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// hops are from, to pairs; bar is 25 and off is 0. A star is a third number that is not 0.
func hops(all ...[3]uint8) sheet.Play {
	var p sheet.Play
	for _, h := range all {
		hop := sheet.Hop{From: h[0], To: h[1]}
		if h[2] != 0 {
			hop.Star = sheet.Hit
		}
		p.Hops = append(p.Hops, hop)
	}
	return p
}

// ambiguous plays a game up to "31: bar/21*", a play with two readings: by way of 22 two checkers were hit, by way of 24 only one.
func ambiguous(t *testing.T) *sheet.Sheet {
	t.Helper()
	s := sheet.New(sheet.Options{Variant: short(t), Length: 5, Crawford: true})
	s.Game(1, &[2]int{0, 0})
	s.Play(2, replay.A, rules.Dice{A: 6, B: 2}, hops([3]uint8{24, 18}, [3]uint8{13, 11}))
	s.Play(2, replay.B, rules.Dice{A: 4, B: 3}, hops([3]uint8{8, 4}, [3]uint8{6, 3}))
	s.Play(3, replay.A, rules.Dice{A: 2, B: 1}, hops([3]uint8{13, 11}, [3]uint8{6, 5}))
	s.Play(3, replay.B, rules.Dice{A: 6, B: 1}, hops([3]uint8{13, 7, 1}, [3]uint8{24, 23}))
	s.Play(4, replay.A, rules.Dice{A: 3, B: 1}, hops([3]uint8{25, 21, 1}))
	return s
}

func TestLaterRowSettlesAPlay(t *testing.T) {
	five2 := rules.Dice{A: 5, B: 2}
	for _, c := range []struct {
		name string
		play sheet.Play
		line int // of the finding, 0: none
	}{
		{"two were hit", hops([3]uint8{25, 23}, [3]uint8{25, 20, 1}), 0},
		{"one was hit", hops([3]uint8{25, 20, 1}, [3]uint8{6, 4}), 0},
		{"neither", hops([3]uint8{13, 8}, [3]uint8{13, 11}), 4},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := ambiguous(t)
			s.Play(4, replay.B, five2, c.play)
			r := s.Close()
			if c.line == 0 && len(r.Findings) > 0 || c.line > 0 && (len(r.Findings) != 1 || r.Findings[0].Line != c.line) {
				t.Errorf("findings %+v, want one in line %d", r.Findings, c.line)
			}
		})
	}
}

// TestOldReadingsAreForgotten plays on after a row has settled a play: a fault much later is named where it is, although a reading with
// fitting stars died long before.
func TestOldReadingsAreForgotten(t *testing.T) {
	s := ambiguous(t)
	s.Play(4, replay.B, rules.Dice{A: 5, B: 2}, hops([3]uint8{25, 23}, [3]uint8{25, 20, 1}))
	s.Play(9, replay.A, rules.Dice{A: 6, B: 5}, hops([3]uint8{6, 1}, [3]uint8{8, 2}))
	r := s.Close()
	if len(r.Findings) != 1 || r.Findings[0].Line != 9 {
		t.Errorf("findings %+v, want one in line 9", r.Findings)
	}
}

func TestSessionAcceptsEitherValue(t *testing.T) {
	for points, ok := range map[int64]bool{1: true, 2: true, 3: true, 4: false} {
		s := sheet.New(sheet.Options{Variant: short(t)})
		s.Game(1, nil)
		s.Play(2, replay.A, rules.Dice{A: 3, B: 1}, hops([3]uint8{8, 5}, [3]uint8{6, 5}))
		s.GiveUp(3, replay.B)
		s.Result(4, replay.A, points)
		if r := s.Close(); (len(r.Findings) == 0) != ok {
			t.Errorf("%d points: %+v", points, r.Findings)
		}
	}
}

func Example() {
	short, _ := rules.Lookup("short")
	s := sheet.New(sheet.Options{Variant: short, Length: 5, Crawford: true})
	s.Game(10, &[2]int{0, 0})
	s.Play(12, replay.A, rules.Dice{A: 3, B: 1}, sheet.Play{Hops: []sheet.Hop{{From: 8, To: 5}, {From: 6, To: 5}}})
	s.Double(13, replay.B, 2)
	s.Drop(14, replay.A)
	s.Result(15, replay.B, 2)
	for _, f := range s.Close().Findings {
		fmt.Printf("line %d: %s: %s\n", f.Line, f.Check, f.Message)
	}
	// Output:
	// line 15: result: the game was worth 1, not 2
}
