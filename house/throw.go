package house

import (
	"context"
	"crypto/subtle"
	"fmt"

	"fairdice/commitment"
	"fairdice/replay"
	"fairdice/store"
)

// PutThrow takes a seat's link for one throw of mode live, from anybody. Throws
// of a game count from 1. The seat on roll releases first, which is its refusal
// to double; only then the other seat's link is taken. In an opening draw the
// order is free (PROTOCOL.md §4, §6).
func (h *House) PutThrow(ctx context.Context, match string, number, segment int, seat string, throw int, link commitment.Hash) (ThrowAnswer, error) {
	return again(ctx, h, func(ctx context.Context) (ThrowAnswer, error) {
		return h.putThrowOnce(ctx, match, number, segment, seat, throw, link)
	})
}

func (h *House) putThrowOnce(ctx context.Context, match string, number, segment int, seat string, throw int, link commitment.Hash) (ThrowAnswer, error) {
	i, ok := seatIndex(seat)
	if !ok {
		return ThrowAnswer{}, refuse(Malformed, "seat %q is neither a nor b", seat)
	}
	t, err := h.table(ctx, match)
	if err != nil {
		return ThrowAnswer{}, err
	}
	defer t.unlock()
	if t.open.Mode != commitment.Live {
		return ThrowAnswer{}, refuse(NotFound, "throws of mode %s need no links", t.open.Mode)
	}
	g, err := t.at(ctx, number)
	if err != nil {
		return ThrowAnswer{}, err
	}
	a := ThrowAnswer{Match: match, Game: number, Segment: segment, Throw: throw, Seat: seat}
	held, err := t.throwLink(ctx, g, i, segment, throw)
	if err != nil {
		return ThrowAnswer{}, err
	}
	if held == nil {
		err = t.takeThrow(ctx, g, i, segment, throw, link)
	} else if subtle.ConstantTimeCompare(held[:], link[:]) != 1 {
		err = refuse(OtherContent, "seat %s has released another link for throw %d", seat, throw)
	}
	return a, err
}

// throwLink is the link a seat has released for a throw, nil if none.
func (t *table) throwLink(ctx context.Context, g *game, i, segment, throw int) (*commitment.Hash, error) {
	if throw < 1 || throw > g.throws()+1 {
		return nil, refuse(OutOfOrder, "the next throw of the game is %d", g.throws()+1)
	}
	if throw == g.throws()+1 {
		return linkOf(g.row.Throw[i]), nil
	}
	var rolls []store.Roll
	if err := t.house.store.View(ctx, func(r store.Reader) (err error) {
		rolls, err = r.Rolls(t.id, g.row.Number)
		return err
	}); err != nil {
		return nil, fmt.Errorf("read rolls: %w", err)
	}
	if rolls[throw-1].Segment != segment {
		return nil, refuse(OtherContent, "throw %d belongs to segment %d", throw, rolls[throw-1].Segment)
	}
	r, err := commitment.OpenReceipt(rolls[throw-1].Receipt, t.open.ReceiptKey)
	if err != nil {
		return nil, fmt.Errorf("read receipt: %w", err)
	}
	return &r.Links[i], nil
}

func (t *table) takeThrow(ctx context.Context, g *game, i, segment, throw int, link commitment.Hash) error {
	if g.row.End >= 0 || g.state.Decided() {
		return refuse(GameEnded, "game %d has ended", g.row.Number)
	}
	due := g.draw()
	if due == nil {
		return &Error{Code: NotDue, Message: "no throw is due; what is due: " + g.due()}
	}
	if segment != due.Segment {
		return refuse(OutOfOrder, "throw %d belongs to segment %d", throw, due.Segment)
	}
	if segment > len(g.segments) || !g.segments[segment-1].dealt() {
		return refuse(AwaitingLink, "segment %d is not dealt yet", segment)
	}
	if due.Stream != replay.StreamOpening {
		if first := int(g.state.OnTurn()); i != first && g.row.Throw[first] == nil {
			return refuse(NotDue, "seat %c is on roll and releases first", 'a'+first)
		}
	}
	if commitment.LinkHash(link) != t.row.Tip[i] {
		return refuse(WrongLink, "the link does not continue the chain of seat %c: its hash is not the last released link", 'a'+i)
	}
	row, match := g.row, t.row
	row.Throw[i] = link[:]
	match.Links[i]++
	match.Tip[i] = link
	err := t.update(ctx, func(tx store.Tx) error {
		if err := t.spend(tx, link); err != nil {
			return err
		}
		if err := tx.ReplaceGame(row); err != nil {
			return fmt.Errorf("replace game: %w", err)
		}
		return tx.ReplaceMatch(match)
	})
	if err != nil {
		return err
	}
	row.Version++
	match.Version++
	g.row, t.row = row, match
	return nil
}
