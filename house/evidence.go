package house

import (
	"context"
	"fmt"
	"slices"

	"fairdice/commitment"
	"fairdice/store"
	"fairdice/translog"
)

// statementsOf lists the log indexes of a match's statements and of the commits
// of its sequences, ascending, up to the last statement of the last game. ended
// is how many of its games have a close or abort.
func statementsOf(r store.Reader, match string) (indexes []int64, ended int, err error) {
	row, err := r.Match(match)
	if err != nil {
		return nil, 0, err
	}
	indexes = append(indexes, row.Open)
	games, err := r.Games(match)
	if err != nil {
		return nil, 0, fmt.Errorf("read games: %w", err)
	}
	for _, g := range games {
		of, err := gameStatements(r, g)
		if err != nil {
			return nil, 0, err
		}
		indexes = append(indexes, of...)
		if g.End >= 0 {
			ended++
		}
	}
	if row.Finish >= 0 {
		indexes = append(indexes, row.Finish)
	}
	slices.Sort(indexes)
	return indexes, ended, nil
}

func gameStatements(r store.Reader, g store.Game) ([]int64, error) {
	segments, err := r.Segments(g.Match, g.Number)
	if err != nil {
		return nil, fmt.Errorf("read segments: %w", err)
	}
	var indexes []int64
	for _, s := range segments {
		q, err := r.Sequence(s.Sequence)
		if err != nil {
			return nil, fmt.Errorf("read sequence %s: %w", s.Sequence, err)
		}
		indexes = append(indexes, q.Index, s.Assign)
		if s.Deal >= 0 {
			indexes = append(indexes, s.Deal)
		}
	}
	if g.End >= 0 {
		indexes = append(indexes, g.End)
	}
	return indexes, nil
}

// Evidence is what a bundle of the match holds: its games that have ended.
// What it answers changes only when the match goes on. Checkpoints that contain an
// assign but not yet its deal are kept as earlier ones: they show that the
// assign was public before the players released their links.
func (h *House) Evidence(ctx context.Context, match string) (Evidence, error) {
	t, err := h.table(ctx, match)
	if err != nil {
		return Evidence{}, err
	}
	defer t.unlock()
	ev := Evidence{Origin: h.origin, Key: h.logKey}
	indexes := []int64{t.row.Open}
	var cuts []int64 // assigns that were followed by links
	for n := 1; n <= t.row.Games; n++ {
		g, err := t.at(ctx, n)
		if err != nil {
			return ev, err
		}
		if g.row.End < 0 {
			break
		}
		ge, of, err := t.gameEvidence(ctx, g)
		if err != nil {
			return ev, fmt.Errorf("game %d: %w", n, err)
		}
		ev.Games = append(ev.Games, ge)
		indexes = append(indexes, of...)
		if t.hasAnchor() {
			for _, s := range g.segments {
				cuts = append(cuts, s.row.Assign)
			}
		}
	}
	if len(ev.Games) == 0 {
		return ev, refuse(NotFound, "no game of match %s has ended yet", match)
	}
	if t.row.Finish >= 0 {
		indexes = append(indexes, t.row.Finish)
	}
	slices.Sort(indexes)
	pub, err := h.published(ctx, 0, indexes...)
	if err != nil {
		return ev, err
	}
	ev.Checkpoint, ev.Statements = pub.Checkpoint, pub.Statements
	err = h.store.View(ctx, func(r store.Reader) (err error) {
		ev.Earlier, err = earlier(r, indexes[len(indexes)-1]+1, cuts)
		return err
	})
	return ev, err
}

func earlier(r store.Reader, size int64, assigns []int64) ([]EarlierCheckpoint, error) {
	final, err := r.Checkpoint(size)
	if err != nil {
		return nil, fmt.Errorf("read checkpoint: %w", err)
	}
	var list []EarlierCheckpoint
	var last int64
	for _, i := range assigns {
		c, err := r.Checkpoint(i + 1)
		if err != nil {
			return nil, fmt.Errorf("read checkpoint: %w", err)
		}
		if c.Size == last || c.Size >= final.Size {
			continue
		}
		last = c.Size
		proof, err := translog.Consistency(c.Size, final.Size, translog.Stored(r))
		if err != nil {
			return nil, fmt.Errorf("prove consistency: %w", err)
		}
		list = append(list, EarlierCheckpoint{Checkpoint: c.Note, Consistency: proof})
	}
	return list, nil
}

func (t *table) gameEvidence(ctx context.Context, g *game) (GameEvidence, []int64, error) {
	ge := GameEvidence{Game: g.row.Number}
	var indexes []int64
	var rolls []store.Roll
	err := t.house.store.View(ctx, func(r store.Reader) (err error) {
		if indexes, err = gameStatements(r, g.row); err != nil {
			return err
		}
		lines, err := r.Events(t.id, g.row.Number, 1)
		if err != nil {
			return fmt.Errorf("read record: %w", err)
		}
		ge.Record = g.recordText(lines)
		rolls, err = r.Rolls(t.id, g.row.Number)
		return err
	})
	if err != nil {
		return ge, nil, err
	}
	for _, roll := range rolls {
		st, err := commitment.ParseStream(roll.Stream)
		if err != nil {
			return ge, nil, err
		}
		s, err := g.segment(roll.Segment)
		if err != nil {
			return ge, nil, err
		}
		if err := t.rebuild(s); err != nil {
			return ge, nil, err
		}
		o := s.sequence.Open(st, roll.Index)
		ge.Receipts = append(ge.Receipts, roll.Receipt)
		ge.Openings = append(ge.Openings, RollOpening{Segment: roll.Segment, Stream: roll.Stream, Index: roll.Index, Key: o.Key, Path: o.Path})
	}
	return ge, indexes, nil
}
