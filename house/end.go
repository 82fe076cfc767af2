package house

import (
	"context"
	"fmt"

	"fairdice/commitment"
	"fairdice/replay"
	"fairdice/store"
)

// CloseGame ends a game and reveals its secrets; in the same transaction it
// finishes a match that is decided. A refereed game must have the end line in its record, and
// brings no lines here; a dice-only game brings all its lines.
func (h *House) CloseGame(ctx context.Context, p Principal, match string, number int, lines []string, since int64) (CloseAnswer, error) {
	return again(ctx, h, func(ctx context.Context) (CloseAnswer, error) {
		return h.closeGameOnce(ctx, p, match, number, lines, since)
	})
}

func (h *House) closeGameOnce(ctx context.Context, p Principal, match string, number int, lines []string, since int64) (CloseAnswer, error) {
	if err := h.checkSince(ctx, since); err != nil {
		return CloseAnswer{}, err
	}
	t, g, err := h.ending(ctx, p, match, number)
	if err != nil {
		return CloseAnswer{}, err
	}
	defer t.unlock()
	if g.refereed != (len(lines) == 0) {
		if g.refereed {
			return CloseAnswer{}, refuse(Malformed, "the record of a refereed game is kept here; a close brings no lines")
		}
		return CloseAnswer{}, refuse(Malformed, "the close of a dice-only game brings the lines of its record")
	}
	switch {
	case g.row.State == store.Aborted:
		return CloseAnswer{}, refuse(GameEnded, "game %d was aborted", number)
	case !g.refereed:
		if err := t.closeUpload(ctx, g, lines); err != nil {
			return CloseAnswer{}, err
		}
	case g.row.State == store.Playing:
		return CloseAnswer{}, refuse(NotDue, "the record of game %d has no end line yet; what is due: %s", number, g.due())
	case g.row.State == store.Over:
		if err := t.close(ctx, g, g.row, g.state.Result(), nil); err != nil {
			return CloseAnswer{}, err
		}
	}
	// The finish of a decided match follows its last close in the log.
	indexes := []int64{g.row.End}
	finished := t.row.Finish == g.row.End+1
	if finished {
		indexes = append(indexes, t.row.Finish)
	}
	pub, err := h.published(ctx, since, indexes...)
	if err != nil {
		return CloseAnswer{}, err
	}
	s, err := commitment.Parse([]byte(pub.Statements[0].Text))
	if err != nil {
		return CloseAnswer{}, fmt.Errorf("read close: %w", err)
	}
	c, ok := s.(commitment.Close)
	if !ok {
		return CloseAnswer{}, fmt.Errorf("read close: statement %d is of type %s", g.row.End, s.Type())
	}
	return CloseAnswer{Match: match, Game: number, Result: c.Result.String(), Score: [2]int{c.ScoreA, c.ScoreB}, Finished: finished, Published: pub}, nil
}

// ending finds a game that the caller wants to end; the table is locked.
func (h *House) ending(ctx context.Context, p Principal, match string, number int) (*table, *game, error) {
	if err := p.need(ScopeMatch); err != nil {
		return nil, nil, err
	}
	t, err := h.table(ctx, match)
	if err != nil {
		return nil, nil, err
	}
	if err := p.owns(t.row.Tenant, match); err != nil {
		t.unlock()
		return nil, nil, err
	}
	g, err := t.at(ctx, number)
	if err != nil {
		t.unlock()
		return nil, nil, err
	}
	return t, g, nil
}

// close publishes the close of a game with the state row and that result, and
// stores the lines that came with it.
func (t *table) close(ctx context.Context, g *game, row store.Game, result replay.Result, lines []string) error {
	series, err := t.series.Add(result)
	if err != nil {
		return fmt.Errorf("count game %d: %w", g.row.Number, err)
	}
	match := t.row
	row.State = store.Closed
	match.Score = series.Score()
	tally, err := t.measureEnd(ctx, row, lines)
	if err != nil {
		return err
	}
	err = t.update(ctx, func(tx store.Tx) error {
		w, err := t.house.lockLog(tx)
		if err != nil {
			return err
		}
		secrets, err := t.reveal(tx, g, w.size)
		if err != nil {
			return err
		}
		if row.End, err = t.house.tell(w, t.row.Tenant, commitment.Close{
			Match: t.id, Game: row.Number, Rolls: row.Rolls, Receipt: linkOf(row.Receipt),
			RecordLines: row.Lines, RecordHead: row.Head, Result: statementResult(result),
			ScoreA: match.Score[0], ScoreB: match.Score[1], Secrets: secrets, Time: w.at,
		}); err != nil {
			return err
		}
		if series.Over() {
			if match.Finish, err = t.house.tell(w, t.row.Tenant, commitment.Finish{
				Match: t.id, ScoreA: match.Score[0], ScoreB: match.Score[1], Reason: "decided", Time: w.at,
			}); err != nil {
				return err
			}
		}
		if err := tx.ReplaceGame(row); err != nil {
			return fmt.Errorf("replace game: %w", err)
		}
		if len(lines) > 0 {
			if err := tx.AddEvents(t.id, row.Number, 1, lines); err != nil {
				return err
			}
		}
		if err := addTally(tx, t.row.Tenant, t.open.Mode.String(), tally); err != nil {
			return err
		}
		return tx.ReplaceMatch(match)
	})
	if err != nil {
		return err
	}
	row.Version++
	match.Version++
	g.row, t.row, t.series = row, match, series
	t.house.signer.poke()
	return nil
}

// reveal opens the secrets of a game's sequences and marks them published by
// the statement that the log gets next.
func (t *table) reveal(tx store.Tx, g *game, index int64) ([]commitment.RevealedSecret, error) {
	var secrets []commitment.RevealedSecret
	for _, s := range g.segments {
		q, err := tx.Sequence(s.row.Sequence)
		if err != nil {
			return nil, fmt.Errorf("read sequence %s: %w", s.row.Sequence, err)
		}
		secret, err := t.house.master.open(q.Sealed, q.ID)
		if err != nil {
			return nil, err
		}
		secrets = append(secrets, commitment.RevealedSecret{Sequence: q.ID, Secret: secret})
		q.State, q.End = store.Published, index
		if err := tx.ReplaceSequence(q, store.Assigned); err != nil {
			return nil, fmt.Errorf("publish sequence %s: %w", q.ID, err)
		}
	}
	return secrets, nil
}

// AbortGame ends a game that a failure of the platform has stopped. The
// secrets are published as in a close, so that what the dice would have been
// can be counted (PROTOCOL.md §10).
func (h *House) AbortGame(ctx context.Context, p Principal, match string, number int, reason string, since int64) (AbortAnswer, error) {
	return again(ctx, h, func(ctx context.Context) (AbortAnswer, error) {
		return h.abortGameOnce(ctx, p, match, number, reason, since)
	})
}

func (h *House) abortGameOnce(ctx context.Context, p Principal, match string, number int, reason string, since int64) (AbortAnswer, error) {
	if err := h.checkSince(ctx, since); err != nil {
		return AbortAnswer{}, err
	}
	if !isToken(reason) {
		return AbortAnswer{}, refuse(Malformed, "reason %q is not 1 to 64 of A-Z a-z 0-9 . _ -", reason)
	}
	t, g, err := h.ending(ctx, p, match, number)
	if err != nil {
		return AbortAnswer{}, err
	}
	defer t.unlock()
	switch g.row.State {
	case store.Closed:
		return AbortAnswer{}, refuse(GameEnded, "game %d was closed", number)
	case store.Over:
		return AbortAnswer{}, refuse(NotDue, "the record of game %d has its end line; close it", number)
	case store.Playing:
		if g.state.Decided() {
			due, _ := g.state.EndDue()
			return AbortAnswer{}, refuse(NotDue, "game %d is decided: post %q and close it", number, due)
		}
		if err := t.abort(ctx, g, "platform", reason); err != nil {
			return AbortAnswer{}, err
		}
	}
	pub, err := h.published(ctx, since, g.row.End)
	if err != nil {
		return AbortAnswer{}, err
	}
	s, err := commitment.Parse([]byte(pub.Statements[0].Text))
	if err != nil {
		return AbortAnswer{}, fmt.Errorf("read abort: %w", err)
	}
	if a, ok := s.(commitment.Abort); !ok || a.Reason != reason || a.By != "platform" {
		return AbortAnswer{}, refuse(OtherContent, "game %d was aborted otherwise: %q", number, pub.Statements[0].Text)
	}
	return AbortAnswer{Match: match, Game: number, Published: pub}, nil
}

func (t *table) abort(ctx context.Context, g *game, by, reason string) error {
	series, err := t.series.Skip()
	if err != nil {
		return fmt.Errorf("skip game %d: %w", g.row.Number, err)
	}
	row := g.row
	row.State = store.Aborted
	abort := commitment.Abort{
		Match: t.id, Game: row.Number, By: by, Reason: reason, Rolls: row.Rolls,
		Receipt: linkOf(row.Receipt), RecordLines: row.Lines, RecordHead: row.Head,
	}
	if s := g.last(); !s.dealt() {
		abort.LinkA, abort.LinkB, abort.Signature = linkOf(s.row.Links[0]), linkOf(s.row.Links[1]), s.row.Signature
	}
	tally, err := t.measureEnd(ctx, row, nil)
	if err != nil {
		return err
	}
	err = t.update(ctx, func(tx store.Tx) error {
		w, err := t.house.lockLog(tx)
		if err != nil {
			return err
		}
		abort := abort
		if abort.Secrets, err = t.reveal(tx, g, w.size); err != nil {
			return err
		}
		abort.Time = w.at
		if row.End, err = t.house.tell(w, t.row.Tenant, abort); err != nil {
			return err
		}
		if err := addTally(tx, t.row.Tenant, t.open.Mode.String(), tally); err != nil {
			return err
		}
		return tx.ReplaceGame(row)
	})
	if err != nil {
		return err
	}
	row.Version++
	g.row, t.series = row, series
	t.house.signer.poke()
	return nil
}
