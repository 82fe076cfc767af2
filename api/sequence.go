package api

import (
	"context"
	"encoding/json"
	"fmt"

	"fairdice/commitment"
	"fairdice/house"
)

// SealSequence seals a sequence.
func (s *server) SealSequence(ctx context.Context, r SealSequenceRequestObject) (SealSequenceResponseObject, error) {
	if r.Number < 0 {
		return nil, refuse(house.Malformed, "the number of a sequence is not negative")
	}
	a, err := s.house.Seal(ctx, who(ctx), string(r.Mode), uint64(r.Number), r.Params.Since)
	if err != nil {
		return nil, err
	}
	return SealSequence200JSONResponse{
		Sequence: a.Sequence, Mode: Mode(a.Mode), Number: int64(a.Number), Published: published(a.Published),
	}, nil
}

// RetireSequence retires a sequence that no game uses.
func (s *server) RetireSequence(ctx context.Context, r RetireSequenceRequestObject) (RetireSequenceResponseObject, error) {
	a, err := s.house.Retire(ctx, who(ctx), r.Sequence, r.Body.Reason, r.Params.Since)
	if err != nil {
		return nil, err
	}
	return RetireSequence200JSONResponse{Sequence: a.Sequence, Published: published(a.Published)}, nil
}

// GetSequence answers a sequence with its commit.
func (s *server) GetSequence(ctx context.Context, r GetSequenceRequestObject) (GetSequenceResponseObject, error) {
	v, p, err := s.house.Sequence(ctx, r.Sequence, r.Params.Since)
	if err != nil {
		return nil, err
	}
	return GetSequence200JSONResponse{Sequence: sequence(v), Published: published(p)}, nil
}

// GetStatement answers one statement of the log. A statement never changes,
// and the first checkpoint that contains it proves it for ever.
func (s *server) GetStatement(ctx context.Context, r GetStatementRequestObject) (GetStatementResponseObject, error) {
	p, err := s.house.Statement(ctx, r.Index, r.Params.Since)
	if err != nil {
		return nil, err
	}
	body := published(p)
	data, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("encode statement %d: %w", r.Index, err)
	}
	tag := etag(data)
	if matches(r.Params.IfNoneMatch, tag) {
		return GetStatement304Response{Headers: GetStatement304ResponseHeaders{ETag: tag}}, nil
	}
	return GetStatement200JSONResponse{Body: body, Headers: GetStatement200ResponseHeaders{
		CacheControl: immutable, ETag: tag,
	}}, nil
}

// immutable is the caching of what never changes.
const immutable = "public, max-age=31536000, immutable"

// GetProof answers a statement's proof as a file.
func (s *server) GetProof(ctx context.Context, r GetProofRequestObject) (GetProofResponseObject, error) {
	text, err := s.house.Proof(ctx, r.Index)
	if err != nil {
		return nil, err
	}
	return GetProof200TextResponse(text), nil
}

// GetArchive answers a file of recorded throws, which its hash names. Before
// the secret of its sequence is published nobody learns even that it exists.
func (s *server) GetArchive(ctx context.Context, r GetArchiveRequestObject) (GetArchiveResponseObject, error) {
	hash, err := commitment.ParseHash(r.Hash)
	if err != nil {
		return nil, refuse(house.Malformed, "hash is not 64 lower-case hex digits")
	}
	text, err := s.house.Archive(ctx, hash)
	if err != nil {
		return nil, err
	}
	tag := etag(text)
	if matches(r.Params.IfNoneMatch, tag) {
		return GetArchive304Response{Headers: GetArchive304ResponseHeaders{ETag: tag}}, nil
	}
	return GetArchive200TextResponse{Body: string(text), Headers: GetArchive200ResponseHeaders{CacheControl: immutable, ETag: tag}}, nil
}
