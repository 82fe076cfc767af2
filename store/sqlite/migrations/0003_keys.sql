-- API keys that end by themselves, follow one another, and show when they were last used.
ALTER TABLE api_keys ADD COLUMN expires INTEGER NOT NULL DEFAULT 0;
ALTER TABLE api_keys ADD COLUMN used INTEGER NOT NULL DEFAULT 0;
ALTER TABLE api_keys ADD COLUMN replaces BLOB NOT NULL -- the hash of the key before it, or zeros
	DEFAULT X'0000000000000000000000000000000000000000000000000000000000000000';
