package api

import (
	"context"
	"encoding/hex"
	"slices"

	"fairdice/commitment"
	"fairdice/house"
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

// modes say what a player may count on (RULES.md §8).
var modes = map[commitment.Mode]ModeInfo{
	commitment.Random:   {Summary: "independent uniform throws"},
	commitment.Balanced: {Summary: "each seat's throws come in shuffled blocks of all 36", Countable: true},
	commitment.Twofold:  {Summary: "shuffled blocks of 72, every throw twice", Countable: true},
	commitment.Triple:   {Summary: "shuffled blocks of 108, every throw three times", Countable: true},
	commitment.Equal:    {Summary: "both seats get the same twelve throws, each in an order of its own", Countable: true},
	commitment.Levelled: {Summary: "every six throws, pips and doubles of the seats are close", Countable: true},
	commitment.Real:     {Summary: "recorded physical throws of an archive, from a place the cut decides"},
	commitment.Live:     {Summary: "each throw is fixed only when both players have released a link for it"},
}

// ListModes answers the dice modes.
func (s *server) ListModes(context.Context, ListModesRequestObject) (ListModesResponseObject, error) {
	var out ListModes200JSONResponse
	for _, m := range commitment.Modes() {
		info := modes[m]
		info.Mode, info.Offered = Mode(m.String()), slices.Contains(s.house.Modes(), m.String())
		out.Modes = append(out.Modes, info)
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
