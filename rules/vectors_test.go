package rules_test

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/rules"
)

// readGzip decodes a gzipped JSON file of testdata.
func readGzip(t testing.TB, path string, into any) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.NewDecoder(z).Decode(into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

type jsonSide struct {
	Points map[string]int `json:"points"`
	Bar    int            `json:"bar"`
	Off    int            `json:"off"`
	Pinned []int          `json:"pinned"`
}

type jsonPosition struct {
	White jsonSide `json:"white"`
	Black jsonSide `json:"black"`
}

func (j jsonPosition) setup(r rules.Rules) rules.Setup {
	var s rules.Setup
	for c, side := range []jsonSide{j.White, j.Black} {
		for number, n := range side.Points {
			var p int
			fmt.Sscan(number, &p)
			s.Points[c][r.PointIndex(rules.Color(c), p)] = n
		}
		for _, p := range side.Pinned {
			s.Pinned[c][r.PointIndex(rules.Color(c), p)] = true
		}
		s.Bar[c], s.Off[c] = side.Bar, side.Off
	}
	return s
}

type playsVector struct {
	ID             string       `json:"id"`
	Mover          string       `json:"mover"`
	Kind           string       `json:"kind"`
	Thrown         []uint8      `json:"thrown"`
	Dice           []uint8      `json:"dice"`
	Stage          uint8        `json:"stage"`
	Roll           uint16       `json:"roll"`
	FirstTurn      bool         `json:"first_turn"`
	WhiteFirstRoll []uint8      `json:"white_first_roll"`
	HeadTaken      uint8        `json:"head_taken"`
	HeadLimit      *int         `json:"head_limit"`
	AllHome        bool         `json:"all_home"`
	Position       jsonPosition `json:"position"`
	K              int          `json:"k"`
	Pass           bool         `json:"pass"`
	Count          int          `json:"count"`
	Ends           []string     `json:"ends"`
	Final          [][2]string  `json:"final"`
}

func (v playsVector) stage() rules.Stage {
	s := rules.Stage{Index: v.Stage, Roll: v.Roll, First: v.FirstTurn, HeadTaken: v.HeadTaken}
	if v.Mover == "black" {
		s.Mover = rules.Black
	}
	switch v.Kind {
	case "bonus":
		s.Kind = rules.Bonus
	case "handed":
		s.Kind = rules.Handed
	}
	copy(s.Dice[:], v.Dice)
	if v.Thrown != nil {
		s.Thrown = rules.Dice{A: v.Thrown[0], B: v.Thrown[1]}
	}
	if v.WhiteFirstRoll != nil {
		s.WhiteFirst = rules.Dice{A: v.WhiteFirstRoll[0], B: v.WhiteFirstRoll[1]}
	}
	return s
}

func loadPlays(t testing.TB, id string) []playsVector {
	var file struct {
		Vectors []playsVector `json:"vectors"`
	}
	readGzip(t, "testdata/vectors/plays-"+id+".json.gz", &file)
	return file.Vectors
}

func TestPlaysVectors(t *testing.T) {
	var gen rules.Generator
	for _, v := range rules.Variants() {
		t.Run(v.ID, func(t *testing.T) {
			for _, vec := range loadPlays(t, v.ID) {
				p, err := v.Rules.Position(vec.Position.setup(v.Rules))
				if err != nil {
					t.Errorf("%s: %v", vec.ID, err)
					continue
				}
				s := vec.stage()
				if err := v.Rules.CheckStage(s); err != nil {
					t.Errorf("%s: %v", vec.ID, err)
				}
				if limit := v.Rules.HeadLimit(p, s); vec.HeadLimit != nil && limit != *vec.HeadLimit || vec.HeadLimit == nil && limit != -1 {
					t.Errorf("%s: head limit %d, want %v", vec.ID, limit, vec.HeadLimit)
				}
				if got := p.AllHome(s.Mover); got != vec.AllHome {
					t.Errorf("%s: all home %t", vec.ID, got)
				}
				plays := gen.Plays(v.Rules, p, s)
				ends, final := []string{}, [][2]string(nil)
				for i, end := range plays.Ends {
					ends = append(ends, end.String())
					if plays.Final[i] != rules.NotEnded {
						final = append(final, [2]string{end.String(), plays.Final[i].String()})
					}
				}
				slices.Sort(ends)
				slices.SortFunc(final, func(a, b [2]string) int { return strings.Compare(a[0], b[0]) })
				if plays.K != vec.K {
					t.Errorf("%s: K = %d, want %d", vec.ID, plays.K, vec.K)
				}
				if diff := cmp.Diff(vec.Ends, ends); diff != "" {
					t.Errorf("%s: %s\ndice %v: ends (-want +got):\n%s", vec.ID, p, vec.Dice, diff)
				}
				if diff := cmp.Diff(vec.Final, final); diff != "" {
					t.Errorf("%s: final (-want +got):\n%s", vec.ID, diff)
				}
				checkList(t, v.Rules, p, s)
			}
		})
	}
}

// checkList asks Play about every listed way to play.
func checkList(t *testing.T, r rules.Rules, p rules.Position, s rules.Stage) {
	t.Helper()
	var gen rules.Generator
	plays := gen.Plays(r, p, s)
	ends, final := slices.Clone(plays.Ends), slices.Clone(plays.Final)
	list := gen.List(r, p, s)
	if len(list) != len(ends) {
		t.Fatalf("List has %d plays, Plays %d", len(list), len(ends))
	}
	for i, play := range list {
		if play.End != ends[i] || play.Ending != final[i] {
			t.Errorf("List and Plays differ at %d", i)
		}
		end, ending, err := gen.Play(r, p, s, play.Steps)
		if err != nil {
			t.Errorf("%s: Play refuses what List returns: %v", p, err)
		} else if end != play.End || ending != play.Ending {
			t.Errorf("%s: Play %s leads to %s %v, want %s %v", p, r.FormatSteps(s.Mover, play.Steps), end, ending, play.End, play.Ending)
		}
	}
}

type gameVector struct {
	Options struct {
		Series string `json:"series"`
	} `json:"options"`
	Variant string        `json:"variant"`
	Lines   []string      `json:"lines"`
	Due     []string      `json:"due"`
	Final   *jsonPosition `json:"final"`
	Result  [2]any        `json:"result"`
	Why     string        `json:"why"`
}

// replayer folds the event lines of a record through the turn machine. It knows seats and no cube.
type replayer struct {
	t     *testing.T
	r     rules.Rules
	g     rules.Game
	white string
	gen   rules.Generator
}

func (p *replayer) color(seat string) rules.Color {
	if seat == p.white {
		return rules.White
	}
	return rules.Black
}

func (p *replayer) seat(c rules.Color) string {
	if c == rules.White {
		return p.white
	}
	return map[string]string{"A": "B", "B": "A"}[p.white]
}

func (p *replayer) line(line string) error {
	f := strings.Fields(line)
	var d rules.Dice
	var err error
	switch f[0] {
	case "opening":
		fmt.Sscan(f[1]+" "+f[2], &d.A, &d.B)
		switch {
		case d.A == d.B:
			return nil
		case d.A > d.B:
			p.white = "A"
		default:
			p.white, d.A, d.B = "B", d.B, d.A
		}
		p.g, err = p.g.Begin(d.A, d.B)
	case "roll":
		fmt.Sscan(f[2]+" "+f[3], &d.A, &d.B)
		if p.g.OnTurn() != p.color(f[1]) {
			return fmt.Errorf("%s is on turn", p.g.OnTurn())
		}
		p.g, err = p.g.Roll(d)
	case "move":
		if p.g.OnTurn() != p.color(f[1]) {
			return fmt.Errorf("%s is on turn", p.g.OnTurn())
		}
		var steps []rules.Step
		for _, text := range f[2:] {
			if text == "-" {
				break
			}
			st, err := p.r.ParseStep(p.color(f[1]), text)
			if err != nil {
				return err
			}
			steps = append(steps, st)
		}
		if err := p.r.CheckStage(p.g.Stage()); err != nil {
			return err
		}
		p.g, err = p.g.Play(&p.gen, steps)
	case "end":
		if p.g.Due() != rules.DueOver {
			return fmt.Errorf("%s is due, not the end", p.g.Due())
		}
	default:
		return fmt.Errorf("event %q", line)
	}
	return err
}

func (p *replayer) due() string {
	g := p.g
	seat := p.seat(g.OnTurn())
	switch g.Due() {
	case rules.DueOpening:
		return "opening"
	case rules.DueRoll:
		return "roll " + seat
	case rules.DueBonus:
		return "bonus " + seat
	case rules.DueOver:
		return "end"
	}
	s := g.Stage()
	word := "stage "
	if s.Kind == rules.Handed {
		word = "handed "
	}
	dice := s.Dice[:s.Len()]
	if s.Roll == 1 && s.First && p.r.OpeningIsRoll() && s.Mover == rules.White && p.white == "B" {
		dice = []uint8{dice[1], dice[0]} // a record writes the draw as A's die, then B's
	}
	return word + seat + " " + strings.Trim(fmt.Sprint(dice), "[]")
}

func TestGamesVectors(t *testing.T) {
	for _, v := range rules.Variants() {
		t.Run(v.ID, func(t *testing.T) {
			var file struct {
				Games []gameVector `json:"games"`
			}
			readGzip(t, "testdata/vectors/games-"+v.ID+".json.gz", &file)
			for i, game := range file.Games {
				p := &replayer{t: t, r: v.Rules, g: v.Rules.NewGame(rules.Terms{})}
				for n, line := range game.Lines[:len(game.Lines)-1] {
					if err := p.line(line); err != nil {
						t.Fatalf("game %d line %d %q: %v", i, n+1, line, err)
					}
					if got := p.due(); got != game.Due[n] {
						t.Fatalf("game %d line %d %q: due %q, want %q", i, n+1, line, got, game.Due[n])
					}
				}
				checkOutcome(t, p, game)
			}
		})
	}
}

func checkOutcome(t *testing.T, p *replayer, game gameVector) {
	t.Helper()
	o := p.g.Outcome()
	got := [2]any{p.seat(o.Winner), float64(o.Level)}
	if o.Draw {
		got = [2]any{"draw", float64(0)}
	}
	if diff := cmp.Diff(game.Result, got); diff != "" {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if got := o.Ending.String(); got != game.Why {
		t.Errorf("ended by %q, want %q", got, game.Why)
	}
	if game.Final != nil {
		want, err := p.r.Position(game.Final.setup(p.r))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want.String(), p.g.Position().String()); diff != "" {
			t.Errorf("final position (-want +got):\n%s", diff)
		}
	}
}

// TestReplyTurn plays the records of the series "draw".
func TestReplyTurn(t *testing.T) {
	var file struct {
		Records []gameVector `json:"records"`
	}
	readGzip(t, "testdata/vectors/results.json.gz", &file)
	played := 0
	for i, game := range file.Records {
		if game.Options.Series != "draw" || slices.ContainsFunc(game.Lines, func(l string) bool {
			return strings.HasPrefix(l, "double") || strings.HasPrefix(l, "resign") || strings.HasPrefix(l, "timeout")
		}) {
			continue
		}
		v, err := rules.Lookup(game.Variant)
		if err != nil {
			t.Fatal(err)
		}
		p := &replayer{t: t, r: v.Rules, g: v.Rules.NewGame(rules.Terms{Reply: true})}
		for n, line := range game.Lines[:len(game.Lines)-1] {
			if err := p.line(line); err != nil {
				t.Fatalf("record %d line %d %q: %v", i, n+1, line, err)
			}
		}
		if got := p.due(); got != "end" {
			t.Errorf("record %d: due %q after the last move", i, got)
		}
		if game.Why != "draw" && game.Why != "finished" {
			continue
		}
		checkOutcome(t, p, game)
		played++
	}
	if played < 20 {
		t.Errorf("played %d records of the series draw", played)
	}
}
