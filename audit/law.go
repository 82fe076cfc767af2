package audit

import (
	"fairdice/commitment"
	"fairdice/internal/phrase"
)

// checkLaw carries out mode.law: what a mode promises about the spread of the
// dice, tested on the dice that were served, in their places (RULES.md §8,
// C14). It does not look at how they were generated; record.rolls does.
func (e *evidence) checkLaw(f *findings) {
	mode := e.open.Mode
	for g := range e.present() {
		for _, s := range g.log.segments {
			q := g.rebuilt[s.number]
			if q == nil {
				if s.deal != nil {
					f.skip(ModeLaw, g.number, phrase.Errorf("segment %d cannot be rebuilt without its secret", s.number))
				}
				continue
			}
			f.pass(ModeLaw)
			a, b := g.served(s.number, commitment.StreamA), g.served(s.number, commitment.StreamB)
			if err := commitment.CheckLaw(mode, q.Offset(commitment.StreamA), q.Offset(commitment.StreamB), a, b); err != nil {
				f.fail(ModeLaw, g.number, 0, phrase.Errorf("segment %d: %v", s.number, err))
			}
		}
	}
}

// served returns the dice of the receipts of one stream of a segment, from
// element 0 up to the first that was not drawn.
func (g *game) served(segment int, stream commitment.Stream) []commitment.Dice {
	drawn := map[int]commitment.Dice{}
	for _, r := range g.receipts {
		if r.Segment == segment && r.Stream == stream {
			drawn[r.Index] = r.Dice
		}
	}
	out := make([]commitment.Dice, 0, len(drawn))
	for i := 0; ; i++ {
		d, ok := drawn[i]
		if !ok {
			return out
		}
		out = append(out, d)
	}
}
