package files

import (
	"bufio"
	"bytes"
	"errors"
	"io"
	"regexp"
	"strings"
	"unicode/utf8"

	"fairdice/replay"
	"fairdice/replay/mat"
	"fairdice/replay/sgf"
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
	Steps    []Step    `json:"steps,omitempty"` // for callers to fill in
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

	State *replay.State `json:"-"` // before the line, nil if no game was running
}

// Note is something worth knowing that is no fault.
type Note struct {
	Game int    `json:"game"`
	Line int    `json:"line"`
	Text string `json:"text"`
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
		out, err := mat.Check(in, mat.Options{Variant: o.Variant, Observe: o.Observe})
		if err != nil {
			return malformed(report, err)
		}
		return checkSheet(report, out.Report, out.Variant, out.Length, out.Crawford)
	case SGF:
		out, err := sgf.Check(in, sgf.Options{Variant: o.Variant, Observe: o.Observe})
		if err != nil {
			return malformed(report, err)
		}
		return checkSheet(report, out.Report, out.Variant, out.Length, out.Crawford)
	}
	if len(bytes.TrimSpace(start)) == 0 {
		return malformed(report, errors.New("the file is empty"))
	}
	return malformed(report, errors.New("the text is neither a fairdice record nor a .mat or .sgf match"))
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
		if matLine.Match(line) {
			return Mat
		}
	}
	return ""
}

// matLine is one of the lines every .mat file has.
var matLine = regexp.MustCompile(`(?i)^\s*(game +\d+|\d+ +points? +match)\s*$`)

func firstLine(text []byte) string {
	line, _, _ := bytes.Cut(text, []byte("\n"))
	return string(bytes.TrimSpace(line))
}

// malformed ends a report with an error of reading, in its line where it names one.
func malformed(r Report, err error) Report {
	f := Finding{Check: replay.CheckFormat, Category: "malformed", Message: err.Error()}
	if at, ok := errors.AsType[*replay.LineError](err); ok {
		f.Line, f.Message = at.Line, at.Err.Error()
	}
	r.Findings = append(r.Findings[:len(r.Findings):len(r.Findings)], f)
	r.Verdict = Malformed
	return r
}

// add takes over a finding with what the state machine says about it.
func (r *Report) add(f replay.Finding) {
	out := Finding{Game: f.Game, Line: f.Line, Check: f.Check, Category: f.Category, Message: f.Message}
	if f.Refusal != nil {
		out.Legal = f.Refusal.Alternatives(maxLegal)
		out.State = &f.Refusal.State
	}
	r.Findings = append(r.Findings, out)
}

func checkSheet(r Report, s sheet.Report, v rules.Variant, length int, crawford bool) Report {
	r.Variant, r.Games, r.Rolls = v.ID, s.Games, s.Rolls
	for _, f := range s.Findings {
		r.add(f)
	}
	for _, n := range s.Notes {
		r.Notes = append(r.Notes, Note(n))
	}
	switch {
	case !v.Rules.Cube():
	case length == 0:
		r.Notes = append(r.Notes, Note{Text: "a session of single games: beavers, and results with and without the Jacoby rule, are accepted"})
	case length <= replay.MaxSeries:
		o := replay.Options{Raise: replay.RaiseCube, Series: replay.Series{Kind: replay.SeriesPoints, N: length}, Crawford: crawford}
		r.Options = o.String()
	}
	switch {
	case len(s.Findings) > 0:
		r.Verdict = Failed
	case s.Unfinished:
		r.Verdict = Incomplete
		r.Notes = append(r.Notes, Note{Game: s.Games, Text: "the last game has no end"})
	default:
		r.Verdict = Verified
	}
	return r
}

// checkRecord judges a native record.
func checkRecord(r Report, in io.Reader, o Options) Report {
	data, err := io.ReadAll(io.LimitReader(in, replay.MaxRecord+1))
	if err != nil {
		return malformed(r, err)
	}
	if len(data) <= replay.MaxRecord && !utf8.Valid(data) {
		return malformed(r, errors.New("the text is not UTF-8"))
	}
	record, err := replay.ParseRecord(data)
	if err != nil {
		return malformed(r, err)
	}
	if len(record.Lines) == 0 {
		return malformed(r, errors.New("the record has no event lines"))
	}
	setting, err := settingOf(&r, record, o)
	if err != nil {
		return malformed(r, err)
	}
	r.Variant, r.Options, r.Games = setting.Variant.ID, setting.Options.String(), 1
	if _, err := replay.Start(setting); err != nil {
		return malformed(r, err)
	}
	if check, reason := setting.Doubtful(); record.Header != nil && reason != "" {
		line := scoreLine
		if check == replay.CheckCube {
			line = crawfordLine
		}
		r.add(replay.Finding{Game: 1, Line: line, Check: check, Category: "score", Message: reason})
	}
	out := replay.Run(setting, record.Lines)
	r.Rolls = len(out.Rolls)
	observe(setting, record, out, o)
	if out.Fault != nil {
		if out.Fault.Refusal != nil {
			r.add(replay.NewFinding(1, record.FirstLine+out.Fault.Line-1, out.Fault.Refusal))
		} else {
			r.add(replay.Finding{Game: 1, Line: record.FirstLine + out.Fault.Line - 1, Check: replay.CheckFormat, Category: "malformed", Message: out.Fault.Err.Error()})
		}
	}
	switch {
	case len(r.Findings) > 0:
		r.Verdict = Failed
	case !out.Finished:
		r.Verdict = Incomplete
		r.Notes = append(r.Notes, Note{Game: 1, Line: record.FirstLine + len(record.Lines) - 1, Text: "the record has no end: " + out.Last.Due().String() + " is due"})
	default:
		r.Verdict = Verified
	}
	return r
}

// Lines of a record's header.
const (
	variantLine  = 4
	scoreLine    = 6
	crawfordLine = 7
)

// settingOf returns what a record starts from: its header, or what the caller says for a record without one.
func settingOf(r *Report, record replay.Record, o Options) (replay.Setting, error) {
	h := record.Header
	if h == nil {
		if o.Variant == nil {
			return replay.Setting{}, errors.New("the record has no header: its variant must be given")
		}
		options := DefaultOptions()
		if o.Options != nil {
			options = *o.Options
		}
		return replay.Setting{Variant: *o.Variant, Options: options, Game: 1}, nil
	}
	v, err := rules.Lookup(h.Variant)
	if err != nil {
		return replay.Setting{}, &replay.LineError{Line: variantLine, Err: err}
	}
	if o.Variant != nil && o.Variant.ID != v.ID || o.Options != nil && *o.Options != h.Options {
		r.Notes = append(r.Notes, Note{Game: 1, Line: variantLine, Text: "the header's variant and options hold, not those given"})
	}
	return replay.Setting{Variant: v, Options: h.Options, Game: h.Game, Score: h.Score, Crawford: h.Crawford}, nil
}

// observe tells of the accepted lines of a native record.
func observe(s replay.Setting, record replay.Record, out replay.Replayed, o Options) {
	if o.Observe == nil {
		return
	}
	st, err := replay.Start(s)
	if err != nil {
		return
	}
	for i, e := range out.Events {
		if st, err = replay.Apply(st, e); err != nil {
			return // never: Run has accepted it
		}
		o.Observe(1, record.FirstLine+i, record.Lines[i], st)
	}
}
