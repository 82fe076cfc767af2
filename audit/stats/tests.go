package stats

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"fairdice/commitment"
)

// faceCounts counts the dice of pairs one by one.
func faceCounts(p [pairs]int64) (f [faces]int64) {
	for i, n := range p {
		f[i/faces] += n
		f[i%faces] += n
	}
	return f
}

func total(counts []int64) (n int64) {
	for _, c := range counts {
		n += c
	}
	return n
}

// independent tests the modes whose rolls are independent and uniform.
func (b *bench) independent(t *Tally) {
	n := total(t.Pairs[:])
	b.pairTests("pairs", "faces", "rolls", t.Pairs)
	if t.Games[Finished]+t.Games[Dropped] < minGames || n < pairs*minCells {
		b.skip("doubles, serial correlation, gaps, seats and colours", n, pairs*minCells, "rolls")
		return
	}
	sd := math.Sqrt(varSixths)
	doubles := total(t.Doubles[:])
	dev, se := float64(doubles)-float64(n)/6, math.Sqrt(float64(n)*5/36)
	b.add(Test{
		Name: "doubles", What: "are there as many doubles as chance gives", N: n, Unit: "rolls", P: normal(dev / se),
		Statistic: fmt.Sprintf("z = %.2f", dev/se), Effect: fmt.Sprintf("%.3f %% doubles, 16.667 %% expected", 100*float64(doubles)/float64(n)),
	}, func(a float64) string { return fmt.Sprintf("%.3f percentage points", 100*shift(a)*se/float64(n)) })

	serial := float64(t.Serial) / (sd * math.Sqrt(float64(max(1, t.Squares))))
	b.add(Test{
		Name: "serial", What: "does a roll tell anything about the player's next", N: n, Unit: "rolls", P: normal(serial),
		Statistic: fmt.Sprintf("z = %.2f", serial), Effect: fmt.Sprintf("correlation %.4f", float64(t.Serial)/float64(max(1, t.Squares))),
	}, func(a float64) string {
		return fmt.Sprintf("a correlation of %.4f", shift(a)*sd/math.Sqrt(float64(max(1, t.Squares))))
	})
	b.gaps(t)
	b.sides("seats", "do A and B roll equally well", "A", "B", t.Worth, t.Rolls)
	b.sides("colours", "do White and Black roll equally well", "White", "Black", t.ByColor, t.Colored)
}

// pairTests are the χ² tests on pairs and on faces of independent rolls.
func (b *bench) pairTests(namePairs, nameFaces, unit string, counts [pairs]int64) {
	n := total(counts[:])
	if n < pairs*minCells {
		b.skip(namePairs+" and "+nameFaces, n, pairs*minCells, unit)
		return
	}
	x := chiSquare(counts[:], float64(n))
	b.add(Test{
		Name: namePairs, What: "are the 36 pairs equally frequent", N: n, Unit: unit, P: twoSided(x, pairs-1),
		Statistic: fmt.Sprintf("χ² = %.1f, 35 degrees", x), Effect: worst(counts[:], pairName),
	}, func(a float64) string {
		return fmt.Sprintf("one pair %.1f %% off", 100*math.Sqrt(35*noncentrality(pairs-1, a)/float64(n)))
	})
	f := faceCounts(counts)
	x = chiSquare(f[:], 2*float64(n))
	b.add(Test{
		Name: nameFaces, What: "are the six faces equally frequent", N: n, Unit: unit, P: twoSided(x, faces-1),
		Statistic: fmt.Sprintf("χ² = %.1f, 5 degrees", x), Effect: worst(f[:], func(i int) string { return fmt.Sprint(i + 1) }),
	}, func(a float64) string {
		return fmt.Sprintf("one face %.2f %% off (3 %% are found from %d %s on)",
			100*math.Sqrt(5*noncentrality(faces-1, a)/(2*float64(n))), FaceSample(0.03, a), unit)
	})
}

// gaps tests whether a double depends on how long ago the last one was.
func (b *bench) gaps(t *Tally) {
	x, df, n := 0.0, 0, int64(0)
	for age, rolls := range t.Gaps {
		if rolls < 6*minCells {
			continue
		}
		dev := float64(t.Doubles[age]) - float64(rolls)/6
		x += dev * dev / (float64(rolls) * 5 / 36)
		df++
		n += rolls
	}
	if df < 2 {
		b.skip("gaps", total(t.Gaps[:]), 6*minCells, "rolls")
		return
	}
	b.add(Test{
		Name: "gaps", What: "does a double depend on how long ago the last one was", N: n, Unit: "rolls", P: twoSided(x, df),
		Statistic: fmt.Sprintf("χ² = %.1f, %d degrees", x, df), Effect: fmt.Sprintf("%.3f %% right after a double", 100*float64(t.Doubles[0])/float64(max(1, t.Gaps[0]))),
	}, func(a float64) string {
		return fmt.Sprintf("%.2f percentage points after one gap length", 100*math.Sqrt(noncentrality(df, a)*5/36/(float64(n)/float64(df))))
	})
}

// sides compares what two sides rolled above the mean.
func (b *bench) sides(name, what, one, other string, worth, rolls [2]int64) {
	n := rolls[0] + rolls[1]
	if n < pairs*minCells || rolls[0] == 0 || rolls[1] == 0 {
		b.skip(name, n, pairs*minCells, "rolls")
		return
	}
	se := math.Sqrt(varSixths * float64(n))
	z := float64(worth[0]-worth[1]) / se
	b.add(Test{
		Name: name, What: what, N: n, Unit: "rolls", P: normal(z), Statistic: fmt.Sprintf("z = %.2f", z),
		Effect: fmt.Sprintf("%s %+.3f, %s %+.3f pips a roll above the mean", one, float64(worth[0])/6/float64(rolls[0]), other, float64(worth[1])/6/float64(rolls[1])),
	}, func(a float64) string { return fmt.Sprintf("%.3f pips a roll", 2*shift(a)*se/6/float64(n)) })
}

// opening tests the opening draws, which are independent in every mode.
func (b *bench) opening(t *Tally) {
	n := total(t.Opening[:])
	if n < pairs*minCells {
		b.skip("openings", n, pairs*minCells, "draws")
		return
	}
	x := chiSquare(t.Opening[:], float64(n))
	b.add(Test{
		Name: "openings", What: "are the 36 opening draws equally frequent", N: n, Unit: "draws", P: twoSided(x, pairs-1),
		Statistic: fmt.Sprintf("χ² = %.1f, 35 degrees", x), Effect: worst(t.Opening[:], pairName),
	}, func(a float64) string {
		return fmt.Sprintf("one pair %.1f %% off", 100*math.Sqrt(35*noncentrality(pairs-1, a)/float64(n)))
	})
	var won [2]int64
	for i, c := range t.Opening {
		switch {
		case i/faces > i%faces:
			won[0] += c
		case i/faces < i%faces:
			won[1] += c
		}
	}
	sum := float64(won[0] + won[1])
	z := float64(won[0]-won[1]) / math.Sqrt(sum)
	b.add(Test{
		Name: "first move", What: "do A and B win the opening draw equally often", N: won[0] + won[1], Unit: "decisive draws", P: normal(z),
		Statistic: fmt.Sprintf("z = %.2f", z), Effect: fmt.Sprintf("A won %.2f %%", 100*float64(won[0])/sum),
	}, func(a float64) string { return fmt.Sprintf("%.2f percentage points", 50*shift(a)/math.Sqrt(sum)) })
}

// blocks tests the modes that deal in blocks, on whole blocks that were begun.
// The exact law of the mode has been checked card by card; what is left to
// chance is the order inside a block and, in decks, where the first begins.
func (b *bench) blocks(mode commitment.Mode, t *Tally) {
	switch {
	case mode == commitment.Equal:
		b.pairTests("pairs", "faces", "cards", t.Cards)
	case mode.Deck() > 0:
		b.evenness(t)
	case mode == commitment.Levelled:
		b.apart(t)
	}
	if t.Blocks < minGames {
		b.skip("order, seats and colours", t.Blocks, minGames, "blocks")
		return
	}
	early := func(name, what string, dev, variance float64, effect string) {
		se := math.Sqrt(variance)
		z := dev / se
		b.add(Test{
			Name: name, What: what, N: t.Blocks, Unit: "blocks", P: normal(z), Statistic: fmt.Sprintf("z = %.2f", z),
			Effect: fmt.Sprintf(effect, dev/6/float64(t.Blocks)),
		}, func(a float64) string { return fmt.Sprintf("%.3f pips a block", shift(a)*se/6/float64(t.Blocks)) })
	}
	d, v := [2]float64{float64(t.Early[0]) / 1e3, float64(t.Early[1]) / 1e3}, t.EarlyV
	if v[0] == 0 || v[1] == 0 {
		b.skip("order, seats and colours", t.Blocks, minGames, "blocks of both seats")
		return
	}
	early("order", "is the first half of a block as good as the second", d[0]+d[1], float64(v[0]+v[1]), "%+.3f pips in the first half")
	early("seats", "do A and B get their good cards equally early", d[0]-d[1], float64(v[0]+v[1]), "A %+.3f pips earlier")
	if c, v := t.EarlyC, t.EarlyCV; v[0] > 0 && v[1] > 0 {
		early("colours", "do White and Black get their good cards equally early", float64(c[0]-c[1])/1e3, float64(v[0]+v[1]), "White %+.3f pips earlier")
	}
}

// evenness tests the pairs of decks. Whole decks hold every pair equally often,
// so only the first ones, which begin at a random card, have anything to say;
// drawn without replacement, their counts spread less than independent rolls
// would by a known factor. The plain χ² of all cards must lie far in the lower
// tail; it is printed beside it.
func (b *bench) evenness(t *Tally) {
	n := total(t.First[:])
	variance := float64(t.FirstV) / 1e6
	if variance < pairs*minCells {
		b.skip("pairs", int64(variance), pairs*minCells, "cards' worth of first blocks")
		return
	}
	x := chiSquare(t.First[:], variance)
	all := total(t.Cards[:])
	plain := chiSquare(t.Cards[:], float64(all))
	b.add(Test{
		Name: "pairs", What: "are the pairs of the first blocks as even as drawing from a deck makes them", N: n, Unit: "cards", P: twoSided(x, pairs-1),
		Statistic: fmt.Sprintf("χ² = %.1f, 35 degrees", x),
		Effect: fmt.Sprintf("all %d cards: χ² = %.1f, evener than %.4g of independent rolls (lower tail %.2g)", all, plain,
			distuv.ChiSquared{K: pairs - 1}.Survival(plain), distuv.ChiSquared{K: pairs - 1}.CDF(plain)),
	}, func(a float64) string {
		return fmt.Sprintf("one pair %.1f %% off", 100*math.Sqrt(35*noncentrality(pairs-1, a)*variance)/float64(n))
	})
}

// apart tests whether levelled blocks favour a seat within what they allow.
func (b *bench) apart(t *Tally) {
	if t.ApartV == 0 || t.Blocks < 2*minGames {
		b.skip("pips", t.Blocks/2, minGames, "pairs of blocks")
		return
	}
	n, se := float64(t.Blocks)/2, math.Sqrt(float64(t.ApartV))
	z := float64(t.Apart) / se
	b.add(Test{
		Name: "pips", What: "does the difference that a levelled block allows favour a seat", N: t.Blocks / 2, Unit: "pairs of blocks", P: selfNormal(z, t.Blocks/2),
		Statistic: fmt.Sprintf("z = %.2f", z), Effect: fmt.Sprintf("A %+.3f pips a block above B", float64(t.Apart)/6/n),
	}, func(a float64) string { return fmt.Sprintf("%.3f pips a block", shift(a)*se/6/n) })
}

// luck compares games that were finished with games that were dropped.
func (b *bench) luck(t *Tally) {
	one := func(name, what string, m Moments, who string) {
		if m.N < minLuck || m.Sq == 0 {
			b.skip(name, m.N, minLuck, "games")
			return
		}
		se := math.Sqrt(float64(m.Sq))
		z := float64(m.Sum) / se
		b.add(Test{
			Name: name, What: what, N: m.N, Unit: "games", P: selfNormal(z, m.N), Statistic: fmt.Sprintf("z = %.2f", z),
			Effect: fmt.Sprintf("%s %+.2f pips ahead in the first rolls", who, float64(m.Sum)/6/float64(m.N)),
		}, func(a float64) string { return fmt.Sprintf("%.2f pips a game", shift(a)*se/6/float64(m.N)) })
	}
	f, d := t.Luck[Finished], t.Luck[Dropped]
	one("luck of finished games", "did the games that were finished favour a seat", f, "A")
	one("luck of White", "did the games that were finished favour a colour", t.LuckW, "White")
	if d.N > 0 {
		one("luck of aborted games", "did the games that were aborted favour a seat", d, "A")
	}
	if u := t.Luck[Unused]; u.N > 0 {
		one("luck of retired sequences", "would the sequences that were retired have favoured a seat", u, "A")
	}
	if d.N < minLuck || f.N < minLuck || f.Sq == 0 || d.Sq == 0 {
		return
	}
	mean := func(m Moments) float64 { return float64(m.Sum) / float64(m.N) }
	spread := func(m Moments) float64 { // of the mean
		n := float64(m.N)
		return (float64(m.Sq)/n - mean(m)*mean(m)) / (n - 1)
	}
	vf, vd := spread(f), spread(d)
	se := math.Sqrt(vf + vd)
	z := (mean(d) - mean(f)) / se
	degrees := se * se * se * se / (vf*vf/float64(f.N-1) + vd*vd/float64(d.N-1)) // Welch 1947
	b.add(Test{
		Name: "aborted against finished", What: "were the games that were aborted as lucky as those that were finished", N: f.N + d.N, Unit: "games",
		P: student(z, degrees), Statistic: fmt.Sprintf("t = %.2f, %.0f degrees", z, degrees),
		Effect: fmt.Sprintf("A %+.2f pips ahead in aborted games, %+.2f in finished ones", mean(d)/6, mean(f)/6),
	}, func(a float64) string { return fmt.Sprintf("%.2f pips a game", shift(a)*se/6) })
}

func pairName(i int) string { return fmt.Sprintf("%d-%d", i/faces+1, i%faces+1) }

// worst names the cell that is farthest from what was expected.
func worst(counts []int64, name func(int) string) string {
	mean := float64(total(counts)) / float64(len(counts))
	at := 0
	for i, c := range counts {
		if math.Abs(float64(c)-mean) > math.Abs(float64(counts[at])-mean) {
			at = i
		}
	}
	return fmt.Sprintf("farthest off: %s, %+.2f %%", name(at), 100*(float64(counts[at])-mean)/mean)
}

// chart keeps the counts for a drawing.
func (b *bench) chart(name string, counts [pairs]int64) {
	n := total(counts[:])
	if n == 0 {
		return
	}
	c := Chart{Group: b.group, Name: name}
	for i, k := range counts {
		c.Labels = append(c.Labels, pairName(i))
		c.Seen = append(c.Seen, k)
		c.Expected = append(c.Expected, float64(n)/pairs)
	}
	b.Charts = append(b.Charts, c)
}
