-- Addresses of tenants that are told of events.
CREATE TABLE endpoints (
	id         TEXT PRIMARY KEY,
	tenant     TEXT NOT NULL,
	address    TEXT NOT NULL,
	events     TEXT NOT NULL, -- separated by spaces, none for all
	plain      INTEGER NOT NULL,
	sealed     BLOB NOT NULL,
	old_sealed BLOB,
	old_ends   INTEGER NOT NULL,
	created    INTEGER NOT NULL,
	disabled   INTEGER NOT NULL,
	reason     TEXT NOT NULL,
	version    INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX endpoints_of_tenant ON endpoints (tenant);

-- The outbox: what an endpoint is to be told, and what became of it.
CREATE TABLE messages (
	endpoint TEXT NOT NULL,
	id       TEXT NOT NULL,
	type     TEXT NOT NULL,
	entry    INTEGER NOT NULL, -- that must be signed first, -1 for none
	body     BLOB NOT NULL,
	created  INTEGER NOT NULL,
	state    INTEGER NOT NULL, -- 0 waiting, 1 delivered, 2 dead
	attempts INTEGER NOT NULL,
	due      INTEGER NOT NULL, -- of the next attempt, or when it ended
	status   INTEGER NOT NULL,
	failure  TEXT NOT NULL,
	version  INTEGER NOT NULL,
	PRIMARY KEY (endpoint, id)
) STRICT;
CREATE INDEX messages_due ON messages (endpoint, due) WHERE state = 0;
CREATE INDEX messages_ended ON messages (state, due) WHERE state > 0;
