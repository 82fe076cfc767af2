package audit

import (
	"fmt"

	"fairdice/commitment"
)

// at ends a fault's text with the place in the log.
func at(e entry) string { return fmt.Sprintf(": log index %d", e.index) }

// checkRefs carries out statements.refs on what bundles and whole logs have in
// common: nothing is said twice, nothing is used twice, and statements agree
// about what they refer to (PROTOCOL.md §3, C5, C6).
func checkRefs(f *findings, l *ledger, origin string) {
	const id = StatementsRefs
	f.pass(id)
	for _, d := range l.duplicates {
		f.fail(id, d.game, 0, d.what+" twice"+at(d.entry))
	}
	hashes := map[commitment.Hash]string{}
	archives := map[commitment.Hash]string{}
	for _, e := range l.entries {
		switch s := e.statement.(type) {
		case commitment.Commit:
			if s.Log != origin {
				f.fail(id, 0, 0, fmt.Sprintf("the commit of sequence %s was made for log %s", s.Sequence, s.Log)+at(e))
			}
			if other, twice := hashes[s.SecretHash]; twice && other != s.Sequence {
				f.fail(id, 0, 0, fmt.Sprintf("sequences %s and %s have the same secret", other, s.Sequence)+at(e))
			}
			hashes[s.SecretHash] = s.Sequence
			if s.Archive != nil {
				if other, twice := archives[*s.Archive]; twice && other != s.Sequence {
					f.fail(id, 0, 0, fmt.Sprintf("sequences %s and %s have the same archive", other, s.Sequence)+at(e))
				}
				archives[*s.Archive] = s.Sequence
			}
		case commitment.Open:
			if s.Log != origin {
				f.fail(id, 0, 0, "the match was opened for log "+s.Log+at(e))
			}
		}
	}
	users := map[string]bool{}
	for _, e := range l.entries {
		if a, ok := e.statement.(commitment.Assign); ok {
			l.checkAssign(f, e, a, users)
		}
		if d, ok := e.statement.(commitment.Deal); ok {
			a := l.matches[d.Match].games[d.Game].assigns[d.Segment]
			if a != nil && a.S.Sequence != d.Sequence {
				f.fail(id, d.Game, 0, fmt.Sprintf("the deal of segment %d names another sequence than its assign", d.Segment)+at(e))
			}
		}
	}
	l.checkValues(f)
}

// checkAssign compares an assign with its commit and its match.
func (l *ledger) checkAssign(f *findings, e entry, a commitment.Assign, users map[string]bool) {
	const id = StatementsRefs
	g := l.matches[a.Match].games[a.Game]
	if first := g.assigns[a.Segment]; first.index == e.index && first.place == e.place {
		if users[a.Sequence] {
			f.fail(id, a.Game, 0, "sequence "+a.Sequence+" is assigned twice"+at(e))
		}
		users[a.Sequence] = true
	}
	if r := l.retires[a.Sequence]; r != nil && r.index < e.index {
		f.fail(id, a.Game, 0, "sequence "+a.Sequence+" was retired before it was assigned"+at(e))
	} else if r != nil {
		f.fail(id, a.Game, 0, "sequence "+a.Sequence+" is retired although it was assigned"+at(r.entry))
	}
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

// owner is whose anchor or link a value is.
type owner struct {
	match string
	seat  byte
}

// checkValues demands that no value serves two owners as anchor or link: a
// player whose "link" is another's anchor gave nothing of his own. The same
// value twice in one player's own chain is a matter of deal.links.
func (l *ledger) checkValues(f *findings) {
	owners := map[commitment.Hash]owner{}
	use := func(v *commitment.Hash, o owner, e entry) {
		if v == nil {
			return
		}
		if first, used := owners[*v]; used && first != o {
			f.fail(StatementsRefs, 0, 0, fmt.Sprintf("the value %s of seat %c was already used as an anchor or link", short(*v), o.seat)+at(e))
			return
		}
		owners[*v] = o
	}
	for _, e := range l.entries {
		switch s := e.statement.(type) {
		case commitment.Open:
			for _, side := range [...]struct {
				anchor *commitment.Anchor
				seat   byte
			}{{s.AnchorA, 'A'}, {s.AnchorB, 'B'}} {
				if side.anchor == nil {
					continue
				}
				o := owner{s.Match, side.seat}
				if first, used := owners[side.anchor.Hash]; used && first == o {
					f.fail(StatementsRefs, 0, 0, fmt.Sprintf("the anchor of seat %c was used before", o.seat)+at(e))
				}
				use(&side.anchor.Hash, o, e)
			}
		case commitment.Deal:
			use(s.LinkA, owner{s.Match, 'A'}, e)
			use(s.LinkB, owner{s.Match, 'B'}, e)
		case commitment.Abort:
			use(s.LinkA, owner{s.Match, 'A'}, e)
			use(s.LinkB, owner{s.Match, 'B'}, e)
		}
	}
}

// short prints the beginning of a hash, enough to find it by.
func short(h commitment.Hash) string { return h.String()[:16] + "…" }

// checkBundleRefs carries out what statements.refs demands of a bundle only:
// it is about one match, holds all of its games, and no statement that is
// none of its business (C6).
func (e *evidence) checkBundleRefs(f *findings) {
	const id = StatementsRefs
	checkRefs(f, e.ledger, e.bundle.Log.Origin)
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
			f.fail(id, game, 0, "the log knows a game that is missing from the bundle"+at(en))
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
