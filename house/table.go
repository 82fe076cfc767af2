package house

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"fairdice/commitment"
	"fairdice/replay"
	"fairdice/rules"
	"fairdice/store"
)

// table is a match ready to play: what the store holds of it, folded. Its
// mutex orders the requests of one match, so that they prepare their
// transaction (dice, receipts, rules) outside the store's writer. What is in
// memory changes only after the store has acknowledged the change; after any
// other outcome the table is read again from the store.
type table struct {
	house *House
	id    string

	mu      sync.Mutex
	loaded  bool
	row     store.Match
	open    commitment.Open
	variant rules.Variant
	options replay.Options
	series  replay.Match // after the games that have ended
	game    *game        // the one with the highest number, nil before the first
	gen     rules.Generator
}

// game is one game of a table.
type game struct {
	row      store.Game
	header   replay.Header
	state    replay.State
	segments []segment
	refereed bool
}

// segment is one sequence of a game.
type segment struct {
	row      store.Segment
	mode     commitment.Mode
	lengths  commitment.Lengths
	sealed   []byte
	commit   int64                // log index
	archive  *commitment.Archive  // mode real
	sequence *commitment.Sequence // dealt dice, once they were needed
	proof    *dealProof           // likewise
}

func (s *segment) dealt() bool { return s.row.Deal >= 0 }

// dealProof is the part of a draw's answer that is the same for all rolls of a segment.
type dealProof struct {
	commit, open, assign, deal Statement
	checkpoint                 string
}

// retryStorage is when a storage that has failed is worth another try.
const retryStorage = 5 * time.Second

// unlock ends a request on the table. The roll trees of a game that has ended
// are most of what a table takes in memory, and hardly asked for again: they are
// made anew then.
func (t *table) unlock() {
	if g := t.game; g != nil && (g.row.State == store.Closed || g.row.State == store.Aborted) {
		for i := range g.segments {
			g.segments[i].sequence, g.segments[i].proof = nil, nil
		}
	}
	t.mu.Unlock()
}

// update runs one transaction; unless it succeeds, the memory is stale.
func (t *table) update(ctx context.Context, fn func(store.Tx) error) error {
	err := t.house.store.Update(ctx, fn)
	// Whatever became of it: after an error too it may be there.
	t.house.watchers.wake(t.id)
	if err == nil {
		return nil
	}
	t.loaded = false
	switch {
	case CodeOf(err) != "":
		return err
	case errors.Is(err, store.ErrConflict), errors.Is(err, store.ErrExists):
		// What is there already was added by another instance, after the match was read.
		return &Error{Code: Unavailable, Message: "another request changed the match meanwhile; repeat this one", RetryAfter: time.Second, changed: true}
	case errors.Is(err, store.ErrUncertain):
		t.house.log.Error("commit uncertain", "match", t.id, "error", err)
		return &Error{Code: Unavailable, Message: "the storage did not confirm the change; repeat the request", RetryAfter: time.Second, changed: true}
	case errors.Is(err, store.ErrStorage):
		t.house.log.Error("storage failed", "match", t.id, "error", err)
		return &Error{Code: Unavailable, Message: "the storage cannot take the change now; repeat the request", RetryAfter: retryStorage}
	}
	return err
}

// load reads the match. A store that holds less of it than was acknowledged
// has gone back: a replica was promoted too early, or a backup put under the
// running service. Then the memory is kept and nothing is done on what
// is left, for a roll that was answered would get a second receipt.
func (t *table) load(ctx context.Context) error {
	row, g := t.row, t.game
	err := t.house.store.View(ctx, t.read)
	if row.ID != "" && (errors.Is(err, store.ErrNotFound) || err == nil && t.behind(row, g)) {
		t.row, t.game, t.loaded = row, g, false
		t.house.log.Error("the database has gone back: it holds less of a match than was answered", "match", t.id)
		t.house.signer.poke()
		return errRefused()
	}
	t.loaded = err == nil
	return err
}

// behind reports whether the table is an earlier one than that with this match
// and this last game.
func (t *table) behind(row store.Match, g *game) bool {
	switch {
	case t.row.Version < row.Version || t.row.Games < row.Games:
		return true
	case g == nil:
		return false
	case t.game == nil || t.game.row.Number < g.row.Number:
		return true
	}
	return t.game.row.Number == g.row.Number && t.game.row.Version < g.row.Version
}

func (t *table) read(r store.Reader) error {
	row, err := r.Match(t.id)
	if err != nil {
		return err
	}
	open, err := readStatement[commitment.Open](r, row.Open)
	if err != nil {
		return err
	}
	t.row, t.open, t.game = row, open, nil
	if t.variant, err = rules.Lookup(open.Variant); err != nil {
		return err
	}
	if t.options, err = replay.ParseOptions(open.Options); err != nil {
		return err
	}
	if t.series, err = replay.NewMatch(t.variant, t.options); err != nil {
		return err
	}
	games, err := r.Games(t.id)
	if err != nil {
		return err
	}
	for _, g := range games {
		if err := t.count(r, g); err != nil {
			return fmt.Errorf("game %d: %w", g.Number, err)
		}
	}
	if n := len(games); n > 0 {
		if t.game, err = t.readGame(r, games[n-1]); err != nil {
			return fmt.Errorf("game %d: %w", n, err)
		}
	}
	return nil
}

// count adds an ended game to the series.
func (t *table) count(r store.Reader, g store.Game) (err error) {
	switch g.State {
	case store.Aborted:
		t.series, err = t.series.Skip()
	case store.Closed:
		var c commitment.Close
		if c, err = readStatement[commitment.Close](r, g.End); err != nil {
			return err
		}
		t.series, err = t.series.Add(resultOf(c.Result))
	}
	return err
}

func resultOf(r commitment.Result) replay.Result {
	switch r.Seat {
	case 'A':
		return replay.Result{Seat: replay.A, Points: int64(r.Points)}
	case 'B':
		return replay.Result{Seat: replay.B, Points: int64(r.Points)}
	}
	return replay.Result{Draw: true}
}

func statementResult(r replay.Result) commitment.Result {
	switch {
	case r.Draw:
		return commitment.Result{}
	case r.Seat == replay.A:
		return commitment.Result{Seat: 'A', Points: int(r.Points)}
	}
	return commitment.Result{Seat: 'B', Points: int(r.Points)}
}

// newGame is a game before its first event.
func (t *table) newGame(row store.Game) (*game, error) {
	st, err := replay.Start(replay.Setting{
		Variant: t.variant, Options: t.options, Game: row.Number, Score: row.Score, Crawford: row.Crawford,
	})
	if err != nil {
		return nil, err
	}
	return &game{row: row, state: st, refereed: t.refereed(), header: replay.Header{
		Match: t.id, Game: row.Number, Variant: t.variant.ID, Options: t.options, Score: row.Score, Crawford: row.Crawford,
	}}, nil
}

// readGame folds the record of a game. A refereed record was checked when it
// was written, so a line that is refused now means a damaged database.
func (t *table) readGame(r store.Reader, row store.Game) (*game, error) {
	g, err := t.newGame(row)
	if err != nil {
		return nil, err
	}
	lines, err := r.Events(t.id, row.Number, 1)
	if err != nil {
		return nil, err
	}
	head := g.header.Head()
	for i, line := range lines {
		head = head.Next(line)
		if !g.refereed { // the platform's own record, taken as it is
			continue
		}
		e, err := replay.ParseEvent(line)
		if err == nil {
			g.state, err = g.state.Apply(&t.gen, e)
		}
		if err != nil {
			return nil, fmt.Errorf("damaged record, line %d: %w", i+1, err)
		}
	}
	if len(lines) != row.Lines || head != row.Head {
		return nil, fmt.Errorf("damaged record: %d lines with head %s, expected %d with %x", len(lines), head, row.Lines, row.Head)
	}
	segments, err := r.Segments(t.id, row.Number)
	if err != nil {
		return nil, err
	}
	for _, s := range segments {
		q, err := r.Sequence(s.Sequence)
		if err != nil {
			return nil, fmt.Errorf("read sequence %s: %w", s.Sequence, err)
		}
		seg, err := t.newSegment(r, s, q)
		if err != nil {
			return nil, err
		}
		g.segments = append(g.segments, seg)
	}
	return g, nil
}

func (t *table) newSegment(r store.Reader, row store.Segment, q store.Sequence) (segment, error) {
	mode, err := commitment.ParseMode(q.Mode)
	if err != nil {
		return segment{}, fmt.Errorf("read sequence %s: %w", q.ID, err)
	}
	s := segment{row: row, mode: mode, lengths: q.Rolls, sealed: q.Sealed, commit: q.Index}
	if mode == commitment.Real {
		s.archive, err = t.house.archiveOf(r, q.ID)
	}
	return s, err
}

// refereed reports whether the house keeps the record while the game is played.
func (t *table) refereed() bool { return t.open.Profile == commitment.Refereed }

// at is the game with that number: the current one, or an older one read again.
func (t *table) at(ctx context.Context, number int) (*game, error) {
	if t.game != nil && t.game.row.Number == number {
		return t.game, nil
	}
	var g *game
	err := t.house.store.View(ctx, func(r store.Reader) error {
		row, err := r.Game(t.id, number)
		if err != nil {
			return err
		}
		g, err = t.readGame(r, row)
		return err
	})
	if errors.Is(err, store.ErrNotFound) {
		return nil, refuse(NotFound, "match %s has no game %d", t.id, number)
	}
	return g, err
}

// segment finds segment number n of the game, from 1.
func (g *game) segment(n int) (*segment, error) {
	if n < 1 || n > len(g.segments) {
		return nil, refuse(NotFound, "game %d has no segment %d", g.row.Number, n)
	}
	return &g.segments[n-1], nil
}

func (g *game) last() *segment { return &g.segments[len(g.segments)-1] }

// place is where element number used (from 0) of a stream lies. A segment
// beyond the last one means that the stream is used up.
func (g *game) place(st commitment.Stream, used int) (segment, index int) {
	for i, s := range g.segments {
		if used < s.lengths[st] {
			return i + 1, used
		}
		used -= s.lengths[st]
	}
	return len(g.segments) + 1, used
}

// ordinal is the inverse of place: the element's number in the game's stream.
func (g *game) ordinal(st commitment.Stream, segment, index int) (int, bool) {
	if segment < 1 || segment > len(g.segments) || index < 0 || index >= g.segments[segment-1].lengths[st] {
		return 0, false
	}
	n := index
	for _, s := range g.segments[:segment-1] {
		n += s.lengths[st]
	}
	return n, true
}

// dueRecord is what is due in a dice-only game all the time: the house knows
// nothing of it but its dice.
const dueRecord = "record"

func (g *game) due() string {
	switch {
	case g.row.State == store.Closed || g.row.State == store.Aborted:
		return "done"
	case len(g.segments) > 0 && !g.last().dealt() && !g.state.Decided():
		return "deal"
	case !g.refereed:
		return dueRecord
	}
	return g.state.Due().String()
}

// publicDue is due without the dice of a stage.
func (g *game) publicDue() string {
	words := strings.Fields(g.due())
	return strings.Join(words[:min(2, len(words))], " ")
}

// draw is the roll that is due, nil if none is or if the house does not know.
func (g *game) draw() *DrawDue {
	if !g.refereed {
		return nil
	}
	stream, ok := g.state.NextDraw()
	if !ok || g.row.State != store.Playing {
		return nil
	}
	st, err := commitment.ParseStream(stream)
	if err != nil {
		return nil
	}
	segment, index := g.place(st, g.row.Rolls[st])
	return &DrawDue{Segment: segment, Stream: stream, Index: index, Throw: g.throws() + 1}
}

// throws is how many rolls of the game were drawn.
func (g *game) throws() int { return g.row.Rolls[0] + g.row.Rolls[1] + g.row.Rolls[2] }

func (g *game) recordText(lines []string) string {
	var b strings.Builder
	b.WriteString(g.header.Text())
	for _, l := range lines {
		b.WriteString(l)
		b.WriteByte('\n')
	}
	return b.String()
}
