-- The entry with the secret: that of the end of the game, or the retire.
ALTER TABLE sequences ADD COLUMN ended INTEGER NOT NULL DEFAULT 0;
UPDATE sequences SET ended = (SELECT g.ended FROM games g WHERE g.match = sequences.match AND g.game = sequences.game)
	WHERE state = 2;
UPDATE sequences SET ended = (SELECT e.number FROM entries e WHERE instr(e.text,
		CAST('fairdice/v1/retire' || char(10) || 'sequence ' || sequences.id || char(10) AS BLOB)) = 1)
	WHERE state = 3;
