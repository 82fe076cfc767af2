package audit

import (
	"errors"

	"golang.org/x/mod/sumdb/note"

	"fairdice/commitment"
	"fairdice/internal/phrase"
)

// checkRolls carries out rolls.opening, rolls.order, receipts.signature and
// receipts.chain.
func (e *evidence) checkRolls(f *findings) {
	total := 0
	for g := range e.present() {
		if e.bundle != nil {
			g.checkOpenings(f, e.open.Mode)
		} else {
			g.checkKeys(f, e.open.Mode)
		}
		g.checkRollOrder(f)
		g.checkChain(f, e.open.Match)
		total += len(g.receipts)
	}
	if total == 0 && e.bundle != nil {
		f.fail(RollsOrder, 0, 0, errors.New("there is not a single roll in the bundle")) // C11
	}
	e.checkReceiptSignatures(f)
}

// checkKeys is what checkOpenings comes to where the secret is published and
// the openings are left out because it rebuilds them: with the root rebuilt, a
// roll opens it exactly if its key and dice are the rebuilt ones.
func (g *game) checkKeys(f *findings, mode commitment.Mode) {
	const id = RollsOpening
	for i, r := range g.receipts {
		q := g.rebuilt[r.Segment]
		switch {
		case q == nil:
			f.skip(id, g.number, phrase.Errorf("segment %d cannot be rebuilt", r.Segment))
			continue
		case r.Index >= q.Lengths()[r.Stream]:
			f.fail(id, g.number, 0, phrase.Errorf("receipt %d: there is no %s", i+1, r.element()))
			continue
		}
		f.pass(id)
		if r.Key != q.Key(r.Stream, r.Index) {
			f.fail(id, g.number, 0, phrase.Errorf("receipt %d: the key is not that of %s", i+1, r.element()))
		} else if mode == commitment.Live {
			g.checkLiveDice(f, i)
		}
	}
}

// checkLiveDice demands that live dice follow from the key and both links.
func (g *game) checkLiveDice(f *findings, i int) {
	if r := g.receipts[i]; r.Links != nil && r.Dice != commitment.LiveDice(r.Key, r.Links[0], r.Links[1]) {
		f.fail(RollsOpening, g.number, 0, phrase.Errorf("receipt %d: the dice %s do not follow from the key and the links", i+1, r.Dice))
	}
}

// checkOpenings verifies every roll against the root of its deal. The dice come
// from the receipt, which is what the player was shown; in mode live they
// must follow from the key and both links.
func (g *game) checkOpenings(f *findings, mode commitment.Mode) {
	const id = RollsOpening
	named := make(map[element]bool, len(g.receipts))
	for i, r := range g.receipts {
		at := r.element()
		named[at] = true
		s, ok := g.segment(r.Segment)
		if !ok {
			f.skip(id, g.number, phrase.Errorf("segment %d was not committed, assigned and dealt", r.Segment))
			continue
		}
		o, ok := g.openings[at]
		if !ok {
			f.fail(id, g.number, 0, phrase.Errorf("receipt %d: %s is not opened", i+1, at))
			continue
		}
		f.pass(id)
		if o.Key != r.Key {
			f.fail(id, g.number, 0, phrase.Errorf("receipt %d: %s is opened with another key than the receipt's", i+1, at))
			continue
		}
		opening := commitment.Opening{Stream: o.Stream, Index: o.Index, Dice: r.Dice, Key: o.Key, Path: o.Path}
		if mode == commitment.Live {
			opening.Dice = commitment.Dice{}
			g.checkLiveDice(f, i)
		}
		if err := opening.Verify(s.deal.S.Root, s.commit.S.Rolls); err != nil {
			f.fail(id, g.number, 0, phrase.Errorf("receipt %d, dice %s: %v", i+1, r.Dice, err))
		}
	}
	for _, o := range g.inFile.Openings {
		if at := (element{o.Segment, o.Stream, o.Index}); !named[at] {
			f.fail(id, g.number, 0, phrase.Errorf("%s is opened without a receipt", at)) // C22
		}
	}
}

// checkRollOrder demands that every stream was drawn element by element,
// segment after segment, and that the end counts what was drawn.
func (g *game) checkRollOrder(f *findings) {
	const id = RollsOrder
	if len(g.receipts) > 0 {
		f.pass(id)
	}
	var counts commitment.Lengths
	var next [3]element
	var lost [3]bool
	for st := range next {
		next[st] = element{1, commitment.Stream(st), 0}
	}
	for i, r := range g.receipts {
		counts[r.Stream]++
		due := &next[r.Stream]
		if lost[r.Stream] {
			continue
		}
		s, ok := g.segment(due.segment)
		if ok && due.index == s.commit.S.Rolls[r.Stream] {
			*due = element{due.segment + 1, r.Stream, 0}
			_, ok = g.segment(due.segment)
		}
		if !ok {
			f.skip(id, g.number, phrase.Errorf("segment %d was not committed, assigned and dealt", due.segment))
			lost[r.Stream] = true
			continue
		}
		if r.element() != *due {
			f.fail(id, g.number, 0, phrase.Errorf("receipt %d is %s where %s is due", i+1, r.element(), *due))
			*due = r.element()
		}
		due.index++
	}
	used, ended := commitment.Lengths{}, true
	switch {
	case g.log.close != nil:
		used = g.log.close.S.Rolls
		if len(g.receipts) == 0 && !g.log.undealt() {
			f.failAs(Dropped, id, g.number, 0, errors.New("the game was closed without a single roll")) // C11
		}
	case g.log.abort != nil:
		used = g.log.abort.S.Rolls
	default:
		ended = false
	}
	if ended && used != counts {
		f.fail(id, g.number, 0, at(*g.log.end(), "the log counts %d %d %d rolls of opening, a and b, the receipts %d %d %d",
			used[0], used[1], used[2], counts[0], counts[1], counts[2]))
	}
}

// checkChain demands that the receipts are of this game and link to one another
// without a gap up to the one that the end names.
func (g *game) checkChain(f *findings, match string) {
	const id = ReceiptsChain
	if len(g.receipts) > 0 {
		f.pass(id)
	}
	var last *commitment.Hash
	for i, r := range g.receipts {
		wrong := func(what string, values ...any) {
			f.fail(id, g.number, 0, phrase.Errorf("receipt %d %w", i+1, phrase.Errorf(what, values...)))
		}
		if r.Match != match {
			wrong("names match %s", r.Match)
		}
		if r.Game != g.number {
			wrong("names game %d", r.Game)
		}
		if s, ok := g.segment(r.Segment); !ok {
			wrong("is of segment %d, which was not committed, assigned and dealt", r.Segment)
		} else if s.assign.S.Sequence != r.Sequence {
			wrong("names sequence %s, not that of its segment", r.Sequence)
		}
		switch {
		case r.Previous == nil && last != nil:
			wrong("names no previous receipt")
		case r.Previous != nil && last == nil:
			wrong("is the first and names a previous one")
		case r.Previous != nil && *r.Previous != *last:
			wrong("does not name the receipt before it as the previous one")
		}
		last = &g.receipts[i].hash
	}
	var named *commitment.Hash
	switch {
	case g.log.close != nil:
		named = g.log.close.S.Receipt
	case g.log.abort != nil:
		named = g.log.abort.S.Receipt
	default:
		return
	}
	f.pass(id)
	if (named == nil) != (last == nil) || named != nil && *named != *last {
		f.fail(id, g.number, 0, at(*g.log.end(), "the last receipt is not the one that the log names"))
	}
}

// checkReceiptSignatures demands that every receipt is signed with the receipt
// key of the open, which must carry the log's name (C5).
func (e *evidence) checkReceiptSignatures(f *findings) {
	const id = ReceiptsSignature
	if want := e.origin + "/receipts"; e.receiptKey.Name() != want {
		f.fail(id, 0, 0, phrase.Errorf("the receipt key is named %q, not %q", e.receiptKey.Name(), want))
	}
	if !e.signatures {
		f.skip(id, 0, errors.New("the receipts are authenticated by their chain up to the one that the log names, not one by one"))
		return
	}
	for _, g := range e.games {
		if len(g.receipts) > 0 {
			f.pass(id)
			g.checkSignatures(f, e.receiptKey)
		}
	}
}

// signatureBatch is how many receipts are verified before it is asked whether
// to go on.
const signatureBatch = 512

// checkSignatures verifies the receipts of a game. It stops where a forged file
// only asks for work: after more faults than anybody will read, in the
// signatures or in the chain that the receipts should form.
func (g *game) checkSignatures(f *findings, key note.Verifier) {
	const id = ReceiptsSignature
	for from := 0; from < len(g.receipts); from += signatureBatch {
		if f.dropped[id] > 0 || f.dropped[ReceiptsChain] > 0 {
			f.skip(id, g.number, phrase.Errorf("so many receipts are faulty that those from %d on were not verified", from+1))
			return
		}
		if why := f.stopped(); why != nil {
			f.skip(id, g.number, phrase.Errorf("the receipts from %d on were not verified: %w", from+1, why))
			return
		}
		batch := g.receipts[from:min(from+signatureBatch, len(g.receipts))]
		errs := make([]error, len(batch))
		forEach(len(batch), func(i int) { errs[i] = commitment.VerifyNote(batch[i].note, key) })
		for i, err := range errs {
			if err != nil {
				f.fail(id, g.number, 0, phrase.Errorf("receipt %d, dice %s: %v", from+i+1, batch[i].Dice, err))
			}
		}
	}
}
