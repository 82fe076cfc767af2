package api

import (
	"context"

	"fairdice/commitment"
	"fairdice/house"
)

// NextGame starts the next game.
func (s *server) NextGame(ctx context.Context, r NextGameRequestObject) (NextGameResponseObject, error) {
	a, err := s.house.NextGame(ctx, who(ctx), r.Match, r.Game, r.Params.Since)
	if err != nil {
		return nil, err
	}
	return NextGame200JSONResponse{
		Match: a.Match, Game: a.Game, Segment: a.Segment, State: SegmentState(a.State), Published: published(a.Published),
	}, nil
}

// PutLink takes a player's link.
func (s *server) PutLink(ctx context.Context, r PutLinkRequestObject) (PutLinkResponseObject, error) {
	link, err := commitment.ParseHash(r.Body.Link)
	if err != nil {
		return nil, refuse(house.Malformed, "link is not 64 lower-case hex digits")
	}
	a, err := s.house.PutLink(ctx, r.Match, r.Game, r.Segment, string(r.Seat), link, r.Params.Since)
	if err != nil {
		return nil, err
	}
	out := PutLink200JSONResponse{Match: a.Match, Game: a.Game, Segment: a.Segment, Seat: Seat(a.Seat), State: SegmentState(a.State)}
	if a.Published != nil {
		out.Published = published(*a.Published)
	}
	return out, nil
}

// PutThrow takes a player's link for one throw of mode live.
func (s *server) PutThrow(ctx context.Context, r PutThrowRequestObject) (PutThrowResponseObject, error) {
	link, err := commitment.ParseHash(r.Body.Link)
	if err != nil {
		return nil, refuse(house.Malformed, "link is not 64 lower-case hex digits")
	}
	a, err := s.house.PutThrow(ctx, r.Match, r.Game, r.Segment, string(r.Seat), r.Throw, link)
	if err != nil {
		return nil, err
	}
	return PutThrow200JSONResponse{Match: a.Match, Game: a.Game, Segment: a.Segment, Throw: a.Throw, Seat: Seat(a.Seat)}, nil
}

// DrawRoll draws a roll.
func (s *server) DrawRoll(ctx context.Context, r DrawRollRequestObject) (DrawRollResponseObject, error) {
	d, err := s.house.Draw(ctx, who(ctx), r.Match, r.Game, r.Segment, string(r.Stream), r.Index)
	if err != nil {
		return nil, err
	}
	return DrawRoll200JSONResponse(roll(d)), nil
}

// AppendEvents appends record lines.
func (s *server) AppendEvents(ctx context.Context, r AppendEventsRequestObject) (AppendEventsResponseObject, error) {
	a, err := s.house.Append(ctx, who(ctx), r.Match, r.Game, r.Line, r.Body.Lines)
	if err != nil {
		return nil, err
	}
	return AppendEvents200JSONResponse{
		Match: a.Match, Game: a.Game, Line: a.Line, Lines: a.Lines, Head: a.Head, Due: a.Due,
	}, nil
}

// CloseGame closes a finished game.
func (s *server) CloseGame(ctx context.Context, r CloseGameRequestObject) (CloseGameResponseObject, error) {
	var lines []string
	if r.Body != nil {
		if len(r.Body.Lines) == 0 {
			return nil, refuse(house.Malformed, "the body: a record has at least one line")
		}
		lines = r.Body.Lines
	}
	a, err := s.house.CloseGame(ctx, who(ctx), r.Match, r.Game, lines, r.Params.Since)
	if err != nil {
		return nil, err
	}
	return CloseGame200JSONResponse{
		Match: a.Match, Game: a.Game, Result: a.Result, Score: a.Score[:], Finished: a.Finished, Published: published(a.Published),
	}, nil
}

// AbortGame aborts a game.
func (s *server) AbortGame(ctx context.Context, r AbortGameRequestObject) (AbortGameResponseObject, error) {
	a, err := s.house.AbortGame(ctx, who(ctx), r.Match, r.Game, r.Body.Reason, r.Params.Since)
	if err != nil {
		return nil, err
	}
	return AbortGame200JSONResponse{Match: a.Match, Game: a.Game, Published: published(a.Published)}, nil
}

// GetRecord answers the record of a game.
func (s *server) GetRecord(ctx context.Context, r GetRecordRequestObject) (GetRecordResponseObject, error) {
	token := r.Params.XViewToken
	if token == "" {
		token = r.Params.View
	}
	// Asked first: a match that ends in between is still kept out of caches.
	m, err := s.house.Match(ctx, r.Match)
	if err != nil {
		return nil, err
	}
	v, err := s.house.Record(ctx, who(ctx), token, r.Match, r.Game)
	if err != nil {
		return nil, err
	}
	receipts := v.Receipts
	if receipts == nil {
		receipts = []string{}
	}
	caching := immutable
	switch {
	case MatchState(m.State) == MatchStateOpen:
		caching = "no-store"
	case token != "":
		caching = "private" // its address may hold the token
	}
	return GetRecord200JSONResponse{
		Body:    Record{Record: v.Record, Receipts: receipts},
		Headers: GetRecord200ResponseHeaders{CacheControl: caching},
	}, nil
}
