package sqlite

import (
	_ "embed"
	"fmt"
)

var (
	//go:embed early/sequences.sql
	earlySequences string
	//go:embed early/games.sql
	earlyGames string
)

// early is what a database of the first version lacks. Script 1 grew twice
// before script 2 came, so version 1 says three things, and a database that
// was made before the end has neither the columns nor a number that says so.
// It is completed in the transaction that leads to version 2.
func early(c *conn) (script string, err error) {
	for _, l := range []struct{ table, column, script string }{
		{"sequences", "ended", earlySequences},
		{"games", "throw_a", earlyGames},
	} {
		var columns, have int
		err := c.query(func(r *row) { columns, have = r.int(0), r.int(1) },
			"SELECT count(*), coalesce(sum(name = ?2), 0) FROM pragma_table_info(?1)", l.table, l.column)
		if err != nil {
			return "", fmt.Errorf("look at table %s: %w", l.table, err)
		}
		if columns > 0 && have == 0 {
			script += l.script
		}
	}
	return script, nil
}
