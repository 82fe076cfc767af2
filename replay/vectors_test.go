package replay_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairdice/replay"
	"fairdice/rules"
)

// load reads a JSON file of testdata, gzipped or not.
func load(t testing.TB, path string, into any) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", path))
	if err != nil {
		t.Fatal(err)
	}
	if strings.HasSuffix(path, ".gz") {
		r, err := gzip.NewReader(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		if data, err = io.ReadAll(r); err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

type optionsVector struct{ Raise, Stake, Series string }

func (o optionsVector) options(t testing.TB, crawford string) replay.Options {
	t.Helper()
	parsed, err := replay.ParseOptions("raise=" + o.Raise + " stake=" + o.Stake + " series=" + o.Series + " crawford=" + crawford)
	if err != nil {
		t.Fatal(err)
	}
	return parsed
}

func lookup(t testing.TB, id string) rules.Variant {
	t.Helper()
	v, err := rules.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

type gameVector struct {
	Variant      string
	Options      optionsVector
	CrawfordGame bool `json:"crawford_game"`
	Lines, Due   []string
	Final        json.RawMessage
	Result       []any
	Why          string
	Category     string
	FirstIllegal int `json:"first_illegal"`
	Winner       string
	Cube         int64
	DoubleTaken  bool `json:"double_accepted"`
}

func (g gameVector) setting(t testing.TB) replay.Setting {
	crawford := "off"
	if g.CrawfordGame {
		crawford = "on"
	}
	return replay.Setting{Variant: lookup(t, g.Variant), Options: g.Options.options(t, crawford), Game: 1, Crawford: g.CrawfordGame}
}

func TestGames(t *testing.T) {
	for _, v := range rules.Variants() {
		t.Run(v.ID, func(t *testing.T) {
			var file struct{ Games []gameVector }
			load(t, "rules/games-"+v.ID+".json", &file)
			if len(file.Games) == 0 {
				t.Fatal("no games")
			}
			for n, g := range file.Games {
				g.Variant = v.ID
				st, err := replay.Start(g.setting(t))
				if err != nil {
					t.Fatal(err)
				}
				for i, line := range g.Lines {
					if st, err = replay.Apply(st, parse(t, line)); err != nil {
						t.Fatalf("game %d line %d: %v", n+1, i+1, err)
					}
					if got := st.Due().String(); got != g.Due[i] {
						t.Fatalf("game %d line %d %q: due %q, want %q", n+1, i+1, line, got, g.Due[i])
					}
				}
				checkResult(t, st, g)
				if got, want := st.Position().String(), positionText(t, g.Final); got != want {
					t.Errorf("game %d: final position %s, want %s", n+1, got, want)
				}
			}
		})
	}
}

func parse(t testing.TB, line string) replay.Event {
	t.Helper()
	e, err := replay.ParseEvent(line)
	if err != nil {
		t.Fatal(err)
	}
	if e.String() != line {
		t.Fatalf("%q prints as %q", line, e)
	}
	return e
}

func checkResult(t *testing.T, st replay.State, g gameVector) {
	t.Helper()
	r := st.Result()
	if !st.Over() {
		t.Fatalf("not over: %s is due", st.Due())
	}
	if got := r.Why.String(); got != g.Why {
		t.Errorf("decided by %s, want %s", got, g.Why)
	}
	seat, _ := g.Result[0].(string)
	points, _ := g.Result[1].(float64)
	if r.Draw != (seat == "draw") || !r.Draw && r.Seat.String() != seat || r.Points != int64(points) {
		t.Errorf("result %s, want %v", r, g.Result)
	}
}

// positionText turns the JSON form of the vectors into the text form.
func positionText(t testing.TB, raw json.RawMessage) string {
	t.Helper()
	type side struct {
		Points   map[string]int
		Bar, Off int
		Pinned   []int
	}
	var p struct{ White, Black side }
	if err := json.Unmarshal(raw, &p); err != nil {
		t.Fatal(err)
	}
	text := func(s side) string {
		var b strings.Builder
		for n := 1; n <= 24; n++ {
			key := itoa(n)
			if s.Points[key] == 0 {
				continue
			}
			b.WriteString(" " + key + ":" + itoa(s.Points[key]))
			for _, pinned := range s.Pinned {
				if pinned == n {
					b.WriteString("p")
				}
			}
		}
		if s.Bar > 0 {
			b.WriteString(" bar:" + itoa(s.Bar))
		}
		if s.Off > 0 {
			b.WriteString(" off:" + itoa(s.Off))
		}
		return strings.TrimPrefix(b.String(), " ")
	}
	return text(p.White) + " | " + text(p.Black)
}

func itoa(n int) string {
	b, _ := json.Marshal(n)
	return string(b)
}

func TestRecordsUnderOtherOptions(t *testing.T) {
	var file struct{ Records []gameVector }
	load(t, "rules/results.json.gz", &file)
	for n, g := range file.Records {
		out := replay.Run(g.setting(t), g.Lines)
		if out.Fault != nil {
			t.Errorf("record %d (%s): %v", n, g.Variant, out.Fault)
			continue
		}
		checkResult(t, out.Last, g)
	}
}

func TestFinals(t *testing.T) {
	var file struct {
		Finals []struct {
			gameVector
			Position json.RawMessage
			Points   int64
		}
	}
	load(t, "rules/results.json.gz", &file)
	for i, f := range file.Finals {
		setting := f.setting(t)
		p, err := rules.ParsePosition(setting.Variant.Rules, positionText(t, f.Position))
		if err != nil {
			t.Fatal(err)
		}
		// The colour that finished first; in a reversed game it has lost.
		first := rules.White
		if p.Off(rules.Black) == setting.Variant.Rules.Checkers() {
			first = rules.Black
		}
		if (first.String() == f.Winner) == setting.Reversed() {
			t.Fatalf("final %d: %s has finished, and %s is said to have won", i, first, f.Winner)
		}
		behind := first.Other()
		level := setting.Variant.Rules.Level(p, behind)
		got := setting.Worth(level, setting.Variant.Rules.Checkers()-p.Off(behind), f.Cube, f.DoubleTaken)
		if got != f.Points {
			t.Errorf("final %d (%s, %v): worth %d, want %d", i, f.Variant, f.Options, got, f.Points)
		}
	}
}

func TestBadGames(t *testing.T) {
	names := []string{"bad-cube"}
	for _, v := range rules.Variants() {
		names = append(names, "bad-"+v.ID)
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			var file struct {
				Variant string
				Options optionsVector
				Games   []gameVector
			}
			load(t, "rules/"+name+".json", &file)
			for _, g := range file.Games {
				if file.Variant != "" {
					g.Variant, g.Options = file.Variant, file.Options
				}
				out := replay.Run(g.setting(t), g.Lines)
				if out.Fault == nil {
					t.Errorf("%s: accepted, want line %d refused", g.Category, g.FirstIllegal)
					continue
				}
				if out.Fault.Line != g.FirstIllegal {
					t.Errorf("%s: line %d refused (%v), want line %d", g.Category, out.Fault.Line, out.Fault, g.FirstIllegal)
				}
				if r := out.Fault.Refusal; r != nil && g.Category != "end-missing" {
					if len(r.Alternatives(3)) == 0 && r.Code != "after-end" {
						t.Errorf("%s: no alternatives to %v", g.Category, r)
					}
				}
			}
		})
	}
}

func TestOptionsVectors(t *testing.T) {
	var file struct {
		Options []struct {
			Variant string
			Options optionsVector
			OK      bool
			Reason  *string
		}
		Matches []struct {
			Options  optionsVector
			Crawford string
			Games    []struct {
				Score        [2]int
				CrawfordGame bool `json:"crawford_game"`
				Winner       string
				Points       int64
			}
			FinalScore [2]int `json:"final_score"`
		}
	}
	load(t, "rules/results.json.gz", &file)
	for _, c := range file.Options {
		err := c.Options.options(t, "off").Validate(lookup(t, c.Variant))
		if (err == nil) != c.OK {
			t.Errorf("%s %v: %v, want ok %v", c.Variant, c.Options, err, c.OK)
		}
	}
	for i, c := range file.Matches {
		m, err := replay.NewMatch(lookup(t, "short"), c.Options.options(t, c.Crawford))
		if err != nil {
			t.Fatal(err)
		}
		for _, g := range c.Games {
			next := m.Next()
			if m.Over() || next.Score != g.Score || next.Crawford != g.CrawfordGame {
				t.Fatalf("match %d: game %d starts at %v crawford %v over %v, want %v %v", i, next.Game, next.Score, next.Crawford, m.Over(), g.Score, g.CrawfordGame)
			}
			if m, err = m.Add(replay.Result{Seat: replay.Seat(g.Winner[0] - 'A'), Points: g.Points}); err != nil {
				t.Fatal(err)
			}
		}
		if !m.Over() || m.Score() != c.FinalScore {
			t.Errorf("match %d ends at %v over %v, want %v", i, m.Score(), m.Over(), c.FinalScore)
		}
	}
}

func TestRecordVectors(t *testing.T) {
	var file struct {
		Records []struct {
			What, Text string
			Heads      []string
			HeadBytes  int `json:"head_0_bytes"`
		}
		EventsValid    []string                      `json:"events_valid"`
		EventsInvalid  []string                      `json:"events_invalid"`
		RecordsInvalid []struct{ What, Text string } `json:"records_invalid"`
	}
	load(t, "protocol/records.json", &file)
	for _, c := range file.Records {
		r, err := replay.ParseRecord([]byte(c.Text))
		if err != nil {
			t.Errorf("%s: %v", c.What, err)
			continue
		}
		if c.HeadBytes != 0 && len(r.Header.Text()) != c.HeadBytes {
			t.Errorf("%s: header of %d bytes, want %d", c.What, len(r.Header.Text()), c.HeadBytes)
		}
		if string(r.Text()) != c.Text {
			t.Errorf("%s: prints as another text", c.What)
		}
		head := r.Header.Head()
		for i := 0; ; i++ {
			if head.String() != c.Heads[i] {
				t.Fatalf("%s: head %d is %s, want %s", c.What, i, head, c.Heads[i])
			}
			if i == len(r.Lines) {
				break
			}
			head = head.Next(r.Lines[i])
		}
		if last, ok := r.Head(); !ok || last != head {
			t.Errorf("%s: Head() is %s, want %s", c.What, last, head)
		}
	}
	for _, c := range file.RecordsInvalid {
		if r, err := replay.ParseRecord([]byte(c.Text)); err == nil {
			t.Errorf("%s: accepted as %+v", c.What, r)
		}
	}
	for _, line := range file.EventsValid {
		if _, err := replay.ParseEvent(line); err != nil {
			t.Error(err)
		}
	}
	for _, line := range file.EventsInvalid {
		if e, err := replay.ParseEvent(line); err == nil {
			t.Errorf("%q accepted as %q", line, e)
		}
	}
}
