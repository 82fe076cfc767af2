package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"fairdice/commitment"
)

// Luck is what one player rolled, beside what fair dice give. Intervals hold
// 95 of 100 fair players; AtMost and AtLeast say how many of 100 have no more, and
// no less.
type Luck struct {
	Rolls   int    `json:"rolls"`
	Pips    Figure `json:"pips"`    // a+b, four times the die for a double
	Doubles Figure `json:"doubles"` // how many
}

// Figure is one number of a player's luck.
type Figure struct {
	Seen     int     `json:"seen"`
	Expected float64 `json:"expected"`
	Low      int     `json:"low"`
	High     int     `json:"high"`
	AtMost   float64 `json:"atMost"`
	AtLeast  float64 `json:"atLeast"`
}

// exactRolls bounds for how many rolls the law of the sum is worked out exactly;
// beyond it a normal law differs by less than a pip.
const exactRolls = 400

// LuckOf measures a player's rolls.
func LuckOf(rolls []commitment.Dice) Luck {
	pips, doubles := 0, 0
	for _, d := range rolls {
		pips += d.Pips()
		if d.IsDouble() {
			doubles++
		}
	}
	return Luck{Rolls: len(rolls), Pips: pipLuck(len(rolls), pips), Doubles: doubleLuck(len(rolls), doubles)}
}

func pipLuck(n, seen int) Figure {
	mean := float64(n) * meanSixths / 6
	if n > exactRolls {
		law := distuv.Normal{Mu: mean, Sigma: math.Sqrt(float64(n)*varSixths) / 6}
		return Figure{Seen: seen, Expected: mean, Low: int(math.Round(law.Quantile(0.025))), High: int(math.Round(law.Quantile(0.975))),
			AtMost: 100 * law.CDF(float64(seen)+0.5), AtLeast: 100 * law.Survival(float64(seen)-0.5)}
	}
	m := measure(sumLaw(n), seen)
	m.Expected = mean
	return m
}

// sumLaw is the exact law of the pips of n rolls.
func sumLaw(n int) []float64 {
	var one [4*faces + 1]float64
	for i := range pairs {
		d := commitment.Dice{D1: uint8(i/faces + 1), D2: uint8(i%faces + 1)}
		one[d.Pips()] += 1.0 / pairs
	}
	law := []float64{1}
	for range n {
		next := make([]float64, len(law)+len(one)-1)
		for i, p := range law {
			for j, q := range one {
				next[i+j] += p * q
			}
		}
		law = next
	}
	return law
}

func doubleLuck(n, seen int) Figure {
	law := make([]float64, n+1)
	b := distuv.Binomial{N: float64(n), P: 1.0 / 6}
	for k := range law {
		law[k] = b.Prob(float64(k))
	}
	m := measure(law, seen)
	m.Expected = float64(n) / 6
	return m
}

// measure reads interval and share off a law.
func measure(law []float64, seen int) (m Figure) {
	m.Seen, m.Low, m.High = seen, -1, len(law)-1
	sum := 0.0
	for k, p := range law {
		if sum+p > 0.025 && m.Low < 0 {
			m.Low = k
		}
		if k <= seen {
			m.AtMost += 100 * p
		}
		if k >= seen {
			m.AtLeast += 100 * p
		}
		if sum += p; sum >= 0.975 {
			m.High = min(m.High, k)
		}
	}
	m.Low = max(m.Low, 0)
	return m
}

// Within reports whether the figure lies in the interval.
func (m Figure) Within() bool { return m.Low <= m.Seen && m.Seen <= m.High }

// Words says it plainly.
func (l Luck) Words() (words []string) {
	for _, s := range l.Sentences() {
		words = append(words, s.String())
	}
	return words
}

// Sentence is a text that keeps its format and values, so that it can be said in
// another language (package internal/phrase, whose texts package messages has).
type Sentence struct {
	format string
	values []any
}

func say(format string, values ...any) Sentence { return Sentence{format, values} }

// String is the sentence in English.
func (s Sentence) String() string { return fmt.Sprintf(s.format, s.values...) }

// Phrase returns the format, and the values for it.
func (s Sentence) Phrase() (format string, values []any) { return s.format, s.values }

// Sentences are the words, one on the pips and one on the doubles.
func (l Luck) Sentences() []Sentence {
	if l.Rolls == 0 {
		return []Sentence{say("No roll was counted.")}
	}
	return []Sentence{l.Pips.sentence(say("pips"), l.Rolls), l.Doubles.sentence(say("doubles"), l.Rolls)}
}

func (m Figure) sentence(what Sentence, rolls int) Sentence {
	diff := float64(m.Seen) - m.Expected
	place := say("this is one of them")
	switch {
	case m.Within():
	case diff > 0:
		place = say("this is above")
	default:
		place = say("this is below")
	}
	share := say("%s of 100 have no more", count(m.AtMost))
	if m.AtLeast < m.AtMost {
		share = say("%s of 100 have at least as many", count(m.AtLeast))
	}
	if diff < 0 {
		return say("%d %s in %d rolls, %.1f fewer than the %.1f that fair dice give on average. 95 of 100 fair players have between %d and %d; %s. %s.",
			m.Seen, what, rolls, -diff, m.Expected, m.Low, m.High, place, share)
	}
	return say("%d %s in %d rolls, %.1f more than the %.1f that fair dice give on average. 95 of 100 fair players have between %d and %d; %s. %s.",
		m.Seen, what, rolls, diff, m.Expected, m.Low, m.High, place, share)
}

// count is how many of a hundred, with digits only where they matter.
func count(share float64) Sentence {
	switch {
	case share < 0.01:
		return say("Less than 0.01")
	case share < 1:
		return say("About %.2f", share)
	default:
		return say("About %.0f", share)
	}
}
