package sqlite

import (
	"embed"
	"fmt"
	"io/fs"
	"time"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// applicationID marks the file as ours ("fdic"), in the header of the database.
const applicationID = 0x66646963

func migrations() ([]string, error) { return scriptsIn(migrationFiles, "migrations") }

// scriptsIn are the scripts in order; script i leads from version i to i+1.
func scriptsIn(files embed.FS, dir string) ([]string, error) {
	names, err := fs.Glob(files, dir+"/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	scripts := make([]string, len(names))
	for i, name := range names {
		var number int
		if _, err := fmt.Sscanf(name, dir+"/%04d_", &number); err != nil || number != i+1 {
			return nil, fmt.Errorf("list migrations: %s is not number %d", name, i+1)
		}
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		scripts[i] = string(text)
	}
	return scripts, nil
}

// migrate brings the schema to the newest version. Each step is one
// transaction together with its row in the table schema: a crash between two
// steps leaves a database of the version in between, and the next start goes on.
func migrate(c *conn, id int, scripts []string, now time.Time) error {
	version, err := schemaVersion(c, id)
	if err != nil {
		return err
	}
	if version > len(scripts) {
		return fmt.Errorf("schema version %d is newer than %d, the newest this program knows", version, len(scripts))
	}
	for ; version < len(scripts); version++ {
		if err := apply(c, id, version+1, scripts[version], now); err != nil {
			c.fatal = nil
			c.exec("ROLLBACK") // fails if SQLite has done so already
			return fmt.Errorf("migrate to schema version %d: %w", version+1, err)
		}
	}
	return nil
}

func apply(c *conn, id, version int, script string, now time.Time) error {
	if err := c.once("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	if version == 1 {
		script = fmt.Sprintf("PRAGMA application_id = %d;\n", id) +
			"CREATE TABLE schema (version INTEGER PRIMARY KEY, applied INTEGER NOT NULL) STRICT;\n" + script
	}
	if version == 2 && id == applicationID {
		missing, err := early(c)
		if err != nil {
			return err
		}
		script = missing + script
	}
	if err := c.once(script); err != nil {
		return err
	}
	if _, err := c.exec("INSERT INTO schema (version, applied) VALUES (?, ?)", version, now); err != nil {
		return err
	}
	return c.once("COMMIT")
}

// schemaVersion is 0 for an empty file, and an error for a database of
// another program.
func schemaVersion(c *conn, want int) (version int, err error) {
	var id, tables int
	err = c.query(func(r *row) { id = r.int(0) }, "PRAGMA application_id")
	if err == nil {
		err = c.query(func(r *row) { tables = r.int(0) }, "SELECT count(*) FROM sqlite_schema")
	}
	switch {
	case err != nil:
		return 0, fmt.Errorf("read schema version: %w", err)
	case id == 0 && tables == 0:
		return 0, nil
	case id != want:
		return 0, fmt.Errorf("read schema version: this is a database of another program (application id %#x)", id)
	}
	err = c.query(func(r *row) { version = r.int(0) }, "SELECT coalesce(max(version), 0) FROM schema")
	if err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	return version, nil
}
