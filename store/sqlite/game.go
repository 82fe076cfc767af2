package sqlite

import (
	"fmt"
	"slices"
	"time"

	"fairdice/store"
)

const selectGame = `SELECT g.match, g.game, g.state, g.segments, g.rolls_o, g.rolls_a, g.rolls_b, g.receipt, g.lines,
	g.head, g.score_a, g.score_b, g.crawford, g.throw_a, g.throw_b, g.ended, g.version FROM games g `

func scanGame(r *row) store.Game {
	return store.Game{
		Match: r.text(0), Number: r.int(1), State: store.GameState(r.int(2)), Segments: r.int(3),
		Rolls: [3]int{r.int(4), r.int(5), r.int(6)}, Receipt: r.blob(7), Lines: r.int(8), Head: r.hash(9),
		Score: [2]int{r.int(10), r.int(11)}, Crawford: r.bool(12), Throw: [2][]byte{r.blob(13), r.blob(14)},
		End: r.int64(15), Version: r.int64(16),
	}
}

func (r *reader) Game(match string, game int) (store.Game, error) {
	g, err := one(r, scanGame, selectGame+"WHERE match = ? AND game = ?", match, game)
	return g, wrap(err, "read game %d of %s", game, match)
}

func (r *reader) Games(match string) ([]store.Game, error) {
	gs, err := list(r, scanGame, selectGame+"WHERE match = ? ORDER BY game", match)
	return gs, wrap(err, "list games of %s", match)
}

func (r *reader) Unended(before time.Time, from int64, limit int) ([]store.Game, error) {
	gs, err := list(r, scanGame, selectGame+`
		JOIN segments s ON s.match = g.match AND s.game = g.game AND s.segment = 1
		JOIN entries e ON e.number = s.assign
		WHERE g.state < 2 AND e.time < ? AND s.assign >= ? ORDER BY s.assign LIMIT ?`, before, from, max(limit, 0))
	return gs, wrap(err, "list unended games")
}

func (t *tx) AddGame(g store.Game) error {
	err := t.add(`INSERT INTO games (match, game, state, segments, rolls_o, rolls_a, rolls_b, receipt, lines, head,
		score_a, score_b, crawford, throw_a, throw_b, ended, version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		g.Match, g.Number, uint8(g.State), g.Segments, g.Rolls[0], g.Rolls[1], g.Rolls[2], g.Receipt, g.Lines, g.Head,
		g.Score[0], g.Score[1], g.Crawford, g.Throw[0], g.Throw[1], g.End, g.Version)
	return wrap(err, "add game %d of %s", g.Number, g.Match)
}

func (t *tx) ReplaceGame(g store.Game) error {
	err := t.replace("SELECT 1 FROM games WHERE match = ? AND game = ?", []any{g.Match, g.Number},
		`UPDATE games SET state = ?, segments = ?, rolls_o = ?, rolls_a = ?, rolls_b = ?, receipt = ?, lines = ?,
			head = ?, score_a = ?, score_b = ?, crawford = ?, throw_a = ?, throw_b = ?, ended = ?, version = version + 1
		WHERE match = ? AND game = ? AND version = ?`,
		uint8(g.State), g.Segments, g.Rolls[0], g.Rolls[1], g.Rolls[2], g.Receipt, g.Lines,
		g.Head, g.Score[0], g.Score[1], g.Crawford, g.Throw[0], g.Throw[1], g.End, g.Match, g.Number, g.Version)
	return wrap(err, "replace game %d of %s", g.Number, g.Match)
}

const selectRoll = "SELECT match, game, segment, stream, element, ordinal, line, receipt FROM rolls "

func scanRoll(r *row) store.Roll {
	return store.Roll{
		Match: r.text(0), Game: r.int(1), Segment: r.int(2), Stream: r.text(3), Index: r.int(4),
		Ordinal: r.int(5), Line: r.int(6), Receipt: r.text(7),
	}
}

func (r *reader) Roll(match string, game, segment int, stream string, index int) (store.Roll, error) {
	v, err := one(r, scanRoll,
		selectRoll+"WHERE match = ? AND game = ? AND segment = ? AND stream = ? AND element = ?",
		match, game, segment, stream, index)
	return v, wrap(err, "read roll %d.%s.%d of %s game %d", segment, stream, index, match, game)
}

func (r *reader) Rolls(match string, game int) ([]store.Roll, error) {
	vs, err := list(r, func(r *row) store.Roll {
		return store.Roll{
			Match: match, Game: game, Segment: r.int(0), Stream: r.text(1), Index: r.int(2),
			Ordinal: r.int(3), Line: r.int(4), Receipt: r.text(5),
		}
	}, "SELECT segment, stream, element, ordinal, line, receipt FROM rolls WHERE match = ? AND game = ?", match, game)
	// SQLite would copy every receipt into a sorter.
	slices.SortFunc(vs, func(a, b store.Roll) int { return a.Ordinal - b.Ordinal })
	return vs, wrap(err, "list rolls of %s game %d", match, game)
}

func (t *tx) AddRoll(v store.Roll) error {
	err := t.add(`INSERT INTO rolls (match, game, segment, stream, element, ordinal, line, receipt)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		v.Match, v.Game, v.Segment, v.Stream, v.Index, v.Ordinal, v.Line, v.Receipt)
	return wrap(err, "add roll %d.%s.%d of %s game %d", v.Segment, v.Stream, v.Index, v.Match, v.Game)
}

func (r *reader) Events(match string, game, first int) ([]string, error) {
	lines, err := list(r, func(r *row) string { return r.text(0) },
		"SELECT text FROM events WHERE match = ? AND game = ? AND line >= ? ORDER BY line", match, game, first)
	return lines, wrap(err, "list events of %s game %d", match, game)
}

// AddEvents inserts the first line only if the one before it is there; that
// the line itself is not there yet is what its key says. So the lines of a
// record have no gap, and two writers of one line do not both succeed.
func (t *tx) AddEvents(match string, game, first int, lines []string) error {
	for i, text := range lines {
		n, err := t.conn.exec(`INSERT INTO events (match, game, line, text) SELECT ?1, ?2, ?3, ?4
			WHERE ?3 = 1 OR EXISTS (SELECT 1 FROM events WHERE match = ?1 AND game = ?2 AND line = ?3 - 1)`,
			match, game, first+i, text)
		if taken(err) || err == nil && n == 0 {
			err = store.ErrConflict
		}
		if err != nil {
			return fmt.Errorf("add event %d of %s game %d: %w", first+i, match, game, err)
		}
	}
	return nil
}
