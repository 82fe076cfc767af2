-- Times are seconds since 1970 UTC, 0 for "never". Hashes are 32 raw bytes.
-- Tables whose rows are small are stored in their key; rolls and entries are
-- large rows that are only ever appended, so they keep a rowid.

CREATE TABLE tenants (
	name    TEXT PRIMARY KEY,
	created INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE api_keys (
	hash    BLOB PRIMARY KEY,
	tenant  TEXT NOT NULL,
	label   TEXT NOT NULL,
	prefix  TEXT NOT NULL,
	scopes  TEXT NOT NULL, -- separated by spaces
	created INTEGER NOT NULL,
	revoked INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_of_tenant ON api_keys (tenant, created);

CREATE TABLE sequences (
	id          TEXT PRIMARY KEY,
	tenant      TEXT NOT NULL,
	mode        TEXT NOT NULL,
	number      INTEGER NOT NULL,
	rolls_o     INTEGER NOT NULL,
	rolls_a     INTEGER NOT NULL,
	rolls_b     INTEGER NOT NULL,
	sealed      BLOB NOT NULL,
	secret_hash BLOB NOT NULL UNIQUE,
	root        BLOB NOT NULL,
	state       INTEGER NOT NULL, -- 0 free, 1 assigned, 2 published, 3 retired
	entry       INTEGER NOT NULL,
	committed   INTEGER NOT NULL,
	match       TEXT NOT NULL,
	game        INTEGER NOT NULL,
	segment     INTEGER NOT NULL,
	ended       INTEGER NOT NULL, -- the entry with the secret
	UNIQUE (tenant, mode, number)
) STRICT, WITHOUT ROWID;
-- The pool: what may still be assigned, lowest number first, and how old it is.
CREATE INDEX sequences_free ON sequences (tenant, mode, number) WHERE state = 0;
CREATE INDEX sequences_unused ON sequences (committed) WHERE state = 0;

CREATE TABLE matches (
	id      TEXT PRIMARY KEY,
	tenant  TEXT NOT NULL,
	entry   INTEGER NOT NULL,
	games   INTEGER NOT NULL,
	score_a INTEGER NOT NULL,
	score_b INTEGER NOT NULL,
	links_a INTEGER NOT NULL,
	links_b INTEGER NOT NULL,
	tip_a   BLOB NOT NULL,
	tip_b   BLOB NOT NULL,
	finish  INTEGER NOT NULL,
	version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE games (
	match    TEXT NOT NULL,
	game     INTEGER NOT NULL,
	state    INTEGER NOT NULL, -- 0 playing, 1 over, 2 closed, 3 aborted
	segments INTEGER NOT NULL,
	rolls_o  INTEGER NOT NULL,
	rolls_a  INTEGER NOT NULL,
	rolls_b  INTEGER NOT NULL,
	receipt  BLOB,
	lines    INTEGER NOT NULL,
	head     BLOB NOT NULL,
	score_a  INTEGER NOT NULL,
	score_b  INTEGER NOT NULL,
	crawford INTEGER NOT NULL,
	throw_a  BLOB,
	throw_b  BLOB,
	ended    INTEGER NOT NULL,
	version  INTEGER NOT NULL,
	PRIMARY KEY (match, game)
) STRICT, WITHOUT ROWID;
CREATE INDEX games_unended ON games (match, game) WHERE state < 2;

CREATE TABLE segments (
	match    TEXT NOT NULL,
	game     INTEGER NOT NULL,
	segment  INTEGER NOT NULL,
	sequence TEXT NOT NULL,
	assign   INTEGER NOT NULL,
	round    INTEGER NOT NULL, -- of the beacon, 0 for none
	signature BLOB,
	link_a   BLOB,
	link_b   BLOB,
	last     INTEGER NOT NULL,
	deal     INTEGER NOT NULL,
	root     BLOB NOT NULL,
	cut      TEXT NOT NULL,
	PRIMARY KEY (match, game, segment)
) STRICT, WITHOUT ROWID;
CREATE INDEX segments_awaiting ON segments (round) WHERE deal < 0 AND round > 0;

CREATE TABLE rolls (
	match   TEXT NOT NULL,
	game    INTEGER NOT NULL,
	segment INTEGER NOT NULL,
	stream  TEXT NOT NULL,
	element INTEGER NOT NULL,
	ordinal INTEGER NOT NULL,
	line    INTEGER NOT NULL,
	receipt TEXT NOT NULL
) STRICT;
CREATE UNIQUE INDEX rolls_address ON rolls (match, game, segment, stream, element);

CREATE TABLE events (
	match TEXT NOT NULL,
	game  INTEGER NOT NULL,
	line  INTEGER NOT NULL,
	text  TEXT NOT NULL,
	PRIMARY KEY (match, game, line)
) STRICT, WITHOUT ROWID;

CREATE TABLE spent (
	value BLOB PRIMARY KEY
) STRICT, WITHOUT ROWID;

CREATE TABLE entries (
	number INTEGER PRIMARY KEY, -- the log index
	time   INTEGER NOT NULL,
	text   BLOB NOT NULL
) STRICT;

CREATE TABLE hashes (
	place INTEGER PRIMARY KEY, -- tlog.StoredHashIndex
	hash  BLOB NOT NULL
) STRICT;

CREATE TABLE checkpoints (
	size     INTEGER PRIMARY KEY,
	note     TEXT NOT NULL,
	cosigned TEXT NOT NULL -- '' before a quorum of witnesses has signed
) STRICT;
CREATE INDEX checkpoints_cosigned ON checkpoints (size) WHERE cosigned <> '';

CREATE TABLE archives (
	hash     BLOB PRIMARY KEY,
	sequence TEXT NOT NULL UNIQUE,
	sealed   BLOB NOT NULL
) STRICT;
