package player

import (
	"fmt"

	"fairdice/client"
	"fairdice/commitment"
	"fairdice/internal/beacon"
	"fairdice/translog"
)

// CheckRoll checks a roll while the game goes on, as a draw answers it: the
// deal is in the log and was cut with this player's own link, the roll opens
// against it, and the receipt says the same under the key the open names
// (PROTOCOL.md §4–§6). What needs the secret is left to the audit. An error
// that is a *Distrust is worth keeping the roll for: it is signed.
func (p *Player) CheckRoll(r client.Roll) error {
	head, err := translog.OpenCheckpoint(r.Checkpoint, p.key)
	if err != nil {
		return distrust("log.signature", "%v", err)
	}
	shown := []client.Statement{r.Open, r.Assign, r.Deal}
	if r.Commit.Text != "" {
		shown = append(shown, r.Commit)
	}
	e, err := readEvidence(client.Published{Statements: shown, Checkpoint: r.Checkpoint}, head)
	if err != nil {
		return err
	}
	if len(e.opens) != 1 || len(e.assigns) != 1 || len(e.deals) != 1 {
		return distrust("format", "the roll does not come with one open, one assign and one deal")
	}
	open, assign, deal := e.opens[0], e.assigns[0], e.deals[0].s
	number := p.state.find(slot{assign.s.Game, r.Opening.Segment, 0})
	if number < 0 {
		return fmt.Errorf("check roll: no link was released for game %d, segment %d", assign.s.Game, r.Opening.Segment)
	}
	mine := p.state.Released[number]
	if open.hash != p.state.Open || assign.hash != mine.Assign {
		return distrust("statements.refs", "open or assign are not those that a link was released for")
	}
	if err := p.checkDeal(e, open.s, assign.s, deal, mine, number); err != nil {
		return err
	}
	receipt, err := checkReceipt(r, open.s, deal, mine.Rolls)
	if err != nil || receipt.Links == nil {
		return err
	}
	return p.checkThrow(e.seat(p.chain.Anchor()), *receipt.Links, deal, mine)
}

// checkDeal finds the player's own link, and in a match with a beacon the
// signature of the assign's round, in the cut.
func (p *Player) checkDeal(e evidence, open commitment.Open, assign commitment.Assign, deal commitment.Deal, mine released, number int) error {
	if deal.Match != p.state.Terms.Match || deal.Game != mine.Game || deal.Segment != mine.Segment || deal.Sequence != mine.Sequence {
		return distrust("statements.refs", "the deal is not that of game %d, segment %d", mine.Game, mine.Segment)
	}
	link, err := p.chain.Link(number + 1)
	if err != nil {
		return fmt.Errorf("check roll: %w", err)
	}
	own := deal.LinkA
	if e.seat(p.chain.Anchor()) == client.SeatB {
		own = deal.LinkB
	}
	if own == nil || *own != link {
		return distrust("deal.links", "the deal is not cut with the link that was released for it")
	}
	if err := checkRound(open, assign); err != nil {
		return err
	}
	if open.Beacon {
		if err := beacon.Verify(*assign.Round, deal.Signature); err != nil {
			return distrust("deal.beacon", "%v", err)
		}
	} else if deal.Signature != nil {
		return distrust("deal.beacon", "the deal has a beacon's signature, the match no beacon")
	}
	if deal.Cut != commitment.NewCut(deal.Match, deal.Game, deal.Segment, deal.LinkA, deal.LinkB, deal.Signature) {
		return distrust("deal.cut", "the cut of the deal does not follow from its links")
	}
	return nil
}

// checkReceipt compares receipt, opening and dice, and opens the roll.
func checkReceipt(r client.Roll, open commitment.Open, deal commitment.Deal, rolls commitment.Lengths) (commitment.Receipt, error) {
	receipt, err := commitment.OpenReceipt(r.Receipt, open.ReceiptKey)
	if err != nil {
		return receipt, distrust("receipts.signature", "%v", err)
	}
	if (receipt.Links != nil) != (open.Mode == commitment.Live) {
		return receipt, distrust("deal.links", "a receipt of mode %s has links or not, as no other mode has", open.Mode)
	}
	stream, err := commitment.ParseStream(string(r.Opening.Stream))
	if err != nil {
		return receipt, distrust("format", "%v", err)
	}
	key, err := hashes([]client.Hex{r.Opening.Key})
	if err != nil {
		return receipt, distrust("format", "%v", err)
	}
	path, err := hashes(r.Opening.Path)
	if err != nil {
		return receipt, distrust("format", "%v", err)
	}
	if receipt.Match != deal.Match || receipt.Game != deal.Game || receipt.Segment != deal.Segment || receipt.Sequence != deal.Sequence ||
		receipt.Stream != stream || receipt.Index != r.Opening.Index || receipt.Key != key[0] {
		return receipt, distrust("receipts.chain", "the receipt is for another roll")
	}
	if len(r.Dice) != 2 || int(receipt.Dice.D1) != r.Dice[0] || int(receipt.Dice.D2) != r.Dice[1] {
		return receipt, distrust("record.rolls", "the dice shown are %v, the receipt says %s", r.Dice, receipt.Dice)
	}
	opening := commitment.Opening{Stream: stream, Index: receipt.Index, Dice: receipt.Dice, Key: receipt.Key, Path: path}
	if receipt.Links != nil { // mode live: the leaf holds no dice, they follow from the links
		opening.Dice = commitment.Dice{}
		if commitment.LiveDice(receipt.Key, receipt.Links[0], receipt.Links[1]) != receipt.Dice {
			return receipt, distrust("rolls.opening", "the dice do not follow from the links of the throw")
		}
	}
	if err := opening.Verify(deal.Root, rolls); err != nil {
		return receipt, distrust("rolls.opening", "%v", err)
	}
	return receipt, nil
}
