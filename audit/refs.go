package audit

import (
	"fairdice/commitment"
	"fairdice/internal/phrase"
)

// at makes the text of a fault with its place in the log.
func at(e entry, format string, values ...any) error {
	return phrase.Errorf("%w: log index %d", phrase.Errorf(format, values...), e.index)
}

// checkRefs carries out what statements.refs demands of the statements of a
// match: nothing is said twice, and statements agree about what they refer to
// (PROTOCOL.md §3, C5, C6). What may be used once in a whole log is the
// business of the [Book].
func checkRefs(f *findings, l *ledger) {
	const id = StatementsRefs
	f.pass(id)
	for _, d := range l.duplicates {
		f.failAs(Reused, id, d.game, 0, at(d.entry, d.twice, d.values...))
	}
	for _, e := range l.entries {
		if a, ok := e.statement.(commitment.Assign); ok {
			l.checkAssign(f, e, a)
		}
		if d, ok := e.statement.(commitment.Deal); ok {
			a := l.matches[d.Match].games[d.Game].assigns[d.Segment]
			if a != nil && a.S.Sequence != d.Sequence {
				f.fail(id, d.Game, 0, at(e, "the deal of segment %d names another sequence than its assign", d.Segment))
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
		f.fail(id, a.Game, 0, at(e, "the assign says number %d, the commit number %d", a.Number, c.S.Number))
	}
	if o == nil {
		return
	}
	if c.S.Tenant != o.S.Tenant {
		f.fail(id, a.Game, 0, at(e, "the match belongs to tenant %s, the sequence to %s", o.S.Tenant, c.S.Tenant))
	}
	if c.S.Mode != o.S.Mode {
		f.fail(id, a.Game, 0, at(e, "the match is played in mode %s, the sequence is made for %s", o.S.Mode, c.S.Mode))
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
			f.fail(id, 0, 0, at(en, "a statement of match %s is in the bundle", match))
		} else if game > len(e.games) {
			f.failAs(Dropped, id, game, 0, at(en, "the log knows a game that is missing from the bundle"))
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
				f.fail(id, 0, 0, at(en, "sequence %s is committed but not assigned in this match", s.Sequence))
			}
		case commitment.Retire:
			f.fail(id, 0, 0, at(en, "sequence %s is retired; that does not belong into a bundle", s.Sequence))
		}
	}
}
