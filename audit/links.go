package audit

import (
	"errors"
	"slices"
	"sort"

	"fairdice/commitment"
	"fairdice/internal/phrase"
)

// checkLinks carries out deal.links for one match. throws returns the links of
// a seat that the receipts of a game carry, in their order; it is nil when
// receipts are not at hand, which leaves mode live unchecked.
func checkLinks(f *findings, open *commitment.Open, games []*gameLog, throws func(game, seat int) ([]commitment.Hash, []int)) {
	live := open.Mode == commitment.Live
	anchors := [2]*commitment.Anchor{open.AnchorA, open.AnchorB}
	switch {
	case live && throws == nil:
		f.skip(DealLinks, 0, errors.New("in mode live the links of the throws are in the receipts"))
		return
	case anchors == [2]*commitment.Anchor{}:
		f.skip(DealLinks, 0, errors.New("no player declared an anchor"))
	default:
		f.pass(DealLinks)
	}
	var uses [2][][]commitment.Use
	for seat, anchor := range anchors {
		links := make([]commitment.GameLinks, len(games))
		for i, g := range games {
			links[i] = g.links(f, seat, anchor != nil, live)
			if live {
				links[i].Throws, links[i].Segments = throws(g.number, seat)
			}
		}
		if anchor != nil {
			uses[seat] = follow(f, seat, anchor.Hash, games, links)
		}
	}
	if !live || uses[0] == nil || uses[1] == nil {
		return
	}
	for i, g := range games {
		if !slices.Equal(uses[0][i], uses[1][i]) {
			f.fail(DealLinks, g.number, 0, errors.New("the players used their links in different orders"))
		}
	}
}

// follow walks one player's chain. It returns nil if the chain breaks, and says
// in which game: the first of which the games up to it cannot be walked.
func follow(f *findings, seat int, anchor commitment.Hash, games []*gameLog, links []commitment.GameLinks) [][]commitment.Use {
	uses, err := commitment.Follow(anchor, links)
	if err == nil {
		return uses
	}
	at := sort.Search(len(links)-1, func(n int) bool {
		_, err := commitment.Follow(anchor, links[:n+1])
		return err != nil
	})
	f.fail(DealLinks, games[at].number, 0, phrase.Errorf("the links of seat %c do not follow one another from the anchor", 'A'+seat))
	return nil
}

// links collects the links of one seat in the game and reports those that
// should not be there, or should be and are not (C10).
func (g *gameLog) links(f *findings, seat int, anchored, live bool) commitment.GameLinks {
	var s commitment.GameLinks
	name := string(rune('A' + seat))
	for _, seg := range g.segments {
		if seg.deal == nil {
			continue
		}
		link := [...]*commitment.Hash{seg.deal.S.LinkA, seg.deal.S.LinkB}[seat]
		switch {
		case link != nil && !anchored:
			f.fail(DealLinks, g.number, 0, at(seg.deal.entry, "the deal of segment %d has a link of seat %s, who declared no anchor", seg.number, name))
		case link == nil && anchored:
			f.fail(DealLinks, g.number, 0, at(seg.deal.entry, "the deal of segment %d lacks the link of seat %s", seg.number, name))
		case link != nil:
			s.Deals = append(s.Deals, *link)
		}
	}
	if g.abort != nil {
		link := [...]*commitment.Hash{g.abort.S.LinkA, g.abort.S.LinkB}[seat]
		switch {
		case link == nil:
		case !anchored:
			f.fail(DealLinks, g.number, 0, at(g.abort.entry, "the abort has a link of seat %s, who declared no anchor", name))
		case !g.undealt():
			f.fail(DealLinks, g.number, 0, at(g.abort.entry, "the abort has a link of seat %s, though every segment was dealt", name))
		default:
			s.Abort = link
		}
	}
	undealt := g.undealt()
	if g.close != nil && undealt || live && !(g.abort != nil && undealt) {
		s.MayMiss = 1
	}
	return s
}

// checkCuts carries out deal.cut for the game.
func (g *gameLog) checkCuts(f *findings) {
	for _, s := range g.segments {
		if s.deal == nil {
			f.skip(DealCut, g.number, phrase.Errorf("segment %d was not dealt", s.number))
			continue
		}
		f.pass(DealCut)
		d := s.deal.S
		if d.Cut != commitment.NewCut(d.Match, d.Game, d.Segment, d.LinkA, d.LinkB, d.Signature) {
			f.fail(DealCut, g.number, 0, at(s.deal.entry, "the cut of segment %d is not the hash of its links and beacon signature", s.number))
		}
	}
}

// checkReceiptLinks demands that receipts carry links exactly in mode live
// (C10).
func (g *game) checkReceiptLinks(f *findings, live bool) {
	for i, r := range g.receipts {
		if (r.Links != nil) != live {
			f.fail(DealLinks, g.number, 0, phrase.Errorf("receipt %d: links belong to mode live and to no other", i+1))
		}
	}
}

// throwLinks returns the links of one seat that the receipts carry, and the
// segments of their throws.
func (g *game) throwLinks(seat int) (links []commitment.Hash, segments []int) {
	segments = []int{}
	for _, r := range g.receipts {
		if r.Links != nil {
			links, segments = append(links, r.Links[seat]), append(segments, r.Segment)
		}
	}
	return links, segments
}

// checkThrowValues looks for links of throws that are on the other player's
// chain too: receipts are in no log, so the book does not see them. What a
// player repeats of his own chain breaks it, which is a fault of deal.links.
func (e *evidence) checkThrowValues(f *findings) {
	var seen [2]map[commitment.Hash]bool // by seat: anchor and links
	add := func(seat int, v *commitment.Hash) {
		if v != nil {
			seen[seat][*v] = true
		}
	}
	for seat, anchor := range [...]*commitment.Anchor{e.open.AnchorA, e.open.AnchorB} {
		seen[seat] = map[commitment.Hash]bool{}
		if anchor != nil {
			add(seat, &anchor.Hash)
		}
	}
	for _, g := range e.games {
		for _, s := range g.log.segments {
			if s.deal != nil {
				add(0, s.deal.S.LinkA)
				add(1, s.deal.S.LinkB)
			}
		}
	}
	for _, g := range e.games {
		for n, r := range g.receipts {
			if r.Links == nil {
				continue
			}
			for seat := range r.Links {
				if seen[1-seat][r.Links[seat]] {
					f.fail(StatementsRefs, g.number, 0, phrase.Errorf("the link of seat %c in receipt %d is on the chain of seat %c too", 'A'+seat, n+1, 'B'-seat))
				}
				add(seat, &r.Links[seat])
			}
		}
	}
}
