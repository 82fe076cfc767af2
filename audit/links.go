package audit

import (
	"fmt"
	"slices"
	"sort"

	"fairdice/commitment"
)

// checkLinks carries out deal.links and deal.cut.
func (e *evidence) checkLinks(f *findings) {
	a, b := e.open.AnchorA, e.open.AnchorB
	if a == nil && b == nil {
		f.skip(DealLinks, 0, "no player declared an anchor")
	} else {
		f.pass(DealLinks)
	}
	live := e.open.Mode == commitment.Live
	var uses [2][][]commitment.Use
	for seat, anchor := range [...]*commitment.Anchor{a, b} {
		links := make([]commitment.GameLinks, len(e.games))
		for i, g := range e.games {
			links[i] = g.links(f, seat, anchor != nil, live)
		}
		if anchor != nil {
			uses[seat] = follow(f, seat, anchor.Hash, links)
		}
	}
	for i, g := range e.games {
		g.checkCuts(f)
		if live && uses[0] != nil && uses[1] != nil && !slices.Equal(uses[0][i], uses[1][i]) {
			f.fail(DealLinks, g.number, 0, "the players used their links in different orders")
		}
	}
}

// follow walks one player's chain. It returns nil if the chain breaks, and says
// in which game: the first of which the games up to it cannot be walked.
func follow(f *findings, seat int, anchor commitment.Hash, links []commitment.GameLinks) [][]commitment.Use {
	uses, err := commitment.Follow(anchor, links)
	if err == nil {
		return uses
	}
	game := 1 + sort.Search(len(links)-1, func(n int) bool {
		_, err := commitment.Follow(anchor, links[:n+1])
		return err != nil
	})
	f.fail(DealLinks, game, 0, fmt.Sprintf("the links of seat %c do not follow one another from the anchor", 'A'+seat))
	return nil
}

// links collects the links of one seat in the game and reports those that
// should not be there, or should be and are not (C10).
func (g *game) links(f *findings, seat int, anchored, live bool) commitment.GameLinks {
	var s commitment.GameLinks
	name := string(rune('A' + seat))
	for _, seg := range g.log.segments {
		if seg.deal == nil {
			continue
		}
		link := [...]*commitment.Hash{seg.deal.S.LinkA, seg.deal.S.LinkB}[seat]
		switch {
		case link != nil && !anchored:
			f.fail(DealLinks, g.number, 0, fmt.Sprintf("the deal of segment %d has a link of seat %s, who declared no anchor", seg.number, name)+at(seg.deal.entry))
		case link == nil && anchored:
			f.fail(DealLinks, g.number, 0, fmt.Sprintf("the deal of segment %d lacks the link of seat %s", seg.number, name)+at(seg.deal.entry))
		case link != nil:
			s.Deals = append(s.Deals, *link)
		}
	}
	for i, r := range g.receipts {
		switch {
		case r.Links != nil && live:
			s.Throws = append(s.Throws, r.Links[seat])
		case seat == 0 && (r.Links != nil) != live:
			f.fail(DealLinks, g.number, 0, fmt.Sprintf("receipt %d: links belong to mode live and to no other", i+1))
		}
	}
	if g.log.abort != nil {
		link := [...]*commitment.Hash{g.log.abort.S.LinkA, g.log.abort.S.LinkB}[seat]
		switch {
		case link == nil:
		case !anchored:
			f.fail(DealLinks, g.number, 0, "the abort has a link of seat "+name+", who declared no anchor"+at(g.log.abort.entry))
		case !g.log.undealt():
			f.fail(DealLinks, g.number, 0, "the abort has a link of seat "+name+", though every segment was dealt"+at(g.log.abort.entry))
		default:
			s.Abort = link
		}
	}
	undealt := g.log.undealt()
	if g.log.close != nil && undealt || live && !(g.log.abort != nil && undealt) {
		s.MayMiss = 1
	}
	return s
}

// checkCuts carries out deal.cut for the game.
func (g *game) checkCuts(f *findings) {
	for _, s := range g.log.segments {
		if s.deal == nil {
			f.skip(DealCut, g.number, fmt.Sprintf("segment %d was not dealt", s.number))
			continue
		}
		f.pass(DealCut)
		d := s.deal.S
		if d.Cut != commitment.NewCut(d.Match, d.Game, d.Segment, d.LinkA, d.LinkB, d.Signature) {
			f.fail(DealCut, g.number, 0, fmt.Sprintf("the cut of segment %d is not the hash of its links and beacon signature", s.number)+at(s.deal.entry))
		}
	}
}
