package player_test

import (
	"bytes"
	"crypto/rand"
	"errors"
	"testing"

	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
)

// hand is a roll on its way to a player, before it is signed and proved: the
// place for a house to cheat.
type hand struct {
	statements [4]commitment.Statement // open, commit, assign, deal
	receipt    commitment.Receipt
	opening    commitment.Opening
	skey       string // signs the receipt
	shown      func(*client.Roll)
}

// croupier deals a match to a player with a true sequence, in mode random or live.
type croupier struct {
	t      *testing.T
	d      *liveDealer
	p      *twin
	mode   commitment.Mode
	secret commitment.Secret
	deal   commitment.Deal
	other  *commitment.Chain // the opponent's
}

func dealTo(t *testing.T, mode commitment.Mode) *croupier {
	t.Helper()
	c := &croupier{t: t, mode: mode, d: &liveDealer{dealer: newDealer(t)}}
	var err error
	c.secret, err = commitment.NewSecret(rand.Reader)
	must(t, err)
	c.other, err = commitment.NewChain(rand.Reader, 8)
	must(t, err)
	c.p, _ = newPlayerOn(t, c.d.vkey, player.Terms{Match: match})
	o, q := open(c.p.Anchor()), commit(0, seqOne)
	o.Mode, q.Mode = mode, mode
	o.AnchorB = &commitment.Anchor{Hash: c.other.Anchor()}
	q.Rolls = commitment.Lengths{2, 5, 6}
	c.d.log(o, q, assign(1, 1, 0, seqOne))
	mine, err := c.p.Release(t.Context(), c.d, 1, 1)
	must(t, err)
	his, err := c.other.Link(1)
	must(t, err)
	cut := commitment.NewCut(match, 1, 1, &mine.Link, &his, nil)
	built, err := commitment.Build(c.secret, seqOne, mode, q.Rolls, cut, nil)
	must(t, err)
	c.deal = commitment.Deal{Match: match, Game: 1, Segment: 1, Sequence: seqOne, LinkA: &mine.Link, LinkB: &his, Cut: cut, Root: built.Root(), Time: start}
	c.d.log(c.deal)
	c.d.game = client.Game{Game: 1, Segments: 1, Draw: client.DrawDue{Segment: 1, Stream: client.StreamOpening, Throw: 1}}
	return c
}

// roll draws one element honestly, has cheat change it, and signs and proves the outcome.
func (c *croupier) roll(s commitment.Stream, index int, links *[2]commitment.Hash, cheat func(*hand)) client.Roll {
	c.t.Helper()
	var h hand
	for i, text := range c.d.texts[:4] {
		var err error
		h.statements[i], err = commitment.Parse([]byte(text))
		must(c.t, err)
	}
	n := h.statements[1].(commitment.Commit).Rolls
	built, err := commitment.Build(c.secret, seqOne, c.mode, n, c.deal.Cut, nil)
	must(c.t, err)
	h.opening = built.Open(s, index)
	dice := built.Dice(s, index)
	if links != nil {
		dice = commitment.LiveDice(h.opening.Key, links[0], links[1])
	}
	h.receipt = commitment.Receipt{Match: match, Game: 1, Segment: 1, Sequence: seqOne, Stream: s, Index: index, Dice: dice, Links: links,
		Key: h.opening.Key, RecordHead: commitment.Sum([]byte("record")), Time: start}
	h.skey, _, err = commitment.NewKey(origin+"/receipts", bytes.NewReader(make([]byte, 64)))
	must(c.t, err)
	if cheat != nil {
		cheat(&h)
	}
	log := &dealer{t: c.t, signer: c.d.signer, vkey: c.d.vkey}
	log.log(h.statements[:]...)
	p, err := log.Statements(c.t.Context(), match, 0)
	must(c.t, err)
	signer, err := commitment.NewSigner(h.skey)
	must(c.t, err)
	signed, err := h.receipt.Sign(signer)
	must(c.t, err)
	r := client.Roll{Dice: []int{int(h.receipt.Dice.D1), int(h.receipt.Dice.D2)}, Receipt: signed, Checkpoint: p.Checkpoint,
		Open: p.Statements[0], Commit: p.Statements[1], Assign: p.Statements[2], Deal: p.Statements[3],
		Opening: client.Opening{Segment: 1, Stream: client.Stream(s.String()), Index: index, Key: h.opening.Key.String(), Path: hexes(h.opening.Path)}}
	if h.shown != nil {
		h.shown(&r)
	}
	return r
}

// Every element of a sequence opens, and nothing else that a house may show
// in its place does.
func TestDishonestRoll(t *testing.T) {
	stranger := commitment.Sum([]byte("stranger"))
	swap := func(d commitment.Dice) commitment.Dice { return commitment.Dice{D1: d.D1%6 + 1, D2: d.D2} }
	deal := func(change func(*commitment.Deal)) func(*hand) {
		return func(h *hand) {
			d := h.statements[3].(commitment.Deal)
			change(&d)
			h.statements[3] = d
		}
	}
	show := func(change func(*client.Roll)) func(*hand) { return func(h *hand) { h.shown = change } }
	c := dealTo(t, commitment.Random)
	for _, s := range commitment.Streams() {
		for i := range (commitment.Lengths{2, 5, 6})[s] {
			must(t, c.p.CheckRoll(c.roll(s, i, nil, nil)))
		}
	}
	for _, x := range []struct {
		name, check string
		cheat       func(*hand)
	}{
		{"other dice, signed", "rolls.opening", func(h *hand) { h.receipt.Dice = swap(h.receipt.Dice) }},
		{"other dice, shown", "record.rolls", show(func(r *client.Roll) { r.Dice[0] = r.Dice[0]%6 + 1 })},
		{"one die", "record.rolls", show(func(r *client.Roll) { r.Dice = r.Dice[:1] })},
		{"another element", "receipts.chain", show(func(r *client.Roll) { r.Opening.Index++ })},
		{"another stream", "receipts.chain", show(func(r *client.Roll) { r.Opening.Stream = client.StreamA })},
		{"no stream", "format", show(func(r *client.Roll) { r.Opening.Stream = "c" })},
		{"another key", "receipts.chain", show(func(r *client.Roll) { r.Opening.Key = stranger.String() })},
		{"another key, signed", "rolls.opening", func(h *hand) { h.receipt.Key, h.opening.Key = stranger, stranger }},
		{"a key that is none", "format", show(func(r *client.Roll) { r.Opening.Key = "AB" })},
		{"a path that is none", "format", show(func(r *client.Roll) { r.Opening.Path[1] = "" })},
		{"a short path", "rolls.opening", show(func(r *client.Roll) { r.Opening.Path = r.Opening.Path[1:] })},
		{"a long path", "rolls.opening", show(func(r *client.Roll) { r.Opening.Path = append(r.Opening.Path, stranger.String()) })},
		{"an element behind the end", "rolls.opening", func(h *hand) {
			h.receipt.Index = 9
			h.shown = func(r *client.Roll) { r.Opening.Index = 9 }
		}},
		{"of another match", "receipts.chain", func(h *hand) { h.receipt.Match = seqTwo }},
		{"of another game", "receipts.chain", func(h *hand) { h.receipt.Game = 2 }},
		{"of another segment", "receipts.chain", func(h *hand) { h.receipt.Segment = 2 }},
		{"of another sequence", "receipts.chain", func(h *hand) { h.receipt.Sequence = seqTwo }},
		{"links where none belong", "deal.links", func(h *hand) { h.receipt.Links = &[2]commitment.Hash{stranger, stranger} }},
		{"another receipt key", "receipts.signature", func(h *hand) {
			var err error
			h.skey, _, err = commitment.NewKey(origin+"/receipts", rand.Reader)
			must(t, err)
		}},
		{"a receipt that is none", "receipts.signature", show(func(r *client.Roll) { r.Receipt = "six and six\n" })},
		{"a statement as a receipt", "receipts.signature", show(func(r *client.Roll) { r.Receipt = r.Checkpoint })},
		{"another checkpoint key", "log.signature", show(func(r *client.Roll) { r.Checkpoint = r.Receipt })},
		{"a deal that is not logged", "log.inclusion", show(func(r *client.Roll) { r.Deal.Path = r.Assign.Path })},
		{"the assign in place of the deal", "format", show(func(r *client.Roll) { r.Deal = r.Assign })},
		{"a commit in place of the open", "format", show(func(r *client.Roll) { r.Open, r.Commit.Text = r.Commit, "" })},
		{"another open", "statements.refs", func(h *hand) {
			o := h.statements[0].(commitment.Open)
			o.Variant = "nackgammon"
			h.statements[0] = o
		}},
		{"another assign", "statements.refs", func(h *hand) {
			a := h.statements[2].(commitment.Assign)
			a.Number = 7
			h.statements[2] = a
		}},
		{"the deal of another game", "statements.refs", deal(func(d *commitment.Deal) { d.Game = 2 })},
		{"the deal of another sequence", "statements.refs", deal(func(d *commitment.Deal) { d.Sequence = seqTwo })},
		{"a deal with a link of the house", "deal.links", deal(func(d *commitment.Deal) {
			d.LinkA = &stranger
			d.Cut = commitment.NewCut(match, 1, 1, &stranger, d.LinkB, nil)
		})},
		{"a deal without the link", "deal.links", deal(func(d *commitment.Deal) {
			d.LinkA = nil
			d.Cut = commitment.NewCut(match, 1, 1, nil, d.LinkB, nil)
		})},
		{"another link of the opponent", "deal.cut", deal(func(d *commitment.Deal) { d.LinkB = &stranger })},
		{"a beacon nobody agreed on", "deal.beacon", deal(func(d *commitment.Deal) {
			d.Signature = make([]byte, 48)
			d.Cut = commitment.NewCut(match, 1, 1, d.LinkA, d.LinkB, d.Signature)
		})},
		{"another root", "rolls.opening", deal(func(d *commitment.Deal) { d.Root = stranger })},
	} {
		t.Run(x.name, func(t *testing.T) {
			// B's stream, the longest: a seat's own opening would fit by chance sooner.
			unbelieved(t, c.p, c.roll(commitment.StreamB, 3, nil, x.cheat), x.check)
		})
	}
	r := c.roll(commitment.StreamA, 0, nil, nil)
	r.Opening.Segment = 2
	if err := c.p.CheckRoll(r); err == nil || kindOf(err) != "error" {
		t.Errorf("a roll of a segment that was not cut: %v", err)
	}
}

// In mode live the dice follow from the links of both players, each of whom
// finds his own, and the other's at the end of the other's chain.
func TestDishonestLiveRoll(t *testing.T) {
	c := dealTo(t, commitment.Live)
	mine, err := c.p.ReleaseThrow(t.Context(), c.d, 1, 1, 1)
	must(t, err)
	link := func(n int) commitment.Hash {
		v, err := c.other.Link(n)
		must(t, err)
		return v
	}
	stranger := commitment.Sum([]byte("stranger"))
	must(t, c.p.CheckRoll(c.roll(commitment.StreamOpening, 0, &[2]commitment.Hash{mine.Link, link(2)}, nil)))
	must(t, c.p.CheckRoll(c.roll(commitment.StreamOpening, 0, &[2]commitment.Hash{mine.Link, link(5)}, nil)))
	for _, x := range []struct {
		name, check string
		links       [2]commitment.Hash
		cheat       func(*hand)
	}{
		{"other dice", "rolls.opening", [2]commitment.Hash{mine.Link, link(2)}, func(h *hand) { h.receipt.Dice.D1 = h.receipt.Dice.D1%6 + 1 }},
		{"no links", "deal.links", [2]commitment.Hash{mine.Link, link(2)}, func(h *hand) { h.receipt.Links = nil }},
		{"a link of the house for his", "deal.links", [2]commitment.Hash{stranger, link(2)}, nil},
		{"his link for the cut", "deal.links", [2]commitment.Hash{*c.deal.LinkA, link(2)}, nil},
		{"a link of the house for the opponent's", "deal.links", [2]commitment.Hash{mine.Link, stranger}, nil},
		{"the opponent's link for the cut", "deal.links", [2]commitment.Hash{mine.Link, link(1)}, nil},
		{"the links in the other order", "deal.links", [2]commitment.Hash{link(2), mine.Link}, nil},
	} {
		t.Run(x.name, func(t *testing.T) {
			unbelieved(t, c.p, c.roll(commitment.StreamOpening, 0, &x.links, x.cheat), x.check)
		})
	}
}

func unbelieved(t *testing.T, p *twin, r client.Roll, check string) {
	t.Helper()
	p.t = t
	err := p.CheckRoll(r)
	var distrust *player.Distrust
	if !errors.As(err, &distrust) || distrust.Check != check {
		t.Errorf("%v; want a refusal for %s", err, check)
	}
}
