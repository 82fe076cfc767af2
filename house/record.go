package house

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"fairdice/replay"
	"fairdice/store"
)

const (
	// MaxLines is how long the record of a game can get. The longest line has
	// less than 100 bytes, so a record stays below its 1 MiB (PROTOCOL.md §5).
	MaxLines = 10_000
	// MaxAppend is how many lines one request can bring.
	MaxAppend = 1000
	// alternatives is how many legal lines a refusal lists.
	alternatives = 12
)

// Append writes record lines from line first (from 1) on. Each line is
// checked by the rules before it is written; one that is refused leaves the
// whole request without effect. Lines that stand there already are accepted
// when they are the same.
func (h *House) Append(ctx context.Context, p Principal, match string, number, first int, lines []string) (AppendAnswer, error) {
	return again(ctx, h, func(ctx context.Context) (AppendAnswer, error) {
		return h.appendOnce(ctx, p, match, number, first, lines)
	})
}

func (h *House) appendOnce(ctx context.Context, p Principal, match string, number, first int, lines []string) (AppendAnswer, error) {
	if err := p.need(ScopeMatch); err != nil {
		return AppendAnswer{}, err
	}
	if len(lines) == 0 || len(lines) > MaxAppend {
		return AppendAnswer{}, refuse(Malformed, "%d lines; a request brings 1 to %d", len(lines), MaxAppend)
	}
	events := make([]replay.Event, len(lines))
	posted := make([]string, len(lines)) // in the form records have
	for i, line := range lines {
		e, err := replay.ParseEvent(line)
		if err != nil {
			return AppendAnswer{}, &Error{Code: Malformed, Message: err.Error(), Line: first + i}
		}
		events[i], posted[i] = e, e.String()
	}
	t, err := h.table(ctx, match)
	if err != nil {
		return AppendAnswer{}, err
	}
	defer t.unlock()
	if err := p.owns(t.row.Tenant, match); err != nil {
		return AppendAnswer{}, err
	}
	g, err := t.at(ctx, number)
	if err != nil {
		return AppendAnswer{}, err
	}
	if first < 1 || first > g.row.Lines+1 {
		return AppendAnswer{}, refuse(OutOfOrder, "the next record line is %d", g.row.Lines+1)
	}
	written := min(g.row.Lines+1-first, len(posted)) // of the posted lines
	if written > 0 {
		if err := t.sameLines(ctx, g, first, posted[:written]); err != nil {
			return AppendAnswer{}, err
		}
	}
	if written < len(posted) {
		if err := t.appendLines(ctx, g, events[written:], posted[written:]); err != nil {
			return AppendAnswer{}, err
		}
	}
	a := AppendAnswer{Match: match, Game: number, Line: first, Lines: first + len(posted) - 1}
	if a.Lines == g.row.Lines && g.row.End < 0 {
		a.Head, a.Due = replay.Head(g.row.Head).String(), g.state.Due().String()
		return a, nil
	}
	stored, err := t.lines(ctx, number, 1)
	if err != nil {
		return AppendAnswer{}, err
	}
	a.Head, a.Due, err = t.after(g, stored[:a.Lines])
	return a, err
}

func (t *table) lines(ctx context.Context, number, first int) (lines []string, err error) {
	err = t.house.store.View(ctx, func(r store.Reader) error {
		lines, err = r.Events(t.id, number, first)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read record: %w", err)
	}
	return lines, nil
}

func (t *table) sameLines(ctx context.Context, g *game, first int, posted []string) error {
	stored, err := t.lines(ctx, g.row.Number, first)
	if err != nil {
		return err
	}
	if len(stored) < len(posted) {
		return fmt.Errorf("damaged record: line %d is missing", first+len(stored))
	}
	for i, line := range posted {
		if stored[i] != line {
			return &Error{Code: OtherContent, Message: fmt.Sprintf("line %d is %q", first+i, stored[i]), Line: first + i}
		}
	}
	return nil
}

func (t *table) appendLines(ctx context.Context, g *game, events []replay.Event, lines []string) error {
	if g.row.End >= 0 {
		return refuse(GameEnded, "game %d has ended", g.row.Number)
	}
	if !g.refereed {
		return refuse(NotDue, "the record of a dice-only game is uploaded when it is closed")
	}
	row, st := g.row, g.state
	if row.Lines+len(lines) > MaxLines {
		return refuse(NotDue, "the record has %d lines; with these it would have more than %d", row.Lines, MaxLines)
	}
	head := replay.Head(row.Head)
	for i, e := range events {
		line := row.Lines + i + 1
		if err := t.mayPost(g, e, line); err != nil {
			return err
		}
		next, err := st.Apply(&t.gen, e)
		if err != nil {
			return illegal(st, err, line)
		}
		st, head = next, head.Next(lines[i])
	}
	first := row.Lines + 1
	row.Lines += len(lines)
	row.Head = head
	if st.Over() {
		row.State = store.Over
	}
	err := t.update(ctx, func(tx store.Tx) error {
		if err := tx.ReplaceGame(row); err != nil {
			return fmt.Errorf("replace game: %w", err)
		}
		return tx.AddEvents(t.id, row.Number, first, lines)
	})
	if err != nil {
		return err
	}
	row.Version++
	g.row, g.state = row, st
	return nil
}

// mayPost refuses what the rules of the game do not know of: lines that only a
// draw writes; a flag against a player whose link the house holds; a double
// after its seat's link for the throw; and, while a segment is not dealt, anything but
// a flag, because a game that ends otherwise must have all its deals.
func (t *table) mayPost(g *game, e replay.Event, line int) error {
	not := func(format string, args ...any) error {
		return &Error{Code: NotDue, Message: fmt.Sprintf(format, args...), Line: line}
	}
	s := g.last()
	switch e.Kind {
	case replay.Opening, replay.Roll:
		return not("a roll gets into the record by being drawn")
	case replay.Timeout:
		if !s.dealt() && s.row.Links[e.Seat] != nil || g.row.Throw[e.Seat] != nil {
			return not("seat %s has released the link that was due: it cannot lose by timeout for it", e.Seat)
		}
		if s.dealt() && g.throws() == 0 {
			return not("the game is dealt: draw its first opening roll, then the flag can fall; a closed game without a roll proves nothing")
		}
	case replay.End:
	case replay.Double:
		if g.row.Throw[e.Seat] != nil {
			return not("seat %s has released its link for the throw, which was its refusal to double", e.Seat)
		}
		fallthrough
	default:
		if !s.dealt() {
			return &Error{Code: AwaitingLink, Message: fmt.Sprintf("segment %d is not dealt yet", s.row.Segment), Line: line}
		}
	}
	return nil
}

// illegal words the refusal of an event for somebody who wants to know what would have been right.
func illegal(st replay.State, err error, line int) error {
	var r *replay.Refusal
	if !errors.As(err, &r) {
		return fmt.Errorf("apply line %d: %w", line, err)
	}
	e := &Error{Code: Illegal, Message: r.Error(), Line: line, Rule: r.Code, Alternatives: r.Alternatives(alternatives)}
	if _, begun := st.White(); begun {
		e.Board = st.Position().String()
	}
	return e
}

// shownTo refuses to show records of an unfinished match to strangers.
func (t *table) shownTo(p Principal, viewToken string) error {
	owner := p.Tenant == t.row.Tenant && (slices.Contains(p.Scopes, ScopeRead) || slices.Contains(p.Scopes, ScopeAdmin))
	if t.row.Finish < 0 && !owner && !t.house.master.isViewToken(t.id, viewToken) {
		return refuse(Forbidden, "the match is not finished; its record needs the tenant's key or the players' view token")
	}
	return nil
}

// Record is the record of a game with its receipts: for the tenant and the
// players while the match is unfinished, then for everybody.
func (h *House) Record(ctx context.Context, p Principal, viewToken, match string, number int) (RecordView, error) {
	t, err := h.current(ctx, match)
	if err != nil {
		return RecordView{}, err
	}
	defer t.unlock()
	if err := t.shownTo(p, viewToken); err != nil {
		return RecordView{}, err
	}
	g, err := t.at(ctx, number)
	if err != nil {
		return RecordView{}, err
	}
	var v RecordView
	err = h.store.View(ctx, func(r store.Reader) error {
		lines, err := r.Events(match, number, 1)
		if err != nil {
			return fmt.Errorf("read record: %w", err)
		}
		v.Record = g.recordText(lines)
		rolls, err := r.Rolls(match, number)
		if err != nil {
			return fmt.Errorf("read rolls: %w", err)
		}
		for _, roll := range rolls {
			v.Receipts = append(v.Receipts, roll.Receipt)
		}
		return nil
	})
	return v, err
}
