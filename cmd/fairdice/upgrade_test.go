package main

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"fairdice/audit"
	"fairdice/client"
	"fairdice/internal/selfplay"
	"fairdice/replay"
	"fairdice/store/postgres/pgtest"
)

// kept is a service of long ago: the data directory that the first program
// with a database has left, and what it was asked and had answered.
type kept struct {
	Key, LogKey string
	Unfinished  []string // matches of the variant short, in their first game
	Rows        []struct{ Path, Request, Answer string }

	dir string
}

// openKept unpacks one into a directory.
func openKept(t *testing.T, name string) kept {
	t.Helper()
	k := kept{dir: t.TempDir()}
	for _, file := range []string{"log.key", "receipts.key", "master.key", "head"} {
		b, err := os.ReadFile(filepath.Join("testdata", name, file))
		if err == nil {
			err = os.WriteFile(filepath.Join(k.dir, file), b, 0o600)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := json.Unmarshal(unzip(t, filepath.Join("testdata", name, "asked.json.gz")), &k); err != nil {
		t.Fatal(err)
	}
	return k
}

func unzip(t *testing.T, path string) []byte {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(z)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// dated is the last line of a statement, as JSON has it.
var dated = regexp.MustCompile(`\\ntime ([^\\]+Z)\\n"`)

// added is what answers have now that they had not in every program that left
// a service here: the commit beside a roll.
var added = regexp.MustCompile(`"commit":\{"index":\d+,"path":\[[^]]*\],"text":"[^"]*"\},`)

// then is a clock that goes on a minute after the last statement was made:
// games of a kept service are not over because it was kept for long.
func (k kept) then(t *testing.T) func() time.Time {
	t.Helper()
	var last time.Time
	for _, r := range k.Rows {
		for _, m := range dated.FindAllStringSubmatch(r.Answer, -1) {
			at, err := time.Parse(time.RFC3339, m[1])
			if err != nil {
				t.Fatal(err)
			}
			if at.After(last) {
				last = at
			}
		}
	}
	if last.IsZero() {
		t.Fatal("no answer has a statement")
	}
	began := time.Now()
	return func() time.Time { return last.Add(time.Minute + time.Since(began)) }
}

// goesOn has today's program serve what was kept: what was answered then is
// answered today, games that were being played go on to their end, and the
// archive of it all is verified.
func (k kept) goesOn(t *testing.T, database string) {
	now := k.then(t)
	s, key := startService(t, func(c *config) {
		c.data, c.master, c.db, c.now = k.dir, filepath.Join(k.dir, "master.key"), database, now
	})
	if key != "" {
		t.Fatal("the upgraded service does not know its tenant")
	}
	for _, r := range k.Rows {
		status, answer, err := put(t.Context(), http.DefaultTransport, s.url()+r.Path, k.Key, r.Request)
		if err != nil {
			t.Fatal(err)
		}
		if status != http.StatusOK || added.ReplaceAllString(answer, "") != added.ReplaceAllString(r.Answer, "") {
			t.Errorf("%s %s was answered\n%s\nand is now, with status %d,\n%s", r.Path, r.Request, r.Answer, status, answer)
		}
	}
	c, err := client.New(s.url(), client.WithKey(k.Key))
	if err != nil {
		t.Fatal(err)
	}
	for _, u := range k.Unfinished {
		host := croupier{api: c, match: u, moves: selfplay.New(selfplay.Greedy, 1)}
		if err := host.resume(t.Context(), shortSetting(t)); err != nil {
			t.Fatalf("match %s: %v", u, err)
		}
		bundle, err := c.Bundle(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		if r := audit.Verify(bundle, audit.Trust{Key: k.LogKey}); r.Verdict != audit.Verified {
			t.Errorf("match %s is %s: %v", u, r.Verdict, r.Failed())
		}
	}
	a := newAftermath(t, k.dir, database, k.LogKey)
	if err := a.inspect(t.Context()); err != nil {
		t.Error(err)
	}
	if r := a.audit(t, nil); r.Verdict != audit.Verified {
		t.Error(r.Text())
	}
}

// TestUpgrade: services that the first program with a database of each kind
// has left.
func TestUpgrade(t *testing.T) {
	t.Run("SQLite", func(t *testing.T) {
		t.Parallel()
		k := openKept(t, "first")
		if err := os.WriteFile(filepath.Join(k.dir, "fairdice.db"), unzip(t, "testdata/first/fairdice.db.gz"), 0o600); err != nil {
			t.Fatal(err)
		}
		k.goesOn(t, "")
	})
	t.Run("PostgreSQL", func(t *testing.T) {
		t.Parallel()
		server := pgtest.Start(t)
		k, address := openKept(t, "first-postgres"), server.Database(t)
		if err := server.Exec(address, string(unzip(t, "testdata/first-postgres/fairdice.sql.gz"))); err != nil {
			t.Fatal(err)
		}
		k.goesOn(t, address)
	})
}

// resume plays a game to its end from wherever its record stands.
func (c *croupier) resume(ctx context.Context, s replay.Setting) error {
	answer, err := c.api.Record(ctx, c.match, s.Game, "")
	if err != nil {
		return err
	}
	record, err := replay.ParseRecord([]byte(answer.Record))
	if err != nil {
		return err
	}
	st, err := replay.Start(s)
	if err != nil {
		return err
	}
	lines := 0
	for !st.Over() {
		var e replay.Event
		if lines < len(record.Lines) {
			e, err = replay.ParseEvent(record.Lines[lines])
		} else if next, ok := c.moves.Next(st); ok {
			e = next
			_, err = c.api.Append(ctx, c.match, s.Game, lines+1, e.String())
		} else {
			e, err = c.roll(ctx, s.Game, st)
		}
		if err != nil {
			return err
		}
		if st, err = st.Apply(&c.gen, e); err != nil {
			return err
		}
		lines++
	}
	_, err = c.api.CloseGame(ctx, c.match, s.Game, 0)
	return err
}
