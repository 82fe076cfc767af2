-- What a witness remembers. A log that signed two roots for one size has two
-- rows of that size.
CREATE TABLE witnessed (
	origin   TEXT NOT NULL,
	size     INTEGER NOT NULL,
	root     BLOB NOT NULL,
	note     TEXT NOT NULL,
	time     INTEGER NOT NULL,
	cosigned INTEGER NOT NULL,
	PRIMARY KEY (origin, size, root)
) STRICT, WITHOUT ROWID;
-- One history is cosigned, whatever else goes wrong.
CREATE UNIQUE INDEX witnessed_cosigned ON witnessed (origin, size) WHERE cosigned = 1;
CREATE INDEX witnessed_refused ON witnessed (origin, size) WHERE cosigned = 0;
