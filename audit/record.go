package audit

import (
	"errors"
	"fmt"

	"fairdice/commitment"
	"fairdice/internal/phrase"
	"fairdice/replay"
)

// checkRecords carries out record.head and record.rolls.
func (e *evidence) checkRecords(f *findings) {
	score := [2]int{}
	for _, g := range e.games {
		if !g.absent {
			g.checkHeader(f, e.open, score)
			g.checkHeads(f, e.open.Profile)
			g.checkRecordRolls(f, e.open)
		}
		if c := g.log.close; c != nil {
			score = [2]int{c.S.ScoreA, c.S.ScoreB}
		}
	}
}

// checkHeader compares the record's header with the open, byte for byte, and
// its score with that of the game before.
func (g *game) checkHeader(f *findings, open *commitment.Open, score [2]int) {
	f.pass(RecordHead)
	h := g.record.Header
	for _, c := range [...]struct{ what, got, want string }{
		{"match", h.Match, open.Match},
		{"game", fmt.Sprint(h.Game), fmt.Sprint(g.number)},
		{"variant", h.Variant, open.Variant},
		{"options", h.Options.String(), open.Options},
		{"score", fmt.Sprint(h.Score), fmt.Sprint(score)},
	} {
		if c.got != c.want {
			f.fail(RecordHead, g.number, 0, phrase.Errorf("the record's header says %s %s, not %s", c.what, c.got, c.want))
		}
	}
}

// checkHeads compares the states of the record that receipts and end name with
// those it went through. A refereed receipt names the state just before its
// own roll's line; a dice-only one the start, as there is no record yet
// (PROTOCOL.md §5).
func (g *game) checkHeads(f *findings, profile commitment.Profile) {
	const id = RecordHead
	next := 0 // the first place that no receipt before has named
	for i, r := range g.receipts {
		n := r.RecordLines
		wrong := func(what string, values ...any) {
			f.fail(id, g.number, 0, phrase.Errorf("receipt %d %w", i+1, phrase.Errorf(what, values...)))
		}
		switch {
		case n >= len(g.heads):
			wrong("names a record of %d lines, the record has %d", n, len(g.heads)-1)
		case r.RecordHead != commitment.Hash(g.heads[n]):
			wrong("names a state of the record after line %d that never was", n)
		case profile == commitment.DiceOnly:
			if n != 0 {
				wrong("names a place inside the record, though no record was kept while the dice were drawn")
			}
		case n == len(g.events):
			wrong("names the end of the record, where no roll follows")
		case !isThrow(g.events[n], r.Stream):
			wrong("names the place before line %d, which is not its roll", n+1)
		case n < next && !(i > 0 && r.Hash() == g.receipts[i-1].Hash()): // the same receipt again is a fault of the chain
			wrong("names no later state of the record than the receipt before it")
		}
		next = n + 1
	}
	var lines int
	var head commitment.Hash
	switch {
	case g.log.close != nil:
		lines, head = g.log.close.S.RecordLines, g.log.close.S.RecordHead
	case g.log.abort != nil:
		lines, head = g.log.abort.S.RecordLines, g.log.abort.S.RecordHead
	default:
		return
	}
	if lines != len(g.events) || head != commitment.Hash(g.heads[len(g.events)]) {
		f.fail(id, g.number, 0, at(*g.log.end(), "the log names a record of %d lines that is not the one in the bundle (%d lines)", lines, len(g.events)))
	}
}

// isThrow reports whether the event draws from the stream.
func isThrow(e replay.Event, st commitment.Stream) bool {
	got, ok := throwOf(e)
	return ok && got == st
}

func throwOf(e replay.Event) (commitment.Stream, bool) {
	switch {
	case e.Kind == replay.Opening:
		return commitment.StreamOpening, true
	case e.Kind == replay.Roll && e.Seat == replay.A:
		return commitment.StreamA, true
	case e.Kind == replay.Roll:
		return commitment.StreamB, true
	}
	return 0, false
}

// checkRecordRolls compares the throws of the record with the receipts in
// order, and the receipts with the rebuilt dice in their places.
func (g *game) checkRecordRolls(f *findings, open *commitment.Open) {
	const id = RecordRolls
	if open.Profile == commitment.DiceOnly && len(g.events) == 0 && g.log.close == nil {
		f.skip(id, g.number, errors.New("the platform has not uploaded a record; receipts and rebuilt dice alone are compared")) // C13
	} else {
		f.pass(id)
		g.compareThrows(f)
	}
	if open.Mode == commitment.Live {
		return // the tree holds no dice; rolls.opening derives them from key and links
	}
	for i, r := range g.receipts {
		q := g.rebuilt[r.Segment]
		if q == nil || r.Index >= q.Lengths()[r.Stream] {
			continue
		}
		if want := q.Dice(r.Stream, r.Index); r.Dice != want {
			f.fail(id, g.number, 0, phrase.Errorf("receipt %d has dice %s, the secret gives %s for %s", i+1, r.Dice, want, r.element()))
		}
	}
}

func (g *game) compareThrows(f *findings) {
	const id = RecordRolls
	i := 0
	for line, e := range g.events {
		st, ok := throwOf(e)
		if !ok {
			continue
		}
		dice := commitment.Dice{D1: e.Dice.A, D2: e.Dice.B}
		switch {
		case i >= len(g.receipts):
			f.fail(id, g.number, line+1, phrase.Errorf("%q has no receipt", e))
		case g.receipts[i].Stream != st || g.receipts[i].Dice != dice:
			r := g.receipts[i]
			f.fail(id, g.number, line+1, phrase.Errorf("%q is not receipt %d, stream %s, dice %s", e, i+1, r.Stream, r.Dice))
		}
		i++
	}
	if i < len(g.receipts) {
		f.fail(id, g.number, 0, number(len(g.receipts)-i, "1 receipt not in the record", "%d receipts not in the record"))
	}
}
