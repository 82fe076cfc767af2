package stats

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/stat/distuv"

	"fairdice/commitment"
)

// Levels of a report, on p-values that Holm's method has corrected for the
// number of all tests of the report. Honest dice reach the report level in one
// report of a hundred: such a line is to be looked at, and proves nothing. They
// reach the alarm level in one of a million.
const (
	ReportLevel = 0.01
	AlarmLevel  = 1e-6
)

// Power is the probability with which the detectable effect is found.
const Power = 0.9

// Below these a test is not carried out: its distribution would be a guess.
const (
	minGames = 30 // of sums over games
	minCells = 10 // expected in a cell of a χ² test
	minLuck  = 20 // games of a lot
)

// Test is one test of one group.
type Test struct {
	Group
	Name       string  `json:"name"`
	What       string  `json:"what"`       // the question, in plain words
	N          int64   `json:"n"`          // sample size, in units of Unit
	Unit       string  `json:"unit"`       //
	Statistic  string  `json:"statistic"`  // its value, with the law it follows
	P          float64 `json:"p"`          // of this test alone
	Holm       float64 `json:"holm"`       // corrected for all tests of the report
	Effect     string  `json:"effect"`     // what was measured
	Detectable string  `json:"detectable"` // what the alarm would have found
	Verdict    Verdict `json:"verdict"`

	detect func(alarm float64) string
}

// Verdict is what a test comes to.
type Verdict string

// The verdicts.
const (
	Quiet    Verdict = "quiet"    // nothing to be seen
	Reported Verdict = "reported" // below the report level: look at it
	Alarm    Verdict = "alarm"    // below the alarm level
	Told     Verdict = "told"     // for information: the mode promises nothing here
)

// Chart is how often something occurred, and how often it was expected.
type Chart struct {
	Group    Group     `json:"group"`
	Name     string    `json:"name"`
	Labels   []string  `json:"labels"`
	Seen     []int64   `json:"seen"`
	Expected []float64 `json:"expected"`
}

// Report is what the statistics say.
type Report struct {
	ReportLevel float64  `json:"reportLevel"`
	AlarmLevel  float64  `json:"alarmLevel"`
	Tests       []Test   `json:"tests"`
	Charts      []Chart  `json:"charts"`
	NotTested   []string `json:"notTested"` // groups and tests whose samples are too small
	Left        int64    `json:"left"`      // games that are only pooled, their groups being too many
}

// Alarms returns the tests whose verdict is v or worse.
func (r Report) Alarms(v Verdict) []Test {
	var out []Test
	for _, t := range r.Tests {
		if t.Verdict == Alarm || v == Reported && t.Verdict == Reported {
			out = append(out, t)
		}
	}
	return out
}

// Report carries out all tests.
func (t *Table) Report() Report {
	b := &bench{small: map[Group]bool{}, Report: Report{ReportLevel: ReportLevel, AlarmLevel: AlarmLevel, Tests: []Test{}, Charts: []Chart{}, NotTested: []string{}, Left: t.Left}}
	rows := t.sorted()
	for _, row := range rows {
		b.group = row.Group
		b.examine(&row.Tally)
	}
	if n := len(b.small); n > 0 {
		b.NotTested = append(b.NotTested, fmt.Sprintf("of %d groups (modes, tenants in them, receipt keys) %d have too few games for some or all tests of their own; their games count in the group above", len(rows), n))
	}
	b.holm()
	return b.Report
}

// bench carries out the tests of one group after another.
type bench struct {
	Report
	group Group
	small map[Group]bool // tenants and keys with too few games for some test
}

func (b *bench) examine(t *Tally) {
	mode, err := commitment.ParseMode(b.group.Mode)
	if err != nil {
		return
	}
	if b.group.Tenant == "" {
		b.chart("pairs", t.Pairs)
	}
	if mode.Blocks() {
		b.blocks(mode, t)
	} else {
		b.independent(t)
	}
	if mode != commitment.Real {
		b.opening(t)
	}
	b.luck(t)
}

// add enters a test. detect says what effect is found at a corrected level.
func (b *bench) add(t Test, detect func(alarm float64) string) {
	t.Group, t.detect = b.group, detect
	t.P = min(max(t.P, 0), 1)
	b.Tests = append(b.Tests, t)
}

// skip says that a test is left out for want of games. Of tenants and keys,
// which may be many, it is only counted.
func (b *bench) skip(name string, have, want int64, unit string) {
	if b.group.Tenant != "" {
		b.small[b.group] = true
		return
	}
	b.NotTested = append(b.NotTested, fmt.Sprintf("%s of %s: the sample is %d %s, the least is %d", name, b.group, have, unit, want))
}

// String names a group.
func (g Group) String() string {
	s := "mode " + g.Mode
	if g.Tenant != "" {
		s += ", tenant " + g.Tenant
	}
	if g.Key != "" {
		s += ", key " + g.Key
	}
	return s
}

// holm corrects the p-values for their number (Holm 1979): sorted from the
// smallest, the i-th of m is multiplied by m-i+1, and none is smaller than the
// one before it. It holds however the tests depend on one another.
func (b *bench) holm() {
	var order []int
	for i, t := range b.Tests {
		if t.Mode == commitment.Real.String() {
			b.Tests[i].Holm, b.Tests[i].Verdict = t.P, Told
		} else {
			order = append(order, i)
		}
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(b.Tests[i].P, b.Tests[j].P) })
	worst := 0.0
	for rank, i := range order {
		t := &b.Tests[i]
		worst = max(worst, min(1, t.P*float64(len(order)-rank)))
		t.Holm = worst
		switch {
		case worst < AlarmLevel:
			t.Verdict = Alarm
		case worst < ReportLevel:
			t.Verdict = Reported
		default:
			t.Verdict = Quiet
		}
	}
	for i := range b.Tests {
		b.Tests[i].Detectable = b.Tests[i].detect(AlarmLevel / float64(max(1, len(order))))
	}
}

// normal is the test of a sum that should be 0 against its standard error,
// both ways.
func normal(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }

// selfNormal is the test of a sum of n values that should be symmetric about 0,
// against their own squares: Student's law with n-1 degrees.
func selfNormal(z float64, n int64) float64 {
	k := float64(n)
	return student(z*math.Sqrt((k-1)/max(1e-9, k-z*z)), k-1)
}

func student(t, degrees float64) float64 {
	return min(1, 2*distuv.StudentsT{Sigma: 1, Nu: degrees}.Survival(math.Abs(t)))
}

// shift is the deviation, in standard errors, that a two-sided test at the
// level finds with probability Power.
func shift(level float64) float64 {
	return distuv.UnitNormal.Quantile(1-level/2) + distuv.UnitNormal.Quantile(Power)
}

// chiSquare returns the statistic of counts against equal expectations, each
// with the variance that v independent throws would give it.
func chiSquare(counts []int64, v float64) (x float64) {
	var n float64
	for _, c := range counts {
		n += float64(c)
	}
	k := float64(len(counts))
	for _, c := range counts {
		d := float64(c) - n/k
		x += d * d
	}
	return x * k / v
}

// twoSided takes too even as seriously as too uneven.
func twoSided(x float64, df int) float64 {
	law := distuv.ChiSquared{K: float64(df)}
	return min(1, 2*min(law.Survival(x), law.CDF(x)))
}

// noncentrality returns how far off a χ² test of df must be to be found at the
// level with probability Power.
func noncentrality(df int, level float64) float64 {
	critical := distuv.ChiSquared{K: float64(df)}.Quantile(1 - level/2)
	low, high := 0.0, 1.0
	for missed(high, df, critical) > 1-Power {
		high *= 2
	}
	for range 60 {
		if mid := (low + high) / 2; missed(mid, df, critical) > 1-Power {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}

// missed is the probability that a noncentral χ² stays below x: a mixture of
// central ones with Poisson weights.
func missed(lambda float64, df int, x float64) float64 {
	weights := distuv.Poisson{Lambda: lambda / 2}
	sum := 0.0
	spread := 10*math.Sqrt(lambda/2) + 20
	for j := max(0, math.Floor(lambda/2-spread)); j <= lambda/2+spread; j++ {
		sum += weights.Prob(j) * distuv.ChiSquared{K: float64(df) + 2*j}.CDF(x)
	}
	return sum
}

// FaceSample is how many rolls it takes to find a relative bias of one face
// with probability Power at the level of a single test.
func FaceSample(bias, level float64) int64 {
	return int64(math.Ceil(5 * noncentrality(faces-1, level) / (bias * bias) / 2))
}
