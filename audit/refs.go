package audit

import (
	"fmt"

	"fairdice/commitment"
)

// at ends a fault's text with the place in the log.
func at(e entry) string { return fmt.Sprintf(": log index %d", e.index) }

// checkRefs carries out what statements.refs demands of the statements of a
// match: nothing is said twice, and statements agree about what they refer to
// (PROTOCOL.md §3, C5, C6). What may be used once in a whole log is the
// business of the [Book].
func checkRefs(f *findings, l *ledger) {
	const id = StatementsRefs
	f.pass(id)
	for _, d := range l.duplicates {
		f.failAs(Reused, id, d.game, 0, d.what+" twice"+at(d.entry))
	}
	for _, e := range l.entries {
		if a, ok := e.statement.(commitment.Assign); ok {
			l.checkAssign(f, e, a)
		}
		if d, ok := e.statement.(commitment.Deal); ok {
			a := l.matches[d.Match].games[d.Game].assigns[d.Segment]
			if a != nil && a.S.Sequence != d.Sequence {
				f.fail(id, d.Game, 0, fmt.Sprintf("the deal of segment %d names another sequence than its assign", d.Segment)+at(e))
			}
		}
	}
}

// checkAssign compares an assign with its commit and its match.
func (l *ledger) checkAssign(f *findings, e entry, a commitment.Assign) {
	const id = StatementsRefs
	c, o := l.commits[a.Sequence], l.opens[a.Match]
	if c == nil {
		return // a missing commit is a matter of log.order
	}
	if c.S.Number != a.Number {
		f.fail(id, a.Game, 0, fmt.Sprintf("the assign says number %d, the commit number %d", a.Number, c.S.Number)+at(e))
	}
	if o == nil {
		return
	}
	if c.S.Tenant != o.S.Tenant {
		f.fail(id, a.Game, 0, fmt.Sprintf("the match belongs to tenant %s, the sequence to %s", o.S.Tenant, c.S.Tenant)+at(e))
	}
	if c.S.Mode != o.S.Mode {
		f.fail(id, a.Game, 0, fmt.Sprintf("the match is played in mode %s, the sequence is made for %s", o.S.Mode, c.S.Mode)+at(e))
	}
}

// short prints the beginning of a hash, enough to find it by.
func short(h commitment.Hash) string { return h.String()[:16] + "…" }

// checkBundleRefs carries out what statements.refs demands of a bundle only:
// it is about one match, holds all of its games, and no statement that is
// none of its business (C6).
func (e *evidence) checkBundleRefs(f *findings) {
	const id = StatementsRefs
	assigned := map[string]bool{}
	for _, en := range e.ledger.entries {
		match, game := "", 0
		switch s := en.statement.(type) {
		case commitment.Assign:
			match, game = s.Match, s.Game
			assigned[s.Sequence] = true
		case commitment.Deal:
			match, game = s.Match, s.Game
		case commitment.Close:
			match, game = s.Match, s.Game
		case commitment.Abort:
			match, game = s.Match, s.Game
		case commitment.Finish:
			match = s.Match
		default:
			continue
		}
		if match != e.open.Match {
			f.fail(id, 0, 0, "a statement of match "+match+" is in the bundle"+at(en))
		} else if game > len(e.games) {
			f.failAs(Dropped, id, game, 0, "the log knows a game that is missing from the bundle"+at(en))
		}
	}
	for _, g := range e.games {
		for _, en := range g.log.loose {
			// What was assigned beyond a gap in the segments was not assigned to this
			// game in any way that can be followed.
			if a, ok := en.statement.(commitment.Assign); ok {
				delete(assigned, a.Sequence)
			}
		}
	}
	for _, en := range e.ledger.entries {
		switch s := en.statement.(type) {
		case commitment.Commit:
			if !assigned[s.Sequence] {
				f.fail(id, 0, 0, "sequence "+s.Sequence+" is committed but not assigned in this match"+at(en))
			}
		case commitment.Retire:
			f.fail(id, 0, 0, "sequence "+s.Sequence+" is retired; that does not belong into a bundle"+at(en))
		}
	}
}
