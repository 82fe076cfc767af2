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
func (l Luck) Words() []string {
	if l.Rolls == 0 {
		return []string{"No roll was counted."}
	}
	return []string{
		l.Pips.words("pips", l.Rolls),
		l.Doubles.words("doubles", l.Rolls),
	}
}

func (m Figure) words(what string, rolls int) string {
	diff := float64(m.Seen) - m.Expected
	more := "more"
	if diff < 0 {
		more = "fewer"
	}
	s := fmt.Sprintf("%d %s in %d rolls, %.1f %s than the %.1f that fair dice give on average. 95 of 100 fair players have between %d and %d", m.Seen, what, rolls, math.Abs(diff), more, m.Expected, m.Low, m.High)
	switch {
	case m.Within():
		s += "; this is one of them"
	case diff > 0:
		s += "; this is above"
	default:
		s += "; this is below"
	}
	if m.AtLeast < m.AtMost {
		return s + fmt.Sprintf(". %s of 100 have at least as many.", count(m.AtLeast))
	}
	return s + fmt.Sprintf(". %s of 100 have no more.", count(m.AtMost))
}

// count prints how many of a hundred, with digits only where they matter.
func count(share float64) string {
	switch {
	case share < 0.01:
		return "Less than 0.01"
	case share < 1:
		return fmt.Sprintf("About %.2f", share)
	default:
		return fmt.Sprintf("About %.0f", share)
	}
}
