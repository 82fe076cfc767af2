package selfplay_test

import (
	"bytes"
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/internal/selfplay"
	"fairdice/replay"
	"fairdice/replay/files"
	"fairdice/replay/mat"
	"fairdice/replay/sheet"
	"fairdice/rules"
)

// optionSets returns every option set under which the variant can be played; of the lengths of matches some.
func optionSets(v rules.Variant) []replay.Options {
	var sets []replay.Options
	lengths := []int{3, 1, 5, 2, 7}
	series := []replay.SeriesKind{replay.SeriesSingle, replay.SeriesDraw, replay.SeriesReverse, replay.SeriesCombined, replay.SeriesPoints}
	for raise := replay.RaiseNone; raise <= replay.RaiseAuto; raise++ {
		for stake := replay.StakeWin; stake <= replay.StakeUnborne; stake++ {
			for _, kind := range series {
				for head55 := rules.Head55Literal; head55 <= rules.Head55Off; head55++ {
					for _, crawford := range []bool{true, false} {
						o := replay.Options{Raise: raise, Stake: stake, Series: replay.Series{Kind: kind}, Crawford: crawford, Head55: head55}
						if kind >= replay.SeriesCombined {
							if o.Series.N = lengths[len(sets)%len(lengths)]; stake == replay.StakeUnborne {
								o.Series.N = replay.MaxSeries
							}
						}
						if o.Validate(v) == nil {
							sets = append(sets, o)
						}
					}
				}
			}
		}
	}
	return sets
}

// wantGames is how many games of self-play one run of the tests replays.
const wantGames = 2000

// TestEveryVariantUnderEveryOption plays matches to their end and holds the laws: the record replays to the same states, prints as
// the same bytes, also after a way through a match file, and the score is the sum of its games.
func TestEveryVariantUnderEveryOption(t *testing.T) {
	var total atomic.Int64
	t.Run("variants", func(t *testing.T) {
		for _, v := range rules.Variants() {
			t.Run(v.ID, func(t *testing.T) {
				t.Parallel()
				sets := optionSets(v)
				why := map[replay.Why]int{}
				games := 0
				// Every variant plays its share; every option set at least once.
				for i := 0; i < len(sets) || games < wantGames/len(rules.Variants())+1; i++ {
					games += playMatch(t, v, sets[i%len(sets)], i, why)
				}
				total.Add(int64(games))
				t.Logf("%d option sets, %d games, by end: %v", len(sets), games, why)
			})
		}
	})
	if total.Load() < wantGames {
		t.Errorf("%d games, want %d", total.Load(), wantGames)
	}
}

// playMatch plays a match under a seed and returns how many games it took.
func playMatch(t *testing.T, v rules.Variant, o replay.Options, seed int, why map[replay.Why]int) int {
	t.Helper()
	player := selfplay.New(selfplay.Policy(seed%2), uint64(seed))
	if seed%3 == 0 {
		player.GiveUp = 0.01
	}
	match, err := replay.NewMatch(v, o)
	if err != nil {
		t.Fatal(err)
	}
	uniform, drawn := selfplay.Uniform(uint64(seed)), map[string]int{}
	dice := func(stream string) (rules.Dice, error) {
		drawn[stream]++
		return uniform(stream)
	}
	var records []string
	joined := sheet.Match{ID: matchID, Variant: v, Options: &o, Length: o.Series.N, Crawford: o.Crawford}
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
		records = append(records, checkRecord(t, setting, events, st))
		r := st.Result()
		joined.Games = append(joined.Games, sheet.Game{Number: setting.Game, Score: setting.Score, Crawford: setting.Crawford, Drawn: true,
			Events: events[:len(events)-1], Result: &sheet.Outcome{Winner: r.Seat, Points: r.Points, Draw: r.Draw}})
		if match, err = match.Add(r); err != nil {
			t.Fatal(err)
		}
		if setting.Game > 200 {
			t.Fatalf("%s: the match does not end", o)
		}
	}
	checkExport(t, joined, records)
	return len(records)
}

// checkExport writes a match as .mat, reads it again, and wants the records it came from.
func checkExport(t *testing.T, m sheet.Match, records []string) {
	t.Helper()
	var text bytes.Buffer
	if err := mat.Write(&text, m); err != nil {
		t.Fatal(err)
	}
	var back sheet.Match
	report := files.Check("export", bytes.NewReader(text.Bytes()), files.Options{Match: func(m sheet.Match) { back = m }})
	if report.Verdict != files.Verified || len(back.Games) != len(records) {
		t.Fatalf("%s %s: the export is %s, %+v\n%s", m.Variant.ID, m.Options, report.Verdict, report.Findings, text.String())
	}
	for i, g := range back.Games {
		record, err := files.Native(back, g)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(records[i], string(record.Text())); diff != "" {
			t.Fatalf("%s %s: game %d comes back as another (-want +got):\n%s\n%s", m.Variant.ID, m.Options, i+1, diff, text.String())
		}
	}
}

const matchID = "01970000-0000-7000-8000-000000000101"

// checkRecord reads the record of a game again and returns its text.
func checkRecord(t *testing.T, s replay.Setting, events []replay.Event, st replay.State) string {
	t.Helper()
	h := replay.Header{Match: matchID, Game: s.Game, Variant: s.Variant.ID, Options: s.Options, Score: s.Score, Crawford: s.Crawford}
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
	again := replay.Record{Header: &h}
	for _, e := range out.Events {
		again.Lines = append(again.Lines, e.String())
	}
	if !bytes.Equal(again.Text(), text) {
		t.Fatalf("%s %s: the replayed events print as another record", s.Variant.ID, s.Options)
	}
	return string(text)
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
