package postgres

import (
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// migrationLock is what instances that start at the same time queue for
// ("fairdice" in ASCII, as advisory locks are numbers).
const migrationLock = 0x6661697264696365

// migrations are the scripts in order; script i leads from version i to i+1.
func migrations() ([]string, error) {
	names, err := fs.Glob(migrationFiles, "migrations/*.sql")
	if err != nil {
		return nil, fmt.Errorf("list migrations: %w", err)
	}
	scripts := make([]string, len(names))
	for i, name := range names {
		var number int
		if _, err := fmt.Sscanf(name, "migrations/%04d_", &number); err != nil || number != i+1 {
			return nil, fmt.Errorf("list migrations: %s is not number %d", name, i+1)
		}
		text, err := migrationFiles.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read migration: %w", err)
		}
		scripts[i] = string(text)
	}
	return scripts, nil
}

// migrate brings the schema to the newest version. Each step is one
// transaction together with its row in fairdice_schema: a crash between two
// steps leaves a database of the version in between, and the next start goes on.
func migrate(c *conn, scripts []string, now time.Time) (err error) {
	if err := c.script(fmt.Sprintf("SET statement_timeout = 0; SELECT pg_advisory_lock(%d)", migrationLock)); err != nil {
		return fmt.Errorf("lock schema: %w", err)
	}
	defer func() {
		unlock := c.script(fmt.Sprintf("SELECT pg_advisory_unlock(%d); RESET statement_timeout", migrationLock))
		err = errors.Join(err, unlock)
	}()
	version, err := schemaVersion(c)
	if err != nil {
		return err
	}
	if version > len(scripts) {
		return fmt.Errorf("schema version %d is newer than %d, the newest this program knows", version, len(scripts))
	}
	for ; version < len(scripts); version++ {
		step := scripts[version]
		if version == 0 {
			step = "CREATE TABLE fairdice_schema (version bigint PRIMARY KEY, applied bigint NOT NULL);\n" + step
		}
		err := c.script(fmt.Sprintf("BEGIN;\n%s\n;INSERT INTO fairdice_schema (version, applied) VALUES (%d, %d);\nCOMMIT", step, version+1, now.Unix()))
		if err != nil {
			return errors.Join(fmt.Errorf("migrate to schema version %d: %w", version+1, err), c.script("ROLLBACK"))
		}
	}
	return nil
}

// schemaVersion is 0 for an empty schema, and an error for one of another program.
func schemaVersion(c *conn) (version int, err error) {
	var ours, tables int
	_, err = c.send(func(r *row) { ours, tables = r.int(0), r.int(1) }, call{sql: `SELECT count(*) FILTER (WHERE tablename = 'fairdice_schema'), count(*) FROM pg_tables WHERE schemaname = current_schema()`})
	switch {
	case err != nil:
		return 0, fmt.Errorf("read schema version: %w", err)
	case tables == 0:
		return 0, nil
	case ours == 0:
		return 0, fmt.Errorf("read schema version: this is a database of another program, with %d tables", tables)
	}
	if _, err = c.send(func(r *row) { version = r.int(0) }, call{sql: "SELECT coalesce(max(version), 0) FROM fairdice_schema"}); err != nil {
		return 0, fmt.Errorf("read schema version: %w", err)
	}
	return version, nil
}
