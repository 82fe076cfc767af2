package stats

import (
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"strconv"
	"sync"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"fairdice/audit"
	"fairdice/commitment"
)

// house simulates games. They are races: the players roll in turn until one
// has the pips, so that, as in every real game, the dice decide how many of
// them are served.
type house struct {
	t      testing.TB
	source *rand.ChaCha8
	pick   *rand.Rand
}

func newHouse(t testing.TB, seed int) *house {
	h := &house{t: t, source: rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), 1})}
	h.pick = rand.New(h.source)
	return h
}

var lengths = commitment.Lengths{12, 40, 40}

// deal makes a sequence.
func (h *house) deal(mode commitment.Mode) *commitment.Sequence {
	secret, err := commitment.NewSecret(h.source)
	if err != nil {
		h.t.Fatal(err)
	}
	q, err := commitment.Build(secret, "01970000-0000-7000-8000-000000000000", mode, lengths, commitment.NoCut, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	return q
}

// play races until a seat has the pips, or until so many rolls if most > 0.
func (h *house) play(mode commitment.Mode, pips, most int) Game {
	q := h.deal(mode)
	g := Game{Mode: mode, Dealt: map[int]*commitment.Sequence{1: q}, First: q, White: -1}
	dice := func(st commitment.Stream, i int) commitment.Dice {
		d := q.Dice(st, i)
		if mode == commitment.Live {
			d = commitment.Dice{D1: uint8(1 + h.pick.IntN(6)), D2: uint8(1 + h.pick.IntN(6))}
		}
		g.Served = append(g.Served, audit.Throw{Segment: 1, Stream: st, Index: i, Dice: d})
		return d
	}
	for i := range lengths[commitment.StreamOpening] {
		if d := dice(commitment.StreamOpening, i); d.D1 > d.D2 {
			g.White = 0
		} else if d.D1 < d.D2 {
			g.White = 1
		}
	}
	var have, used [2]int
	for seat := g.White; ; seat = 1 - seat {
		if used[seat] == lengths[commitment.StreamA] || most > 0 && used[0]+used[1] == most {
			break
		}
		have[seat] += dice(commitment.StreamA+commitment.Stream(seat), used[seat]).Pips()
		used[seat]++
		if have[seat] >= pips {
			break
		}
	}
	return g
}

var testedModes = []commitment.Mode{commitment.Random, commitment.Live, commitment.Balanced, commitment.Triple, commitment.Equal, commitment.Levelled}

// archive plays games of all modes. One in five is dropped after a few rolls,
// for no reason in the dice; some sequences are retired.
func (h *house) archive(perMode int) Report {
	table := NewTable()
	for _, mode := range testedModes {
		for i := range perMode {
			most := 0
			if i%5 == 0 {
				most = 4
			}
			g := h.play(mode, 120, most)
			if i%5 == 0 {
				g.Lot = Dropped
			}
			table.Add(mode, "club", "key", Measure(g))
			if i%4 == 1 && mode != commitment.Live {
				table.Add(mode, "club", "", Measure(Game{Mode: mode, Lot: Unused, First: h.deal(mode), White: -1}))
			}
		}
	}
	return table.Report()
}

// archives is how many archives are simulated: FAIRDICE_CALIBRATE, else few.
func archives(t testing.TB) int {
	if s := os.Getenv("FAIRDICE_CALIBRATE"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("FAIRDICE_CALIBRATE: %v", err)
		}
		return n
	}
	return 24
}

// TestCalibration simulates archives of honest dice and counts how often each
// test says something: as often as it claims, which is what a p-value is.
func TestCalibration(t *testing.T) {
	n := archives(t)
	reports := make([]Report, n)
	var all sync.WaitGroup
	for worker := range runtime.GOMAXPROCS(0) {
		all.Go(func() {
			for i := worker; i < n; i += runtime.GOMAXPROCS(0) {
				reports[i] = newHouse(t, i).archive(100)
			}
		})
	}
	all.Wait()
	type name struct{ mode, test string }
	levels := []float64{0.1, 0.05, 0.01, 0.001}
	hits := map[name]*[4]int{}
	family, alarms := 0, 0
	for _, r := range reports {
		for _, test := range r.Tests {
			k := name{test.Mode, test.Name}
			if hits[k] == nil {
				hits[k] = &[4]int{}
			}
			for i, level := range levels {
				if test.P < level {
					hits[k][i]++
				}
			}
		}
		if len(r.Alarms(Reported)) > 0 {
			family++
		}
		alarms += len(r.Alarms(Alarm))
	}
	if len(hits) < 40 {
		t.Errorf("only %d tests were carried out", len(hits))
	}
	for k, seen := range hits {
		line := fmt.Sprintf("%-9s %-26s", k.mode, k.test)
		for i, level := range levels {
			line += fmt.Sprintf("  %.4f at %g", float64(seen[i])/float64(n), level)
			if far(seen[i], n, level) {
				t.Errorf("%s, %s: %d of %d archives are below %g", k.mode, k.test, seen[i], n, level)
			}
		}
		t.Log(line)
	}
	// Holm's method promises at most the level, not exactly the level.
	if float64(family) > float64(n)*ReportLevel && far(family, n, ReportLevel) || alarms > 0 {
		t.Errorf("%d of %d honest archives are reported, %d tests at the alarm level", family, n, alarms)
	}
	t.Logf("%d of %d honest archives have a reported test", family, n)
}

// far reports whether k of n is too far from the level for chance: less likely
// than one in a hundred thousand on either side.
func far(k, n int, level float64) bool {
	law := distuv.Binomial{N: float64(n), P: level}
	return law.CDF(float64(k)) < 1e-5 || law.Survival(float64(k-1)) < 1e-5
}

// TestPower rolls dice with a bias of 3 % on one face, as many as the report
// says it takes, and demands the alarm as often as it says.
func TestPower(t *testing.T) {
	const bias, runs = 0.03, 60
	level := AlarmLevel / 12 // of one test among a dozen
	rolls := FaceSample(bias, level)
	t.Logf("%d rolls", rolls)
	found, quiet := 0, 0
	for run := range runs {
		random := rand.New(rand.NewPCG(uint64(run), 1))
		die := func(biased bool) int {
			if biased && random.Float64() < bias/6*6/5 {
				return 6 // from the other faces, so that a six comes 3 % too often
			}
			return 1 + random.IntN(6)
		}
		for _, biased := range []bool{true, false} {
			var t Tally
			for range rolls {
				a, b := die(biased), die(biased)
				t.Pairs[(a-1)*6+b-1]++
			}
			f := faceCounts(t.Pairs)
			p := twoSided(chiSquare(f[:], 2*float64(rolls)), faces-1)
			switch {
			case biased && p < level:
				found++
			case !biased && p < level:
				quiet++
			}
		}
	}
	law := distuv.Binomial{N: runs, P: Power}
	if law.CDF(float64(found)) < 1e-3 || quiet > 0 {
		t.Errorf("a bias of 3 %% is found in %d of %d archives of %d rolls, honest dice are accused in %d", found, runs, rolls, quiet)
	}
}
