package house

import (
	"context"
	"errors"
	"fmt"
	"time"

	"fairdice/commitment"
	"fairdice/replay"
	"fairdice/rules"
	"fairdice/store"
)

// Draw opens a roll, signs its receipt and, in a refereed game, writes its line
// into the record, all in one transaction; a roll that was drawn before is
// answered again. In a refereed game only the roll that is due is opened, and
// the receipt names the record before it, so nobody can later tell another
// story of what was on the board (PROTOCOL.md §5).
func (h *House) Draw(ctx context.Context, p Principal, match string, number, segment int, stream string, index int) (DrawAnswer, error) {
	return again(ctx, h, func(ctx context.Context) (DrawAnswer, error) {
		return h.drawOnce(ctx, p, match, number, segment, stream, index)
	})
}

func (h *House) drawOnce(ctx context.Context, p Principal, match string, number, segment int, stream string, index int) (DrawAnswer, error) {
	asked := time.Now()
	if err := p.need(ScopeDraw); err != nil {
		return DrawAnswer{}, err
	}
	st, err := commitment.ParseStream(stream)
	if err != nil {
		return DrawAnswer{}, refuse(Malformed, "stream %q is none of opening, a, b", stream)
	}
	t, err := h.table(ctx, match)
	if err != nil {
		return DrawAnswer{}, err
	}
	defer t.unlock()
	if err := p.owns(t.row.Tenant, match); err != nil {
		return DrawAnswer{}, err
	}
	g, err := t.at(ctx, number)
	if err != nil {
		return DrawAnswer{}, err
	}
	if n, ok := g.ordinal(st, segment, index); ok && n < g.row.Rolls[st] {
		return t.repeatDraw(ctx, g, segment, st, index)
	}
	if g.row.End >= 0 {
		return DrawAnswer{}, refuse(GameEnded, "game %d has ended", number)
	}
	if want, ok := g.state.NextDraw(); g.refereed && (!ok || want != stream) {
		return DrawAnswer{}, &Error{Code: NotDue, Message: fmt.Sprintf("no roll of stream %s is due; what is due: %s", stream, g.due()), Line: g.row.Lines + 1}
	}
	wantSegment, wantIndex := g.place(st, g.row.Rolls[st])
	if segment != wantSegment || index != wantIndex {
		return DrawAnswer{}, refuse(OutOfOrder, "the next roll of stream %s is segment %d index %d", stream, wantSegment, wantIndex)
	}
	if g.row.Lines >= MaxLines {
		return DrawAnswer{}, refuse(NotDue, "the record has %d lines, the most it can have; the game can only be aborted", g.row.Lines)
	}
	if segment > len(g.segments) {
		if !g.last().dealt() {
			return DrawAnswer{}, refuse(AwaitingLink, "segment %d is not dealt yet", len(g.segments))
		}
		if err := t.addSegment(ctx, g); err != nil {
			return DrawAnswer{}, err
		}
	}
	s, err := g.segment(segment)
	if err != nil {
		return DrawAnswer{}, err
	}
	if !s.dealt() {
		// The players' clients release their links only for an assign that is public.
		if err := h.signer.await(ctx, s.row.Assign+1); err != nil {
			return DrawAnswer{}, err
		}
		return DrawAnswer{}, refuse(AwaitingLink, "segment %d is not dealt yet: a player's link is missing", segment)
	}
	if t.open.Mode == commitment.Live && (g.row.Throw[0] == nil || g.row.Throw[1] == nil) {
		return DrawAnswer{}, refuse(AwaitingLink, "throw %d needs a link of both players", g.throws()+1)
	}
	// A database that has gone back may lack rolls that were answered: what is
	// drawn on it would be a second receipt for one of them.
	if h.signer.refused() != nil {
		return DrawAnswer{}, errRefused()
	}
	roll, dice, err := t.newDraw(ctx, g, s, st, index)
	if err != nil {
		return DrawAnswer{}, err
	}
	h.observer.Drawn(s.mode.String(), time.Since(asked))
	a, err := t.drawAnswer(ctx, s, roll, dice)
	a.Head, a.Due = replay.Head(g.row.Head).String(), g.due()
	return a, err
}

// newDraw is the roll that nobody has seen yet.
func (t *table) newDraw(ctx context.Context, g *game, s *segment, st commitment.Stream, index int) (store.Roll, commitment.Dice, error) {
	if err := t.rebuild(s); err != nil {
		return store.Roll{}, commitment.Dice{}, err
	}
	now, err := t.house.present()
	if err != nil {
		return store.Roll{}, commitment.Dice{}, err
	}
	row, key := g.row, s.sequence.Key(st, index)
	dice := s.sequence.Dice(st, index)
	var links *[2]commitment.Hash
	if s.mode == commitment.Live {
		links = &[2]commitment.Hash{commitment.Hash(row.Throw[0]), commitment.Hash(row.Throw[1])}
		dice = commitment.LiveDice(key, links[0], links[1])
		row.Throw = [2][]byte{}
	}
	receipt := commitment.Receipt{
		Match: t.id, Game: row.Number, Segment: s.row.Segment, Sequence: s.row.Sequence,
		Stream: st, Index: index, Dice: dice, Links: links, Key: key,
		Previous: linkOf(row.Receipt), RecordLines: row.Lines, RecordHead: row.Head, Time: now,
	}
	signed, err := t.signReceipt(receipt)
	if err != nil {
		return store.Roll{}, dice, err
	}
	hash := receipt.Hash()
	roll := store.Roll{Match: t.id, Game: row.Number, Segment: s.row.Segment, Stream: st.String(), Index: index,
		Ordinal: g.throws(), Receipt: signed}
	row.Rolls[st]++
	row.Receipt = hash[:]
	state, line := g.state, ""
	if g.refereed {
		if state, line, err = t.rolled(g, st, dice); err != nil {
			return store.Roll{}, dice, err
		}
		row.Lines++
		row.Head = replay.Head(row.Head).Next(line)
		roll.Line = row.Lines
	}
	err = t.update(ctx, func(tx store.Tx) error {
		if err := tx.ReplaceGame(row); err != nil {
			return fmt.Errorf("replace game: %w", err)
		}
		if err := tx.AddRoll(roll); err != nil || !g.refereed {
			return err
		}
		return tx.AddEvents(t.id, row.Number, roll.Line, []string{line})
	})
	if err != nil {
		return store.Roll{}, dice, err
	}
	row.Version++
	g.row, g.state = row, state
	return roll, dice, nil
}

// rolled is the state after a throw, and its record line.
func (t *table) rolled(g *game, st commitment.Stream, dice commitment.Dice) (replay.State, string, error) {
	event := replay.Event{Kind: replay.Opening, Dice: rules.Dice{A: dice.D1, B: dice.D2}}
	switch st {
	case commitment.StreamA:
		event.Kind, event.Seat = replay.Roll, replay.A
	case commitment.StreamB:
		event.Kind, event.Seat = replay.Roll, replay.B
	}
	state, err := g.state.Apply(&t.gen, event)
	if err != nil {
		return state, "", fmt.Errorf("apply %s: %w", event, err)
	}
	return state, event.String(), nil
}

// rebuild has the dealt dice of a segment in memory.
func (t *table) rebuild(s *segment) error {
	if s.sequence != nil {
		return nil
	}
	seq, err := t.build(s, commitment.Cut(s.row.Cut))
	if err != nil {
		return err
	}
	if seq.Root() != commitment.Hash(s.row.Root) {
		return fmt.Errorf("rebuild sequence %s: it has root %s, dealt was %x", s.row.Sequence, seq.Root(), s.row.Root)
	}
	s.sequence = seq
	return nil
}

// repeatDraw answers a roll as it was answered when it was drawn.
func (t *table) repeatDraw(ctx context.Context, g *game, segment int, st commitment.Stream, index int) (DrawAnswer, error) {
	s, err := g.segment(segment)
	if err != nil {
		return DrawAnswer{}, err
	}
	var roll store.Roll
	var lines []string
	err = t.house.store.View(ctx, func(r store.Reader) (err error) {
		if roll, err = r.Roll(t.id, g.row.Number, segment, st.String(), index); err != nil {
			return fmt.Errorf("read roll: %w", err)
		}
		lines, err = r.Events(t.id, g.row.Number, 1)
		return err
	})
	if errors.Is(err, store.ErrNotFound) { // it was answered, and the database has lost it
		if err := t.load(ctx); err != nil {
			return DrawAnswer{}, err
		}
		return DrawAnswer{}, &Error{Code: Unavailable, Message: "the storage has changed meanwhile; repeat the request", RetryAfter: time.Second, changed: true}
	}
	if err != nil {
		return DrawAnswer{}, err
	}
	if err := t.rebuild(s); err != nil {
		return DrawAnswer{}, err
	}
	receipt, err := commitment.OpenReceipt(roll.Receipt, t.open.ReceiptKey)
	if err != nil {
		return DrawAnswer{}, fmt.Errorf("read receipt: %w", err)
	}
	a, err := t.drawAnswer(ctx, s, roll, receipt.Dice)
	if err != nil {
		return DrawAnswer{}, err
	}
	if !g.refereed {
		a.Head, a.Due = g.header.Head().String(), dueRecord
		return a, nil
	}
	a.Head, a.Due, err = t.after(g, lines[:roll.Line])
	return a, err
}

func (t *table) drawAnswer(ctx context.Context, s *segment, roll store.Roll, dice commitment.Dice) (DrawAnswer, error) {
	st, err := commitment.ParseStream(roll.Stream)
	if err != nil {
		return DrawAnswer{}, err
	}
	if s.proof == nil {
		pub, err := t.house.published(ctx, 0, s.commit, t.row.Open, s.row.Assign, s.row.Deal)
		if err != nil {
			return DrawAnswer{}, err
		}
		s.proof = &dealProof{commit: pub.Statements[0], open: pub.Statements[1], assign: pub.Statements[2], deal: pub.Statements[3], checkpoint: pub.Checkpoint}
	}
	o := s.sequence.Open(st, roll.Index)
	return DrawAnswer{
		Dice: [2]int{int(dice.D1), int(dice.D2)}, Receipt: roll.Receipt,
		Segment: roll.Segment, Stream: roll.Stream, Index: roll.Index, Key: o.Key, Path: o.Path,
		Commit: s.proof.commit, Open: s.proof.open, Assign: s.proof.assign, Deal: s.proof.deal, Checkpoint: s.proof.checkpoint,
		Line: roll.Line,
	}, nil
}

// after says where the record stood after its first lines.
func (t *table) after(g *game, lines []string) (head, due string, err error) {
	st, err := replay.Start(g.state.Setting())
	if err != nil {
		return "", "", fmt.Errorf("start game: %w", err)
	}
	h := g.header.Head()
	for i, line := range lines {
		e, err := replay.ParseEvent(line)
		if err == nil {
			st, err = st.Apply(&t.gen, e)
		}
		if err != nil {
			return "", "", fmt.Errorf("damaged record, line %d: %w", i+1, err)
		}
		h = h.Next(line)
	}
	return h.String(), st.Due().String(), nil
}
