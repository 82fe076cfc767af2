package commitment

import "fmt"

// GameLinks are the links of one player that the statements and receipts of a game carry.
type GameLinks struct {
	Deals  []Hash // of the deals, by segment
	Throws []Hash // of the receipts, in the order of the receipts (mode live)
	// Segments has the number, from 1, of the segment that each throw belongs to: its link comes after that of the
	// segment's deal. Nil: not known, and not asked.
	Segments []int
	Abort    *Hash // carried by the abort
	// MayMiss is the number of links, after those above, that may have been released without any statement carrying them:
	// 1 after a close whose last segment was not dealt, and in mode live after any end but an abort of a segment not
	// dealt; otherwise 0 (vectors, C10).
	MayMiss int
}

// dealt reports whether the segment of a throw is among the first deals of the game.
func (g GameLinks) dealt(deals, throw int) bool {
	return g.Segments == nil || g.Segments[throw] <= deals
}

// A Use says what a link was released for.
type Use byte

// The uses of a link.
const (
	ForDeal  Use = 'd'
	ForThrow Use = 't'
	ForAbort Use = 'a'
)

// Follow walks a player's chain from his anchor through the games of a match, and returns for each game the uses in the
// order in which the chain shows the links were released. Inside a game every link must be the very next one, so that
// nobody offered several links for a deal and kept the best. In mode live the uses of both players must be the same,
// which is the caller's to compare.
//
// The chain itself tells whether a deal or a throw comes next, since only one value hashes to the link before.
func Follow(anchor Hash, games []GameLinks) ([][]Use, error) {
	last, slack := anchor, 0
	uses := make([][]Use, len(games))
	for i, g := range games {
		deals, throws, abort := g.Deals, g.Throws, g.Abort
		for len(deals)+len(throws) > 0 || abort != nil {
			switch {
			case len(deals) > 0 && reaches(deals[0], last, slack):
				last, deals = deals[0], deals[1:]
				uses[i] = append(uses[i], ForDeal)
			case len(throws) > 0 && g.dealt(len(g.Deals)-len(deals), len(g.Throws)-len(throws)) && reaches(throws[0], last, slack):
				last, throws = throws[0], throws[1:]
				uses[i] = append(uses[i], ForThrow)
			case len(deals)+len(throws) == 0 && reaches(*abort, last, slack):
				last, abort = *abort, nil
				uses[i] = append(uses[i], ForAbort)
			default:
				return uses, fmt.Errorf("follow chain: game %d of the list: after %d links no link is the next one after %s", i+1, len(uses[i]), last)
			}
			slack = 0
		}
		slack += g.MayMiss
	}
	return uses, nil
}

// reaches reports whether link comes after last with at most skip links in between.
func reaches(link, last Hash, skip int) bool {
	for ; skip >= 0; skip-- {
		if link = LinkHash(link); link == last {
			return true
		}
	}
	return false
}
