package house

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"time"

	"fairdice/audit/stats"
	"fairdice/commitment"
	"fairdice/store"
)

// Statistics are what was counted of the dice of ended games, and the tests of
// docs/statistics.md on it.
type Statistics struct {
	Groups []StatisticsGroup // by tenant and mode
	// Uncounted are statements of the log among which there may be ends of games
	// that are not counted yet, because they are older than the counting.
	Uncounted int64
	Report    stats.Report
}

// StatisticsGroup is what was counted of a tenant and mode.
type StatisticsGroup struct {
	Tenant, Mode string
	Tally        stats.Tally
}

// keptReports is how many reports are kept of counts that have not changed: the
// tests cost a tenth of a second a mode, whoever asks for them.
const keptReports = 64

// Statistics answers the counts of a tenant and a mode, "" for all. Games of
// several tenants are tested together, mode by mode. It reads a row for each
// tenant and mode, however many games there are.
func (h *House) Statistics(ctx context.Context, tenant, mode string) (Statistics, error) {
	if mode != "" {
		if _, err := commitment.ParseMode(mode); err != nil {
			return Statistics{}, refuse(Malformed, "unknown mode %q", mode)
		}
	}
	if tenant != "" && !isToken(tenant) {
		return Statistics{}, refuse(Malformed, "tenant %q is not 1 to 64 of A-Z a-z 0-9 . _ -", tenant)
	}
	var rows []store.Tally
	var counting store.Counting
	err := h.store.View(ctx, func(r store.Reader) (err error) {
		if rows, err = r.Tallies(); err != nil {
			return err
		}
		counting, err = r.Counting()
		return err
	})
	if err != nil {
		return Statistics{}, err
	}
	out := Statistics{Groups: []StatisticsGroup{}, Uncounted: counting.Until - counting.Done}
	byMode := make(map[string]stats.Tally)
	for _, row := range rows {
		if tenant != "" && row.Tenant != tenant || mode != "" && row.Mode != mode {
			continue
		}
		sums, err := readTally(row)
		if err != nil {
			return Statistics{}, err
		}
		out.Groups = append(out.Groups, StatisticsGroup{Tenant: row.Tenant, Mode: row.Mode, Tally: sums})
		all := byMode[row.Mode]
		all.Add(&sums)
		byMode[row.Mode] = all
	}
	table := stats.NewTable()
	for _, m := range commitment.Modes() {
		if sums, ok := byMode[m.String()]; ok {
			table.Rows = append(table.Rows, stats.Row{Group: stats.Group{Mode: m.String()}, Tally: sums})
		}
	}
	key := sha256.Sum256(fmt.Append(nil, table.Rows))
	report, ok := h.reports.Get(key)
	if !ok {
		if err := ctx.Err(); err != nil {
			return Statistics{}, err
		}
		report = table.Report()
		h.reports.Add(key, report)
	}
	out.Report = report
	return out, nil
}

// CountBatch is how many statements of an older log are counted at once.
const CountBatch = 256

// countAgain is when a count that has failed is tried again.
const countAgain = time.Minute

// count counts the games that ended before the database had tallies, until all are.
func (h *House) count(ctx context.Context) {
	defer close(h.countDone)
	for {
		more, err := h.Count(ctx)
		wait := time.Duration(0)
		switch {
		case ctx.Err() != nil || err == nil && !more:
			return
		case err != nil:
			h.log.Error("older games not counted", "error", err)
			wait = countAgain
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(wait):
		}
	}
}

// Count counts one batch of games that ended before the database had tallies,
// and reports whether there are more. The tallies and how far they go change in
// one transaction: a crash counts nothing twice and leaves nothing out, and so
// do several instances that count at once.
func (h *House) Count(ctx context.Context) (more bool, err error) {
	var from store.Counting
	found := make(map[[2]string]stats.Tally)
	err = h.store.View(ctx, func(r store.Reader) error {
		if from, err = r.Counting(); err != nil || from.Done >= from.Until {
			return err
		}
		entries, err := r.Entries(from.Done, min(from.Done+CountBatch, from.Until))
		if err != nil {
			return fmt.Errorf("read log: %w", err)
		}
		for _, e := range entries {
			s, err := commitment.Parse(e.Text)
			if err != nil {
				return fmt.Errorf("read statement %d: %w", e.Index, err)
			}
			tenant, mode, tally, err := h.endedBy(r, s)
			if err != nil {
				return fmt.Errorf("measure statement %d: %w", e.Index, err)
			}
			if tenant != "" {
				sums := found[[2]string{tenant, mode}]
				sums.Add(&tally)
				found[[2]string{tenant, mode}] = sums
			}
		}
		return nil
	})
	if err != nil || from.Done >= from.Until {
		return false, err
	}
	next := store.Counting{Done: min(from.Done+CountBatch, from.Until), Until: from.Until}
	err = h.update(ctx, func(tx store.Tx) error {
		if _, err := tx.LockLog(); err != nil {
			return err
		}
		now, err := tx.Counting()
		if err != nil || now != from { // another instance has counted this batch
			return err
		}
		for of, tally := range found {
			if err := addTally(tx, of[0], of[1], tally); err != nil {
				return err
			}
		}
		return tx.SetCounting(next)
	})
	return next.Done < next.Until, err
}

// endedBy measures what a statement has ended; tenant is empty if it ends nothing.
func (h *House) endedBy(r store.Reader, s commitment.Statement) (tenant, mode string, tally stats.Tally, err error) {
	var match string
	var number int
	switch s := s.(type) {
	case commitment.Retire:
		q, err := r.Sequence(s.Sequence)
		if err != nil {
			return "", "", tally, fmt.Errorf("read sequence %s: %w", s.Sequence, err)
		}
		tally, err = h.measureUnused(r, q)
		return q.Tenant, q.Mode, tally, err
	case commitment.Close:
		match, number = s.Match, s.Game
	case commitment.Abort:
		match, number = s.Match, s.Game
	default:
		return "", "", tally, nil
	}
	row, err := r.Match(match)
	if err != nil {
		return "", "", tally, fmt.Errorf("read match: %w", err)
	}
	open, err := readStatement[commitment.Open](r, row.Open)
	if err != nil {
		return "", "", tally, err
	}
	game, err := r.Game(match, number)
	if err != nil {
		return "", "", tally, fmt.Errorf("read game: %w", err)
	}
	tally, err = h.measure(r, open, game, nil)
	return open.Tenant, open.Mode.String(), tally, err
}

// Overdue is what the house owes the log: a game without its close or abort
// 72 h after its assign, or a sequence without assign or retire 90 days after
// its commit (PROTOCOL.md §7).
type Overdue struct {
	Index    int64 // of the assign or commit
	Since    time.Time
	Due      time.Time
	Sequence string
	Tenant   string
	Mode     string
	Match    string // of a game
	Game     int
}

// Overdue lists what is overdue, in the order of the log, from log index from
// on, at most limit.
func (h *House) Overdue(ctx context.Context, from int64, limit int) ([]Overdue, error) {
	if limit < 1 || limit > MaxPage {
		return nil, refuse(Malformed, "limit %d is not 1 to %d", limit, MaxPage)
	}
	now := h.now()
	var games, sequences []Overdue
	err := h.store.View(ctx, func(r store.Reader) error {
		// Exactly at the limit a statement is still in time.
		running, err := r.Unended(now.Add(-AssignedLimit), from, limit)
		if err != nil {
			return fmt.Errorf("find games: %w", err)
		}
		for _, g := range running {
			o, err := overdueGame(r, g)
			if err != nil {
				return err
			}
			games = append(games, o)
		}
		unused, err := r.Unused(now.Add(-FreeLimit), from, limit)
		if err != nil {
			return fmt.Errorf("find sequences: %w", err)
		}
		for _, q := range unused {
			sequences = append(sequences, Overdue{Index: q.Index, Since: q.Committed, Due: q.Committed.Add(FreeLimit), Sequence: q.ID, Tenant: q.Tenant, Mode: q.Mode})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	list := make([]Overdue, 0, limit)
	for len(list) < limit && len(games)+len(sequences) > 0 {
		first := &sequences
		if len(sequences) == 0 || len(games) > 0 && games[0].Index < sequences[0].Index {
			first = &games
		}
		list, *first = append(list, (*first)[0]), (*first)[1:]
	}
	return list, nil
}

func overdueGame(r store.Reader, g store.Game) (Overdue, error) {
	segments, err := r.Segments(g.Match, g.Number)
	if err == nil && len(segments) == 0 {
		err = errors.New("there is none")
	}
	if err != nil {
		return Overdue{}, fmt.Errorf("read segments of game %d of %s: %w", g.Number, g.Match, err)
	}
	e, err := r.Entry(segments[0].Assign)
	if err != nil {
		return Overdue{}, fmt.Errorf("read assign: %w", err)
	}
	q, err := r.Sequence(segments[0].Sequence)
	if err != nil {
		return Overdue{}, fmt.Errorf("read sequence: %w", err)
	}
	return Overdue{Index: e.Index, Since: e.Time, Due: e.Time.Add(AssignedLimit), Sequence: q.ID, Tenant: q.Tenant, Mode: q.Mode, Match: g.Match, Game: g.Number}, nil
}
