package files

import (
	"errors"
	"io"
	"strconv"
	"unicode/utf8"

	"fairdice/internal/phrase"
	"fairdice/replay"
	"fairdice/replay/mat"
	"fairdice/replay/sgf"
	"fairdice/replay/sheet"
	"fairdice/rules"
)

// kept collects the games of a match, if they are asked for.
type kept struct {
	games []sheet.Game
	full  bool
}

// keeper returns what a reader of match files is given.
func (k *kept) keeper(o Options) func(sheet.Game) {
	if o.Match == nil {
		return nil
	}
	return func(g sheet.Game) {
		if len(k.games) == MaxKept {
			k.full = true
			return
		}
		k.games = append(k.games, g)
	}
}

func checkMat(r Report, in io.Reader, o Options) Report {
	var k kept
	out, err := mat.Check(in, mat.Options{Variant: o.Variant, Observe: o.Observe, Keep: k.keeper(o)})
	if err != nil {
		return malformed(r, err)
	}
	r.Ignored = notes(out.Ignored)
	if out.Options != nil {
		r.Options = out.Options.String()
	}
	m := sheet.Match{ID: out.ID, Variant: out.Variant, Options: out.Options, Length: out.Length, Crawford: out.Crawford, Players: out.Players, Games: k.games}
	return checkSheet(r, out.Report, m, out.Site, k.full, o)
}

func checkSGF(r Report, in io.Reader, o Options) Report {
	var k kept
	out, err := sgf.Check(in, sgf.Options{Variant: o.Variant, Observe: o.Observe, Keep: k.keeper(o)})
	if err != nil {
		return malformed(r, err)
	}
	r.Ignored = notes(out.Ignored)
	m := sheet.Match{Variant: out.Variant, Length: out.Length, Crawford: out.Crawford, Players: out.Players, Games: k.games}
	return checkSheet(r, out.Report, m, out.App, k.full, o)
}

// checkSheet takes over what a reader of match files has found.
func checkSheet(r Report, s sheet.Report, m sheet.Match, program string, full bool, o Options) Report {
	r.Variant, r.Games, r.Rolls = m.Variant.ID, s.Games, s.Rolls
	for _, f := range s.Findings {
		r.add(f)
	}
	r.Notes = append(r.Notes, notes(s.Notes)...)
	r.understand(s, m, program)
	r.Unchecked = append(r.Unchecked, note(0, 0, errors.New("the dice: a match file does not say where they come from")))
	r.Unchecked = append(r.Unchecked, notes(s.Unchecked)...)
	switch {
	case r.Options != "" || !m.Variant.Rules.Cube():
	case m.Length == 0:
		r.Notes = append(r.Notes, note(0, 0, errors.New("a session of single games: beavers, and results with and without the Jacoby rule, are accepted")))
	case m.Length <= replay.MaxSeries:
		agreed := replay.Options{Raise: replay.RaiseCube, Series: replay.Series{Kind: replay.SeriesPoints, N: m.Length}, Crawford: m.Crawford}
		r.Options = agreed.String()
	}
	switch {
	case len(s.Findings) > 0:
		r.Verdict = Failed
	case s.Unfinished:
		r.Verdict = Incomplete
		r.Notes = append(r.Notes, note(s.Games, 0, errors.New("the last game has no end")))
	default:
		r.Verdict = Verified
	}
	switch {
	case o.Match == nil || len(s.Findings) > 0:
	case full:
		r.Notes = append(r.Notes, note(0, 0, phrase.Errorf("only the first %d games are kept for writing them again", MaxKept)))
		fallthrough
	default:
		o.Match(m)
	}
	return r
}

// understand lists what the file says and the check has used.
func (r *Report) understand(s sheet.Report, m sheet.Match, program string) {
	say := func(text string) { r.Understood = append(r.Understood, text) }
	if program != "" {
		say("written by " + program)
	}
	if m.Players != [2]string{} {
		say("players " + strconv.Quote(m.Players[0]) + " (A) and " + strconv.Quote(m.Players[1]) + " (B)")
	}
	say("variant " + m.Variant.ID)
	switch {
	case m.Length == 0:
		say("single games")
	case m.Options != nil:
		say(m.Options.String())
	case m.Crawford:
		say(strconv.Itoa(m.Length) + " point match with the Crawford rule")
	default:
		say(strconv.Itoa(m.Length) + " point match without the Crawford rule")
	}
	say(strconv.Itoa(s.Games) + " games, " + strconv.Itoa(s.Rolls) + " rolls, " + strconv.Itoa(s.Doubles) + " doubles")
}

func notes(all []sheet.Note) []Note {
	var out []Note
	for _, n := range all {
		out = append(out, Note(n))
	}
	return out
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
	r.Understood = []string{setting.Variant.ID, setting.Options.String()}
	r.Unchecked = append(r.Unchecked, note(0, 0, errors.New("the dice: a record alone does not prove where they come from, its bundle does (verify bundle)")))
	if _, err := replay.Start(setting); err != nil {
		return malformed(r, err)
	}
	if check, why := setting.Doubtful(); record.Header != nil && why != nil {
		line := scoreLine
		if check == replay.CheckCube {
			line = crawfordLine
		}
		r.add(replay.Finding{Game: 1, Line: line, Check: check, Category: "score", Message: why.Error(), Why: why})
	}
	out := replay.Run(setting, record.Lines)
	r.Rolls = len(out.Rolls)
	observe(setting, record, out, o)
	if out.Fault != nil {
		if out.Fault.Refusal != nil {
			r.add(replay.NewFinding(1, record.FirstLine+out.Fault.Line-1, out.Fault.Refusal))
		} else {
			r.add(replay.Finding{Game: 1, Line: record.FirstLine + out.Fault.Line - 1, Check: replay.CheckFormat, Category: "malformed", Message: out.Fault.Err.Error(), Why: out.Fault.Err})
		}
		r.Unchecked = append(r.Unchecked, note(1, record.FirstLine+out.Fault.Line-1, errAfterFault))
	}
	for _, f := range out.Further {
		r.add(replay.NewFinding(1, record.FirstLine+f.Line-1, f.Refusal))
	}
	switch {
	case len(r.Findings) > 0:
		r.Verdict = Failed
	case !out.Finished:
		r.Verdict = Incomplete
		r.Notes = append(r.Notes, note(1, record.FirstLine+len(record.Lines)-1, phrase.Errorf("the record has no end: %s is due", out.Last.Due())))
	default:
		r.Verdict = Verified
	}
	if len(r.Findings) == 0 && o.Match != nil {
		o.Match(matchOf(record, setting, out))
	}
	return r
}

var errAfterFault = errors.New("the lines after this one are checked for turns, cube and result only: the position is not known")

func note(game, line int, why error) Note { return Note(sheet.NewNote(game, line, why)) }

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
		if o.Setting != nil {
			return *o.Setting, nil
		}
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
		r.Notes = append(r.Notes, note(1, variantLine, errors.New("the header's variant and options hold, not those given")))
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
