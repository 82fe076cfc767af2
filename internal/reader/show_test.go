package reader

import (
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/audit"
	"fairdice/internal/messages"
	"fairdice/replay"
	"fairdice/rules"
)

// shown is the JSON of a show.
type shown struct {
	More  bool
	Games []struct {
		Game             int
		Variant, Options string
		Score, After     []int
		Crawford         bool
		Steps            []struct {
			Line              int
			Text, Event, Kind string
			Seat              *string
			Dice              []int
			Handed            bool
			Position, Due     string
			White             *string
			Cube              struct {
				Value int
				Owner *string
			}
			Fault *struct {
				Check, Category, Message, Detail string
				Alternatives                     []string
			}
		}
	}
}

func open(t *testing.T, data string, o Options) (*Show, shown) {
	t.Helper()
	s, err := Open([]byte(data), o)
	if err != nil {
		t.Fatal(err)
	}
	text, err := s.JSON()
	if err != nil {
		t.Fatal(err)
	}
	var out shown
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return s, out
}

func short(t *testing.T) *rules.Variant {
	t.Helper()
	v, err := rules.Lookup("short")
	if err != nil {
		t.Fatal(err)
	}
	return &v
}

// The line that breaks a rule is a step of its own, at the position in which it
// was played, and the lines before it are told in the language asked for.
func TestFaultOfRecord(t *testing.T) {
	record := "opening 2 3\nmove B 13/10 6/4\nroll A 6 5\nmove A 13/7\nroll B 1 2\n"
	s, out := open(t, record, Options{Variant: short(t), Words: messages.For("ru")})
	if len(out.Games) != 1 || len(out.Games[0].Steps) != 4 {
		t.Fatalf("got %+v", out)
	}
	g := out.Games[0]
	if g.Steps[2].Event != "A бросает 6 5" || g.Steps[2].Dice[1] != 5 || *g.Steps[2].Seat != "A" {
		t.Errorf("the roll is %+v", g.Steps[2])
	}
	bad := g.Steps[3]
	switch {
	case bad.Line != 4 || bad.Kind != "fault" || bad.Text != "move A 13/7" || bad.Fault == nil:
		t.Errorf("the fault is %+v", bad)
	case bad.Fault.Check != replay.CheckForced || len(bad.Fault.Alternatives) == 0 || bad.Fault.Message == bad.Fault.Detail:
		t.Errorf("the fault says %+v", bad.Fault)
	case bad.Position != g.Steps[2].Position || bad.Due != "stage A 6 5":
		t.Errorf("the fault stands at %+v", bad)
	}
	for _, seat := range []replay.Seat{replay.A, replay.B} {
		picture, err := s.Board(0, 1, seat)
		if err != nil || !strings.Contains(picture, "board-mark") {
			t.Errorf("the move of seat %v is not marked: %v", seat, err)
		}
		words, err := s.Describe(0, 1, seat)
		if err != nil || !strings.Contains(words, "Последний ход") {
			t.Errorf("the description is %q, %v", words, err)
		}
	}
}

// Rows of match files are a roll and its play in one.
func TestMatch(t *testing.T) {
	_, out := open(t, " 5 point match\n Game 1\n Ann : 0                        Bob : 0\n  1) 31: 8/5 6/5                   42: 8/4 6/4\n  2)                               Wins 1 point\n", Options{})
	g := out.Games[0]
	if g.Variant != "short" || len(g.Steps) != 2 || g.Steps[0].Kind != "play" || len(g.Steps[0].Dice) != 2 || g.Steps[0].Event != "A rolls 3 1 · A plays 8/5 6/5" {
		t.Errorf("got %+v", g)
	}
}

// The report on a file of which only the lines that were refused are kept is the same, and so are their boards.
func TestRefusedLines(t *testing.T) {
	text := " 5 point match\n Game 1\n Ann : 0                        Bob : 0\n  1) 31: 8/5 6/5                   42: 8/4 6/3\n  2)                               Wins 1 point\n" +
		" Game 2\n Ann : 0                        Bob : 1\n  1)                               64: 24/14\n  2) 31: 8/5 6/4\n"
	read := 0
	whole, all := Check("x", []byte(text), Options{Words: messages.For("en"), Progress: func(done int) { read = done }})
	report, few := Check("x", []byte(text), Options{Words: messages.For("en"), Refused: true})
	if read != len(text) {
		t.Errorf("%d of %d bytes were said to be read", read, len(text))
	}
	same := cmp.Options{
		cmp.Comparer(func(a, b *replay.State) bool { return a == b || *a == *b }),
		cmp.Comparer(func(a, b error) bool { return fmt.Sprint(a) == fmt.Sprint(b) }),
	}
	if diff := cmp.Diff(whole, report, same); diff != "" || len(report.Findings) != 2 {
		t.Errorf("%d findings, -whole +refused:\n%s", len(report.Findings), diff)
	}
	if all.Empty() || !few.Empty() {
		t.Errorf("%d and %d steps are kept", all.steps, few.steps)
	}
	for _, f := range report.Findings {
		var pictures []string
		for _, s := range []*Show{all, few} {
			game, step, err := s.Line(f.Game, f.Line)
			if err != nil {
				t.Fatal(err)
			}
			picture, err := s.Board(game, step, replay.A)
			if err != nil {
				t.Fatal(err)
			}
			pictures = append(pictures, picture)
		}
		if pictures[0] != pictures[1] {
			t.Errorf("line %d has the boards\n%s\nand\n%s", f.Line, pictures[0], pictures[1])
		}
	}
	if game, step, err := all.Line(2, 8); err != nil || game != 1 || step != 0 {
		t.Errorf("line 8 is step %d of game %d, %v", step, game, err)
	}
	for _, place := range [][2]int{{3, 4}, {1, 99}} {
		if _, _, err := all.Line(place[0], place[1]); err == nil {
			t.Errorf("there is a line %v", place)
		}
	}
}

// In a bundle a line is an event line, as in the report of package audit.
func TestBundle(t *testing.T) {
	data, err := os.ReadFile("../../audit/testdata/bundle-l2.json")
	if err != nil {
		t.Fatal(err)
	}
	_, out := open(t, string(data), Options{})
	steps := out.Games[0].Steps
	if steps[0].Line != 1 || steps[0].Kind != "opening" || steps[len(steps)-1].Kind != "end" || out.Games[0].Game != 1 {
		t.Errorf("got %+v", out)
	}
	r := audit.Verify(data, audit.Trust{})
	for _, lang := range messages.Languages() {
		text, err := Words(r, lang)
		if err != nil || !json.Valid(text) {
			t.Errorf("%s: %s, %v", lang, text, err)
		}
	}
}

func TestNothingToShow(t *testing.T) {
	for name, c := range map[string]struct {
		data string
		want string
	}{
		"empty":      {"", "the file is empty"},
		"no bundle":  {"{}", "missing"},
		"no variant": {"opening 2 3\n", "variant must be given"},
		"binary":     {"\x00\x01", "binary"},
		"broken":     {"fairdice/v1/record\n", ""},
	} {
		if _, err := Open([]byte(c.data), Options{}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// Every way to end a file in the wrong place is told in words that exist.
func TestRecordWords(t *testing.T) {
	for _, record := range []string{"opening 2 3\nmove B 13/10\n", "opening 2 3\n", "", "opening 2\n"} {
		r, s := Check("x", []byte(record), Options{Variant: short(t)})
		for _, lang := range messages.Languages() {
			text, err := RecordWords(r, s, lang)
			if err != nil || !json.Valid(text) || strings.Contains(string(text), "verdict.") || strings.Contains(string(text), "variant.") {
				t.Errorf("%s: %s, %v", lang, text, err)
			}
		}
	}
}

func FuzzOpen(f *testing.F) {
	f.Add([]byte("opening 2 3\nmove B 13/10 6/4\nroll A 6 5\nmove A 13/7\n"))
	f.Add([]byte(" 5 point match\n Game 1\n Ann : 0 Bob : 0\n  1) 31: 8/5 6/5  42: 8/4 6/4\n"))
	f.Add([]byte("(;GM[6];B[31hf]"))
	f.Add([]byte(`{"format":"fairdice/v1/bundle"}`))
	v, err := rules.Lookup("short")
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := Open(data, Options{Variant: &v})
		if err != nil {
			return
		}
		text, err := s.JSON()
		if err != nil || !json.Valid(text) {
			t.Fatalf("%q, %v", text, err)
		}
		for i, g := range s.games {
			for j := range min(len(g.steps), 50) {
				if g.steps[j].begun {
					if _, err := s.Board(i, j, replay.B); err != nil {
						t.Error(err)
					}
				}
			}
		}
	})
}

// What a game starts from follows from the games before it: the score, and so
// whether it is the Crawford game, in which nobody doubles (RULES.md §7).
func TestBefore(t *testing.T) {
	t.Parallel()
	points := replay.Options{Raise: replay.RaiseCube, Series: replay.Series{Kind: replay.SeriesPoints, N: 3}, Crawford: true}
	const record = "opening 2 3\nmove B 13/10 6/4\ndouble A\n"
	for _, c := range []struct {
		name     string
		before   []string
		record   string
		score    []int
		crawford bool
		after    []int
		faults   int
	}{
		{"the first", []string{}, record, []int{0, 0}, false, nil, 0},
		{"one point", []string{"end B 1"}, record, []int{0, 1}, false, nil, 0},
		{"the Crawford game", []string{"end B 1", "", "end B 1"}, record, []int{0, 2}, true, nil, 1},
		{"aborted, it is still to be played", []string{"end A 2", ""}, record, []int{2, 0}, true, nil, 1},
		{"after it", []string{"end A 2", "end B 1"}, record, []int{2, 1}, false, nil, 0},
		{"one that has ended", []string{"end B 1"}, record + "drop B\nend A 1\n", []int{0, 1}, false, []int{1, 1}, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, out := open(t, c.record, Options{Variant: short(t), Options: &points, Before: c.before})
			g, faults := out.Games[0], 0
			for _, st := range g.Steps {
				if st.Fault != nil {
					faults++
				}
			}
			if g.Game != len(c.before)+1 || !slices.Equal(g.Score, c.score) || g.Crawford != c.crawford || !slices.Equal(g.After, c.after) || faults != c.faults {
				t.Errorf("game %d, score %v, Crawford %t, after it %v, %d faults", g.Game, g.Score, g.Crawford, g.After, faults)
			}
		})
	}
	for name, o := range map[string]Options{
		"no end":      {Variant: short(t), Options: &points, Before: []string{"roll A 1 2"}},
		"no event":    {Variant: short(t), Options: &points, Before: []string{"end C"}},
		"over before": {Variant: short(t), Options: &points, Before: []string{"end A 3"}},
		"after over":  {Variant: short(t), Options: &points, Before: []string{"end A 3", "end A 1"}},
		"no options":  {Variant: short(t), Before: []string{}},
	} {
		if _, err := Open([]byte(record), o); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
