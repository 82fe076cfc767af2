package audit

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"fairdice/replay"
)

// Sentence is one sentence of a verdict: a stable key with its arguments, for
// whoever words it in another language, and the English text.
type Sentence struct {
	Key  string   `json:"key"`
	Args []string `json:"args,omitempty"`
	Text string   `json:"text"`

	why error // what the only argument is the English text of, or nil
}

// english holds the sentences by key; {0} and {1} stand for the arguments. The
// keys of notes and of what C20 has a verdict say are those words with hyphens
// for spaces.
var english = map[string]string{
	"sentence.malformed":      "The file is not a bundle: {0}.",
	"sentence.malformed-roll": "The file is not a roll: {0}.",
	"sentence.roll":           "This roll, {0}, opens the root that was published before the first roll of its segment. That the root follows from the committed secret, and the level of the proof, are in the match's bundle once the game has ended.",
	"sentence.no-open":        "The bundle lacks the statement that opened the match; it proves nothing about a game.",
	"sentence.failed":         "This bundle does not prove what it claims: {0} failed.",
	"sentence.dice-proved":    "The dice themselves are proved.",
	"sentence.incomplete":     "Nothing failed, but evidence is missing, so nothing final can be said yet.",
	"sentence.once-complete":  "What it proves once everything is there:",
	"sentence.unpinned":       "Self-consistent only: no log key or policy was given, and the key inside a bundle proves nothing. Whoever made the file could have made all of it.",
	"sentence.overdue":        "Sequence {0} is overdue: its game was not ended within 72 hours, or it was not assigned within 90 days. That is no fault of the dice, but every audit shows it.",

	"sentence.series.open":      "This bundle may not be the whole match: it shows {0}, the score is {1} : {2}, the series is not decided, and no finish is in the bundle. The match goes on, or later games are missing.",
	"sentence.series.decided":   "The finish calls the match decided, but at {0} : {1} the series is not decided. Why a match ended is the platform's word.",
	"sentence.series.abandoned": "The finish calls the match abandoned, but at {0} : {1} the series is decided. Why a match ended is the platform's word.",

	"sentence.level.L0": "The dice were not changed after the house had committed to them. The house could have chosen them, and knew them.",
	"sentence.level.L1": "Nobody could choose the dice, the house included. The house knew them from the moment the beacon's round came out.",
	"sentence.level.L2": "Nobody could choose the dice, the house included, if one of the two players kept his chain to himself. The house knew them from the deal on.",
	"sentence.level.L3": "Nobody, the house included, knew a roll before both players had released it.",

	"sentence.note.as-declared":          "The anchors are the players' own as the house declared them; a player proves it to himself with --my-anchor.",
	"sentence.note.proved-to-you":        "One of the anchors is yours: for you this needs nobody's word.",
	"sentence.note.beacon-not-witnessed": "The match had a beacon, but no witness says that a sequence was assigned before its round; the house could have waited for the round.",

	"says.anchor-a-missing":   "Player a took no part in cutting the dice: there is no anchor of his.",
	"says.anchor-b-missing":   "Player b took no part in cutting the dice: there is no anchor of his.",
	"says.anchor-a-custodial": "Player a's chain was kept for him by the platform (custodial), so his links prove nothing.",
	"says.anchor-b-custodial": "Player b's chain was kept for him by the platform (custodial), so his links prove nothing.",
	"says.real":               "The throws are those of a recorded archive. That they were ever thrown is the archive's word; only the order of their use is proved.",
	"says.blocks":             "The mode deals in blocks: who counts the rolls knows something about the rest of a block.",
	"says.dice-only":          "The platform drew the dice and uploaded the record afterwards: it could look ahead, and it could rewrite moves that are legal.",

	"claim.decided": "Game {0} was decided by {1}. That the player did so is the platform's word.",
	"claim.raised":  "The stake of game {0} was raised by {1}. That the player did so is the platform's word.",
}

func sentence(key string, args ...string) Sentence {
	text := english[key]
	for i, a := range args {
		text = strings.ReplaceAll(text, "{"+strconv.Itoa(i)+"}", a)
	}
	return Sentence{Key: key, Args: args, Text: text}
}

// because is a sentence whose argument is an error.
func because(key string, why error) Sentence {
	s := sentence(key, why.Error())
	s.why = why
	return s
}

// hyphened makes a phrase a part of a key.
func hyphened(phrase string) string { return strings.ReplaceAll(phrase, " ", "-") }

// sentences puts the verdict into plain words: what is proved, and what is not
// (PROTOCOL.md §4, §5, §10).
func (e *evidence) sentences(f *findings, t Trust, r *Report) []Sentence {
	var out []Sentence
	say := func(key string, args ...string) { out = append(out, sentence(key, args...)) }
	level := "sentence.level." + r.Level
	if r.Verdict == Failed {
		say("sentence.failed", plural(len(r.Failed()), "check"))
	}
	switch {
	case !t.pinned():
		say("sentence.unpinned")
	case r.Verdict == Failed && !f.failed(LevelCheck):
		say("sentence.dice-proved")
		say(level)
	case r.Verdict != Failed:
		if r.Verdict == Incomplete {
			say("sentence.incomplete")
			say("sentence.once-complete")
		}
		say(level)
		if r.LevelNote != "" {
			say("sentence.note." + hyphened(r.LevelNote))
		}
	}
	for _, s := range r.Says {
		say("says." + hyphened(s))
	}
	for _, id := range r.Overdue {
		say("sentence.overdue", id)
	}
	out = append(out, e.ending()...)
	return append(out, e.claims()...)
}

// ending tells a bundle that stops before the series is decided from a whole
// match: whoever leaves out the last games, and the finish with them, leaves
// nothing that a check could miss. The reason of a finish is no matter of a
// check either (C4).
func (e *evidence) ending() []Sentence {
	if e.series == nil {
		return nil
	}
	score := e.series.Score()
	a, b := strconv.Itoa(score[replay.A]), strconv.Itoa(score[replay.B])
	fin := e.ledger.match(e.open.Match).finish
	switch over := e.series.Over(); {
	case fin == nil && !over:
		return []Sentence{sentence("sentence.series.open", plural(len(e.games), "game"), a, b)}
	case fin != nil && fin.S.Reason == "decided" && !over:
		return []Sentence{sentence("sentence.series.decided", a, b)}
	case fin != nil && fin.S.Reason == "abandoned" && over:
		return []Sentence{sentence("sentence.series.abandoned", a, b)}
	}
	return nil
}

// claims names the lines that decide a result and rest on the platform's word
// (PROTOCOL.md §10).
func (e *evidence) claims() []Sentence {
	var out []Sentence
	for _, g := range e.games {
		if g.log.close == nil {
			continue
		}
		for i, ev := range g.events {
			decides := i == len(g.events)-2
			switch ev.Kind {
			case replay.Resign, replay.Drop, replay.Timeout:
				if decides {
					out = append(out, sentence("claim.decided", strconv.Itoa(g.number), fmt.Sprintf("%q", ev)))
				}
			case replay.Take, replay.Beaver, replay.Raccoon:
				out = append(out, sentence("claim.raised", strconv.Itoa(g.number), fmt.Sprintf("%q", ev)))
			}
		}
	}
	return out
}

// overdue lists the sequences that missed a deadline. What has not happened yet
// is judged at now, or at the time of the last statement if now is not known.
func (e *evidence) overdue(now time.Time) []string {
	if now.IsZero() {
		now = e.book.Last()
	}
	late := []string{}
	for q := range e.book.Sequences(now) {
		if q.Overdue {
			late = append(late, q.Sequence)
		}
	}
	return late
}
