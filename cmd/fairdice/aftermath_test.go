package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"fairdice/audit"
	"fairdice/audit/archive"
	"fairdice/commitment"
	"fairdice/store"
	"fairdice/translog"
)

// aftermath looks at what a crash has left, from outside and from inside.
type aftermath struct {
	database string // address
	data     string // directory
	exported string // the archive, which every look continues
	logKey   string
	verifier note.Verifier
	settled  map[string]bool // matches that had ended and were gone through
	audited  int             // archives
}

func newAftermath(t *testing.T, data, database, logKey string) *aftermath {
	t.Helper()
	v, err := commitment.ParseVerifier(logKey)
	if err != nil {
		t.Fatal(err)
	}
	if database == "" {
		database = config{data: data}.database()
	}
	return &aftermath{database: database, data: data, exported: filepath.Join(t.TempDir(), "archive"),
		logKey: logKey, verifier: v, settled: map[string]bool{}}
}

// inspect goes through the database beside the service: no number is left out
// or used twice, and every checkpoint that was ever signed is a state of the
// log that is there. So each of them is the beginning of the next.
func (a *aftermath) inspect(ctx context.Context) (err error) {
	db, err := openToRead(ctx, a.database, 1)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	return db.View(ctx, func(r store.Reader) error {
		return errors.Join(a.statements(r), sequences(r), a.matches(r))
	})
}

func (a *aftermath) statements(r store.Reader) error {
	head, err := r.LogHead()
	if err != nil {
		return err
	}
	entries, err := r.Entries(0, math.MaxInt64)
	if err != nil {
		return err
	}
	if int64(len(entries)) != head.Size {
		return fmt.Errorf("%d statements in a log of size %d", len(entries), head.Size)
	}
	var hashes memory
	var last time.Time
	for i, e := range entries {
		s, err := commitment.Parse(e.Text)
		if err != nil || e.Index != int64(i) || s.When().Before(last) {
			return fmt.Errorf("statement %d has index %d, and is dated %s after %s: %w", i, e.Index, s.When(), last, err)
		}
		last = s.When()
		more, err := tlog.StoredHashes(int64(i), e.Text, hashes)
		if err != nil {
			return err
		}
		hashes = append(hashes, more...)
	}
	stored, err := r.LogHashes(indexesOf(len(hashes)))
	if err != nil {
		return err
	}
	for i, h := range stored {
		if h != hashes[i] {
			return fmt.Errorf("stored hash %d is %x, of the statements %x", i, h, hashes[i])
		}
	}
	for size := int64(1); size <= head.Size; {
		c, err := r.Checkpoint(size)
		if errors.Is(err, store.ErrNotFound) {
			break // the end of the log is not signed yet
		} else if err != nil {
			return err
		}
		signed, err := translog.OpenCheckpoint(c.Note, a.verifier)
		if err != nil {
			return err
		}
		root, err := translog.Root(signed.Size, hashes)
		if err != nil || root != signed.Root || signed.Size != c.Size {
			return fmt.Errorf("checkpoint of %d statements: signed is %s, they hash to %s: %w", c.Size, signed.Root, root, err)
		}
		size = c.Size + 1
	}
	return nil
}

func indexesOf(n int) []int64 {
	all := make([]int64, n)
	for i := range all {
		all[i] = int64(i)
	}
	return all
}

func sequences(r store.Reader) error {
	tenants, err := r.Tenants()
	if err != nil {
		return err
	}
	for _, t := range tenants {
		for _, m := range commitment.Modes() {
			rows, err := r.Sequences(t.Name, m.String(), 0, math.MaxInt32)
			if err != nil {
				return err
			}
			for i, q := range rows {
				if q.Number != uint64(i) {
					return fmt.Errorf("sequence %d of mode %s has number %d", i, m, q.Number)
				}
			}
		}
	}
	return nil
}

func (a *aftermath) matches(r store.Reader) error {
	matches, err := r.Matches("", math.MaxInt32)
	if err != nil {
		return err
	}
	for _, m := range matches {
		if a.settled[m.ID] {
			continue
		}
		games, err := r.Games(m.ID)
		if err != nil {
			return err
		}
		if len(games) != m.Games {
			return fmt.Errorf("match %s has %d games, not %d", m.ID, len(games), m.Games)
		}
		for i, g := range games {
			if err := rolls(r, g); err != nil || g.Number != i+1 {
				return fmt.Errorf("match %s, game %d is number %d: %w", m.ID, i+1, g.Number, err)
			}
		}
		a.settled[m.ID] = m.Finish >= 0
	}
	return nil
}

// rolls demands that the rolls of a game are numbered without a gap, that each
// receipt names the one before, and that the record has all its lines.
func rolls(r store.Reader, g store.Game) error {
	drawn, err := r.Rolls(g.Match, g.Number)
	if err != nil {
		return err
	}
	type place struct {
		segment int
		stream  string
	}
	next := map[place]int{}
	sum := map[string]int{}
	var before *commitment.Hash
	for i, roll := range drawn {
		at := place{roll.Segment, roll.Stream}
		if roll.Ordinal != i || roll.Index != next[at] {
			return fmt.Errorf("roll %d has ordinal %d and index %d instead of %d in %v", i, roll.Ordinal, roll.Index, next[at], at)
		}
		next[at]++
		sum[roll.Stream]++
		n, err := commitment.ParseNote(roll.Receipt)
		if err != nil {
			return err
		}
		receipt, err := commitment.ParseReceipt([]byte(n.Text))
		if err != nil {
			return err
		}
		if (receipt.Previous == nil) != (before == nil) || before != nil && *receipt.Previous != *before {
			return fmt.Errorf("the receipt of roll %d does not name the one before", i)
		}
		h := receipt.Hash()
		before = &h
	}
	for i, s := range commitment.Streams() {
		if sum[s.String()] != g.Rolls[i] {
			return fmt.Errorf("%d rolls of stream %s, the game has %d", sum[s.String()], s, g.Rolls[i])
		}
	}
	if before == nil && g.Receipt != nil || before != nil && !bytes.Equal(before[:], g.Receipt) {
		return fmt.Errorf("the game's last receipt is %x, that of its last roll %v", g.Receipt, before)
	}
	lines, err := r.Events(g.Match, g.Number, 1)
	if err != nil {
		return err
	}
	if len(lines) != g.Lines {
		return fmt.Errorf("%d lines of the record, the game has %d", len(lines), g.Lines)
	}
	return nil
}

// audit exports the archive beside the service, continuing the one before, and
// has it verified like a stranger would. Every checkpoint in seen must be a
// state of its log.
func (a *aftermath) audit(t *testing.T, seen []string) *archive.Result {
	t.Helper()
	args := []string{"archive", "export", "--data", a.data, a.exported}
	if isShared(a.database) {
		args = append(args, "--database", a.database)
	}
	if out, err := run(t, args...); err != nil {
		t.Fatalf("export: %v\n%s", err, out)
	}
	a.audited++
	return verifyArchive(t, a.exported, a.logKey, seen)
}

func verifyArchive(t *testing.T, dir, logKey string, seen []string) *archive.Result {
	t.Helper()
	r, err := archive.Verify(t.Context(), folder(dir), archive.Options{Trust: audit.Trust{Key: logKey}, Seen: seen, Signatures: true})
	if err != nil {
		t.Fatal(err)
	}
	if r.Verdict != audit.Verified {
		t.Errorf("the archive is %s:\n%s", r.Verdict, r.Text())
	}
	return r
}

// folder is an archive in a directory.
type folder string

func (f folder) Read(_ context.Context, name string, limit int64) ([]byte, error) {
	data, err := os.ReadFile(filepath.Join(string(f), filepath.FromSlash(name)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w", name, archive.ErrMissing)
	}
	if err == nil && int64(len(data)) > limit {
		err = fmt.Errorf("%s has more than %d bytes", name, limit)
	}
	return data, err
}

func (f folder) List(_ context.Context, dir string) (names []string, err error) {
	list, err := os.ReadDir(filepath.Join(string(f), filepath.FromSlash(dir)))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, archive.ErrMissing
	}
	for _, e := range list {
		names = append(names, e.Name())
	}
	return names, err
}

func (f folder) Each(ctx context.Context, names iter.Seq[string], limit int64, visit func(string, []byte, error) error) error {
	for name := range names {
		data, err := f.Read(ctx, name, limit)
		if err := visit(name, data, err); err != nil {
			return err
		}
	}
	return nil
}

// memory holds the stored hashes of a log.
type memory []tlog.Hash

// ReadHashes implements tlog.HashReader.
func (m memory) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	list := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		list[i] = m[x]
	}
	return list, nil
}
