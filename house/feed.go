package house

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"fairdice/commitment"
	"fairdice/store"
)

// FeedEvent is one event of a feed; exactly one of its parts is there. ID is
// the cursor behind it: whoever gives it back goes on after this event, at any
// instance and after any restart, because it says no more than what was shown.
type FeedEvent struct {
	ID         string
	Statement  *FeedStatement
	Line       *FeedLine
	Checkpoint *FeedCheckpoint
	End        *FeedEnd
}

// FeedStatement is a statement that a signed checkpoint contains.
type FeedStatement struct {
	Index int64
	Type  string
	Text  string
}

// FeedLine is a line of a record, with its receipt if it is a roll.
type FeedLine struct {
	Game    int
	Line    int
	Text    string
	Receipt string
}

// FeedCheckpoint is a signed head of the log, without lines of witnesses.
type FeedCheckpoint struct {
	Size int64
	Note string
}

// FeedEnd says that a match is finished.
type FeedEnd struct {
	State string // decided or abandoned
	Score [2]int
}

// ErrFeedRead: the caller has seen the whole feed, its end included.
var ErrFeedRead = errors.New("the feed was read to its end")

// matchCursor is a place in the feed of a match: the last statement shown, and
// how many lines of the game it belongs to.
type matchCursor struct {
	index int64 // in the log; -1: nothing was shown
	game  int
	line  int
	end   bool
}

const endMark = ".end"

func (c matchCursor) String() string {
	if c.index < 0 {
		return ""
	}
	s := fmt.Sprintf("%d.%d.%d", c.index, c.game, c.line)
	if c.end {
		s += endMark
	}
	return s
}

func parseMatchCursor(text string) (matchCursor, error) {
	if text == "" {
		return matchCursor{index: -1}, nil
	}
	body, end := strings.CutSuffix(text, endMark)
	n, ok := cursorNumbers(body, 3)
	if !ok {
		return matchCursor{}, refuse(Malformed, "%.64q is no event id of a match", text)
	}
	return matchCursor{index: n[0], game: int(n[1]), line: int(n[2]), end: end}, nil
}

// cursorNumbers reads n numbers with dots between, each in its only form.
func cursorNumbers(text string, n int) ([]int64, bool) {
	parts := strings.Split(text, ".")
	if len(parts) != n {
		return nil, false
	}
	numbers := make([]int64, n)
	for i, p := range parts {
		v, err := strconv.ParseInt(p, 10, 64)
		if err != nil || v < 0 || v > commitment.MaxInteger || strconv.FormatInt(v, 10) != p {
			return nil, false
		}
		numbers[i] = v
	}
	return numbers, true
}

// WatchMatch follows a match from the event with id last on, "" for its
// beginning. As with Record, an unfinished match is shown to its tenant and to
// the players. It also answers the match as everybody may see it. An id that is
// none of this match's is Malformed; after the id of the end it is ErrFeedRead.
//
// Statements come in the order in which the match got them, each commit right
// before its assign; lines in the order of the records. A deal comes before
// the lines of its rolls, the end of a game after all its lines. A statement is
// shown once a signed checkpoint contains it.
func (h *House) WatchMatch(ctx context.Context, p Principal, viewToken, match, last string) (*Feed, MatchView, error) {
	at, err := parseMatchCursor(last)
	if err != nil {
		return nil, MatchView{}, err
	}
	t, err := h.current(ctx, match)
	if err != nil {
		return nil, MatchView{}, err
	}
	err = t.shownTo(p, viewToken)
	t.unlock()
	if err != nil {
		return nil, MatchView{}, err
	}
	if err := h.store.View(ctx, func(r store.Reader) error { return checkMatchCursor(r, match, at) }); err != nil {
		return nil, MatchView{}, err
	}
	if at.end {
		return nil, MatchView{}, ErrFeedRead
	}
	v, err := h.Match(ctx, match)
	if err != nil {
		return nil, MatchView{}, err
	}
	f := h.watchers.join(match, func(ctx context.Context, from string) (b batch, err error) {
		err = h.store.View(ctx, func(r store.Reader) error {
			b, err = matchBatch(r, match, from)
			return err
		})
		return b, err
	})
	return &Feed{house: h, key: match, feed: f, at: at.String()}, v, nil
}

// step is a statement of a match in the order of its feed, which only grows:
// the commit of a later game has a lower index than what was shown before it.
type step struct {
	index         int64
	game, segment int // 0: of no game, of no segment
	finish        bool
}

func stepsOf(r store.Reader, match string) (store.Match, []step, error) {
	row, err := r.Match(match)
	if err != nil {
		return row, nil, err
	}
	steps := []step{{index: row.Open}}
	games, err := r.Games(match)
	if err != nil {
		return row, nil, fmt.Errorf("read games: %w", err)
	}
	for _, g := range games {
		segments, err := r.Segments(match, g.Number)
		if err != nil {
			return row, nil, fmt.Errorf("read segments: %w", err)
		}
		for _, s := range segments {
			q, err := r.Sequence(s.Sequence)
			if err != nil {
				return row, nil, fmt.Errorf("read sequence %s: %w", s.Sequence, err)
			}
			of := step{game: g.Number, segment: s.Segment}
			for _, index := range []int64{q.Index, s.Assign, s.Deal} {
				if of.index = index; index >= 0 {
					steps = append(steps, of)
				}
			}
		}
		if g.End >= 0 {
			steps = append(steps, step{index: g.End, game: g.Number})
		}
	}
	if row.Finish >= 0 {
		steps = append(steps, step{index: row.Finish, game: len(games), finish: true})
	}
	return row, steps, nil
}

// after is the number of steps shown at a cursor.
func after(steps []step, c matchCursor) (int, bool) {
	if c.index < 0 {
		return 0, true
	}
	i := slices.IndexFunc(steps, func(s step) bool { return s.index == c.index })
	return i + 1, i >= 0 && steps[i].game == c.game
}

// checkMatchCursor refuses an id that no event of the match has.
func checkMatchCursor(r store.Reader, match string, c matchCursor) error {
	if c.index < 0 {
		return nil
	}
	none := refuse(Malformed, "%q is no event id of match %s", c, match)
	_, steps, err := stepsOf(r, match)
	if err != nil {
		return fmt.Errorf("read match %s: %w", match, err)
	}
	n, ok := after(steps, c)
	if !ok || c.end && !steps[n-1].finish {
		return none
	}
	lines := 0
	if c.game > 0 {
		g, err := r.Game(match, c.game)
		if err != nil {
			return fmt.Errorf("read game %d: %w", c.game, err)
		}
		lines = g.Lines
	}
	complete := c.game > 0 && steps[n-1].segment == 0                            // an end or the finish comes after all lines
	begins := n < len(steps) && steps[n].game == c.game && steps[n].segment == 1 // a statement that comes before all lines follows
	if c.line > lines || complete && c.line != lines || begins && c.line > 0 {
		return none
	}
	signed, err := signedSize(r)
	if err != nil {
		return err
	}
	if c.index >= signed {
		return none
	}
	return nil
}

func signedSize(r store.Reader) (int64, error) {
	c, err := r.LatestCheckpoint()
	if errors.Is(err, store.ErrNotFound) {
		return 0, nil
	} else if err != nil {
		return 0, fmt.Errorf("read last checkpoint: %w", err)
	}
	return c.Size, nil
}

// sheet is the part of a game's record that was not shown yet.
type sheet struct {
	lines    []string
	rolls    map[int]store.Roll // by line
	diceOnly bool               // the rolls stand in no line; the record came after them
}

func readSheet(r store.Reader, match string, game, shown int) (sheet, error) {
	s := sheet{}
	lines, err := r.Events(match, game, shown+1)
	if err != nil || len(lines) == 0 {
		return s, err
	}
	rolls, err := r.Rolls(match, game)
	if err != nil {
		return s, fmt.Errorf("read rolls: %w", err)
	}
	s.lines, s.rolls = lines, make(map[int]store.Roll)
	for _, roll := range rolls {
		s.diceOnly = s.diceOnly || roll.Line == 0
		s.rolls[roll.Line] = roll
	}
	return s, nil
}

// first reports whether a statement comes before line number n, which is there.
func (s sheet) first(st step, game, n int) bool {
	switch {
	case st.game != game || st.segment == 0:
		return false
	case st.segment == 1 || s.diceOnly:
		return true
	}
	roll, ok := s.rolls[n]
	return ok && roll.Segment >= st.segment
}

// matchBatch is what follows a cursor, at one moment of the store.
func matchBatch(r store.Reader, match, from string) (batch, error) {
	b := batch{from: from, to: from}
	c, err := parseMatchCursor(from)
	if err != nil {
		return b, err
	}
	row, steps, err := stepsOf(r, match)
	if err != nil {
		return b, fmt.Errorf("read match %s: %w", match, err)
	}
	signed, err := signedSize(r)
	if err != nil {
		return b, err
	}
	n, _ := after(steps, c)
	var record sheet
	if c.game > 0 {
		if record, err = readSheet(r, match, c.game, c.line); err != nil {
			return b, err
		}
	}
	show := func(e FeedEvent) {
		e.ID = c.String()
		b.events, b.to = append(b.events, e), e.ID
	}
	for len(b.events) < feedBatch {
		if len(record.lines) > 0 && (n == len(steps) || !record.first(steps[n], c.game, c.line+1)) {
			c.line++
			show(FeedEvent{Line: &FeedLine{Game: c.game, Line: c.line, Text: record.lines[0], Receipt: record.rolls[c.line].Receipt}})
			record.lines = record.lines[1:]
			continue
		}
		if n == len(steps) {
			if n > 0 && steps[n-1].finish && !c.end {
				f, err := readStatement[commitment.Finish](r, steps[n-1].index)
				if err != nil {
					return b, err
				}
				c.end = true
				show(FeedEvent{End: &FeedEnd{State: f.Reason, Score: row.Score}})
			}
			break
		}
		st := steps[n]
		if st.index >= signed {
			b.awaits = st.index + 1
			return b, nil
		}
		s, err := feedStatement(r, st.index)
		if err != nil {
			return b, err
		}
		if c.index = st.index; st.game != c.game {
			c.game, c.line = st.game, 0
			if record, err = readSheet(r, match, c.game, 0); err != nil {
				return b, err
			}
		}
		n++
		show(FeedEvent{Statement: s})
	}
	b.end = c.end
	return b, nil
}

func feedStatement(r store.Reader, index int64) (*FeedStatement, error) {
	e, err := r.Entry(index)
	if err != nil {
		return nil, fmt.Errorf("read statement %d: %w", index, err)
	}
	return &FeedStatement{Index: index, Type: typeOf(e.Text), Text: string(e.Text)}, nil
}

// typeOf is the type of a statement of the log, which was parsed when it was appended.
func typeOf(text []byte) string {
	first, _, _ := bytes.Cut(text, []byte("\n"))
	return strings.TrimPrefix(string(first), "fairdice/v1/")
}
