-- What the house has counted of the dice of ended games, added up.
CREATE TABLE tallies (
	tenant TEXT NOT NULL,
	mode   TEXT NOT NULL,
	sums   BLOB NOT NULL,
	PRIMARY KEY (tenant, mode)
) STRICT, WITHOUT ROWID;

-- Games that ended before there were tallies are counted later: of the entries
-- before until, those before done are.
CREATE TABLE counting (
	one   INTEGER PRIMARY KEY CHECK (one = 1),
	done  INTEGER NOT NULL,
	until INTEGER NOT NULL
) STRICT;
INSERT INTO counting (one, done, until) SELECT 1, 0, coalesce(max(number) + 1, 0) FROM entries;
