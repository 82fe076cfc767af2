-- What the house has counted of the dice of ended games, added up. The rows are
-- replaced all the time: their pages keep room.
CREATE TABLE tallies (
	tenant text COLLATE "C" NOT NULL,
	mode   text COLLATE "C" NOT NULL,
	sums   bytea NOT NULL,
	PRIMARY KEY (tenant, mode)
) WITH (fillfactor = 50);

-- Games that ended before there were tallies are counted later: of the entries
-- before until, those before done are.
CREATE TABLE counting (
	one   bigint PRIMARY KEY CHECK (one = 1),
	done  bigint NOT NULL,
	until bigint NOT NULL
);
INSERT INTO counting (one, done, until) SELECT 1, 0, size FROM log_head;
