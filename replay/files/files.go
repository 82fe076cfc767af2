package files

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"fairdice/internal/phrase"
	"fairdice/internal/wire"
	"fairdice/replay"
	"fairdice/replay/sheet"
	"fairdice/rules"
)

// Verdict is what a check ended with.
type Verdict string

// The verdicts, and Skipped for a file that is not one of records.
const (
	Verified   Verdict = "verified"
	Failed     Verdict = "failed"
	Incomplete Verdict = "incomplete"
	Malformed  Verdict = "malformed"
	Skipped    Verdict = "skipped"
)

// Format is the kind of a file.
type Format string

// The formats.
const (
	Record Format = "record"
	Mat    Format = "mat"
	SGF    Format = "sgf"
)

// Options say what a file may not say itself.
type Options struct {
	Variant *rules.Variant  // for records without header and files that name no variant
	Options *replay.Options // for records without header; nil: DefaultOptions
	Setting *replay.Setting // what a record without header starts from, instead of both

	// Match, if not nil, is given the games of every file without a finding, at most MaxKept.
	Match func(sheet.Match)

	// Observe, if not nil, is told of every accepted line.
	Observe func(game, line int, what string, st replay.State)
}

// DefaultOptions hold for a record without header.
func DefaultOptions() replay.Options { return replay.Options{Raise: replay.RaiseMars} }

// Report is what was found in one file. Its JSON form is one line of "verify record --json".
type Report struct {
	File     string    `json:"file"`
	Format   Format    `json:"format"`
	Variant  string    `json:"variant"`
	Options  string    `json:"options,omitempty"`
	Games    int       `json:"games"`
	Rolls    int       `json:"rolls"`
	Verdict  Verdict   `json:"verdict"`
	Findings []Finding `json:"findings"`
	Notes    []Note    `json:"notes,omitempty"`

	Understood []string `json:"understood,omitempty"` // what the file says and a check has used
	Ignored    []Note   `json:"ignored,omitempty"`    // what it says that means nothing here
	Unchecked  []Note   `json:"unchecked,omitempty"`  // what could not be judged

	Steps []Step `json:"steps,omitempty"` // for callers to fill in
}

// Step is one accepted line with the position after it.
type Step struct {
	Game     int    `json:"game"`
	Line     int    `json:"line"`
	What     string `json:"what"`
	Position string `json:"position"`
}

// Finding is one thing that is wrong. Line is the 1-based line in the file.
type Finding struct {
	Game     int      `json:"game"`
	Line     int      `json:"line"`
	Check    string   `json:"check"`
	Category string   `json:"category"`
	Message  string   `json:"message"`
	Legal    []string `json:"legal,omitempty"` // event lines that would have been accepted
	Board    string   `json:"board,omitempty"` // for callers to fill in

	Why   error         `json:"-"` // what Message is the English text of
	State *replay.State `json:"-"` // before the line, nil if no game was running
}

// Note is something worth knowing that is no fault.
type Note struct {
	Game int    `json:"game"`
	Line int    `json:"line"`
	Text string `json:"text"`

	Why error `json:"-"` // what Text is the English text of
}

// maxLegal is how many legal alternatives a finding lists.
const maxLegal = 8

// head is how much of a file is looked at to recognise its format.
const head = 4096

// Check reads one file and judges it. Name only labels the report.
func Check(name string, r io.Reader, o Options) Report {
	in := bufio.NewReaderSize(r, head)
	start, err := in.Peek(head)
	if err != nil && err != io.EOF && !errors.Is(err, bufio.ErrBufferFull) {
		return malformed(Report{File: name}, err)
	}
	report := Report{File: name, Format: recognise(start), Findings: []Finding{}}
	switch report.Format {
	case Record:
		return checkRecord(report, in, o)
	case Mat:
		return checkMat(report, in, o)
	case SGF:
		return checkSGF(report, in, o)
	}
	if len(bytes.TrimSpace(start)) == 0 && err == io.EOF {
		return malformed(report, errors.New("the file is empty"))
	}
	return malformed(report, unknown(start))
}

// signatures begin files that are no text of games, and what they are.
var signatures = []struct{ start, what string }{
	{"PK\x03\x04", "a zip archive"}, {"PK\x05\x06", "an empty zip archive"}, {"\x1f\x8b", "gzip data"}, {"\x28\xb5\x2f\xfd", "zstandard data"}, {"BZh", "bzip2 data"},
	{"\xfd7zXZ\x00", "xz data"}, {"7z\xbc\xaf\x27\x1c", "a 7z archive"}, {"Rar!", "a rar archive"}, {"%PDF-", "a PDF document"},
	{"\xff\xfe", "text in UTF-16: save it as UTF-8"}, {"\xfe\xff", "text in UTF-16: save it as UTF-8"},
	{"RGMH", "a binary file of eXtreme Gammon: save the match as text"},
}

// unknown says what a file of no known format may be.
func unknown(start []byte) error {
	for _, s := range signatures {
		if bytes.HasPrefix(start, []byte(s.start)) {
			return phrase.Errorf("the file is %w", errors.New(s.what))
		}
	}
	if len(start) > 262 && string(start[257:262]) == "ustar" {
		return errors.New("the file is a tar archive")
	}
	if bytes.IndexByte(start, 0) >= 0 {
		return errors.New("the file is binary: neither a fairdice record nor a .mat or .sgf match")
	}
	return errors.New("the text is neither a fairdice record nor a .mat or .sgf match")
}

// recognise tells a format from the first bytes, or "".
func recognise(start []byte) Format {
	start = bytes.TrimPrefix(start, []byte("\xef\xbb\xbf"))
	trimmed := bytes.TrimLeft(start, " \t\r\n")
	if bytes.HasPrefix(start, []byte("fairdice/")) {
		return Record
	}
	if bytes.HasPrefix(trimmed, []byte("(")) {
		return SGF
	}
	word, _, _ := strings.Cut(firstLine(trimmed), " ")
	for k := replay.Opening; k <= replay.End; k++ {
		if word == k.String() { // a record that begins in the wrong place is still one
			return Record
		}
	}
	if strings.HasPrefix(word, ";") {
		return Mat
	}
	for line := range bytes.Lines(trimmed) {
		if matLine(line) {
			return Mat
		}
	}
	return ""
}

// matLine reports whether a line is one of those every .mat file has: "Game 3" or "7 point match" in any letter case.
func matLine(line []byte) bool {
	words := strings.Fields(strings.ToLower(string(line)))
	switch {
	case len(words) == 2 && words[0] == "game":
		return digits(words[1])
	case len(words) == 3 && (words[1] == "point" || words[1] == "points") && words[2] == "match":
		return digits(words[0])
	}
	return false
}

func digits(word string) bool { return strings.Trim(word, "0123456789") == "" }

func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return string(bytes.TrimSpace(line))
}

// Unreadable is the report of a file that cannot be read.
func Unreadable(name string, err error) Report {
	return malformed(Report{File: name, Findings: []Finding{}}, err)
}

// malformed ends a report with an error of reading, in its line where it names one.
func malformed(r Report, err error) Report {
	f := Finding{Check: replay.CheckFormat, Category: "malformed", Message: err.Error(), Why: err}
	if at, ok := errors.AsType[*replay.LineError](err); ok {
		f.Line, f.Message, f.Why = at.Line, at.Err.Error(), at.Err
	}
	r.Findings = append(r.Findings[:len(r.Findings):len(r.Findings)], f)
	r.Verdict = Malformed
	return r
}

// add takes over a finding with what the state machine says about it.
func (r *Report) add(f replay.Finding) {
	out := Finding{Game: f.Game, Line: f.Line, Check: f.Check, Category: f.Category, Message: f.Message, Why: f.Why}
	if f.Refusal != nil {
		out.Legal = f.Refusal.Alternatives(maxLegal)
		out.State = &f.Refusal.State
	}
	r.Findings = append(r.Findings, out)
}

// JSON is the report as one line of JSON: its members are those of the
// struct's tags, in their order.
func (r Report) JSON() ([]byte, error) {
	var out bytes.Buffer
	w := wire.NewReport(&out)
	w.Object("", func() {
		w.Text("file", r.File)
		w.Text("format", string(r.Format))
		w.Text("variant", r.Variant)
		w.TextIf("options", r.Options)
		w.Int("games", r.Games)
		w.Int("rolls", r.Rolls)
		w.Text("verdict", string(r.Verdict))
		wire.List(w, "findings", r.Findings, func(f Finding) { f.write(w) })
		note := func(n Note) { n.write(w) }
		wire.ListIf(w, "notes", r.Notes, note)
		wire.ListIf(w, "understood", r.Understood, func(text string) { w.Text("", text) })
		wire.ListIf(w, "ignored", r.Ignored, note)
		wire.ListIf(w, "unchecked", r.Unchecked, note)
		wire.ListIf(w, "steps", r.Steps, func(s Step) {
			w.Object("", func() {
				w.Int("game", s.Game)
				w.Int("line", s.Line)
				w.Text("what", s.What)
				w.Text("position", s.Position)
			})
		})
	})
	if err := w.Err(); err != nil {
		return nil, fmt.Errorf("encode report: %w", err)
	}
	return out.Bytes(), nil
}

func (f Finding) write(w *wire.Writer) {
	w.Object("", func() {
		w.Int("game", f.Game)
		w.Int("line", f.Line)
		w.Text("check", f.Check)
		w.Text("category", f.Category)
		w.Text("message", f.Message)
		wire.ListIf(w, "legal", f.Legal, func(text string) { w.Text("", text) })
		w.TextIf("board", f.Board)
	})
}

func (n Note) write(w *wire.Writer) {
	w.Object("", func() {
		w.Int("game", n.Game)
		w.Int("line", n.Line)
		w.Text("text", n.Text)
	})
}
