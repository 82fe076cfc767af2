package sqlite

import "fairdice/store"

const selectMatch = `SELECT id, tenant, entry, games, score_a, score_b, links_a, links_b, tip_a, tip_b,
	finish, version FROM matches `

func scanMatch(r *row) store.Match {
	return store.Match{
		ID: r.text(0), Tenant: r.text(1), Open: r.int64(2), Games: r.int(3),
		Score: [2]int{r.int(4), r.int(5)}, Links: [2]int{r.int(6), r.int(7)},
		Tip: [2][32]byte{r.hash(8), r.hash(9)}, Finish: r.int64(10), Version: r.int64(11),
	}
}

func (r *reader) Match(id string) (store.Match, error) {
	m, err := one(r, scanMatch, selectMatch+"WHERE id = ?", id)
	return m, wrap(err, "read match %s", id)
}

func (r *reader) Matches(after string, limit int) ([]store.Match, error) {
	ms, err := list(r, scanMatch, selectMatch+"WHERE id > ? ORDER BY id LIMIT ?", after, max(limit, 0))
	return ms, wrap(err, "list matches")
}

func (r *reader) Opened(tenant string, from int64, newest bool, limit int) ([]store.Match, error) {
	where := "WHERE tenant = ? AND entry >= ? ORDER BY entry LIMIT ?"
	if newest {
		where = "WHERE tenant = ? AND entry <= ? ORDER BY entry DESC LIMIT ?"
	}
	ms, err := list(r, scanMatch, selectMatch+where, tenant, from, max(limit, 0))
	return ms, wrap(err, "list matches of %s", tenant)
}

func (t *tx) AddMatch(m store.Match) error {
	err := t.add(`INSERT INTO matches (id, tenant, entry, games, score_a, score_b, links_a, links_b, tip_a, tip_b,
		finish, version) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		m.ID, m.Tenant, m.Open, m.Games, m.Score[0], m.Score[1], m.Links[0], m.Links[1], m.Tip[0], m.Tip[1],
		m.Finish, m.Version)
	return wrap(err, "add match %s", m.ID)
}

func (t *tx) ReplaceMatch(m store.Match) error {
	err := t.replace("SELECT 1 FROM matches WHERE id = ?", []any{m.ID},
		`UPDATE matches SET tenant = ?, entry = ?, games = ?, score_a = ?, score_b = ?, links_a = ?, links_b = ?,
			tip_a = ?, tip_b = ?, finish = ?, version = version + 1
		WHERE id = ? AND version = ?`,
		m.Tenant, m.Open, m.Games, m.Score[0], m.Score[1], m.Links[0], m.Links[1],
		m.Tip[0], m.Tip[1], m.Finish, m.ID, m.Version)
	return wrap(err, "replace match %s", m.ID)
}

const selectSegment = `SELECT s.match, s.game, s.segment, s.sequence, s.assign, s.round, s.signature, s.link_a, s.link_b,
	s.last, s.deal, s.root, s.cut FROM segments s `

func scanSegment(r *row) store.Segment {
	return store.Segment{
		Match: r.text(0), Game: r.int(1), Segment: r.int(2), Sequence: r.text(3), Assign: r.int64(4),
		Round: uint64(r.int64(5)), Signature: r.blob(6),
		Links: [2][]byte{r.blob(7), r.blob(8)}, Last: uint8(r.int(9)), Deal: r.int64(10), Root: r.hash(11), Cut: r.text(12),
	}
}

func (r *reader) Segments(match string, game int) ([]store.Segment, error) {
	ss, err := list(r, scanSegment, selectSegment+"WHERE s.match = ? AND s.game = ? ORDER BY s.segment", match, game)
	return ss, wrap(err, "list segments of %s game %d", match, game)
}

func (r *reader) AwaitingBeacon(limit int) ([]store.Segment, error) {
	ss, err := list(r, scanSegment, selectSegment+`JOIN games g ON g.match = s.match AND g.game = s.game
		WHERE s.deal < 0 AND s.round > 0 AND g.state < 2 ORDER BY s.round LIMIT ?`, max(limit, 0))
	return ss, wrap(err, "list segments that wait for a beacon")
}

func (t *tx) AddSegment(s store.Segment) error {
	err := t.add(`INSERT INTO segments (match, game, segment, sequence, assign, round, signature, link_a, link_b, last, deal,
		root, cut) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
		s.Match, s.Game, s.Segment, s.Sequence, s.Assign, int64(s.Round), s.Signature, s.Links[0], s.Links[1], s.Last, s.Deal, s.Root, s.Cut)
	return wrap(err, "add segment %d of %s game %d", s.Segment, s.Match, s.Game)
}

func (t *tx) ReplaceSegment(s store.Segment) error {
	err := t.replace("SELECT 1 FROM segments WHERE match = ? AND game = ? AND segment = ?",
		[]any{s.Match, s.Game, s.Segment},
		`UPDATE segments SET sequence = ?, assign = ?, round = ?, signature = ?, link_a = ?, link_b = ?, last = ?, deal = ?, root = ?, cut = ?
		WHERE match = ? AND game = ? AND segment = ? AND deal < 0`,
		s.Sequence, s.Assign, int64(s.Round), s.Signature, s.Links[0], s.Links[1], s.Last, s.Deal, s.Root, s.Cut, s.Match, s.Game, s.Segment)
	return wrap(err, "replace segment %d of %s game %d", s.Segment, s.Match, s.Game)
}
