-- Times are seconds since 1970 UTC, 0 for "never". Hashes are 32 raw bytes.
-- Every number is a bigint, so that a parameter has one binary form. Text is
-- compared by bytes, whatever the locale of the cluster.
--
-- Rows of games and matches are replaced all the time: their pages keep room,
-- so that a new version stays on the page of the old one and touches no index.

CREATE TABLE tenants (
	name    text COLLATE "C" PRIMARY KEY,
	created bigint NOT NULL
);

CREATE TABLE api_keys (
	hash    bytea PRIMARY KEY,
	tenant  text COLLATE "C" NOT NULL,
	label   text COLLATE "C" NOT NULL,
	prefix  text COLLATE "C" NOT NULL,
	scopes  text COLLATE "C" NOT NULL, -- separated by spaces
	created bigint NOT NULL,
	revoked bigint NOT NULL
);
CREATE INDEX api_keys_of_tenant ON api_keys (tenant, created);

CREATE TABLE sequences (
	id          text COLLATE "C" PRIMARY KEY,
	tenant      text COLLATE "C" NOT NULL,
	mode        text COLLATE "C" NOT NULL,
	number      bigint NOT NULL,
	rolls_o     bigint NOT NULL,
	rolls_a     bigint NOT NULL,
	rolls_b     bigint NOT NULL,
	sealed      bytea NOT NULL,
	secret_hash bytea NOT NULL UNIQUE,
	root        bytea NOT NULL,
	state       bigint NOT NULL, -- 0 free, 1 assigned, 2 published, 3 retired
	entry       bigint NOT NULL,
	committed   bigint NOT NULL,
	match       text COLLATE "C" NOT NULL,
	game        bigint NOT NULL,
	segment     bigint NOT NULL,
	ended       bigint NOT NULL, -- the entry with the secret
	UNIQUE (tenant, mode, number)
);
-- The pool: what may still be assigned, lowest number first, and how old it is.
CREATE INDEX sequences_free ON sequences (tenant, mode, number) WHERE state = 0;
CREATE INDEX sequences_unused ON sequences (committed, entry) WHERE state = 0;

CREATE TABLE matches (
	id      text COLLATE "C" PRIMARY KEY,
	tenant  text COLLATE "C" NOT NULL,
	entry   bigint NOT NULL,
	games   bigint NOT NULL,
	score_a bigint NOT NULL,
	score_b bigint NOT NULL,
	links_a bigint NOT NULL,
	links_b bigint NOT NULL,
	tip_a   bytea NOT NULL,
	tip_b   bytea NOT NULL,
	finish  bigint NOT NULL,
	version bigint NOT NULL
) WITH (fillfactor = 70);

CREATE TABLE games (
	match    text COLLATE "C" NOT NULL,
	game     bigint NOT NULL,
	state    bigint NOT NULL, -- 0 playing, 1 over, 2 closed, 3 aborted
	segments bigint NOT NULL,
	rolls_o  bigint NOT NULL,
	rolls_a  bigint NOT NULL,
	rolls_b  bigint NOT NULL,
	receipt  bytea,
	lines    bigint NOT NULL,
	head     bytea NOT NULL,
	score_a  bigint NOT NULL,
	score_b  bigint NOT NULL,
	crawford bigint NOT NULL,
	throw_a  bytea,
	throw_b  bytea,
	ended    bigint NOT NULL,
	version  bigint NOT NULL,
	PRIMARY KEY (match, game)
) WITH (fillfactor = 50);
CREATE INDEX games_unended ON games (match, game) WHERE state < 2;

CREATE TABLE segments (
	match     text COLLATE "C" NOT NULL,
	game      bigint NOT NULL,
	segment   bigint NOT NULL,
	sequence  text COLLATE "C" NOT NULL,
	assign    bigint NOT NULL,
	round     bigint NOT NULL, -- of the beacon, 0 for none
	signature bytea,
	link_a    bytea,
	link_b    bytea,
	last      bigint NOT NULL,
	deal      bigint NOT NULL,
	root      bytea NOT NULL,
	cut       text COLLATE "C" NOT NULL,
	PRIMARY KEY (match, game, segment)
);
CREATE INDEX segments_awaiting ON segments (round) WHERE deal < 0 AND round > 0;

CREATE TABLE rolls (
	match   text COLLATE "C" NOT NULL,
	game    bigint NOT NULL,
	segment bigint NOT NULL,
	stream  text COLLATE "C" NOT NULL,
	element bigint NOT NULL,
	ordinal bigint NOT NULL,
	line    bigint NOT NULL,
	receipt text COLLATE "C" NOT NULL,
	PRIMARY KEY (match, game, segment, stream, element)
);

CREATE TABLE events (
	match text COLLATE "C" NOT NULL,
	game  bigint NOT NULL,
	line  bigint NOT NULL,
	text  text COLLATE "C" NOT NULL,
	PRIMARY KEY (match, game, line)
);

CREATE TABLE spent (
	value bytea PRIMARY KEY
);

-- The end of the log, one row: whoever appends locks it first. It is small
-- enough to be kept tidy by those who write it; a vacuum would hold them up.
CREATE TABLE log_head (
	size bigint NOT NULL,
	time bigint NOT NULL -- of the last entry
) WITH (fillfactor = 10, autovacuum_enabled = false);
INSERT INTO log_head (size, time) VALUES (0, 0);

CREATE TABLE entries (
	number bigint PRIMARY KEY, -- the log index
	time   bigint NOT NULL,
	text   bytea NOT NULL
);

CREATE TABLE hashes (
	place bigint PRIMARY KEY, -- tlog.StoredHashIndex
	hash  bytea NOT NULL
);

CREATE TABLE checkpoints (
	size     bigint PRIMARY KEY,
	note     text COLLATE "C" NOT NULL,
	cosigned text COLLATE "C" NOT NULL -- '' before a quorum of witnesses has signed
);
CREATE INDEX checkpoints_cosigned ON checkpoints (size) WHERE cosigned <> '';

CREATE TABLE archives (
	hash     bytea PRIMARY KEY,
	sequence text COLLATE "C" NOT NULL UNIQUE,
	sealed   bytea NOT NULL
);

CREATE TABLE leases (
	name   text COLLATE "C" PRIMARY KEY,
	holder text COLLATE "C" NOT NULL,
	epoch  bigint NOT NULL,
	until  bigint NOT NULL -- milliseconds since 1970 by the clock of the server
) WITH (fillfactor = 10);
