-- Keys that were revoked for good, and not only given an end in rotation.
ALTER TABLE api_keys ADD COLUMN withdrawn INTEGER NOT NULL DEFAULT 0;
UPDATE api_keys SET withdrawn = 1
	WHERE revoked <> 0 AND NOT EXISTS (SELECT 1 FROM api_keys AS next WHERE next.replaces = api_keys.hash);
