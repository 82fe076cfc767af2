package house

import (
	"context"
	"crypto/subtle"
	"errors"
	"fmt"
	"time"

	"fairdice/commitment"
	"fairdice/internal/beacon"
	"fairdice/store"
)

// retryPublic is when to release a link again that came before its assign was public.
const retryPublic = time.Second

// PutLink takes a seat's link for the cut of a segment, from anybody: a link
// proves itself, its hash is the link before it (PROTOCOL.md §4). The link
// that completes the cut deals the segment in the same transaction.
func (h *House) PutLink(ctx context.Context, match string, number, segment int, seat string, link commitment.Hash, since int64) (LinkAnswer, error) {
	return again(ctx, h, func(ctx context.Context) (LinkAnswer, error) {
		return h.putLinkOnce(ctx, match, number, segment, seat, link, since)
	})
}

func (h *House) putLinkOnce(ctx context.Context, match string, number, segment int, seat string, link commitment.Hash, since int64) (LinkAnswer, error) {
	if err := h.checkSince(ctx, since); err != nil {
		return LinkAnswer{}, err
	}
	i, ok := seatIndex(seat)
	if !ok {
		return LinkAnswer{}, refuse(Malformed, "seat %q is neither a nor b", seat)
	}
	t, err := h.table(ctx, match)
	if err != nil {
		return LinkAnswer{}, err
	}
	defer t.unlock()
	if t.anchor(i) == nil {
		return LinkAnswer{}, refuse(NotFound, "seat %s has no anchor in this match", seat)
	}
	g, err := t.at(ctx, number)
	if err != nil {
		return LinkAnswer{}, err
	}
	s, err := g.segment(segment)
	if err != nil {
		return LinkAnswer{}, err
	}
	if held := linkOf(s.row.Links[i]); held == nil {
		if err := t.takeLink(ctx, g, s, i, link); err != nil {
			return LinkAnswer{}, err
		}
	} else if subtle.ConstantTimeCompare(held[:], link[:]) != 1 {
		return LinkAnswer{}, refuse(OtherContent, "seat %s has released another link for this segment", seat)
	}
	a := LinkAnswer{Match: match, Game: number, Segment: segment, Seat: seat, State: "awaiting-links"}
	if t.open.Beacon {
		a.State = "awaiting-beacon"
	}
	if s.dealt() && int(s.row.Last) == i+1 {
		a.State = "dealt"
		pub, err := h.published(ctx, since, s.row.Deal)
		if err != nil {
			return LinkAnswer{}, err
		}
		a.Published = &pub
	}
	return a, nil
}

func (t *table) takeLink(ctx context.Context, g *game, s *segment, i int, link commitment.Hash) error {
	public, err := t.house.public(ctx, s.row)
	switch {
	case err != nil:
		return err
	case g.row.End >= 0 || g.state.Decided():
		return refuse(GameEnded, "game %d has ended", g.row.Number)
	case !public:
		// A link released before its assign is public could be used against the player.
		return &Error{Code: NotPublic, Message: "no checkpoint that is signed, and cosigned where it must be, contains the assign of this segment yet", RetryAfter: retryPublic}
	case commitment.LinkHash(link) != t.row.Tip[i]:
		return refuse(WrongLink, "the link does not continue the chain of seat %c: its hash is not the last released link", 'a'+i)
	}
	match, next := t.row, *s
	match.Links[i]++
	match.Tip[i] = link
	next.row.Links[i] = link[:]
	err = t.update(ctx, func(tx store.Tx) error {
		next := &next
		if err := t.spend(tx, link); err != nil {
			return err
		}
		if t.complete(next.row) {
			w, err := t.house.lockLog(tx)
			if err != nil {
				return err
			}
			next.row.Last = uint8(i + 1)
			if err := t.deal(w, next); err != nil {
				return err
			}
		}
		if err := tx.ReplaceSegment(next.row); err != nil {
			return fmt.Errorf("replace segment: %w", err)
		}
		if err := tx.ReplaceGame(g.row); err != nil { // so that nobody ends it meanwhile
			return fmt.Errorf("replace game: %w", err)
		}
		return tx.ReplaceMatch(match)
	})
	if err != nil {
		return err
	}
	match.Version++
	g.row.Version++
	t.row, *s = match, next
	return nil
}

// spend spends a link that goes on from the tip of its chain. If it is spent
// already, another instance may have taken it for this very place since the match
// was read; only if the match is still as it was read, it was somebody else's.
func (t *table) spend(tx store.Tx, link commitment.Hash) error {
	err := tx.Spend(link)
	if err == nil {
		return nil
	} else if !errors.Is(err, store.ErrExists) {
		return fmt.Errorf("spend link: %w", err)
	}
	switch row, err := tx.Match(t.id); {
	case err != nil:
		return fmt.Errorf("read match: %w", err)
	case row.Version != t.row.Version:
		return store.ErrConflict
	}
	return refuse(WrongLink, "the link was seen before in this log; a chain must not be used again")
}

// public reports whether links may be taken for a segment: a signed checkpoint
// contains its assign, and in a beacon match with witnesses a cosigned one
// does, unless the round is public anyway.
func (h *House) public(ctx context.Context, row store.Segment) (bool, error) {
	if signed, err := h.signer.covers(ctx, row.Assign); err != nil || !signed {
		return false, err
	}
	if row.Round == 0 || h.cosigner == nil {
		return true, nil
	}
	if now, err := h.present(); err == nil && !now.Before(beacon.Time(row.Round)) {
		return true, nil
	}
	return h.cosigner.covers(ctx, row.Assign)
}

// complete reports whether everything the cut needs is here: the link of every
// player who takes part, and the beacon's signature.
func (t *table) complete(row store.Segment) bool {
	if row.Round != 0 && row.Signature == nil {
		return false
	}
	for i := range row.Links {
		if t.anchor(i) != nil && row.Links[i] == nil {
			return false
		}
	}
	return true
}

func (t *table) anchor(i int) *commitment.Anchor {
	if i == 0 {
		return t.open.AnchorA
	}
	return t.open.AnchorB
}

func seatIndex(seat string) (int, bool) {
	switch seat {
	case "a":
		return 0, true
	case "b":
		return 1, true
	}
	return 0, false
}
