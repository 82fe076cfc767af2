package api

import (
	"context"
	"encoding/hex"
	"errors"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/internal/messages"
	"fairdice/rules"
)

// ListVariants answers the variants.
func (s *server) ListVariants(context.Context, ListVariantsRequestObject) (ListVariantsResponseObject, error) {
	out := ListVariants200JSONResponse{Version: rules.Version}
	for _, v := range rules.Variants() {
		hash := v.Hash()
		out.Variants = append(out.Variants, Variant{
			Variant: v.ID, Hash: hex.EncodeToString(hash[:]), Profile: v.Profile(), Start: v.Rules.Start().String(),
		})
	}
	return out, nil
}

// summaries say in one line what a player may count on (RULES.md §8).
var summaries = map[commitment.Mode]string{
	commitment.Random:   "independent uniform throws",
	commitment.Balanced: "each seat's throws come in shuffled blocks of all 36",
	commitment.Twofold:  "shuffled blocks of 72, every throw twice",
	commitment.Triple:   "shuffled blocks of 108, every throw three times",
	commitment.Equal:    "both seats get the same twelve throws, each in an order of its own",
	commitment.Levelled: "every six throws, pips and doubles of the seats are close",
	commitment.Real:     "recorded physical throws of an archive, from a place the cut decides",
	commitment.Live:     "each throw is fixed only when both players have released a link for it",
}

// ListModes answers the dice modes.
func (s *server) ListModes(context.Context, ListModesRequestObject) (ListModesResponseObject, error) {
	var out ListModes200JSONResponse
	words := messages.For("en")
	for _, m := range commitment.Modes() {
		out.Modes = append(out.Modes, ModeInfo{
			Mode: Mode(m.String()), Summary: summaries[m], Countable: m.Blocks(), Offered: true,
			About: words.Text(messages.Key("mode", m.String(), "about")) + " " + words.Text("mode.own"),
		})
	}
	return out, nil
}

// GetHealth answers that the process lives.
func (s *server) GetHealth(context.Context, GetHealthRequestObject) (GetHealthResponseObject, error) {
	return GetHealth200JSONResponse{Status: HealthStatusOk}, nil
}

// GetReadiness answers whether the database can be read.
func (s *server) GetReadiness(ctx context.Context, _ GetReadinessRequestObject) (GetReadinessResponseObject, error) {
	if err := s.ready(ctx); err != nil {
		s.log.WarnContext(ctx, "not ready", "error", err)
		var e *house.Error
		if errors.As(err, &e) && e.Code == house.Unavailable {
			return nil, e // the house has words for it: the disk is full, say
		}
		return nil, refuse(house.Unavailable, "the database cannot be read now")
	}
	return GetReadiness200JSONResponse{Status: HealthStatusOk}, nil
}

// GetVersion answers which build this is.
func (s *server) GetVersion(context.Context, GetVersionRequestObject) (GetVersionResponseObject, error) {
	return GetVersion200JSONResponse{
		Version: s.version, Rules: rules.Version, Protocol: VersionProtocolFairdicev1,
		Log: s.house.Origin(), Key: s.house.VerifierKey(),
	}, nil
}
