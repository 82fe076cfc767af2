package archive

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"fairdice/audit"
	"fairdice/audit/stats"
	"fairdice/commitment"
	"fairdice/replay"
)

// job is a match with the file that the archive has for it.
type job struct {
	n    int
	id   string
	data []byte
	err  error
}

// outcome is what a match adds to the report.
type outcome struct {
	n       int
	report  audit.MatchReport
	tallies []stats.Tally
	err     error // of the audit's own means
}

// saveEvery is how often progress is saved.
const saveEvery = 20 * time.Second

// verifyMatches is the second pass. One goroutine reads files, several verify,
// and this one adds up, so that the report does not depend on their number.
func (a *auditor) verifyMatches(ctx context.Context) error {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	auditor := &audit.Auditor{Trust: a.Trust, Origin: a.checkpoints.Origin(), Witnessed: a.checkpoints.Witnessed(), Signatures: a.Signatures}
	if !a.gathered.Signed {
		auditor.Trust.Key, auditor.Trust.Policy = "", nil // what nobody signed proves no level
	}
	a.before = slices.Clone(a.done)
	jobs, outcomes := make(chan job), make(chan outcome)
	var readErr error
	var all sync.WaitGroup
	all.Go(func() {
		defer close(jobs)
		readErr = a.readMatches(ctx, jobs)
	})
	var working sync.WaitGroup
	for range a.workers() {
		working.Go(func() {
			for j := range jobs {
				select {
				case outcomes <- a.verifyMatch(ctx, auditor, j):
				case <-ctx.Done():
					return
				}
			}
		})
	}
	all.Go(func() {
		working.Wait()
		close(outcomes)
	})
	err := a.collect(ctx, outcomes)
	stop()
	all.Wait()
	if err == nil {
		err = readErr
	}
	if err != nil {
		if saveErr := a.save(true); saveErr != nil {
			err = errors.Join(err, saveErr)
		}
	}
	return err
}

// mostSought bounds how many matches findMatches looks for.
const mostSought = 8

// findMatches tells an archive from a log: a service serves the log alone, and
// every game in it would be reported as missing.
func (a *auditor) findMatches(ctx context.Context) error {
	if a.logOnly || a.exported {
		return nil
	}
	sought := 0
	for _, id := range a.book.Matches() {
		if sought == mostSought {
			break
		}
		if _, err := a.files.Read(ctx, MatchName(id), audit.MaxMatchFile); !errors.Is(err, ErrMissing) {
			return ctx.Err()
		}
		sought++
	}
	if sought == 0 {
		return nil
	}
	return fmt.Errorf("there is a log here, and no archive: no %s, and no file of a match; verify log checks a log", KeyFile)
}

// collect adds up the outcomes until all are there.
func (a *auditor) collect(ctx context.Context, outcomes <-chan outcome) error {
	total := 0
	for range a.book.Matches() {
		total++
	}
	a.saved = time.Now()
	a.progress("matches", a.gathered.Matches, int64(total))
	for out := range outcomes {
		if out.err != nil {
			return out.err
		}
		a.count(out)
		a.progress("matches", a.gathered.Matches, int64(total))
		if time.Since(a.saved) > saveEvery {
			if err := a.save(false); err != nil {
				return err
			}
		}
	}
	return ctx.Err()
}

// readMatches hands out the matches that are not done yet.
func (a *auditor) readMatches(ctx context.Context, jobs chan<- job) error {
	send := func(j job) error {
		select {
		case jobs <- j:
			return nil
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if a.logOnly {
		for n, id := range a.todo() {
			if err := send(job{n: n, id: id}); err != nil {
				return err
			}
		}
		return nil
	}
	names := func(yield func(string) bool) {
		for _, id := range a.todo() {
			if !yield(MatchName(id)) {
				return
			}
		}
	}
	return a.files.Each(ctx, names, audit.MaxMatchFile, func(name string, data []byte, err error) error {
		id := matchOf(name)
		n, ok := a.book.Match(id)
		if !ok {
			return fmt.Errorf("read archive: the reader brought a file that was not asked for: %s", name)
		}
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		return send(job{n, id, data, err})
	})
}

// todo yields the matches that were not done when the audit began or went on.
func (a *auditor) todo() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for n, id := range a.book.Matches() {
			if !isDone(a.before, n) && !yield(n, id) {
				return
			}
		}
	}
}

// verifyMatch verifies one match.
func (a *auditor) verifyMatch(ctx context.Context, auditor *audit.Auditor, j job) outcome {
	out := outcome{n: j.n}
	entries, err := a.book.Collect(j.n, a.text)
	if err != nil {
		out.err = err
		return out
	}
	in := audit.MatchInput{Match: j.id, Entries: entries, LogOnly: a.logOnly}
	texts := make([][]byte, len(entries))
	for i, e := range entries {
		texts[i] = e.Text
	}
	in.Archives = a.throws(ctx, texts)
	switch {
	case j.err == nil && !a.logOnly:
		in.File, in.Broken = audit.ParseMatchFile(j.data)
	case j.err != nil && !errors.Is(j.err, ErrMissing):
		in.Broken = j.err
	}
	if in.Broken != nil {
		in.Broken = fmt.Errorf("%w: %s", in.Broken, MatchName(j.id))
	}
	out.report = auditor.Match(in)
	if a.logOnly {
		return out
	}
	mode, err := commitment.ParseMode(out.report.Mode)
	if err != nil {
		return out // without an open there is nothing to count
	}
	for _, p := range out.report.Played {
		g, ok := sample(mode, p)
		if !ok {
			continue
		}
		out.tallies = append(out.tallies, stats.Measure(g))
	}
	for i := range out.report.Played {
		out.report.Played[i].Dealt, out.report.Played[i].Withheld = nil, nil // large, and no longer needed
	}
	return out
}

// sample is what the statistics look at in a game that has ended.
func sample(mode commitment.Mode, p audit.Played) (stats.Game, bool) {
	g := stats.Game{Mode: mode, Served: p.Served, Dealt: p.Dealt, First: p.Dealt[1], White: -1}
	switch p.End {
	case audit.Closed:
		g.Lot = stats.Finished
	case audit.Aborted:
		g.Lot = stats.Dropped
	default:
		return g, false
	}
	if g.First == nil {
		g.First = p.Withheld
	}
	if p.Begun {
		g.White = int(p.White - replay.A)
	}
	return g, true
}

// count adds an outcome to the report.
func (a *auditor) count(out outcome) {
	g, r := &a.gathered, &out.report
	a.setDone(out.n)
	g.Matches++
	failed := a.countChecks(out)
	if r.Variant == "" {
		return
	}
	mode, err := commitment.ParseMode(r.Mode)
	if err != nil {
		return
	}
	level := r.Level
	if r.LevelNote != "" {
		level += ", " + r.LevelNote
	}
	for _, t := range out.tallies {
		g.Table.Add(mode, r.Tenant, r.Key, t)
	}
	c := g.games(r.Tenant, r.Mode, r.Variant)
	for _, p := range r.Played {
		g.Rolls += int64(len(p.Served))
		switch p.End {
		case audit.Closed:
			c.Closed++
			g.month(p.Ended).Closed++
		case audit.Aborted:
			c.Aborted++
			g.month(p.Ended).Aborted++
		default:
			c.Running++
			continue
		}
		c.Levels[level]++
		g.month(p.Ended).Levels[r.Level]++
		if failed {
			c.Faulty++
		}
	}
}

// countChecks counts what passed, failed and was left out, and keeps the
// findings.
func (a *auditor) countChecks(out outcome) (failed bool) {
	g, r := &a.gathered, &out.report
	type seen struct {
		pass, fail bool
		reason     string
	}
	status := map[audit.ID]seen{}
	for _, c := range r.Checks {
		s := status[c.ID]
		switch c.Status {
		case audit.Pass:
			s.pass = true
		case audit.Fail:
			s.fail, failed = true, true
			c.Match, c.Tenant, c.Mode = r.Match, r.Tenant, r.Mode
			g.check(c.ID).Faults++
			g.find(out.n, c)
		default:
			s.reason = c.Detail
		}
		status[c.ID] = s
	}
	for i := range g.Checks {
		c := &g.Checks[i]
		switch s := status[c.ID]; {
		case s.fail:
			c.Failed++
		case s.pass:
			c.Passed++
		default:
			c.Unchecked++
			if c.Reason == "" {
				c.Reason = s.reason
			}
		}
	}
	return failed
}
