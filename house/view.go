package house

import (
	"context"
	"errors"
	"fmt"

	"fairdice/commitment"
	"fairdice/store"
)

// Match is a match as everybody may see it: no dice, no moves, and no head of a
// running record, from which a guessed line could be confirmed.
func (h *House) Match(ctx context.Context, match string) (MatchView, error) {
	t, err := h.current(ctx, match)
	if err != nil {
		return MatchView{}, err
	}
	defer t.unlock()
	v := MatchView{
		Match: match, Tenant: t.row.Tenant, Variant: t.variant.ID, Mode: t.open.Mode.String(),
		Profile: t.open.Profile.String(), Options: t.open.Options, A: t.open.A, B: t.open.B,
		Score: t.row.Score, Links: t.row.Links, State: matchOpen, OpenedAt: t.open.Time,
	}
	for n := 1; n <= t.row.Games; n++ {
		g, err := t.at(ctx, n)
		if err != nil {
			return v, err
		}
		v.Games = append(v.Games, g.view())
	}
	if t.row.Finish >= 0 {
		err := h.store.View(ctx, func(r store.Reader) error {
			f, err := readStatement[commitment.Finish](r, t.row.Finish)
			v.State = f.Reason
			return err
		})
		if err != nil {
			return v, err
		}
	}
	return v, nil
}

func (g *game) view() GameView {
	v := GameView{Game: g.row.Number, Segments: len(g.segments), Rolls: g.row.Rolls, Lines: g.row.Lines, Due: g.publicDue()}
	if g.row.End >= 0 {
		v.Head = commitment.Hash(g.row.Head).String()
	}
	switch g.row.State {
	case store.Over:
		v.State = "over"
	case store.Closed:
		v.State = "closed"
	case store.Aborted:
		v.State = "aborted"
	default:
		v.State = "playing"
		switch s := g.last(); {
		case !s.dealt() && s.row.Round != 0 && s.row.Signature == nil:
			v.State = "awaiting-beacon"
		case !s.dealt():
			v.State = "awaiting-links"
		}
		v.Draw = g.draw()
		v.Throw = [2]bool{g.row.Throw[0] != nil, g.row.Throw[1] != nil}
	}
	v.Round = g.last().row.Round
	return v
}

// Statements are all statements of a match so far, with the commits of its
// sequences, in the order of the log: what a player's client checks before it
// releases a link (PROTOCOL.md §4).
func (h *House) Statements(ctx context.Context, match string, since int64) (Published, error) {
	if err := checkID("match", match); err != nil {
		return Published{}, err
	}
	var indexes []int64
	err := h.store.View(ctx, func(r store.Reader) (err error) {
		indexes, _, err = statementsOf(r, match)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return Published{}, refuse(NotFound, "no match %s", match)
	} else if err != nil {
		return Published{}, err
	}
	return h.published(ctx, since, indexes...)
}

// Statement is one statement of the log.
func (h *House) Statement(ctx context.Context, index, since int64) (Published, error) {
	if signed, err := h.signer.covers(ctx, index); err != nil {
		return Published{}, err
	} else if index < 0 || !signed {
		return Published{}, refuse(NotFound, "no signed checkpoint contains a statement %d", index)
	}
	return h.published(ctx, since, index)
}

// Sequence is one sequence with its commit.
func (h *House) Sequence(ctx context.Context, id string, since int64) (SequenceView, Published, error) {
	if err := checkID("sequence", id); err != nil {
		return SequenceView{}, Published{}, err
	}
	var row store.Sequence
	err := h.store.View(ctx, func(r store.Reader) (err error) {
		row, err = r.Sequence(id)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return SequenceView{}, Published{}, refuse(NotFound, "no sequence %s", id)
	} else if err != nil {
		return SequenceView{}, Published{}, fmt.Errorf("read sequence: %w", err)
	}
	pub, err := h.published(ctx, since, row.Index)
	return sequenceView(row), pub, err
}

var sequenceStates = [...]string{"free", "assigned", "published", "retired"}

func sequenceView(row store.Sequence) SequenceView {
	return SequenceView{Sequence: row.ID, Tenant: row.Tenant, Mode: row.Mode, Number: row.Number, Rolls: row.Rolls,
		State: sequenceStates[row.State], Index: row.Index, Match: row.Match, Game: row.Game, Segment: row.Segment}
}
