package api

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net/http"
	"strings"

	"fairdice/commitment"
	"fairdice/house"
)

// defaultOptions are those of a match whose request names none; openapi.yaml
// says the same.
const defaultOptions = "raise=mars stake=win series=single crawford=off"

// given is what a request says, or what it means by saying nothing.
func given[T any](v *T, otherwise T) T {
	if v == nil {
		return otherwise
	}
	return *v
}

// OpenMatch opens a match.
func (s *server) OpenMatch(ctx context.Context, r OpenMatchRequestObject) (OpenMatchResponseObject, error) {
	req := house.OpenRequest{
		Match: r.Match, Variant: r.Body.Variant, Mode: string(r.Body.Mode),
		Profile: string(given(r.Body.Profile, OpenRequestProfileRefereed)), Options: given(r.Body.Options, defaultOptions),
		A: r.Body.A.Token, B: r.Body.B.Token, Since: r.Params.Since,
	}
	switch beacon := given(r.Body.Beacon, OpenRequestBeaconNone); beacon {
	case OpenRequestBeaconNone:
	case OpenRequestBeaconQuicknet:
		req.Beacon = true
	default:
		return nil, refuse(house.Malformed, "beacon %q is neither none nor quicknet", beacon)
	}
	var err error
	if req.AnchorA, err = anchor("a", r.Body.A.Anchor); err != nil {
		return nil, err
	}
	if req.AnchorB, err = anchor("b", r.Body.B.Anchor); err != nil {
		return nil, err
	}
	a, err := s.house.OpenMatch(ctx, who(ctx), req)
	if err != nil {
		return nil, err
	}
	return OpenMatch200JSONResponse{Match: a.Match, ViewToken: a.ViewToken, Published: published(a.Published)}, nil
}

func anchor(player string, a *Anchor) (*commitment.Anchor, error) {
	if a == nil {
		return nil, nil
	}
	hash, err := commitment.ParseHash(a.Hash)
	if err != nil {
		return nil, refuse(house.Malformed, "anchor of %s: hash is not 64 lower-case hex digits", player)
	}
	custody := given(a.Custody, AnchorCustodySelf)
	switch custody {
	case AnchorCustodySelf:
		return &commitment.Anchor{Hash: hash}, nil
	case AnchorCustodyCustodial:
		return &commitment.Anchor{Hash: hash, Custodial: true}, nil
	}
	return nil, refuse(house.Malformed, "anchor of %s: custody %q is neither self nor custodial", player, custody)
}

// GetMatch answers the public state of a match.
func (s *server) GetMatch(ctx context.Context, r GetMatchRequestObject) (GetMatchResponseObject, error) {
	m, err := s.house.Match(ctx, r.Match)
	if err != nil {
		return nil, err
	}
	return GetMatch200JSONResponse(match(m)), nil
}

// GetStatements answers what a player checks before he releases a link.
func (s *server) GetStatements(ctx context.Context, r GetStatementsRequestObject) (GetStatementsResponseObject, error) {
	p, err := s.house.Statements(ctx, r.Match, r.Params.Since)
	if err != nil {
		return nil, err
	}
	return GetStatements200JSONResponse(published(p)), nil
}

// AbandonMatch ends a match that is not decided.
func (s *server) AbandonMatch(ctx context.Context, r AbandonMatchRequestObject) (AbandonMatchResponseObject, error) {
	a, err := s.house.Abandon(ctx, who(ctx), r.Match, r.Params.Since)
	if err != nil {
		return nil, err
	}
	return AbandonMatch200JSONResponse{
		Match: a.Match, Score: a.Score[:], Reason: FinishedReason(a.Reason), Published: published(a.Published),
	}, nil
}

// GetBundle answers the bundle of a match; the same log size gives the same bytes.
func (s *server) GetBundle(ctx context.Context, r GetBundleRequestObject) (GetBundleResponseObject, error) {
	e, err := s.house.Evidence(ctx, r.Match)
	if err != nil {
		return nil, err
	}
	b, err := bundle(e)
	if err != nil {
		return nil, fmt.Errorf("make bundle of %s: %w", r.Match, err)
	}
	data, err := b.Encode()
	if err != nil {
		return nil, fmt.Errorf("encode bundle of %s: %w", r.Match, err)
	}
	tag := etag(data)
	if matches(r.Params.IfNoneMatch, tag) {
		return GetBundle304Response{Headers: GetBundle304ResponseHeaders{ETag: tag}}, nil
	}
	return bundleFile{data: data, tag: tag}, nil
}

// bundleFile is a bundle as its own encoder wrote it.
type bundleFile struct {
	data []byte
	tag  string
}

// VisitGetBundleResponse writes the bundle.
func (b bundleFile) VisitGetBundleResponse(w http.ResponseWriter) error {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	// The match may have another game: ask again, get a 304 mostly.
	h.Set("Cache-Control", "public, no-cache")
	h.Set("ETag", b.tag)
	_, err := w.Write(b.data)
	return err
}

func etag(data []byte) string {
	sum := sha256.Sum256(data)
	return `"` + hex.EncodeToString(sum[:16]) + `"`
}

// matches reads If-None-Match (RFC 9110 §13.1.2).
func matches(header, tag string) bool {
	for part := range strings.SplitSeq(header, ",") {
		part = strings.TrimSpace(part)
		if part == "*" || strings.TrimPrefix(part, "W/") == tag {
			return true
		}
	}
	return false
}
