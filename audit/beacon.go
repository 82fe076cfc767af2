package audit

import (
	"errors"
	"time"

	"fairdice/commitment"
	"fairdice/internal/beacon"
	"fairdice/internal/phrase"
)

// maxRounds bounds how many beacon signatures a verification checks, at about a
// millisecond each: a forged file of 64 MiB could hold a hundred thousand.
const maxRounds = 1 << 12

// checkBeacon carries out deal.beacon: rounds and signatures are there exactly
// if the match declared the beacon, every round was still to come when it was
// named, and every signature is the round's (C22). budget is how many
// signatures may still be checked.
func checkBeacon(f *findings, open *commitment.Open, games []*gameLog, budget *int) {
	if !open.Beacon {
		f.skip(DealBeacon, 0, errors.New("the match has no beacon"))
	}
	for _, g := range games {
		for _, s := range g.segments {
			a := s.assign.S
			switch {
			case a.Round != nil && !open.Beacon:
				f.fail(DealBeacon, g.number, 0, at(s.assign.entry, "the assign of segment %d names a round, though the match has no beacon", s.number))
			case a.Round == nil && open.Beacon:
				f.fail(DealBeacon, g.number, 0, at(s.assign.entry, "the assign of segment %d names no round", s.number))
			case a.Round != nil:
				f.pass(DealBeacon)
				if err := beacon.CheckAssign(*a.Round, a.Time); err != nil {
					f.fail(DealBeacon, g.number, 0, at(s.assign.entry, "segment %d: %v", s.number, err))
				}
			}
			if s.deal != nil {
				g.checkSignature(f, budget, open.Beacon, a.Round, s.deal.S.Signature, s.deal.entry)
				if open.Beacon && s.deal.S.Signature == nil {
					f.fail(DealBeacon, g.number, 0, at(s.deal.entry, "the deal of segment %d has no signature", s.number))
				}
			}
		}
		if g.abort == nil || g.abort.S.Signature == nil {
			continue
		}
		if !g.undealt() && open.Beacon {
			f.fail(DealBeacon, g.number, 0, at(g.abort.entry, "the abort has a beacon signature, though every segment was dealt"))
			continue
		}
		var round *uint64
		if n := len(g.segments); n > 0 {
			round = g.segments[n-1].assign.S.Round
		}
		g.checkSignature(f, budget, open.Beacon, round, g.abort.S.Signature, g.abort.entry)
	}
}

// checkSignature verifies the signature of a deal or abort, if it has one.
func (g *gameLog) checkSignature(f *findings, budget *int, declared bool, round *uint64, signature []byte, e entry) {
	if signature == nil {
		return
	}
	kind := e.statement.Type()
	switch {
	case !declared:
		f.fail(DealBeacon, g.number, 0, at(e, "the %s has a beacon signature, though the match has no beacon", kind))
	case round == nil:
		f.fail(DealBeacon, g.number, 0, at(e, "the %s has a beacon signature for no round", kind))
	case e.statement.When().Before(beacon.Time(*round)):
		f.fail(DealBeacon, g.number, 0, at(e, "the %s is dated before round %d", kind, *round))
	case *budget == 0:
		f.incomplete = true
		f.skip(DealBeacon, 0, phrase.Errorf("the file holds more than %d beacon signatures", maxRounds))
	default:
		*budget--
		if err := beacon.Verify(*round, signature); err != nil {
			f.fail(DealBeacon, g.number, 0, at(e, "the signature in the %s is not that of round %d: %v", kind, *round, err))
		}
	}
}

// roundTime returns time(R) of a segment's assign, and false without a round.
func roundTime(a commitment.Assign) (time.Time, bool) {
	if a.Round == nil {
		return time.Time{}, false
	}
	return beacon.Time(*a.Round), true
}
