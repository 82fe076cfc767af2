package export

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"fairdice/commitment"
	"fairdice/replay"
	"fairdice/rules"
	"fairdice/store"
)

// job makes a file that a statement calls for, or finds that there is none to make.
type job func(r store.Reader) (file, error)

// file is one of the archive; without a name there is none.
type file struct {
	name string
	data []byte
}

// chunk works off the statements from first to end, which is the end of a
// bundle or of the archive.
func (x *exporter) chunk(ctx context.Context, first, end int64) error {
	var jobs []job
	if err := ctx.Err(); err != nil {
		return err
	}
	err := x.Store.View(ctx, func(r store.Reader) error {
		// The bundle that first lies in was partial until now.
		start := first / bundle * bundle
		entries, err := r.Entries(start, end)
		if err != nil {
			return fmt.Errorf("read statements from %d: %w", start, err)
		}
		if int64(len(entries)) != end-start {
			return fmt.Errorf("read statements from %d: %d of %d signed ones are stored", start, len(entries), end-start)
		}
		for n := start; n+bundle <= end; n += bundle {
			if err := x.bundle(n/bundle, entries[n-start:n-start+bundle], bundle); err != nil {
				return err
			}
		}
		for _, e := range entries[first-start:] {
			more, err := x.jobs(e)
			if err != nil {
				return fmt.Errorf("read statement %d: %w", e.Index, err)
			}
			jobs = append(jobs, more...)
		}
		return x.fullTiles(r, first, end)
	})
	if err != nil {
		return err
	}
	return x.work(ctx, jobs)
}

// jobs are the files that a statement calls for.
func (x *exporter) jobs(e store.Entry) (jobs []job, err error) {
	s, err := commitment.Parse(e.Text)
	if err != nil {
		return nil, err
	}
	index := e.Index
	var secrets []commitment.RevealedSecret
	match := ""
	switch s := s.(type) {
	case commitment.Close:
		match, secrets = s.Match, s.Secrets
	case commitment.Abort:
		match, secrets = s.Match, s.Secrets
	case commitment.Retire:
		secrets = []commitment.RevealedSecret{{Sequence: s.Sequence}}
	case commitment.Assign:
		// Level L1 hangs on a cosigned checkpoint that contains the assign, early
		// enough (PROTOCOL.md §4), so the first one is in the archive.
		if s.Round != nil && x.Policy != "" {
			jobs = append(jobs, func(r store.Reader) (file, error) { return x.checkpoint(r, index+1) })
		}
	}
	if index%bundle == 0 && x.Policy != "" {
		jobs = append(jobs, func(r store.Reader) (file, error) { return x.checkpoint(r, index+1) })
	}
	if match != "" {
		jobs = append(jobs, func(r store.Reader) (file, error) { return x.match(r, match, index) })
	}
	for _, secret := range secrets {
		jobs = append(jobs, func(r store.Reader) (file, error) { return x.throws(r, secret.Sequence) })
	}
	return jobs, nil
}

// work does the jobs, several at once, and puts their files one after the other
// in the order of the log. The first error ends it.
func (x *exporter) work(ctx context.Context, jobs []job) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	turns := make([]chan struct{}, len(jobs)+1) // closed when job n may put its file
	for n := range turns {
		turns[n] = make(chan struct{})
	}
	close(turns[0])
	one := func(n int) error {
		var f file
		err := x.Store.View(ctx, func(r store.Reader) (err error) {
			f, err = jobs[n](r)
			return err
		})
		if err != nil {
			return err
		}
		if x.ordered {
			select {
			case <-turns[n]:
			case <-ctx.Done():
				return ctx.Err()
			}
			defer close(turns[n+1])
		}
		if f.name == "" {
			return nil
		}
		return x.out.put(f.name, f.data)
	}
	var wg sync.WaitGroup
	for range min(x.Workers, len(jobs)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				n := int(next.Add(1)) - 1
				if n >= len(jobs) {
					return
				}
				if err := one(n); err != nil {
					cancel(err)
				}
			}
		})
	}
	wg.Wait()
	return context.Cause(ctx)
}

// checkpoint writes the first cosigned checkpoint of at least size statements.
func (x *exporter) checkpoint(r store.Reader, size int64) (file, error) {
	c, err := r.Cosigned(size)
	if errors.Is(err, store.ErrNotFound) || err == nil && c.Size > x.target.Size {
		return file{}, nil
	} else if err != nil {
		return file{}, err
	}
	return file{fmt.Sprintf("checkpoints/%d", c.Size), []byte(c.Cosigned)}, nil
}

// throws writes the recorded throws of a sequence whose secret is published.
func (x *exporter) throws(r store.Reader, sequence string) (file, error) {
	q, err := r.Sequence(sequence)
	if err != nil || q.Mode != commitment.Real.String() {
		return file{}, err
	}
	if x.Throws == nil {
		return file{}, fmt.Errorf("the throws of sequence %s are sealed, and the master key is not there", sequence)
	}
	hash, text, err := x.Throws(r, sequence)
	return file{"throws/" + hash.String(), text}, err
}

// matchFile is the file of one match (docs/design.md, "The archive").
type matchFile struct {
	Format string     `json:"format"`
	Match  string     `json:"match"`
	Games  []gameFile `json:"games"`
}

type gameFile struct {
	Game     int      `json:"game"`
	Record   string   `json:"record"`
	Receipts []string `json:"receipts"`
}

func matchName(match string) string {
	sum := sha256.Sum256([]byte(match))
	return "matches/" + hex.EncodeToString(sum[:1]) + "/" + match + ".json"
}

// match writes the games of a match that end inside the archive, unless a
// later statement than index ends one: then that one writes them all.
func (x *exporter) match(r store.Reader, match string, index int64) (file, error) {
	games, err := r.Games(match)
	if err != nil {
		return file{}, err
	}
	m := matchFile{Format: "fairdice/v1/match", Match: match}
	var ended []store.Game
	for _, g := range games {
		if g.End < 0 || g.End >= x.target.Size {
			continue
		}
		if g.End > index {
			return file{}, nil
		}
		ended = append(ended, g)
	}
	head, err := headerOf(r, match)
	if err != nil {
		return file{}, fmt.Errorf("match %s: %w", match, err)
	}
	for _, g := range ended {
		one, err := readGame(r, head, g)
		if err != nil {
			return file{}, fmt.Errorf("match %s: game %d: %w", match, g.Number, err)
		}
		m.Games = append(m.Games, one)
	}
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(m); err != nil {
		return file{}, err
	}
	atomic.AddInt64(&x.sum.Matches, 1)
	atomic.AddInt64(&x.sum.Games, int64(len(m.Games)))
	return file{matchName(match), bytes.TrimRight(buf.Bytes(), "\n")}, nil
}

// headerOf is what the records of a match have in common.
func headerOf(r store.Reader, match string) (replay.Header, error) {
	var h replay.Header
	row, err := r.Match(match)
	if err != nil {
		return h, err
	}
	e, err := r.Entry(row.Open)
	if err != nil {
		return h, err
	}
	s, err := commitment.Parse(e.Text)
	if err != nil {
		return h, err
	}
	open, ok := s.(commitment.Open)
	if !ok {
		return h, fmt.Errorf("statement %d is a %s, not its open", row.Open, s.Type())
	}
	v, err := rules.Lookup(open.Variant)
	if err != nil {
		return h, err
	}
	h.Match, h.Variant = match, v.ID
	h.Options, err = replay.ParseOptions(open.Options)
	return h, err
}

// readGame is a game as it was played. Its record must still have the head that
// the database keeps beside it.
func readGame(r store.Reader, h replay.Header, row store.Game) (gameFile, error) {
	g := gameFile{Game: row.Number, Receipts: []string{}}
	h.Game, h.Score, h.Crawford = row.Number, row.Score, row.Crawford
	lines, err := r.Events(h.Match, row.Number, 1)
	if err != nil {
		return g, err
	}
	var b strings.Builder
	b.WriteString(h.Text())
	head := h.Head()
	for _, l := range lines {
		b.WriteString(l)
		b.WriteByte('\n')
		head = head.Next(l)
	}
	if len(lines) != row.Lines || head != row.Head {
		return g, fmt.Errorf("damaged record: %d lines with head %s, expected %d with %x", len(lines), head, row.Lines, row.Head)
	}
	g.Record = b.String()
	rolls, err := r.Rolls(h.Match, row.Number)
	if err != nil {
		return g, err
	}
	for _, roll := range rolls {
		g.Receipts = append(g.Receipts, roll.Receipt)
	}
	return g, nil
}
