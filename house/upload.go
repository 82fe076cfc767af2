package house

import (
	"context"
	"fmt"

	"fairdice/commitment"
	"fairdice/replay"
	"fairdice/store"
)

// closeUpload closes a dice-only game with the record that the platform has
// kept. The house did not see the game: it checks that the lines are events,
// that their throws are the ones it has drawn, in that order, and takes the
// result from the end line. Whether the moves are legal is for the audit to say.
func (t *table) closeUpload(ctx context.Context, g *game, lines []string) error {
	events, posted, err := parseUpload(lines)
	if err != nil {
		return err
	}
	if g.row.State == store.Closed {
		stored, err := t.lines(ctx, g.row.Number, 1)
		if err != nil {
			return err
		}
		if len(stored) != len(posted) {
			return refuse(OtherContent, "game %d was closed with a record of %d lines", g.row.Number, len(stored))
		}
		return t.sameLines(ctx, g, 1, posted)
	}
	if err := t.sameThrows(ctx, g, events); err != nil {
		return err
	}
	if g.last().dealt() && g.throws() == 0 {
		return refuse(NotDue, "the game is dealt and nothing was drawn: draw its first opening roll, or abort it; a closed game without a roll proves nothing")
	}
	end := events[len(events)-1]
	if !g.last().dealt() && (len(events) < 2 || events[len(events)-2].Kind != replay.Timeout) {
		return refuse(AwaitingLink, "segment %d is not dealt yet; until then a game can only end by timeout", g.last().row.Segment)
	}
	row := g.row
	row.Lines = len(posted)
	head := g.header.Head()
	for _, line := range posted {
		head = head.Next(line)
	}
	row.Head = head
	return t.close(ctx, g, row, replay.Result{Seat: end.Seat, Points: end.Points, Draw: end.Draw}, posted)
}

// parseUpload reads the lines and brings them into the form records have.
func parseUpload(lines []string) ([]replay.Event, []string, error) {
	if len(lines) > MaxLines {
		return nil, nil, refuse(Malformed, "%d lines; a record has at most %d", len(lines), MaxLines)
	}
	events := make([]replay.Event, len(lines))
	posted := make([]string, len(lines))
	for i, line := range lines {
		e, err := replay.ParseEvent(line)
		if err != nil {
			return nil, nil, &Error{Code: Malformed, Message: err.Error(), Line: i + 1}
		}
		if last := i == len(lines)-1; last != (e.Kind == replay.End) {
			if last {
				return nil, nil, &Error{Code: Malformed, Message: "the last line is no end line", Line: i + 1}
			}
			return nil, nil, &Error{Code: Malformed, Message: "lines follow the end line", Line: i + 1}
		}
		events[i], posted[i] = e, e.String()
	}
	return events, posted, nil
}

// sameThrows compares the throws of a record with the receipts, one by one.
func (t *table) sameThrows(ctx context.Context, g *game, events []replay.Event) error {
	var rolls []store.Roll
	if err := t.house.store.View(ctx, func(r store.Reader) (err error) {
		rolls, err = r.Rolls(t.id, g.row.Number)
		return err
	}); err != nil {
		return fmt.Errorf("read rolls: %w", err)
	}
	next := 0
	for i, e := range events {
		var st commitment.Stream
		switch {
		case e.Kind == replay.Opening:
			st = commitment.StreamOpening
		case e.Kind == replay.Roll && e.Seat == replay.A:
			st = commitment.StreamA
		case e.Kind == replay.Roll:
			st = commitment.StreamB
		default:
			continue
		}
		if next == len(rolls) {
			return &Error{Code: Illegal, Message: fmt.Sprintf("%q was never drawn: the game has %d rolls", e, len(rolls)), Line: i + 1, Rule: "record.rolls"}
		}
		drawn, err := commitment.OpenReceipt(rolls[next].Receipt, t.open.ReceiptKey)
		if err != nil {
			return fmt.Errorf("read receipt: %w", err)
		}
		if drawn.Stream != st || drawn.Dice.D1 != e.Dice.A || drawn.Dice.D2 != e.Dice.B {
			return &Error{Code: Illegal, Message: fmt.Sprintf("%q: draw %d of the game was %s of stream %s", e, next+1, drawn.Dice, drawn.Stream), Line: i + 1, Rule: "record.rolls"}
		}
		next++
	}
	if next != len(rolls) {
		return &Error{Code: Illegal, Message: fmt.Sprintf("the record has %d throws, but %d were drawn", next, len(rolls)), Line: len(events), Rule: "record.rolls"}
	}
	return nil
}
