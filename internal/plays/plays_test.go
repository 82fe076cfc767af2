package plays_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/internal/plays"
)

type answer struct {
	K     int
	Pass  bool
	Count int
	Ends  []string
	Final map[string]string
	Error string
}

func ask(t *testing.T, requests string, o plays.Options) (answers []answer, bad int) {
	t.Helper()
	var out bytes.Buffer
	bad, err := plays.Serve(strings.NewReader(requests), &out, o)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(out.String()) {
		var a answer
		if err := json.Unmarshal([]byte(line), &a); err != nil {
			t.Fatal(err)
		}
		answers = append(answers, a)
	}
	return answers, bad
}

// vectors returns a folder of known answers of the rules package.
func vectors(t *testing.T) string {
	t.Helper()
	return filepath.Join("..", "..", "rules", "testdata")
}

func open(t *testing.T, path string) io.Reader {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasSuffix(path, ".gz") {
		return bytes.NewReader(data)
	}
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestVectors sends the known questions themselves, with all their further fields, and wants the known answers.
func TestVectors(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(vectors(t), "*", "plays-*.json*"))
	if more, _ := filepath.Glob(filepath.Join(vectors(t), "plays-*.json*")); err == nil {
		names = append(names, more...)
	}
	if len(names) < 14 {
		t.Fatalf("%d files of plays, want 14", len(names))
	}
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			var file struct {
				Variant string
				Vectors []json.RawMessage
			}
			if err := json.NewDecoder(open(t, name)).Decode(&file); err != nil {
				t.Fatal(err)
			}
			var requests bytes.Buffer
			for _, v := range file.Vectors {
				requests.Write(v)
				requests.WriteByte('\n')
			}
			answers, bad := ask(t, requests.String(), plays.Options{Variant: file.Variant})
			if bad != 0 || len(answers) != len(file.Vectors) {
				t.Errorf("%d answers, %d bad, to %d requests", len(answers), bad, len(file.Vectors))
			}
			for i, v := range file.Vectors {
				var known struct {
					K     int
					Pass  bool
					Count int
					Ends  []string
					Final [][2]string // the vectors write pairs
				}
				if err := json.Unmarshal(v, &known); err != nil {
					t.Fatal(err)
				}
				want := answer{K: known.K, Pass: known.Pass, Count: known.Count, Ends: known.Ends, Final: map[string]string{}}
				for _, pair := range known.Final {
					want.Final[pair[0]] = pair[1]
				}
				if diff := cmp.Diff(want, answers[i]); diff != "" {
					t.Errorf("vector %d: %s", i, diff)
				}
			}
		})
	}
}

func TestPositionIDs(t *testing.T) {
	names, _ := filepath.Glob(filepath.Join(vectors(t), "*", "legal_sets.tsv.gz"))
	if more, _ := filepath.Glob(filepath.Join(vectors(t), "legal_sets.tsv.gz")); len(names) == 0 {
		names = more
	}
	if len(names) == 0 {
		t.Fatal("no known sets of legal plays")
	}
	lines := bufio.NewScanner(open(t, names[0]))
	lines.Buffer(nil, 1<<20)
	var requests strings.Builder
	var want [][]string
	for lines.Scan() {
		fields := strings.Split(lines.Text(), "\t")
		if fields[0] == "pid_before" {
			continue
		}
		requests.WriteString(`{"pid":"` + fields[0] + `","dice":[` + fields[1][:1] + "," + fields[1][1:] + "]}\n")
		ends := []string{fields[0]} // a dance leaves the position
		if len(fields) > 3 {
			ends = strings.Split(fields[3], ",")
		}
		slices.Sort(ends)
		want = append(want, ends)
	}
	answers, bad := ask(t, requests.String(), plays.Options{PID: true})
	if bad != 0 || len(answers) != len(want) || len(want) == 0 {
		t.Fatalf("%d answers, %d bad, to %d requests", len(answers), bad, len(want))
	}
	for i, a := range answers {
		if diff := cmp.Diff(want[i], a.Ends); diff != "" {
			t.Errorf("row %d: %s", i+2, diff)
		}
	}
}

const start = `"position":{"white":{"points":{"24":2,"13":5,"8":3,"6":5}},"black":{"points":{"24":2,"13":5,"8":3,"6":5}}}`

func TestDefaults(t *testing.T) {
	answers, bad := ask(t, strings.Join([]string{
		`{` + start + `,"dice":[3,1]}`,
		`{"variant":"short",` + start + `,"mover":"white","kind":"own","thrown":[3,1],"dice":[3,1],"stage":1,"roll":7,"more":{"x":1}}`,
		`{` + start + `,"dice":[5,5]}`,
		`{` + start + `,"thrown":[5,5]}`,
		`{` + start + `,"dice":[5,5,5,5]}`,
	}, "\n"), plays.Options{Variant: "short"})
	if bad != 0 || len(answers) != 5 {
		t.Fatalf("%d bad: %+v", bad, answers)
	}
	if diff := cmp.Diff(answers[0], answers[1]); diff != "" || answers[0].K != 2 {
		t.Errorf("k %d; %s", answers[0].K, diff)
	}
	for _, a := range answers[3:] {
		if diff := cmp.Diff(answers[2], a); diff != "" || a.K != 4 {
			t.Errorf("k %d; %s", a.K, diff)
		}
	}
}

func TestBadRequests(t *testing.T) {
	for _, c := range []struct{ name, request, want string }{
		{"empty", ` `, "empty"},
		{"no object", `[1]`, "read request"},
		{"two objects", `{}{}`, "text follows"},
		{"not JSON", `{"dice":[1,2],}`, "not JSON from byte 14"},
		{"cut off", `{"dice":[1,`, "ends before"},
		{"array", `[1]`, "the request is a list, want an object"},
		{"member twice", `{"dice":[1,2],"dice":[3,4]}`, "dice is given twice"},
		{"unknown member twice", `{"x":1,"x":1}`, "x is given twice"},
		{"inner member twice", `{"position":{"white":{"points":{"6":1,"6":2}}}}`, "position/white/points/6 is given twice"},
		{"text for dice", `{"dice":"31"}`, "dice is a text, want a list of numbers"},
		{"text for a die", `{"dice":[1,"2"]}`, "dice/1 is a text, want a whole number"},
		{"half a die", `{"dice":[1,2.5]}`, "dice/1 is 2.5, want a whole number"},
		{"object for a number", `{"roll":{}}`, "roll is an object, want a whole number"},
		{"number for a flag", `{"first_turn":1}`, "first_turn is a number, want true or false"},
		{"other letter case", `{` + start + `,"Dice":[1,2]}`, "one to four dice"},
		{"three equal dice", `{` + start + `,"dice":[2,2,2]}`, "dice"},
		{"four dice of two values", `{` + start + `,"dice":[2,2,3,3]}`, "dice"},
		{"no position", `{"dice":[1,2]}`, "position is missing"},
		{"no dice", `{` + start + `}`, "one to four dice"},
		{"die of seven", `{` + start + `,"dice":[7,1]}`, "1 to 6"},
		{"three dice", `{` + start + `,"dice":[1,2,3]}`, "dice"},
		{"one own die", `{` + start + `,"dice":[1]}`, "dice is [1], one die: kind own has two that were thrown"},
		{"unknown variant", `{"variant":"chess",` + start + `,"dice":[1,2]}`, "chess"},
		{"mover", `{` + start + `,"dice":[1,2],"mover":"red"}`, "mover"},
		{"kind", `{` + start + `,"dice":[1,2],"kind":"gift"}`, "kind"},
		{"handed in short", `{` + start + `,"dice":[1],"kind":"handed"}`, "handed"},
		{"stage out of range", `{` + start + `,"dice":[1,2],"stage":9}`, "stage"},
		{"fourteen checkers", `{"position":{"white":{"points":{"24":14}},"black":{"points":{"24":15}}},"dice":[1,2]}`, "14 checkers"},
		{"point 25", `{"position":{"white":{"points":{"25":15}},"black":{"points":{"24":15}}},"dice":[1,2]}`, "25"},
		{"point 01", `{"position":{"white":{"points":{"01":15}},"black":{"points":{"24":15}}},"dice":[1,2]}`, "01"},
	} {
		t.Run(c.name, func(t *testing.T) {
			answers, bad := ask(t, c.request+"\n", plays.Options{Variant: "short"})
			if bad != 1 || len(answers) != 1 || !strings.Contains(answers[0].Error, c.want) {
				t.Errorf("%d bad: %+v, want an error about %q", bad, answers, c.want)
			}
		})
	}
}

// TestLongLine: what came before is answered, the long line gets its error, and nothing follows.
func TestLongLine(t *testing.T) {
	good := `{` + start + `,"dice":[3,1]}` + "\n"
	for _, long := range []int{plays.MaxLine + 1, plays.MaxLine + 2, plays.MaxLine + 3, 3 * plays.MaxLine} {
		for _, end := range []string{"", "\n", "\n" + good} {
			answers, bad := ask(t, good+strings.Repeat("x", long)+end, plays.Options{Variant: "short"})
			if bad != 1 || len(answers) != 2 || answers[0].K != 2 || !strings.Contains(answers[1].Error, "longer than 65536 bytes") {
				t.Errorf("a line of %d bytes before %.4q: %d bad: %+v", long, end, bad, answers)
			}
		}
	}
	if answers, bad := ask(t, strings.Repeat(" ", plays.MaxLine), plays.Options{}); bad != 1 || !strings.Contains(answers[0].Error, "empty") {
		t.Errorf("a line of %d bytes: %+v", plays.MaxLine, answers)
	}
}

func FuzzServe(f *testing.F) {
	f.Add(`{` + start + `,"dice":[3,1]}`)
	f.Add(`{"variant":"gyulbar","position":{"white":{"points":{"1":15}},"black":{"points":{"13":15}}},"dice":[6,6],"kind":"handed"}`)
	f.Fuzz(func(t *testing.T, request string) {
		var out bytes.Buffer
		if _, err := plays.Serve(strings.NewReader(request), &out, plays.Options{Variant: "short"}); err != nil {
			return
		}
		for line := range strings.Lines(out.String()) {
			if !json.Valid([]byte(line)) {
				t.Errorf("answer %q", line)
			}
		}
	})
}
