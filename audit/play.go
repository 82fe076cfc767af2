package audit

import (
	"errors"

	"fairdice/internal/phrase"
	"fairdice/replay"
	"fairdice/rules"
)

// Fault is a record line that the rules refuse, with what a reader needs to
// see why: the state before the line and the lines that would have been legal.
type Fault struct {
	Game         int      `json:"game"`
	Line         int      `json:"line"` // event line of the record, from 1
	Text         string   `json:"text"`
	Check        ID       `json:"check"`
	Code         string   `json:"code"`
	Message      string   `json:"message"`
	Due          string   `json:"due"`
	Alternatives []string `json:"alternatives"`

	Why   error        `json:"-"` // what Message is the English text of
	State replay.State `json:"-"`
}

// maxAlternatives bounds the legal alternatives listed for a fault.
const maxAlternatives = 8

// rulesChecks are the checks that the replay of a record carries out.
var rulesChecks = [...]ID{RulesMoves, RulesForced, CubeCheck}

// checkPlay replays every record through the rules and carries out rules.*,
// cube and result.
func (e *evidence) checkPlay(f *findings, t Trust) []Fault {
	var faults []Fault
	skipAll := func(reason error) {
		for _, id := range [...]ID{RulesMoves, RulesForced, CubeCheck, ResultCheck} {
			f.skip(id, 0, reason)
		}
		f.incomplete = true
	}
	variant, err := rules.Lookup(e.open.Variant)
	if err != nil {
		f.fail(RulesVersion, 0, 0, err)
		skipAll(phrase.Errorf("this verifier does not know the variant %s", e.open.Variant))
		return nil
	}
	e.checkVersion(f, t, variant)
	options, err := replay.ParseOptions(e.open.Options)
	var match replay.Match
	if err == nil {
		match, err = replay.NewMatch(variant, options)
	}
	if err != nil { // which values go together is no matter of format (C3)
		f.fail(ResultCheck, 0, 0, phrase.Errorf("the options %q cannot be played: %v", e.open.Options, err))
		skipAll(errors.New("the options cannot be played"))
		return nil
	}
	for _, g := range e.games {
		if why := f.stopped(); why != nil {
			skipAll(why)
			return faults
		}
		if match.Over() {
			f.fail(ResultCheck, g.number, 0, errors.New("the game was played after the match had been decided"))
			skipGame(f, g.number, errors.New("the match had been decided"))
			continue
		}
		if g.absent {
			if g.log.close != nil {
				match = g.addResult(f, match)
			} else if next, err := match.Skip(); err == nil {
				match = next
			}
			continue
		}
		setting := match.Next()
		setting.Game = g.number
		if g.record.Header.Crawford != setting.Crawford {
			f.fail(CubeCheck, g.number, 0, phrase.Errorf("the record says crawford %s, it must be %s",
				yesNo(g.record.Header.Crawford), yesNo(setting.Crawford)))
		}
		played := replay.RunEvents(setting, g.record.Lines, g.events)
		g.last = played.Last
		if fault := g.checkReplay(f, played); fault != nil {
			faults = append(faults, *fault)
		}
		match = g.checkResult(f, played, match)
	}
	e.series = &match
	e.checkFinish(f)
	return faults
}

func skipGame(f *findings, game int, reason error) {
	for _, id := range rulesChecks {
		f.skip(id, game, reason)
	}
}

func yesNo(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

// checkReplay turns the first refused line of a record into a finding. What
// follows it cannot be judged.
func (g *game) checkReplay(f *findings, played replay.Replayed) *Fault {
	if played.Fault == nil {
		for _, id := range rulesChecks {
			f.pass(id)
		}
		return nil
	}
	id, line := RulesMoves, played.Fault.Line
	if played.Fault.Refusal != nil {
		id = ID(played.Fault.Refusal.Check)
	}
	f.fail(id, g.number, line, played.Fault.Err)
	for _, other := range rulesChecks {
		if line > 1 {
			f.pass(other)
		}
		f.skip(other, g.number, phrase.Errorf("the record cannot be followed beyond line %d", line))
	}
	fault := &Fault{Game: g.number, Line: line, Text: played.Fault.Text, Check: id, Message: played.Fault.Err.Error(), Why: played.Fault.Err, State: played.Last}
	if r := played.Fault.Refusal; r != nil {
		fault.Code, fault.Message, fault.Why, fault.State = r.Code, r.Message, r.Why, r.State
		fault.Due = r.State.Due().String()
		fault.Alternatives = r.Alternatives(maxAlternatives)
	}
	return fault
}

// checkResult compares the end of the record with the close, and counts it. It
// returns the match after the game.
func (g *game) checkResult(f *findings, played replay.Replayed, match replay.Match) replay.Match {
	const id = ResultCheck
	switch {
	case g.log.abort != nil:
		f.pass(id)
		if g.ended() {
			f.fail(id, g.number, len(g.events), errors.New("the game was aborted, but its record has an end line"))
		} else if due, decided := played.Last.EndDue(); decided && played.Fault == nil {
			f.fail(id, g.number, len(g.events), phrase.Errorf("the game was aborted after it had been decided: %q was due", due))
		}
		if next, err := match.Skip(); err == nil {
			match = next
		}
		return match
	case g.log.close == nil:
		f.skip(id, g.number, errors.New("the game has no end yet"))
		return match
	}
	f.pass(id)
	last, ok := g.lastEvent(0)
	switch {
	case !ok || last.Kind != replay.End:
		f.fail(id, g.number, len(g.events), errors.New("the game was closed, but its record has no end line"))
	case endOf(last).String() != g.log.close.S.Result.String():
		f.fail(id, g.number, len(g.events), at(g.log.close.entry, "the log says %s, the record %q", g.log.close.S.Result, last))
	}
	return g.addResult(f, match)
}

// addResult adds the result that the log names to the match and compares the
// score after it.
func (g *game) addResult(f *findings, match replay.Match) replay.Match {
	const id = ResultCheck
	f.pass(id)
	c := g.log.close.S
	result := replay.Result{Draw: c.Result.Seat == 0, Points: int64(c.Result.Points)}
	if c.Result.Seat == 'B' {
		result.Seat = replay.B
	}
	next, err := match.Add(result)
	if err != nil {
		f.fail(id, g.number, 0, err)
		return match
	}
	if score := next.Score(); score != [2]int{c.ScoreA, c.ScoreB} {
		f.fail(id, g.number, 0, at(g.log.close.entry, "the log says score %d %d after the game, it is %d %d", c.ScoreA, c.ScoreB, score[0], score[1]))
	}
	return next
}

// endOf reads an end line as a result.
func endOf(e replay.Event) replay.Result {
	return replay.Result{Seat: e.Seat, Points: e.Points, Draw: e.Draw}
}

// checkFinish compares the score of the finish with that after the last game
// (C4).
func (e *evidence) checkFinish(f *findings) {
	fin := e.ledger.match(e.open.Match).finish
	if fin == nil {
		return
	}
	score := [2]int{}
	for _, g := range e.games {
		if g.log.close != nil {
			score = [2]int{g.log.close.S.ScoreA, g.log.close.S.ScoreB}
		}
	}
	if score != [2]int{fin.S.ScoreA, fin.S.ScoreB} {
		f.fail(ResultCheck, 0, 0, at(fin.entry, "the finish says score %d %d, the last game ended at %d %d", fin.S.ScoreA, fin.S.ScoreB, score[0], score[1]))
	}
}

// checkVersion compares the rules that the match names with those that the
// verifier knows. An unknown version is no failure: the replay uses the rules
// at hand (C21).
func (e *evidence) checkVersion(f *findings, t Trust, v rules.Variant) {
	const id = RulesVersion
	known := t.Rules
	if known == nil {
		known = builtIn()
	}
	hashes, ok := known[e.open.RulesVersion]
	if !ok {
		f.skip(id, 0, phrase.Errorf("rules version %s is not known here; the replay uses version %s", e.open.RulesVersion, rules.Version))
		return
	}
	f.pass(id)
	for _, h := range hashes {
		if h == e.open.RulesHash {
			if e.open.RulesVersion == rules.Version && h != v.Hash() {
				break // a hash of this version, but of another variant
			}
			return
		}
	}
	f.fail(id, 0, 0, phrase.Errorf("the rules of %s, version %s, do not have the hash %s", e.open.Variant, e.open.RulesVersion, short(e.open.RulesHash)))
}
