-- Live throws, the beacon, witnesses and recorded dice, of which there were none.
ALTER TABLE games ADD COLUMN throw_a BLOB;
ALTER TABLE games ADD COLUMN throw_b BLOB;
ALTER TABLE segments ADD COLUMN round INTEGER NOT NULL DEFAULT 0;
ALTER TABLE segments ADD COLUMN signature BLOB;
CREATE INDEX segments_awaiting ON segments (round) WHERE deal < 0 AND round > 0;
ALTER TABLE checkpoints ADD COLUMN cosigned TEXT NOT NULL DEFAULT '';
CREATE INDEX checkpoints_cosigned ON checkpoints (size) WHERE cosigned <> '';
CREATE TABLE archives (
	hash     BLOB PRIMARY KEY,
	sequence TEXT NOT NULL UNIQUE,
	sealed   BLOB NOT NULL
) STRICT;
