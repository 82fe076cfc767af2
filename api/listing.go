package api

import (
	"context"

	"fairdice/commitment"
	"fairdice/house"
)

// maxPage is the most entries of a page, and the number if none is asked for;
// openapi.yaml lists the same.
const maxPage = 100

// pageOf checks what all listings have in common.
func pageOf(cursor int64, limit int) (int, error) {
	switch {
	case cursor < 0 || cursor > commitment.MaxInteger:
		return 0, refuse(house.Malformed, "cursor is not the next of a page")
	case limit == 0:
		return maxPage, nil
	case limit < 1 || limit > maxPage:
		return 0, refuse(house.Malformed, "limit is not 1 to %d", maxPage)
	}
	return limit, nil
}

// ListSequences answers one page of sequences.
func (s *server) ListSequences(ctx context.Context, r ListSequencesRequestObject) (ListSequencesResponseObject, error) {
	limit, err := pageOf(r.Params.Cursor, r.Params.Limit)
	if err != nil {
		return nil, err
	}
	if err := commitment.CheckToken(r.Params.Tenant); err != nil {
		return nil, refuse(house.Malformed, "tenant: %v", err)
	}
	if !r.Params.Mode.Valid() {
		return nil, refuse(house.Malformed, "mode %q is none of /v1/modes", r.Params.Mode)
	}
	if st := r.Params.State; st != "" && !st.Valid() {
		return nil, refuse(house.Malformed, "state %q is none of free, assigned, published, retired", st)
	}
	list, next, err := s.house.Sequences(ctx, r.Params.Tenant, string(r.Params.Mode), string(r.Params.State), uint64(r.Params.Cursor), limit)
	if err != nil {
		return nil, err
	}
	page := ListSequences200JSONResponse{Sequences: []Sequence{}, Next: max(next, 0)}
	for _, v := range list {
		page.Sequences = append(page.Sequences, sequence(v))
	}
	return page, nil
}

// ListMatches answers one page of the matches of the caller's tenant.
func (s *server) ListMatches(ctx context.Context, r ListMatchesRequestObject) (ListMatchesResponseObject, error) {
	limit, err := pageOf(r.Params.Cursor, r.Params.Limit)
	if err != nil {
		return nil, err
	}
	switch p := r.Params; {
	case p.State != "" && !p.State.Valid():
		return nil, refuse(house.Malformed, "state %q is none of open, decided, abandoned", p.State)
	case p.Mode != "" && !p.Mode.Valid():
		return nil, refuse(house.Malformed, "mode %q is none of /v1/modes", p.Mode)
	case p.Order != "" && !p.Order.Valid():
		return nil, refuse(house.Malformed, "order %q is neither newest nor oldest", p.Order)
	case p.Player != "" && commitment.CheckToken(p.Player) != nil:
		return nil, refuse(house.Malformed, "player %q is not 1 to 64 of A-Z a-z 0-9 . _ -", p.Player)
	case len(p.Variant) > 64:
		return nil, refuse(house.Malformed, "variant has more than 64 characters")
	}
	list, next, err := s.house.Matches(ctx, who(ctx), house.MatchFilter{
		State: string(r.Params.State), Variant: r.Params.Variant, Mode: string(r.Params.Mode), Player: r.Params.Player,
		Oldest: r.Params.Order == OrderOldest, Cursor: r.Params.Cursor, Limit: limit,
	})
	if err != nil {
		return nil, err
	}
	page := ListMatches200JSONResponse{Matches: []MatchSummary{}, Next: next}
	for _, m := range list {
		page.Matches = append(page.Matches, MatchSummary{
			Match: m.Match, Index: m.Index, Variant: m.Variant, Mode: Mode(m.Mode), Profile: MatchSummaryProfile(m.Profile),
			Options: m.Options, A: m.A, B: m.B, Score: m.Score[:], Games: m.Games, State: MatchState(m.State), Opened: m.OpenedAt,
		})
	}
	return page, nil
}

// ListStatements answers one page of the log.
func (s *server) ListStatements(ctx context.Context, r ListStatementsRequestObject) (ListStatementsResponseObject, error) {
	limit, err := pageOf(r.Params.Cursor, r.Params.Limit)
	if err != nil {
		return nil, err
	}
	if t := r.Params.Type; t != "" && !t.Valid() {
		return nil, refuse(house.Malformed, "type %q is none of PROTOCOL.md §3", t)
	}
	p, next, err := s.house.LogStatements(ctx, string(r.Params.Type), r.Params.Match, r.Params.Cursor, r.Params.Since, limit)
	if err != nil {
		return nil, err
	}
	return ListStatements200JSONResponse{Published: published(p), Next: next}, nil
}
