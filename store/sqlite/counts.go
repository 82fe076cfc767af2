package sqlite

import "fairdice/store"

func (r *reader) Counts() (store.Counts, error) {
	c, err := one(r, func(r *row) store.Counts {
		return store.Counts{
			Tenants: r.int64(0), APIKeys: r.int64(1), Sequences: r.int64(2), Archives: r.int64(3),
			Matches: r.int64(4), Games: r.int64(5), Segments: r.int64(6),
			Rolls: r.int64(7), Events: r.int64(8), Spent: r.int64(9),
			Entries: r.int64(10), Hashes: r.int64(11), Checkpoints: r.int64(12),
			Tallies: r.int64(13), Endpoints: r.int64(14), Messages: r.int64(15),
		}
	}, `SELECT (SELECT count(*) FROM tenants), (SELECT count(*) FROM api_keys), (SELECT count(*) FROM sequences),
		(SELECT count(*) FROM archives), (SELECT count(*) FROM matches), (SELECT count(*) FROM games),
		(SELECT count(*) FROM segments), (SELECT count(*) FROM rolls), (SELECT count(*) FROM events),
		(SELECT count(*) FROM spent), (SELECT count(*) FROM entries), (SELECT count(*) FROM hashes),
		(SELECT count(*) FROM checkpoints), (SELECT count(*) FROM tallies),
		(SELECT count(*) FROM endpoints), (SELECT count(*) FROM messages)`)
	return c, wrap(err, "count rows")
}
