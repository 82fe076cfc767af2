CREATE TABLE leases (
	name   TEXT PRIMARY KEY,
	holder TEXT NOT NULL,
	epoch  INTEGER NOT NULL,
	until  INTEGER NOT NULL -- milliseconds since 1970
) STRICT, WITHOUT ROWID;
