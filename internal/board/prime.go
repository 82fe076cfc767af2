package board

import "fairdice/rules"

// primeLength is how many points make a prime: no roll carries a checker over
// six that it cannot enter.
const primeLength = 6

// Prime is a wall of six or more points side by side that one colour holds and
// the other cannot enter: indices on the path of its owner, in the order in which
// the other colour meets them. Whether a variant allows it is for the rules to say
// (RULES.md §3 C7, §4 F2).
type Prime []int

// Primes are the primes of a colour. None goes past the end of the other
// colour's path: for White there is none from 12 to 13 in the long games.
func Primes(p rules.Position, r rules.Rules, c rules.Color) (all []Prime) {
	var run Prime
	for idx := range 25 { // on the path of the other colour, and one past its end
		if idx < 24 && holds(p, r, c, r.Across(idx)) {
			run = append(run, r.Across(idx))
			continue
		}
		if len(run) >= primeLength {
			all = append(all, run)
		}
		run = nil
	}
	return all
}

// holds reports whether the other colour cannot enter a point: one checker is
// enough where nothing is hit or pinned, else it takes two, or one that stands on
// a pinned checker.
func holds(p rules.Position, r rules.Rules, c rules.Color, idx int) bool {
	n := p.At(c, idx)
	switch {
	case n == 0 || p.Held(c, idx):
		return false
	case r.HasBar():
		return n > 1
	case r.Pins():
		return n > 1 || p.Held(c.Other(), r.Across(idx))
	}
	return true
}

// primed tells which points, by index of the player at the bottom, are part of
// a prime.
func (o Options) primed(p rules.Position) (in [24]bool) {
	for _, c := range [2]rules.Color{rules.White, rules.Black} {
		for _, wall := range Primes(p, o.Rules, c) {
			for _, idx := range wall {
				if c != o.View {
					idx = o.Rules.Across(idx)
				}
				in[idx] = true
			}
		}
	}
	return in
}
