package rules_test

import (
	"flag"
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/rules"
)

var differential = flag.Int("differential", 400, "positions per variant that both generators must agree on")

// arranged is a random position set up by hand: clusters, so that blocks, pins and full homes are common. ok is
// false when the checkers do not fit.
func arranged(r rules.Rules, rng *rand.Rand) (rules.Position, bool) {
	if r.Barrier == rules.BarrierStart && rng.IntN(3) == 0 {
		return locked(r, rng)
	}
	var s rules.Setup
	free := func(c rules.Color, idx int) bool {
		there := s.Points[c.Other()][r.Across(idx)]
		return there == 0 || r.Pins() && (there == 1 || s.Points[c][idx] <= 1)
	}
	for c := rules.White; c <= rules.Black; c++ {
		lo, span := rng.IntN(24), 1+rng.IntN(24)
		style := rng.IntN(5)
		if style == 0 {
			lo, span = 18, 6
		}
		switch rng.IntN(12) {
		case 0, 1, 2:
			s.Off[c] = rng.IntN(r.Checkers())
		case 3:
			s.Off[c] = r.Checkers() - 1
		}
		if r.HasBar() && rng.IntN(5) == 0 {
			s.Bar[c] = min(rng.IntN(3), r.Checkers()-s.Off[c])
		}
		stack := style == 1 && rng.IntN(3) == 0
		for n, tries := s.Off[c]+s.Bar[c], 0; n < r.Checkers(); tries++ {
			if tries > 400 {
				return rules.Position{}, false
			}
			idx := (lo + rng.IntN(span)) % 24
			if style == 2 && rng.IntN(3) > 0 {
				idx = (lo + n) % 24 // a wall
			}
			if style == 3 && rng.IntN(3) == 0 {
				idx = 0
			}
			if !free(c, idx) {
				lo = rng.IntN(24)
				continue
			}
			count := 1
			if stack {
				count = r.Checkers() - n
			}
			s.Points[c][idx] += count
			n += count
		}
	}
	for idx := range 24 {
		white, black := s.Points[0][idx], s.Points[1][r.Across(idx)]
		if white > 0 && black > 0 {
			if white == 1 && (black > 1 || rng.IntN(2) == 0) {
				s.Pinned[0][idx] = true
			} else {
				s.Pinned[1][r.Across(idx)] = true
			}
		}
	}
	p, err := r.Position(s)
	return p, err == nil
}

// locked is a position with a lock-15, or one step from it.
func locked(r rules.Rules, rng *rand.Rand) (rules.Position, bool) {
	var s rules.Setup
	me := rules.Color(rng.IntN(2))
	at := rng.IntN(18)
	s.Points[me.Other()][at] = r.Checkers()
	n := 0
	for i := at + 1; i <= at+6; i++ {
		for range 1 + rng.IntN(2)*rng.IntN(2)*8/(1+rng.IntN(8)) {
			if n < r.Checkers() {
				s.Points[me][r.Across(i)]++
				n++
			}
		}
	}
	for n < r.Checkers() {
		idx := rng.IntN(24)
		if r.Across(idx) == at {
			continue
		}
		count := 1 + rng.IntN(r.Checkers()-n)
		s.Points[me][idx] += count
		n += count
	}
	if rng.IntN(3) == 0 { // a gap
		i := r.Across(at + 1 + rng.IntN(6))
		j := rng.IntN(24)
		if r.Across(j) != at {
			k := s.Points[me][i]
			s.Points[me][i] -= k
			s.Points[me][j] += k
		}
	}
	p, err := r.Position(s)
	return p, err == nil
}

// anyStage is a random stage that CheckStage accepts.
func anyStage(r rules.Rules, rng *rand.Rand) rules.Stage {
	for {
		s := rules.StageOf(rules.Color(rng.IntN(2)), rules.Kind(rng.IntN(3)), throw(rng))
		s.Roll = uint16(rng.IntN(9))
		s.First = s.Roll == 1 && s.Kind == rules.Own
		if rng.IntN(3) == 0 {
			s.WhiteFirst = rules.Dice{A: 3, B: 3}
		}
		if r.Head55Applies() {
			s.Head55 = rules.Head55(rng.IntN(3))
		}
		s.HeadTaken = uint8(rng.IntN(8) / 6)
		if s.Kind == rules.Handed {
			s.Thrown = rules.Dice{}
			v := s.Dice[0]
			s.Dice = [4]uint8{}
			for i := range 1 + rng.IntN(4) {
				s.Dice[i] = v
			}
		}
		if r.CheckStage(s) == nil {
			return s
		}
	}
}

func compareGenerators(t *testing.T, r rules.Rules, p rules.Position, s rules.Stage, gen *rules.Generator) {
	t.Helper()
	k, want := naivePlays(r, p, s)
	plays := gen.Plays(r, p, s)
	got := map[string]rules.Ending{}
	for i, end := range plays.Ends {
		if _, twice := got[end.String()]; twice {
			t.Errorf("%s\nstage %+v: end listed twice: %s", p, s, end)
		}
		got[end.String()] = plays.Final[i]
	}
	if plays.K != k {
		t.Errorf("%s\nstage %+v: K = %d, the naive generator has %d", p, s, plays.K, k)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Fatalf("%s\nstage %+v: ends (-naive +got):\n%s", p, s, diff)
	}
}

// TestDifferential compares the generator with the naive one on reached and on arranged positions.
func TestDifferential(t *testing.T) {
	for i, v := range rules.Variants() {
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			rng := rand.New(rand.NewPCG(uint64(i), 77))
			var gen, player rules.Generator
			g := v.Rules.NewGame(rules.Terms{})
			for n := 0; n < *differential; {
				if p, ok := arranged(v.Rules, rng); ok && n%2 == 0 {
					compareGenerators(t, v.Rules, p, anyStage(v.Rules, rng), &gen)
					n++
				}
				if g.Due() == rules.DueOver {
					g = v.Rules.NewGame(rules.Terms{Head55: rules.Head55Literal})
				}
				if g.Due() == rules.DueStage {
					compareGenerators(t, v.Rules, g.Position(), g.Stage(), &gen)
					n++
				}
				g = advance(t, g, &player, rng)
			}
		})
	}
}

// FuzzDifferential is TestDifferential without an end: `go test -fuzz FuzzDifferential ./rules`.
func FuzzDifferential(f *testing.F) {
	for i := range 28 {
		f.Add(uint64(i), uint64(i))
	}
	variants := rules.Variants()
	f.Fuzz(func(t *testing.T, which, seed uint64) {
		r := variants[which%uint64(len(variants))].Rules
		rng := rand.New(rand.NewPCG(which, seed))
		var gen rules.Generator
		for range 20 {
			if p, ok := arranged(r, rng); ok {
				s := anyStage(r, rng)
				compareGenerators(t, r, p, s, &gen)
				for _, play := range gen.List(r, p, s) {
					if end, _, err := gen.Play(r, p, s, play.Steps); err != nil || end != play.End {
						t.Fatalf("%s: Play and List differ: %v", p, err)
					}
				}
			}
		}
	})
}
