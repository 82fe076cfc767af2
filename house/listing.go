package house

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"fairdice/commitment"
	"fairdice/store"
)

// Bounds of a listing.
const (
	// MaxPage is the most that one listing answers.
	MaxPage = 200
	// MaxScan is the most that one listing looks at: a filter that fits
	// nothing ends with a page that is empty and has a next one.
	MaxScan = 1000
)

// walk fills a page of at most limit. read gives rows from a place on, at most
// so many; place is that of a row, and next the one behind it. keep says what a
// row is on the page, if it is on it. The answer's next is where the next
// page starts, -1 if there is nothing behind this one.
func walk[R, V any](limit int, from int64, read func(from int64, limit int) ([]R, error), place func(R) int64, behind func(int64) int64,
	keep func(R) (V, bool, error)) (page []V, next int64, err error) {
	page = []V{}
	for scanned, n := 0, min(limit+1, MaxPage); ; n = MaxPage {
		rows, err := read(from, n)
		if err != nil {
			return nil, -1, err
		}
		for _, row := range rows {
			if len(page) == limit || scanned == MaxScan {
				return page, place(row), nil
			}
			v, ok, err := keep(row)
			if err != nil {
				return nil, -1, err
			}
			if ok {
				page = append(page, v)
			}
			scanned++
			from = behind(place(row))
		}
		if len(rows) < n {
			return page, -1, nil
		}
	}
}

func upwards(n int64) int64 { return n + 1 }

func downwards(n int64) int64 { return n - 1 }

func checkLimit(limit int) error {
	if limit < 1 || limit > MaxPage {
		return refuse(Malformed, "limit %d is not 1 to %d", limit, MaxPage)
	}
	return nil
}

// Sequences are a tenant's sequences of a mode with numbers from first on;
// state "" is any. next is the number where the next page starts, -1 at the end.
func (h *House) Sequences(ctx context.Context, tenant, mode, state string, first uint64, limit int) (list []SequenceView, next int64, err error) {
	if _, err := commitment.ParseMode(mode); err != nil {
		return nil, -1, refuse(Malformed, "unknown mode %q", mode)
	}
	if state != "" && !slices.Contains(sequenceStates[:], state) {
		return nil, -1, refuse(Malformed, "unknown state %q; the states are %v", state, sequenceStates)
	}
	if err := checkLimit(limit); err != nil {
		return nil, -1, err
	}
	if first > commitment.MaxInteger {
		return []SequenceView{}, -1, nil
	}
	err = h.store.View(ctx, func(r store.Reader) (err error) {
		list, next, err = walk(limit, int64(first), func(from int64, limit int) ([]store.Sequence, error) {
			rows, err := r.Sequences(tenant, mode, uint64(from), limit)
			if err != nil {
				return nil, fmt.Errorf("read sequences: %w", err)
			}
			return rows, nil
		}, func(row store.Sequence) int64 { return int64(row.Number) }, upwards, func(row store.Sequence) (SequenceView, bool, error) {
			return sequenceView(row), state == "" || sequenceStates[row.State] == state, nil
		})
		return err
	})
	return list, next, err
}

// MatchFilter says which of a tenant's matches are listed; what is empty
// filters nothing.
type MatchFilter struct {
	State   string // open, decided or abandoned
	Variant string
	Mode    string
	Player  string // token of either player
	Oldest  bool   // in the order in which they were opened, not against it
	Cursor  int64  // the next of the page before; 0: the first page
	Limit   int
}

// MatchSummary is a match in a list.
type MatchSummary struct {
	Match    string
	Variant  string
	Mode     string
	Profile  string
	Options  string
	A, B     string
	Score    [2]int
	Games    int
	State    string
	Index    int64 // of the open in the log
	OpenedAt time.Time
}

// The states of a match.
var matchStates = [...]string{matchOpen, "decided", "abandoned"}

const matchOpen = "open"

// Matches are those of the caller's tenant, the one opened last first. next is
// the cursor of the next page, 0 at the end; matches that are opened meanwhile
// move nothing from one page to another. Scope: read.
func (h *House) Matches(ctx context.Context, p Principal, f MatchFilter) (list []MatchSummary, next int64, err error) {
	if err := p.need(ScopeRead); err != nil {
		return nil, 0, err
	}
	if f.State != "" && !slices.Contains(matchStates[:], f.State) {
		return nil, 0, refuse(Malformed, "unknown state %q; the states are %v", f.State, matchStates)
	}
	if f.Cursor < 0 || f.Cursor > commitment.MaxInteger {
		return nil, 0, refuse(Malformed, "cursor %d is not the next of a page", f.Cursor)
	}
	if err := checkLimit(f.Limit); err != nil {
		return nil, 0, err
	}
	// A cursor is a place between two entries of the log, so that it is never 0:
	// the next page has what was opened at or behind it, newest first before it.
	from, behind := f.Cursor, upwards
	if !f.Oldest {
		if behind = downwards; f.Cursor == 0 {
			from = commitment.MaxInteger
		}
		from--
	}
	err = h.store.View(ctx, func(r store.Reader) (err error) {
		list, next, err = walk(f.Limit, from, func(from int64, limit int) ([]store.Match, error) {
			rows, err := r.Opened(p.Tenant, from, !f.Oldest, limit)
			if err != nil {
				return nil, fmt.Errorf("read matches: %w", err)
			}
			return rows, nil
		}, func(row store.Match) int64 { return row.Open }, behind, func(row store.Match) (MatchSummary, bool, error) {
			s, err := summary(r, row)
			return s, f.fits(s), err
		})
		return err
	})
	switch {
	case next < 0:
		next = 0
	case !f.Oldest:
		next++
	}
	return list, next, err
}

func (f MatchFilter) fits(s MatchSummary) bool {
	for _, c := range [][2]string{{f.State, s.State}, {f.Variant, s.Variant}, {f.Mode, s.Mode}} {
		if c[0] != "" && c[0] != c[1] {
			return false
		}
	}
	return f.Player == "" || f.Player == s.A || f.Player == s.B
}

func summary(r store.Reader, row store.Match) (MatchSummary, error) {
	o, err := readStatement[commitment.Open](r, row.Open)
	if err != nil {
		return MatchSummary{}, err
	}
	s := MatchSummary{
		Match: row.ID, Variant: o.Variant, Mode: o.Mode.String(), Profile: o.Profile.String(), Options: o.Options,
		A: o.A, B: o.B, Score: row.Score, Games: row.Games, State: matchOpen, Index: row.Open, OpenedAt: o.Time,
	}
	if row.Finish >= 0 {
		f, err := readStatement[commitment.Finish](r, row.Finish)
		if err != nil {
			return s, err
		}
		s.State = f.Reason
	}
	return s, nil
}

// statementTypes are the types of PROTOCOL.md §3.
var statementTypes = [...]string{"commit", "open", "assign", "deal", "close", "abort", "retire", "finish"}

// LogStatements are signed statements from a log index on, of one type if it
// is not "", of one match and its sequences if that is not "". One checkpoint
// proves all of them; that of an empty page is the newest one, if there is any.
// next is the index where the next page starts, 0 at the end.
func (h *House) LogStatements(ctx context.Context, kind, match string, first, since int64, limit int) (pub Published, next int64, err error) {
	if kind != "" && !slices.Contains(statementTypes[:], kind) {
		return pub, 0, refuse(Malformed, "unknown type %q; the types are %v", kind, statementTypes)
	}
	if first < 0 {
		return pub, 0, refuse(Malformed, "cursor %d is not the next of a page", first)
	}
	if err := checkLimit(limit); err != nil {
		return pub, 0, err
	}
	if match != "" {
		if err := checkID("match", match); err != nil {
			return pub, 0, err
		}
	}
	if err := h.checkSince(ctx, since); err != nil {
		return pub, 0, err
	}
	err = h.store.View(ctx, func(r store.Reader) error {
		signed, err := signedSize(r)
		if err != nil {
			return err
		}
		read := func(from int64, limit int) ([]store.Entry, error) {
			return r.Entries(from, min(signed, from+int64(limit)))
		}
		if match != "" {
			if read, err = entriesOf(r, match, signed); err != nil {
				return err
			}
		}
		indexes, more, err := walk(limit, first, read, func(e store.Entry) int64 { return e.Index }, upwards, func(e store.Entry) (int64, bool, error) {
			return e.Index, kind == "" || typeOf(e.Text) == kind, nil
		})
		if err != nil {
			return fmt.Errorf("read statements: %w", err)
		}
		next = max(more, 0)
		size := max(since, signed)
		if len(indexes) > 0 {
			size = max(since, indexes[len(indexes)-1]+1)
		}
		if size == 0 { // nothing was ever signed
			return nil
		}
		pub, err = proveAt(r, size, since, indexes)
		return err
	})
	return pub, next, err
}

// entriesOf reads the statements of a match like those of a log.
func entriesOf(r store.Reader, match string, signed int64) (func(from int64, limit int) ([]store.Entry, error), error) {
	indexes, _, err := statementsOf(r, match)
	if errors.Is(err, store.ErrNotFound) {
		return nil, refuse(NotFound, "no match %s", match)
	} else if err != nil {
		return nil, err
	}
	return func(from int64, limit int) ([]store.Entry, error) {
		i, _ := slices.BinarySearch(indexes, from)
		var list []store.Entry
		for _, index := range indexes[i:min(len(indexes), i+limit)] {
			if index >= signed {
				break
			}
			e, err := r.Entry(index)
			if err != nil {
				return nil, err
			}
			list = append(list, e)
		}
		return list, nil
	}, nil
}

// Tenants are the names of all tenants, which stand in the public log anyway.
func (h *House) Tenants(ctx context.Context) (names []string, err error) {
	err = h.store.View(ctx, func(r store.Reader) error {
		all, err := r.Tenants()
		for _, t := range all {
			names = append(names, t.Name)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("list tenants: %w", err)
	}
	slices.Sort(names)
	return names, nil
}
