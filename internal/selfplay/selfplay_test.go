package selfplay_test

import (
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/internal/selfplay"
	"fairdice/replay"
	"fairdice/rules"
)

// optionSets returns every option set under which the variant can be played.
func optionSets(v rules.Variant) []replay.Options {
	var sets []replay.Options
	series := []replay.Series{{}, {Kind: replay.SeriesDraw}, {Kind: replay.SeriesReverse}, {Kind: replay.SeriesCombined, N: 3}, {Kind: replay.SeriesPoints, N: 3}}
	for raise := replay.RaiseNone; raise <= replay.RaiseAuto; raise++ {
		for stake := replay.StakeWin; stake <= replay.StakeUnborne; stake++ {
			for _, s := range series {
				for head55 := rules.Head55Literal; head55 <= rules.Head55Off; head55++ {
					o := replay.Options{Raise: raise, Stake: stake, Series: s, Crawford: true, Head55: head55}
					if o.Validate(v) == nil {
						sets = append(sets, o)
					}
				}
			}
		}
	}
	return sets
}

// TestEveryVariantUnderEveryOption plays matches to their end and holds the laws: the record replays to the same states, prints as
// the same bytes, and the score is the sum of its games.
func TestEveryVariantUnderEveryOption(t *testing.T) {
	for _, v := range rules.Variants() {
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			why := map[replay.Why]int{}
			for i, o := range optionSets(v) {
				player := selfplay.New(selfplay.Policy(i%2), uint64(i))
				if i%3 == 0 {
					player.GiveUp = 0.01
				}
				match, err := replay.NewMatch(v, o)
				if err != nil {
					t.Fatal(err)
				}
				uniform, drawn := selfplay.Uniform(uint64(i)), map[string]int{}
				dice := func(stream string) (rules.Dice, error) {
					drawn[stream]++
					return uniform(stream)
				}
				for !match.Over() {
					setting := match.Next()
					events, st, err := player.Game(setting, dice)
					if err != nil {
						t.Fatalf("%s: %v", o, err)
					}
					why[st.Result().Why]++
					if got, want := st.Throws(), [3]int{drawn[replay.StreamOpening], drawn[replay.StreamA], drawn[replay.StreamB]}; got != want {
						t.Fatalf("%s: the game counts %v throws of its streams, drawn were %v", o, got, want)
					}
					clear(drawn)
					checkRecord(t, setting, events, st)
					if match, err = match.Add(st.Result()); err != nil {
						t.Fatal(err)
					}
					if setting.Game > 200 {
						t.Fatalf("%s: the match does not end", o)
					}
				}
			}
			t.Logf("%d option sets, games by end: %v", len(optionSets(v)), why)
		})
	}
}

func checkRecord(t *testing.T, s replay.Setting, events []replay.Event, st replay.State) {
	t.Helper()
	h := replay.Header{Match: "01970000-0000-7000-8000-000000000101", Game: s.Game, Variant: s.Variant.ID, Options: s.Options, Score: s.Score, Crawford: s.Crawford}
	record := replay.Record{Header: &h}
	for _, e := range events {
		record.Lines = append(record.Lines, e.String())
	}
	text := record.Text()
	read, err := replay.ParseRecord(text)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(text), string(read.Text())); diff != "" {
		t.Fatal(diff)
	}
	out := replay.Run(s, read.Lines)
	if out.Fault != nil || !out.Finished {
		t.Fatalf("%s %s: %v", s.Variant.ID, s.Options, out.Fault)
	}
	if out.Last != st || out.Result != st.Result() {
		t.Fatalf("%s %s: the replay ends in another state", s.Variant.ID, s.Options)
	}
}

func TestSeedDecidesTheGame(t *testing.T) {
	v, err := rules.Lookup("short")
	if err != nil {
		t.Fatal(err)
	}
	play := func(seed uint64) string {
		events, _, err := selfplay.New(selfplay.Random, seed).Game(replay.Setting{Variant: v, Game: 1}, selfplay.Uniform(1))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprint(events)
	}
	if first, again := play(1), play(1); first != again {
		t.Error("one seed, two games")
	}
	if play(1) == play(2) {
		t.Error("two seeds, one game")
	}
}

func BenchmarkGame(b *testing.B) {
	v, _ := rules.Lookup("long-classic")
	p := selfplay.New(selfplay.Greedy, 1)
	dice := selfplay.Uniform(1)
	n := 0
	for b.Loop() {
		events, _, err := p.Game(replay.Setting{Variant: v, Game: 1}, dice)
		if err != nil {
			b.Fatal(err)
		}
		n += len(events)
	}
	b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "events/s")
}
