package rules_test

import (
	"bufio"
	"compress/gzip"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/rules"
)

var perft3 = flag.Bool("perft3", false, "count the short games to depth 3 (some ten seconds)")

// readTable splits a tab-separated file into rows without its heading.
func readTable(t testing.TB, path string) [][]string {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var in io.Reader = f
	if strings.HasSuffix(path, ".gz") {
		if in, err = gzip.NewReader(f); err != nil {
			t.Fatal(err)
		}
	}
	var rows [][]string
	for scan := bufio.NewScanner(in); scan.Scan(); {
		rows = append(rows, strings.Split(scan.Text(), "\t"))
	}
	return rows[1:]
}

// middle is an ordinary roll in the middle of a game.
func middle(mover rules.Color, d rules.Dice) rules.Stage {
	s := rules.StageOf(mover, rules.Own, d)
	s.Roll = 7
	return s
}

func lookup(t testing.TB, id string) rules.Rules {
	t.Helper()
	v, err := rules.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	return v.Rules
}

func TestLegalSets(t *testing.T) {
	r := lookup(t, "short")
	var gen rules.Generator
	for file, column := range map[string]int{"legal_sets": 3, "rule_bite": 4} {
		t.Run(file, func(t *testing.T) {
			for _, row := range readTable(t, "testdata/short/"+file+".tsv.gz") {
				p, err := r.ParsePositionID(row[0], rules.White)
				if err != nil {
					t.Fatal(err)
				}
				if id, err := r.PositionID(p, rules.White); err != nil || id != row[0] {
					t.Fatalf("position id %s comes back as %s, %v", row[0], id, err)
				}
				plays := gen.Plays(r, p, middle(rules.White, rules.Dice{A: row[1][0] - '0', B: row[1][1] - '0'}))
				var got []string
				for _, end := range plays.Ends {
					id, err := r.PositionID(end, rules.White)
					if err != nil {
						t.Fatal(err)
					}
					got = append(got, id)
				}
				want := []string{row[0]} // a row without results is a dance
				if row[2] != "0" {
					want = strings.Split(row[column], ",")
				}
				slices.Sort(got)
				slices.Sort(want)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s with %s: (-want +got):\n%s", p, row[1], diff)
				}
			}
		})
	}
}

// short names of the tables for our variants.
var tableNames = map[string]string{"short": "standard", "nackgammon": "nackgammon", "hyper": "hypergammon3"}

func TestOpeningRolls(t *testing.T) {
	rows := readTable(t, "testdata/short/opening_rolls.tsv")
	var gen rules.Generator
	for id, name := range tableNames {
		r := lookup(t, id)
		i := slices.IndexFunc(rows, func(row []string) bool { return row[0] == name })
		column := 1
		for a := uint8(1); a <= 6; a++ {
			for b := uint8(1); b <= a; b++ {
				got := len(gen.Plays(r, r.Start(), middle(rules.White, rules.Dice{A: a, B: b})).Ends)
				if want := rows[i][column]; strconv.Itoa(got) != want {
					t.Errorf("%s %d%d: %d results, want %s", id, a, b, got, want)
				}
				column++
			}
		}
	}
}

// TestPerftShort counts distinct boards per roll, summed over the tree.
func TestPerftShort(t *testing.T) {
	depths := 2
	if *perft3 {
		depths = 3
	}
	for id, name := range tableNames {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			r := lookup(t, id)
			for _, row := range readTable(t, "testdata/short/perft.tsv") {
				depth, _ := strconv.Atoi(row[1])
				if row[0] != name || depth > depths {
					continue
				}
				gens := make([]rules.Generator, depth)
				plain, weighted := perftShort(r, r.Start(), rules.White, gens)
				if got := fmt.Sprint(plain, weighted); got != row[2]+" "+row[3] {
					t.Errorf("depth %d: %s, want %s %s", depth, got, row[2], row[3])
				}
			}
		})
	}
}

func perftShort(r rules.Rules, p rules.Position, mover rules.Color, gens []rules.Generator) (plain, weighted int) {
	for a := uint8(1); a <= 6; a++ {
		for b := uint8(1); b <= a; b++ {
			weight := 2
			if a == b {
				weight = 1
			}
			plays := gens[0].Plays(r, p, middle(mover, rules.Dice{A: a, B: b}))
			if len(gens) == 1 {
				plain += len(plays.Ends)
				weighted += weight * len(plays.Ends)
				continue
			}
			for i, end := range plays.Ends {
				if plays.Final[i] != rules.NotEnded {
					continue
				}
				n, w := perftShort(r, end, mover.Other(), gens[1:])
				plain += n
				weighted += weight * w
			}
		}
	}
	return plain, weighted
}

type benchCase struct {
	p rules.Position
	s rules.Stage
}

func shortCases(b *testing.B, r rules.Rules) []benchCase {
	var cases []benchCase
	for _, row := range readTable(b, "testdata/short/legal_sets.tsv.gz") {
		p, err := r.ParsePositionID(row[0], rules.White)
		if err != nil {
			b.Fatal(err)
		}
		cases = append(cases, benchCase{p, middle(rules.White, rules.Dice{A: row[1][0] - '0', B: row[1][1] - '0'})})
	}
	return cases
}

// benchPlays reports positions per second with all distinct results listed.
func benchPlays(b *testing.B, r rules.Rules, cases []benchCase) {
	var gen rules.Generator
	results := 0
	for _, c := range cases {
		results += len(gen.Plays(r, c.p, c.s).Ends)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		gen.Plays(r, cases[i].p, cases[i].s)
		if i++; i == len(cases) {
			i = 0
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "positions/s")
	b.ReportMetric(float64(results)/float64(len(cases)), "results/position")
}

func BenchmarkPlaysShort(b *testing.B) {
	r := lookup(b, "short")
	benchPlays(b, r, shortCases(b, r))
}

func BenchmarkCheckPlay(b *testing.B) {
	r := lookup(b, "short")
	cases := shortCases(b, r)
	var gen rules.Generator
	steps := make([][]rules.Step, len(cases))
	for i, c := range cases {
		list := gen.List(r, c.p, c.s)
		steps[i] = list[i%len(list)].Steps
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		if _, _, err := gen.Play(r, cases[i].p, cases[i].s, steps[i]); err != nil {
			b.Fatal(err)
		}
		if i++; i == len(cases) {
			i = 0
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "plays/s")
}

// BenchmarkStagesLong lists the stages of self-played long games.
func BenchmarkStagesLong(b *testing.B) {
	for _, id := range []string{"long-classic", "long-sport", "crazy-gyulbar", "fevga"} {
		b.Run(id, func(b *testing.B) {
			r := lookup(b, id)
			benchPlays(b, r, playedCases(b, r, 2500))
		})
	}
}
