package audit

import (
	"errors"

	"fairdice/commitment"
	"fairdice/internal/phrase"
	"fairdice/replay"
)

// checkOrder carries out log.order for one match. timedOut tells of a game
// whether its record ends by a timeout, which excuses a missing deal (C9).
func (m *matchLog) checkOrder(f *findings, open *filed[commitment.Open], timedOut func(game int) bool) {
	const id = LogOrder
	numbers := m.numbers()
	var lastEnd *entry
	for i, n := range numbers {
		g := m.games[n]
		g.checkSegments(f, open, lastEnd)
		last := i == len(numbers)-1
		end := g.end()
		if end == nil {
			if !last || m.finish != nil {
				f.failAs(Dropped, id, n, 0, errors.New("the game has neither close nor abort, though the match went on")) // C17
			}
		} else {
			lastEnd = end
		}
		g.checkDeals(f, end == nil && last && m.finish == nil || g.abort != nil || g.close != nil && timedOut(n))
		if m.finish == nil {
			continue
		}
		for _, e := range g.entries() {
			if e.index > m.finish.index {
				f.fail(id, n, 0, at(e, "a %s follows the finish", e.statement.Type()))
			}
		}
	}
	if m.finish != nil && (open == nil || open.index > m.finish.index) {
		f.fail(id, 0, 0, at(m.finish.entry, "the finish has no open before it"))
	}
}

// checkSegments compares the places of commits, assigns, deals and the end.
func (g *gameLog) checkSegments(f *findings, open *filed[commitment.Open], lastEnd *entry) {
	const id = LogOrder
	if len(g.segments) == 0 {
		f.failAs(Dropped, id, g.number, 0, errors.New("the assign of segment 1 is missing"))
	}
	for _, e := range g.loose {
		f.fail(id, g.number, 0, at(e, "a %s does not continue the row of segments, segment %d is due",
			e.statement.Type(), len(g.segments)+1))
	}
	previous := lastEnd
	for _, s := range g.segments {
		a := s.assign
		switch {
		case s.commit == nil:
			f.failAs(Dropped, id, g.number, 0, phrase.Errorf("the commit of sequence %s is missing", a.S.Sequence))
		case s.commit.index >= a.index:
			f.fail(id, g.number, 0, at(s.commit.entry, "the sequence of segment %d was committed after it was assigned", s.number))
		}
		if open == nil || open.index >= a.index {
			f.fail(id, g.number, 0, at(a.entry, "segment %d was assigned before the match was opened", s.number))
		}
		if previous != nil && previous.index >= a.index {
			f.fail(id, g.number, 0, at(a.entry, "segment %d was assigned before the %s that it follows", s.number, previous.statement.Type()))
		}
		previous = &a.entry
		if s.deal != nil {
			if s.deal.index <= a.index {
				f.fail(id, g.number, 0, at(s.deal.entry, "segment %d was dealt before it was assigned", s.number))
			}
			previous = &s.deal.entry
		}
	}
	if end := g.end(); end != nil && previous != nil && previous != lastEnd && previous.index >= end.index {
		f.fail(id, g.number, 0, at(*end, "the game was ended before its last %s", previous.statement.Type()))
	}
}

// checkDeals looks for missing deals; lastMayMiss excuses the last segment.
func (g *gameLog) checkDeals(f *findings, lastMayMiss bool) {
	for i, s := range g.segments {
		if s.deal == nil && !(lastMayMiss && i == len(g.segments)-1) {
			f.failAs(Dropped, LogOrder, g.number, 0, phrase.Errorf("the deal of segment %d is missing", s.number))
		}
	}
}

// entries returns the statements of the game.
func (g *gameLog) entries() []entry {
	out := append([]entry(nil), g.loose...)
	for _, s := range g.segments {
		out = append(out, s.assign.entry)
		if s.deal != nil {
			out = append(out, s.deal.entry)
		}
	}
	if end := g.end(); end != nil {
		out = append(out, *end)
	}
	return out
}

// checkMatchOrder carries out log.order for the match.
func (e *evidence) checkMatchOrder(f *findings) {
	f.pass(LogOrder)
	if e.open == nil {
		f.failAs(Dropped, LogOrder, 0, 0, errors.New("the open of the match is missing"))
		return
	}
	m := e.ledger.match(e.open.Match)
	for _, g := range e.games {
		m.game(g.number) // a game the log does not know lacks every statement
	}
	m.checkOrder(f, e.ledger.opens[e.open.Match], e.timedOut)
}

// timedOut reports whether game n ended by a timeout. Without its record any
// close may be one.
func (e *evidence) timedOut(n int) bool {
	g, ok := e.game(n)
	return ok && (g.absent || g.timedOut())
}

// timedOut reports whether the line before the end line is a timeout (C9).
func (g *game) timedOut() bool {
	end, ok := g.lastEvent(0)
	before, ok2 := g.lastEvent(1)
	return ok && ok2 && end.Kind == replay.End && before.Kind == replay.Timeout
}
