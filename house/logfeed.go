package house

import (
	"context"
	"errors"
	"fmt"

	"fairdice/store"
)

// logCursor is a place in the feed of the log: how many statements were shown,
// and the size of the last checkpoint, which contains them.
type logCursor struct {
	shown, size int64
}

func (c logCursor) String() string { return fmt.Sprintf("%d.%d", c.shown, c.size) }

func parseLogCursor(text string) (logCursor, error) {
	n, ok := cursorNumbers(text, 2)
	if !ok || n[0] > n[1] {
		return logCursor{}, refuse(Malformed, "%.64q is no event id of the log", text)
	}
	return logCursor{n[0], n[1]}, nil
}

// WatchLog follows the log from the event with id last on: each checkpoint, then
// the statements that it contains and the one before did not. "0.0" is the
// beginning of the log, "" its newest checkpoint. An id that no event of the log
// has is Malformed.
func (h *House) WatchLog(ctx context.Context, last string) (*Feed, error) {
	f := &Feed{house: h}
	err := h.store.View(ctx, func(r store.Reader) (err error) {
		f.first, f.at, err = beginLog(r, last)
		return err
	})
	if err != nil {
		return nil, err
	}
	f.feed = h.watchers.join("", func(ctx context.Context, from string) (b batch, err error) {
		err = h.store.View(ctx, func(r store.Reader) error {
			b, err = logBatch(r, from)
			return err
		})
		return b, err
	})
	return f, nil
}

func beginLog(r store.Reader, last string) (first []FeedEvent, at string, err error) {
	if last == "" {
		c, err := r.LatestCheckpoint()
		if errors.Is(err, store.ErrNotFound) {
			return nil, logCursor{}.String(), nil
		} else if err != nil {
			return nil, "", fmt.Errorf("read last checkpoint: %w", err)
		}
		at = logCursor{c.Size, c.Size}.String()
		return []FeedEvent{{ID: at, Checkpoint: &FeedCheckpoint{Size: c.Size, Note: c.Note}}}, at, nil
	}
	c, err := parseLogCursor(last)
	if err != nil || c.size == 0 {
		return nil, last, err
	}
	signed, err := r.Checkpoint(c.size)
	if errors.Is(err, store.ErrNotFound) || err == nil && signed.Size != c.size {
		return nil, "", refuse(Malformed, "%q is no event id of the log: no checkpoint has %d statements", last, c.size)
	} else if err != nil {
		return nil, "", fmt.Errorf("read checkpoint: %w", err)
	}
	return nil, last, nil
}

// logBatch is what follows a cursor, at one moment of the store.
func logBatch(r store.Reader, from string) (batch, error) {
	b := batch{from: from, to: from}
	c, err := parseLogCursor(from)
	if err != nil {
		return b, err
	}
	show := func(e FeedEvent) {
		e.ID = c.String()
		b.events, b.to = append(b.events, e), e.ID
	}
	for len(b.events) < feedBatch {
		if c.shown == c.size {
			next, err := r.Checkpoint(c.size + 1)
			if errors.Is(err, store.ErrNotFound) {
				break
			} else if err != nil {
				return b, fmt.Errorf("read checkpoint: %w", err)
			}
			c.size = next.Size
			show(FeedEvent{Checkpoint: &FeedCheckpoint{Size: next.Size, Note: next.Note}})
			continue
		}
		entries, err := r.Entries(c.shown, min(c.size, c.shown+int64(feedBatch-len(b.events))))
		if err != nil {
			return b, fmt.Errorf("read statements: %w", err)
		}
		if len(entries) == 0 {
			return b, fmt.Errorf("read statements: there is none with index %d", c.shown)
		}
		for _, e := range entries {
			c.shown = e.Index + 1
			show(FeedEvent{Statement: &FeedStatement{Index: e.Index, Type: typeOf(e.Text), Text: string(e.Text)}})
		}
	}
	return b, nil
}
