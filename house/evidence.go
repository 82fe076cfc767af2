package house

import (
	"context"
	"errors"
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

// Evidence is what a bundle of the match holds: all its statements, its games
// that have ended, and of a game that is still played no more than its
// statements say: the record's header, no roll, no move. What it answers
// changes only when the match goes on. Checkpoints that contain an
// assign but not yet its deal are kept as earlier ones: they show that the
// assign was public before the players released their links.
func (h *House) Evidence(ctx context.Context, match string) (Evidence, error) {
	t, err := h.current(ctx, match)
	if err != nil {
		return Evidence{}, err
	}
	defer t.unlock()
	ev := Evidence{Origin: h.origin, Key: h.logKey}
	indexes := []int64{t.row.Open}
	var ended int    // games that have
	var cuts []int64 // assigns that were followed by links
	for n := 1; n <= t.row.Games; n++ {
		g, err := t.at(ctx, n)
		if err != nil {
			return ev, err
		}
		if g.row.End < 0 && len(ev.Games) == 0 {
			break
		}
		ge, of, err := t.gameEvidence(ctx, g)
		if err != nil {
			return ev, fmt.Errorf("game %d: %w", n, err)
		}
		ev.Games = append(ev.Games, ge)
		if g.row.End >= 0 {
			ended = len(ev.Games)
		}
		indexes = append(indexes, of...)
		if t.hasAnchor() || t.open.Beacon {
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
	size := indexes[len(indexes)-1] + 1
	if err := h.signer.await(ctx, size); err != nil {
		return ev, err
	}
	// Without the witnesses a bundle still proves everything but that others
	// have seen the same log, so they are waited for only so long.
	if h.cosigner != nil {
		h.cosigner.await(ctx, size)
	}
	err = h.store.View(ctx, func(r store.Reader) error {
		final, err := bestCheckpoint(r, size)
		if err != nil {
			return err
		}
		ev.Checkpoint = noteOf(final)
		for _, i := range indexes {
			s, err := prove(r, final.Size, i)
			if err != nil {
				return err
			}
			ev.Statements = append(ev.Statements, s)
		}
		if t.open.Mode == commitment.Real {
			if ev.Archives, err = t.archives(r, ev.Games[:ended]); err != nil {
				return err
			}
		}
		ev.Earlier, err = earlier(r, final, cuts)
		return err
	})
	return ev, err
}

// bestCheckpoint is the smallest one of at least size that witnesses have
// cosigned, or else that the log has signed.
func bestCheckpoint(r store.Reader, size int64) (store.Checkpoint, error) {
	c, err := r.Cosigned(size)
	if errors.Is(err, store.ErrNotFound) {
		c, err = r.Checkpoint(size)
	}
	if err != nil {
		return c, fmt.Errorf("read checkpoint: %w", err)
	}
	return c, nil
}

func noteOf(c store.Checkpoint) string {
	if c.Cosigned != "" {
		return c.Cosigned
	}
	return c.Note
}

// archives are the files of the sequences of ended games, in their order: those
// of a running one are as secret as its dice.
func (t *table) archives(r store.Reader, games []GameEvidence) ([]string, error) {
	list := []string{}
	for _, g := range games {
		segments, err := r.Segments(t.id, g.Game)
		if err != nil {
			return nil, fmt.Errorf("read segments: %w", err)
		}
		for _, s := range segments {
			a, err := t.house.archiveOf(r, s.Sequence)
			if err != nil {
				return nil, err
			}
			list = append(list, string(a.Text()))
		}
	}
	return list, nil
}

func earlier(r store.Reader, final store.Checkpoint, assigns []int64) ([]EarlierCheckpoint, error) {
	var list []EarlierCheckpoint
	var last int64
	for _, i := range assigns {
		// Level L1 needs one that witnesses have cosigned in time; without
		// witnesses the first one shows best that the assign came before the links.
		c, err := bestCheckpoint(r, i+1)
		if err != nil {
			return nil, err
		}
		if c.Size == last || c.Size >= final.Size {
			continue
		}
		last = c.Size
		proof, err := translog.Consistency(c.Size, final.Size, translog.Stored(r))
		if err != nil {
			return nil, fmt.Errorf("prove consistency: %w", err)
		}
		list = append(list, EarlierCheckpoint{Checkpoint: noteOf(c), Consistency: proof})
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
		if g.row.End < 0 {
			ge.Record = g.recordText(nil)
			return nil
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
