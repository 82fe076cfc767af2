package audit

import (
	"fmt"
	"time"

	"fairdice/commitment"
	"fairdice/internal/beacon"
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
		f.skip(DealBeacon, 0, "the match has no beacon")
	}
	for _, g := range games {
		for _, s := range g.segments {
			a := s.assign.S
			switch {
			case a.Round != nil && !open.Beacon:
				f.fail(DealBeacon, g.number, 0, fmt.Sprintf("the assign of segment %d names a round, though the match has no beacon", s.number)+at(s.assign.entry))
			case a.Round == nil && open.Beacon:
				f.fail(DealBeacon, g.number, 0, fmt.Sprintf("the assign of segment %d names no round", s.number)+at(s.assign.entry))
			case a.Round != nil:
				f.pass(DealBeacon)
				if err := beacon.CheckAssign(*a.Round, a.Time); err != nil {
					f.fail(DealBeacon, g.number, 0, fmt.Sprintf("segment %d: %v", s.number, err)+at(s.assign.entry))
				}
			}
			if s.deal != nil {
				g.checkSignature(f, budget, open.Beacon, a.Round, s.deal.S.Signature, s.deal.entry)
				if open.Beacon && s.deal.S.Signature == nil {
					f.fail(DealBeacon, g.number, 0, fmt.Sprintf("the deal of segment %d has no signature", s.number)+at(s.deal.entry))
				}
			}
		}
		if g.abort == nil || g.abort.S.Signature == nil {
			continue
		}
		if !g.undealt() && open.Beacon {
			f.fail(DealBeacon, g.number, 0, "the abort has a beacon signature, though every segment was dealt"+at(g.abort.entry))
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
		f.fail(DealBeacon, g.number, 0, "the "+kind+" has a beacon signature, though the match has no beacon"+at(e))
	case round == nil:
		f.fail(DealBeacon, g.number, 0, "the "+kind+" has a beacon signature for no round"+at(e))
	case e.statement.When().Before(beacon.Time(*round)):
		f.fail(DealBeacon, g.number, 0, fmt.Sprintf("the %s is dated before round %d", kind, *round)+at(e))
	case *budget == 0:
		f.incomplete = true
		f.skip(DealBeacon, 0, fmt.Sprintf("the file holds more than %d beacon signatures", maxRounds))
	default:
		*budget--
		if err := beacon.Verify(*round, signature); err != nil {
			f.fail(DealBeacon, g.number, 0, fmt.Sprintf("the signature in the %s is not that of round %d: %v", kind, *round, err)+at(e))
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
