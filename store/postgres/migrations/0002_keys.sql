-- API keys that end by themselves, follow one another, and show when they were last used.
ALTER TABLE api_keys ADD COLUMN expires bigint NOT NULL DEFAULT 0;
ALTER TABLE api_keys ADD COLUMN used bigint NOT NULL DEFAULT 0;
ALTER TABLE api_keys ADD COLUMN replaces bytea NOT NULL -- the hash of the key before it, or zeros
	DEFAULT '\x0000000000000000000000000000000000000000000000000000000000000000';
