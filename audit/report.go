package audit

import (
	"fmt"
	"slices"
	"time"

	"fairdice/replay"
)

// Verdict is the answer to the whole bundle.
type Verdict string

const (
	Verified   Verdict = "verified"   // everything needed for the stated level passed
	Failed     Verdict = "failed"     // a check failed
	Incomplete Verdict = "incomplete" // nothing failed, but evidence is missing
	Malformed  Verdict = "malformed"  // the input is no bundle
)

// ExitCode is the exit status that goes with a verdict (INTERFACES: 0, 1, 2, 3).
func (v Verdict) ExitCode() int {
	switch v {
	case Verified:
		return 0
	case Failed:
		return 1
	case Incomplete:
		return 2
	default:
		return 3
	}
}

// Report is what [Verify] found. It encodes to the JSON that scripts rely on;
// every check id appears in Checks at least once.
type Report struct {
	Verdict   Verdict       `json:"verdict"`
	Level     string        `json:"level"`
	LevelNote string        `json:"levelNote"`
	Match     string        `json:"match"`
	Variant   string        `json:"variant"`
	Mode      string        `json:"mode"`
	Checks    []Check       `json:"checks"`
	Games     []GameSummary `json:"games"`
	Overdue   []string      `json:"overdue"`   // sequences that missed a deadline (PROTOCOL.md §7)
	Says      []string      `json:"says"`      // what lowers or qualifies the proof, one word each (C20)
	Sentences []string      `json:"sentences"` // the verdict in plain words
	Faults    []Fault       `json:"faults"`    // record lines that the rules refuse
}

// GameSummary is one game of the bundle: how many rolls were drawn, how it
// ended ("A 2", "draw 0", "aborted" or "in progress"), and the last position
// that its record can be followed to.
type GameSummary struct {
	Game     int    `json:"game"`
	Rolls    int    `json:"rolls"`
	Result   string `json:"result"`
	Position string `json:"position,omitempty"`

	State replay.State `json:"-"`
}

// Failed lists the ids of the checks that failed, in report order.
func (r Report) Failed() []ID {
	var ids []ID
	for _, c := range r.Checks {
		if c.Status == Fail && !slices.Contains(ids, c.ID) {
			ids = append(ids, c.ID)
		}
	}
	return ids
}

func (g *game) summary() GameSummary {
	s := GameSummary{Game: g.number, Rolls: len(g.receipts), Result: "in progress"}
	switch {
	case g.log.close != nil:
		s.Result = g.log.close.S.Result.String()
	case g.log.abort != nil:
		s.Result = "aborted"
	}
	if _, begun := g.last.White(); begun {
		s.State, s.Position = g.last, g.last.Position().String()
	}
	return s
}

var levelSentences = map[string]string{
	L0: "The dice were not changed after the house had committed to them. The house could have chosen them, and knew them.",
	L1: "Nobody could choose the dice, the house included. The house knew them from the moment the beacon's round came out.",
	L2: "Nobody could choose the dice, the house included, if one of the two players kept his chain to himself. The house knew them from the deal on.",
	L3: "Nobody, the house included, knew a roll before both players had released it.",
}

// sentences puts the verdict into plain words: what is proved, and what is not
// (PROTOCOL.md §4, §5, §10).
func (e *evidence) sentences(f *findings, t Trust, r *Report) []string {
	var out []string
	switch r.Verdict {
	case Failed:
		out = append(out, "This bundle does not prove what it claims: "+plural(len(r.Failed()), "check")+" failed.")
		if !f.failed(LevelCheck) {
			out = append(out, "The dice themselves are proved: "+levelSentences[r.Level])
		}
	case Incomplete:
		if t.pinned() {
			out = append(out, "Nothing failed, but evidence is missing, so nothing final can be said yet.")
		}
	}
	if !t.pinned() {
		out = append(out, "Self-consistent only: no log key or policy was given, and the key inside a bundle proves nothing. Whoever made the file could have made all of it.")
	} else if r.Verdict != Failed {
		if r.Verdict == Incomplete {
			out = append(out, "What it proves once everything is there:")
		}
		out = append(out, levelSentences[r.Level])
		switch r.LevelNote {
		case NoteDeclared:
			out = append(out, "The anchors are the players' own as the house declared them; a player proves it to himself with --my-anchor.")
		case NoteProved:
			out = append(out, "One of the anchors is yours: for you this needs nobody's word.")
		case NoteUnwitnessed:
			out = append(out, "The match had a beacon, but no witness says that a sequence was assigned before its round; the house could have waited for the round.")
		}
	}
	for _, s := range r.Says {
		out = append(out, saysSentences[s])
	}
	for _, id := range r.Overdue {
		out = append(out, "Sequence "+id+" is overdue: its game was not ended within 72 hours, or it was not assigned within 90 days. That is no fault of the dice, but every audit shows it.")
	}
	return append(out, e.claims()...)
}

// overdue lists the sequences that missed a deadline. What has not happened yet
// is judged at now, or at the time of the last statement if now is not known.
func (e *evidence) overdue(now time.Time) []string {
	if now.IsZero() {
		for _, en := range e.ledger.entries {
			now = en.statement.When() // in log order: the last one stays
		}
	}
	late := []string{}
	for _, q := range e.ledger.sequences(newFindings(), now) {
		if q.Overdue {
			late = append(late, q.Sequence)
		}
	}
	return late
}

var saysSentences = map[string]string{
	"anchor-a missing":   "Player a took no part in cutting the dice: there is no anchor of his.",
	"anchor-b missing":   "Player b took no part in cutting the dice: there is no anchor of his.",
	"anchor-a custodial": "Player a's chain was kept for him by the platform (custodial), so his links prove nothing.",
	"anchor-b custodial": "Player b's chain was kept for him by the platform (custodial), so his links prove nothing.",
	"real":               "The throws are those of a recorded archive. That they were ever thrown is the archive's word; only the order of their use is proved.",
	"blocks":             "The mode deals in blocks: who counts the rolls knows something about the rest of a block.",
	"dice-only":          "The platform drew the dice and uploaded the record afterwards: it could look ahead, and it could rewrite moves that are legal.",
}

// claims names the lines that decide a result and rest on the platform's word
// (PROTOCOL.md §10).
func (e *evidence) claims() []string {
	var out []string
	for _, g := range e.games {
		if g.log.close == nil {
			continue
		}
		before, ok := g.lastEvent(1)
		if !ok {
			continue
		}
		switch before.Kind {
		case replay.Resign, replay.Drop, replay.Timeout:
			out = append(out, fmt.Sprintf("Game %d was decided by %q. That the player did so is the platform's word.", g.number, before))
		default:
			for _, ev := range g.events {
				if ev.Kind == replay.Take || ev.Kind == replay.Beaver || ev.Kind == replay.Raccoon {
					out = append(out, fmt.Sprintf("The stake of game %d was raised by %q. That the player did so is the platform's word.", g.number, ev))
					break
				}
			}
		}
	}
	return out
}

func plural(n int, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}
