-- Addresses of tenants that are told of events.
CREATE TABLE endpoints (
	id         text COLLATE "C" PRIMARY KEY,
	tenant     text COLLATE "C" NOT NULL,
	address    text COLLATE "C" NOT NULL,
	events     text COLLATE "C" NOT NULL, -- separated by spaces, none for all
	plain      bigint NOT NULL,
	sealed     bytea NOT NULL,
	old_sealed bytea,
	old_ends   bigint NOT NULL,
	created    bigint NOT NULL,
	disabled   bigint NOT NULL,
	reason     text COLLATE "C" NOT NULL,
	version    bigint NOT NULL
);
CREATE INDEX endpoints_of_tenant ON endpoints (tenant);

-- The outbox: what an endpoint is to be told, and what became of it. Every row
-- is replaced a few times: its page keeps room.
CREATE TABLE messages (
	endpoint text COLLATE "C" NOT NULL,
	id       text COLLATE "C" NOT NULL,
	type     text COLLATE "C" NOT NULL,
	entry    bigint NOT NULL, -- that must be signed first, -1 for none
	body     bytea NOT NULL,
	created  bigint NOT NULL,
	state    bigint NOT NULL, -- 0 waiting, 1 delivered, 2 dead
	attempts bigint NOT NULL,
	due      bigint NOT NULL, -- of the next attempt, or when it ended
	status   bigint NOT NULL,
	failure  text COLLATE "C" NOT NULL,
	version  bigint NOT NULL,
	PRIMARY KEY (endpoint, id)
) WITH (fillfactor = 70);
CREATE INDEX messages_due ON messages (endpoint, due) WHERE state = 0;
CREATE INDEX messages_ended ON messages (state, due) WHERE state > 0;
