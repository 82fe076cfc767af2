package client

import (
	"context"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// OpenMatch opens a match; seen is the size of the log the caller knows, 0
// for none, here and in the other calls.
func (c *Client) OpenMatch(ctx context.Context, match string, terms OpenRequest, seen int64) (Opened, error) {
	return call[Opened](ctx, c, http.MethodPut, matchPath(match, ""), since(seen), terms)
}

// Match is the public state of a match.
func (c *Client) Match(ctx context.Context, match string) (Match, error) {
	return call[Match](ctx, c, http.MethodGet, matchPath(match, ""), nil, nil)
}

// MatchList says which matches of the key's tenant are listed; what is empty
// filters nothing.
type MatchList struct {
	State   MatchState
	Variant string
	Mode    Mode
	Player  string // token of either player
	Order   Order  // "" is newest first
	Cursor  int64  // the Next of the page before
	Limit   int    // 0: as many as there may be
}

// Matches is a page of the tenant's matches.
func (c *Client) Matches(ctx context.Context, l MatchList) (MatchPage, error) {
	return call[MatchPage](ctx, c, http.MethodGet, "/v1/matches", page(l.Cursor, l.Limit, "state", string(l.State), "variant", l.Variant,
		"mode", string(l.Mode), "player", l.Player, "order", string(l.Order)), nil)
}

// StatementList says which statements of the log are listed.
type StatementList struct {
	Type   StatementType // "" is any
	Match  string        // "" is any
	Cursor int64         // the Next of the page before, or any index
	Limit  int           // 0: as many as there may be
	Seen   int64         // size of the log the caller knows, 0 for none
}

// LogStatements is a page of the log.
func (c *Client) LogStatements(ctx context.Context, l StatementList) (StatementPage, error) {
	query := page(l.Cursor, l.Limit, "type", string(l.Type), "match", l.Match)
	for name, values := range since(l.Seen) {
		query[name] = values
	}
	return call[StatementPage](ctx, c, http.MethodGet, "/v1/statements", query, nil)
}

// page is the query of a listing, with pairs of what filters.
func page(cursor int64, limit int, filter ...string) url.Values {
	query := url.Values{}
	for i := 0; i < len(filter); i += 2 {
		if filter[i+1] != "" {
			query.Set(filter[i], filter[i+1])
		}
	}
	if cursor > 0 {
		query.Set("cursor", strconv.FormatInt(cursor, 10))
	}
	if limit > 0 {
		query.Set("limit", strconv.Itoa(limit))
	}
	return query
}

// Statements are all statements of a match, with their commits.
func (c *Client) Statements(ctx context.Context, match string, seen int64) (Published, error) {
	return call[Published](ctx, c, http.MethodGet, matchPath(match, "/statements"), since(seen), nil)
}

// Abandon ends a match that is not decided.
func (c *Client) Abandon(ctx context.Context, match string, seen int64) (Finished, error) {
	return call[Finished](ctx, c, http.MethodPut, matchPath(match, "/abandon"), since(seen), nil)
}

// Bundle is the file that proves a match, as bytes.
func (c *Client) Bundle(ctx context.Context, match string) ([]byte, error) {
	return c.send(ctx, http.MethodGet, matchPath(match, "/bundle"), nil, nil)
}

// NextGame starts a game.
func (c *Client) NextGame(ctx context.Context, match string, game int, seen int64) (GameStarted, error) {
	return call[GameStarted](ctx, c, http.MethodPut, gamePath(match, game), since(seen), nil)
}

// PutLink releases a link. Only [fairdice/client/player] knows when that is safe.
func (c *Client) PutLink(ctx context.Context, match string, game, segment int, seat Seat, link Hex, seen int64) (LinkTaken, error) {
	path := gamePath(match, game, "segments", segment, "links", seat)
	return call[LinkTaken](ctx, c, http.MethodPut, path, since(seen), LinkRequest{Link: link})
}

// PutThrow releases a link for one throw of mode live. Only
// [fairdice/client/player] knows when that is safe.
func (c *Client) PutThrow(ctx context.Context, match string, game, segment, throw int, seat Seat, link Hex) (ThrowTaken, error) {
	path := gamePath(match, game, "segments", segment, "links", seat, throw)
	return call[ThrowTaken](ctx, c, http.MethodPut, path, nil, LinkRequest{Link: link})
}

// Dealt waits until a game no longer waits for the beacon and answers it. told,
// if not nil, is called with the waiting game, once.
func (c *Client) Dealt(ctx context.Context, match string, game int, told func(Game)) (Game, error) {
	for {
		m, err := c.Match(ctx, match)
		if err != nil {
			return Game{}, err
		}
		if game < 1 || game > len(m.Games) {
			return Game{}, fmt.Errorf("await deal: match %s has no game %d", match, game)
		}
		g := m.Games[game-1]
		if g.State != GameStateAwaitingBeacon {
			return g, nil
		}
		if told != nil {
			told(g)
			told = nil
		}
		select {
		case <-ctx.Done():
			return g, fmt.Errorf("await deal: game %d waits for round %d of the beacon: %w", game, g.Round, ctx.Err())
		case <-time.After(beaconPoll):
		}
	}
}

// beaconPoll is how often a game that waits for the beacon is looked at; a
// round comes every three seconds.
const beaconPoll = time.Second

// Draw opens the roll that is due. The bytes of the answer are what `verify
// roll` reads; DrawBytes gives them.
func (c *Client) Draw(ctx context.Context, match string, game, segment int, stream Stream, index int) (Roll, error) {
	return call[Roll](ctx, c, http.MethodPut, drawPath(match, game, segment, stream, index), nil, nil)
}

// DrawBytes is Draw without decoding.
func (c *Client) DrawBytes(ctx context.Context, match string, game, segment int, stream Stream, index int) ([]byte, error) {
	return c.send(ctx, http.MethodPut, drawPath(match, game, segment, stream, index), nil, nil)
}

func drawPath(match string, game, segment int, stream Stream, index int) string {
	return gamePath(match, game, "segments", segment, "rolls", stream, index)
}

// Append writes record lines from the given line on.
func (c *Client) Append(ctx context.Context, match string, game, line int, lines ...string) (EventsTaken, error) {
	return call[EventsTaken](ctx, c, http.MethodPut, gamePath(match, game, "events", line), nil, EventsRequest{Lines: lines})
}

// CloseGame closes a finished game. A dice-only game brings all lines of its
// record, a refereed one none.
func (c *Client) CloseGame(ctx context.Context, match string, game int, seen int64, lines ...string) (GameClosed, error) {
	var body any
	if len(lines) > 0 {
		body = CloseRequest{Lines: lines}
	}
	return call[GameClosed](ctx, c, http.MethodPut, gamePath(match, game, "close"), since(seen), body)
}

// AbortGame aborts a game after a failure of the platform.
func (c *Client) AbortGame(ctx context.Context, match string, game int, reason string, seen int64) (GameAborted, error) {
	return call[GameAborted](ctx, c, http.MethodPut, gamePath(match, game, "abort"), since(seen), ReasonRequest{Reason: reason})
}

// Record is the record of a game; view is the view token of an unfinished
// match for a client without a key, or "".
func (c *Client) Record(ctx context.Context, match string, game int, view string) (Record, error) {
	var query url.Values
	if view != "" {
		query = url.Values{"view": {view}}
	}
	return call[Record](ctx, c, http.MethodGet, gamePath(match, game, "record"), query, nil)
}

// Seal seals the next sequence of a mode.
func (c *Client) Seal(ctx context.Context, mode Mode, number, seen int64) (Sealed, error) {
	path := "/v1/modes/" + url.PathEscape(string(mode)) + "/sequences/" + strconv.FormatInt(number, 10)
	return call[Sealed](ctx, c, http.MethodPut, path, since(seen), nil)
}

// Sequences is a page of a tenant's sequences; state "" means any. The next
// page starts at the cursor that Next names.
func (c *Client) Sequences(ctx context.Context, tenant string, mode Mode, state SequenceState, cursor int64) (SequencePage, error) {
	query := url.Values{"tenant": {tenant}, "mode": {string(mode)}}
	if state != "" {
		query.Set("state", string(state))
	}
	if cursor > 0 {
		query.Set("cursor", strconv.FormatInt(cursor, 10))
	}
	return call[SequencePage](ctx, c, http.MethodGet, "/v1/sequences", query, nil)
}

// Sequence is a sequence with its commit.
func (c *Client) Sequence(ctx context.Context, sequence string, seen int64) (SequenceWithCommit, error) {
	return call[SequenceWithCommit](ctx, c, http.MethodGet, "/v1/sequences/"+url.PathEscape(sequence), since(seen), nil)
}

// Retire publishes the secret of a sequence no game uses.
func (c *Client) Retire(ctx context.Context, sequence, reason string, seen int64) (SequenceRetired, error) {
	path := "/v1/sequences/" + url.PathEscape(sequence) + "/retire"
	return call[SequenceRetired](ctx, c, http.MethodPut, path, since(seen), ReasonRequest{Reason: reason})
}

// Archive is the file of recorded throws with that hash, once it is public.
func (c *Client) Archive(ctx context.Context, hash Hex) ([]byte, error) {
	return c.send(ctx, http.MethodGet, "/archive/"+url.PathEscape(hash), nil, nil)
}

// Statement is one statement of the log.
func (c *Client) Statement(ctx context.Context, index, seen int64) (Published, error) {
	return call[Published](ctx, c, http.MethodGet, "/v1/statements/"+strconv.FormatInt(index, 10), since(seen), nil)
}

// Options are what two players may agree on and, with a variant, what of it the
// variant refuses; a line is checked if it is not empty.
func (c *Client) Options(ctx context.Context, variant, line string) (Options, error) {
	query := url.Values{}
	if variant != "" {
		query.Set("variant", variant)
	}
	if line != "" {
		query.Set("options", line)
	}
	return call[Options](ctx, c, http.MethodGet, "/v1/options", query, nil)
}

// Plays lists all legal ends of single stages.
func (c *Client) Plays(ctx context.Context, questions PlaysRequest) (Plays, error) {
	return call[Plays](ctx, c, http.MethodPost, "/v1/plays", nil, questions)
}

// Verify is what the service says of a bundle or a record, as JSON: its word
// and no proof. Key is the log key that a bundle is judged under, "own" the
// service's, "" none; the variant is that of a record which names none.
func (c *Client) Verify(ctx context.Context, data []byte, key, variant string) ([]byte, error) {
	query := url.Values{}
	if key != "" {
		query.Set("key", key)
	}
	if variant != "" {
		query.Set("variant", variant)
	}
	return c.send(ctx, http.MethodPost, "/v1/verify", query, file(data))
}

// Overdue is a page of what the house owes. The next page starts at the
// cursor that Next names.
func (c *Client) Overdue(ctx context.Context, cursor int64) (OverduePage, error) {
	var query url.Values
	if cursor > 0 {
		query = url.Values{"cursor": {strconv.FormatInt(cursor, 10)}}
	}
	return call[OverduePage](ctx, c, http.MethodGet, "/v1/overdue", query, nil)
}

// Statistics are the dice of the games that have ended; "" is every tenant or mode.
func (c *Client) Statistics(ctx context.Context, tenant string, mode Mode) (Statistics, error) {
	query := url.Values{}
	if tenant != "" {
		query.Set("tenant", tenant)
	}
	if mode != "" {
		query.Set("mode", string(mode))
	}
	return call[Statistics](ctx, c, http.MethodGet, "/v1/statistics", query, nil)
}

// Variants are the variants the service plays.
func (c *Client) Variants(ctx context.Context) (Variants, error) {
	return call[Variants](ctx, c, http.MethodGet, "/v1/variants", nil, nil)
}

// Modes are the dice modes.
func (c *Client) Modes(ctx context.Context) (Modes, error) {
	return call[Modes](ctx, c, http.MethodGet, "/v1/modes", nil, nil)
}

// Version says which build answers, and which key its log claims to have.
func (c *Client) Version(ctx context.Context) (Version, error) {
	return call[Version](ctx, c, http.MethodGet, "/version", nil, nil)
}

// Ready is nil once the service can answer.
func (c *Client) Ready(ctx context.Context) error {
	_, err := c.send(ctx, http.MethodGet, "/readyz", nil, nil)
	return err
}

// Checkpoint is the newest signed checkpoint of the log, a signed note.
func (c *Client) Checkpoint(ctx context.Context) (string, error) {
	data, err := c.send(ctx, http.MethodGet, "/checkpoint", nil, nil)
	return string(data), err
}
