//go:build unix

package house_test

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"

	"fairdice/commitment"
	"fairdice/store/postgres/pgtest"
)

// Whoever copies the database of a running game cannot compute its next die:
// the secret is in none of its bytes, however written, until the close reveals
// it.
func TestSecretsAtRest(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		b := newBench(t)
		secretsAtRest(t, b, func() (all []byte) {
			b.stop()
			defer b.start()
			for _, name := range []string{"test.db", "test.db-wal", "head"} {
				part, err := os.ReadFile(filepath.Join(b.dir, name))
				if err != nil && !os.IsNotExist(err) {
					t.Fatal(err)
				}
				all = append(all, part...)
			}
			return all
		})
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		address := pgtest.Database(t)
		b := instancesOn(t, address, 1)[0]
		secretsAtRest(t, b, func() []byte { return everyRow(t, address) })
	})
}

func secretsAtRest(t *testing.T, b *bench, copied func() []byte) {
	m := b.open("short", single, nil, nil)
	m.begin(1)
	m.step(1)
	running := copied()
	for m.step(1) {
	}
	a, err := b.CloseGame(b.ctx(), b.p, m.id, 1, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := commitment.Parse([]byte(a.Published.Statements[0].Text))
	if err != nil {
		t.Fatal(err)
	}
	secret := s.(commitment.Close).Secrets[0].Secret
	for form, text := range map[string]string{
		"bytes":      string(secret[:]),
		"hex":        hex.EncodeToString(secret[:]),
		"HEX":        strings.ToUpper(hex.EncodeToString(secret[:])),
		"base64":     base64.RawStdEncoding.EncodeToString(secret[:]),
		"base64 URL": base64.RawURLEncoding.EncodeToString(secret[:]),
	} {
		if bytes.Contains(running, []byte(text)) {
			t.Errorf("the database held the secret of a running game as %s", form)
		}
	}
	if !bytes.Contains(running, []byte(m.id)) {
		t.Error("what was copied of the database does not name the running game")
	}
	if !holds(copied(), secret) {
		t.Error("what was copied of the database does not have the secret that the close revealed: a secret could not be found in it")
	}
}

// holds looks for the revealed secret in the text of the close and in the same
// as the digits that PostgreSQL prints bytes in.
func holds(copied []byte, secret commitment.Secret) bool {
	text := []byte(secret.Reveal())
	return bytes.Contains(copied, text) || bytes.Contains(copied, fmt.Appendf(nil, "%x", text))
}

// everyRow is each row of each table as text, bytes in hex, and what was in hex
// already once more as it was.
func everyRow(t *testing.T, address string) []byte {
	t.Helper()
	c, err := pgconn.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close(t.Context())
	query := func(sql string) (rows []string) {
		results, err := c.Exec(t.Context(), sql).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		for _, row := range results[0].Rows {
			rows = append(rows, string(row[0]))
		}
		return rows
	}
	var all []byte
	for _, table := range query("SELECT quote_ident(table_name) FROM information_schema.tables WHERE table_schema = current_schema()") {
		for _, row := range query("SELECT r::text FROM " + table + " AS r") {
			all = append(append(all, row...), '\n')
			for _, field := range strings.Split(row, `\\x`)[1:] {
				digits := field[:len(field)-len(strings.TrimLeft(field, "0123456789abcdef"))]
				text, err := hex.DecodeString(digits)
				if err != nil {
					t.Fatal(err)
				}
				all = append(append(all, text...), '\n')
			}
		}
	}
	return all
}
