package replay_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"fairdice/replay"
	"fairdice/rules"
)

func drawOptions(t *rapid.T) replay.Options {
	o := replay.Options{
		Raise:    replay.Raise(rapid.IntRange(0, 5).Draw(t, "raise")),
		Stake:    replay.Stake(rapid.IntRange(0, 1).Draw(t, "stake")),
		Series:   replay.Series{Kind: replay.SeriesKind(rapid.IntRange(0, 4).Draw(t, "series"))},
		Crawford: rapid.Bool().Draw(t, "crawford"),
		Head55:   rules.Head55(rapid.IntRange(0, 2).Draw(t, "head55")),
	}
	if o.Series.Kind >= replay.SeriesCombined {
		o.Series.N = rapid.IntRange(1, replay.MaxSeries).Draw(t, "n")
	}
	return o
}

func TestOptionsPrintAndParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		o := drawOptions(t)
		got, err := replay.ParseOptions(o.String())
		if err != nil || got != o {
			t.Fatalf("%q: %+v, %v", o, got, err)
		}
	})
}

func TestOptionsRefused(t *testing.T) {
	const good = "raise=mars stake=win series=single crawford=off"
	if _, err := replay.ParseOptions(good); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{
		"", "raise=mars", " " + good, good + " ", strings.ToUpper(good), strings.Replace(good, " ", "  ", 1),
		"stake=win raise=mars series=single crawford=off", "raise=mars stake=win series=single", good + " head55=literal", good + " head55=maybe",
		good + " head55=off head55=off", "raise=gold stake=win series=single crawford=off", "raise=mars stake=all series=single crawford=off",
		"raise=mars stake=win series=single:1 crawford=off", "raise=mars stake=win series=points crawford=off", "raise=mars stake=win series=points:0 crawford=off",
		"raise=mars stake=win series=points:26 crawford=off", "raise=mars stake=win series=points:07 crawford=off", "raise=mars stake=win series=points:+7 crawford=off",
		"raise=mars stake=win series=single crawford=yes",
	} {
		if o, err := replay.ParseOptions(text); err == nil {
			t.Errorf("%q parses as %q", text, o)
		}
	}
}

// TestOptionsNameEveryReason wants one reason for each thing that does not go together.
func TestOptionsNameEveryReason(t *testing.T) {
	o := replay.Options{Raise: replay.RaiseBeaver, Stake: replay.StakeUnborne, Series: replay.Series{Kind: replay.SeriesCombined, N: 3}, Head55: rules.Head55Off}
	var codes []string
	for _, r := range o.Reasons(lookup(t, "plakoto")) {
		codes = append(codes, r.Code)
	}
	want := []string{"cube-variant", "raise-series", "cube-reverse", "unborne-reverse", "reverse-pins", "head55-variant"}
	if diff := cmp.Diff(want, codes); diff != "" {
		t.Error(diff)
	}
	if err := o.Validate(lookup(t, "plakoto")); err == nil || strings.Count(err.Error(), "\n") != len(want)-1 {
		t.Errorf("the error does not list %d reasons: %v", len(want), err)
	}
	broken := replay.Options{Raise: 9, Stake: 9, Series: replay.Series{Kind: replay.SeriesPoints, N: 26}, Head55: 9}
	if n := len(broken.Reasons(lookup(t, "long-classic"))); n != 5 {
		t.Errorf("%d reasons against values that do not exist, want raise, stake, head55, points and a raise of a series: %v", n, broken.Validate(lookup(t, "long-classic")))
	}
}

// TestHead55 is allowed in long-classic alone.
func TestHead55(t *testing.T) {
	for _, v := range rules.Variants() {
		err := replay.Options{Head55: rules.Head55General}.Validate(v)
		if (err == nil) != (v.ID == "long-classic") {
			t.Errorf("%s: %v", v.ID, err)
		}
	}
}

func drawEvent(t *rapid.T) replay.Event {
	e := replay.Event{Kind: replay.EventKind(rapid.IntRange(int(replay.Opening), int(replay.End)).Draw(t, "kind"))}
	if e.Kind != replay.Opening {
		e.Seat = replay.Seat(rapid.IntRange(0, 1).Draw(t, "seat"))
	}
	switch e.Kind {
	case replay.Opening, replay.Roll:
		e.Dice = rules.Dice{A: uint8(rapid.IntRange(1, 6).Draw(t, "a")), B: uint8(rapid.IntRange(1, 6).Draw(t, "b"))}
	case replay.Move:
		for range rapid.IntRange(0, replay.MaxHops).Draw(t, "steps") {
			h := replay.Hop{From: uint8(rapid.IntRange(1, 25).Draw(t, "from")), To: uint8(rapid.IntRange(0, 24).Draw(t, "to"))}
			h.Star = h.To != replay.OffNumber && rapid.Bool().Draw(t, "star")
			e.Steps = append(e.Steps, h)
		}
	case replay.Resign:
		e.Points = int64(rapid.IntRange(1, replay.MaxResign).Draw(t, "points"))
	case replay.End:
		if e.Draw = rapid.Bool().Draw(t, "draw"); e.Draw {
			e.Seat = replay.A
		} else {
			e.Points = rapid.Int64Range(1, replay.MaxPoints).Draw(t, "points")
		}
	}
	return e
}

func TestEventsPrintAndParse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := drawEvent(t)
		got, err := replay.ParseEvent(e.String())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(e, got); diff != "" {
			t.Fatalf("%q: %s", e, diff)
		}
	})
}

func TestReaderForms(t *testing.T) {
	for _, c := range []struct{ read, written string }{
		{"move A 24/22*/20", "move A 24/22* 22/20"},
		{"move A 8/4(2) 6/2*(2)", "move A 8/4 8/4 6/2* 6/2"},
		{"move B bar/22/20(2)", "move B bar/22 22/20 bar/22 22/20"},
		{"move B 13/10/7/4/off", "move B 13/10 10/7 7/4 4/off"},
		{"move B 6/off(4)", "move B 6/off 6/off 6/off 6/off"},
	} {
		e, err := replay.ParseEvent(c.read)
		if err != nil || e.String() != c.written {
			t.Errorf("%q is %q, %v; want %q", c.read, e, err, c.written)
		}
	}
	for _, line := range []string{"move A 24/22(5)", "move A 24/22(22)", "move A 24/22)", "move A 24/22(2", "move A (2)", "move A 24/(2)", "move A *", "move A 24*/22", "move A 24/22**",
		"move A " + strings.Repeat("24/22 ", replay.MaxHops) + "24/22", "move A 24/20/16/12/8(4) 8/4(4)", "move", "move A ", "roll", "opening", "opening A 1 2", "double", "end draw draw", "end  draw"} {
		if e, err := replay.ParseEvent(line); err == nil {
			t.Errorf("%q parses as %q", line, e)
		}
	}
}

// TestAlternativesAreLegal takes every refusal of the bad games: what it offers instead must be accepted in its place.
func TestAlternativesAreLegal(t *testing.T) {
	for _, v := range rules.Variants() {
		var file struct {
			Options optionsVector
			Games   []gameVector
		}
		load(t, "rules/bad-"+v.ID+".json", &file)
		for _, g := range file.Games {
			g.Variant, g.Options = v.ID, file.Options
			out := replay.Run(g.setting(t), g.Lines)
			r := out.Fault.Refusal
			if r == nil {
				continue
			}
			if r.State != out.Last {
				t.Errorf("%s: the refusal's state is not the one before the line", g.Category)
			}
			for _, line := range r.Alternatives(50) {
				e, err := replay.ParseEvent(strings.Replace(line, "d1 d2", "3 1", 1))
				if err != nil {
					t.Fatal(err)
				}
				if _, err := replay.Apply(r.State, e); err != nil {
					t.Errorf("%s: %q is offered, and refused: %v", g.Category, line, err)
				}
			}
		}
	}
}

// TestRefusalChecks pins the check each kind of fault belongs to (PROTOCOL.md §9).
func TestRefusalChecks(t *testing.T) {
	checks := map[string]string{
		"larger-die": replay.CheckForced, "not-maximal": replay.CheckForced, "result-draw": replay.CheckResult, "result-points": replay.CheckResult,
		"result-winner": replay.CheckResult, "end-missing": replay.CheckResult, "early-end": replay.CheckResult, "after-end": replay.CheckResult, "cube-off": replay.CheckCube,
		"dice-range": replay.CheckFormat,
	}
	for _, v := range rules.Variants() {
		var file struct {
			Options optionsVector
			Games   []gameVector
		}
		load(t, "rules/bad-"+v.ID+".json", &file)
		for _, g := range file.Games {
			g.Variant, g.Options = v.ID, file.Options
			want := checks[g.Category]
			if want == "" {
				want = replay.CheckMoves
			}
			if got := replay.Run(g.setting(t), g.Lines).Fault; got.Check() != want {
				t.Errorf("%s %s: check %s, want %s: %v", v.ID, g.Category, got.Check(), want, got)
			}
		}
	}
	var file struct{ Games []gameVector }
	load(t, "rules/bad-cube.json", &file)
	for _, g := range file.Games {
		want := replay.CheckCube
		if g.Category == "cube-result" {
			want = replay.CheckResult
		}
		if got := replay.Run(g.setting(t), g.Lines).Fault; got.Check() != want {
			t.Errorf("%s: check %s, want %s: %v", g.Category, got.Check(), want, got)
		}
	}
}

// TestRefusedEventsLeaveTheState feeds random events to random states of a game: a refusal returns the state it was given.
func TestRefusedEventsLeaveTheState(t *testing.T) {
	var file struct{ Games []gameVector }
	load(t, "rules/games-gyulbar.json", &file)
	g := file.Games[0]
	g.Variant = "gyulbar"
	rapid.Check(t, func(t *rapid.T) {
		setting := replay.Setting{Variant: mustLookup("gyulbar"), Options: replay.Options{Raise: replay.RaiseBeaver}, Game: 1}
		st, err := replay.Start(setting)
		if err != nil {
			t.Fatal(err)
		}
		n := rapid.IntRange(0, len(g.Lines)-2).Draw(t, "lines")
		for _, line := range g.Lines[:n] {
			e, _ := replay.ParseEvent(line)
			if st, err = replay.Apply(st, e); err != nil {
				t.Fatal(err)
			}
		}
		before := st
		e := drawEvent(t)
		after, err := replay.Apply(st, e)
		if st != before {
			t.Fatal("the state given was changed")
		}
		var r *replay.Refusal
		switch {
		case err == nil && after == before:
			t.Fatalf("%q changed nothing", e)
		case err != nil && (!errors.As(err, &r) || after != before || r.State != before || r.Check == "" || r.Code == "" || r.Message == ""):
			t.Fatalf("%q: refusal %+v", e, r)
		}
	})
}

func mustLookup(id string) rules.Variant {
	v, err := rules.Lookup(id)
	if err != nil {
		panic(err)
	}
	return v
}

func FuzzParseEvent(f *testing.F) {
	f.Add("move A 24/22*/20(2) bar/off")
	f.Add("end A 12")
	f.Fuzz(func(t *testing.T, line string) {
		e, err := replay.ParseEvent(line)
		if err != nil {
			return
		}
		again, err := replay.ParseEvent(e.String())
		if err != nil {
			t.Fatalf("%q prints as %q: %v", line, e, err)
		}
		if diff := cmp.Diff(e, again); diff != "" {
			t.Errorf("%q: %s", line, diff)
		}
	})
}

func FuzzParseRecord(f *testing.F) {
	f.Add([]byte("fairdice/v1/record\nmatch 01970000-0000-7000-8000-000000000101\ngame 1\nvariant short\noptions raise=none stake=win series=single crawford=off\nscore 0 0\ncrawford no\n\nopening 2 3\n"))
	f.Add([]byte("opening 2 3\nmove B 13/10 6/4\n"))
	f.Fuzz(func(t *testing.T, text []byte) {
		r, err := replay.ParseRecord(text)
		if err == nil && string(r.Text()) != string(text) {
			t.Errorf("%q prints as %q", text, r.Text())
		}
	})
}

// TestEveryLineMatters drops and swaps lines of complete games. Only an opening draw that decided nothing can be missing, and only lines
// that say the same can be swapped.
func TestEveryLineMatters(t *testing.T) {
	for _, v := range rules.Variants() {
		t.Run(v.ID, func(t *testing.T) {
			t.Parallel()
			var file struct{ Games []gameVector }
			load(t, "rules/games-"+v.ID+".json", &file)
			for _, g := range file.Games[:min(2, len(file.Games))] {
				g.Variant = v.ID
				for i := range g.Lines {
					dropped := slices.Delete(slices.Clone(g.Lines), i, i+1)
					out := replay.Run(g.setting(t), dropped)
					undecided := strings.HasPrefix(g.Lines[i], "opening") && g.Due[i] == "opening"
					if legal := out.Fault == nil && out.Finished; legal != undecided {
						t.Errorf("without line %d, %q: legal %v", i+1, g.Lines[i], legal)
					}
					if out.Fault != nil && out.Fault.Line < i+1 {
						t.Errorf("without line %d: line %d is refused", i+1, out.Fault.Line)
					}
					if i == 0 || g.Lines[i] == g.Lines[i-1] || strings.HasPrefix(g.Due[i], "opening") || strings.HasPrefix(g.Due[i-1], "opening") {
						continue
					}
					swapped := slices.Clone(g.Lines)
					swapped[i], swapped[i-1] = swapped[i-1], swapped[i]
					if out := replay.Run(g.setting(t), swapped); out.Fault == nil || out.Fault.Line < i {
						t.Errorf("lines %d and %d swapped: %v", i, i+1, out.Fault)
					}
				}
			}
		})
	}
}

// TestStarsAreExact takes every star away and puts one after every other step, in the games that hit or pin.
func TestStarsAreExact(t *testing.T) {
	for _, id := range []string{"short", "nackgammon", "hyper", "tavla", "plakoto"} {
		var file struct{ Games []gameVector }
		load(t, "rules/games-"+id+".json", &file)
		g := file.Games[0]
		g.Variant = id
		for i, line := range g.Lines {
			e := parse(t, line)
			for n, h := range e.Steps {
				if h.To == replay.OffNumber {
					continue
				}
				steps := slices.Clone(e.Steps)
				steps[n].Star = !steps[n].Star
				lines := slices.Clone(g.Lines)
				lines[i] = replay.Event{Kind: replay.Move, Seat: e.Seat, Steps: steps}.String()
				if out := replay.Run(g.setting(t), lines); out.Fault == nil || out.Fault.Line != i+1 {
					t.Errorf("%s: %q instead of %q: %v", id, lines[i], line, out.Fault)
				}
			}
		}
	}
}

// FuzzRun replays arbitrary lines in every variant: nothing may panic, and what was accepted must be accepted again.
func FuzzRun(f *testing.F) {
	f.Add(uint8(9), "raise=beaver stake=win series=single crawford=off", "opening 3 1\nmove A 8/5 6/5\ndouble B\nbeaver A\nraccoon B\ntake A\nroll B 6 6\nmove B 24/18(2) 13/7(2)")
	f.Add(uint8(3), "raise=auto stake=unborne series=draw crawford=on", "opening 3 3\nopening 6 2\nroll A 6 6\nmove A 1/7 1/7\nmove B 13/19\nresign A 1\nend B 30")
	f.Fuzz(func(t *testing.T, variant uint8, options, text string) {
		all := rules.Variants()
		o, err := replay.ParseOptions(options)
		if err != nil {
			return
		}
		setting := replay.Setting{Variant: all[int(variant)%len(all)], Options: o, Game: 1}
		out := replay.Run(setting, strings.Split(text, "\n"))
		var written []string
		for _, e := range out.Events {
			written = append(written, e.String())
		}
		again := replay.Run(setting, written)
		if len(again.Events) != len(out.Events) || again.Last != out.Last {
			t.Errorf("%d of %d events are accepted again: %v", len(again.Events), len(out.Events), again.Fault)
		}
	})
}
