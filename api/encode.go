package api

import (
	"fairdice/audit"
	"fairdice/commitment"
	"fairdice/house"
)

func hexes(hashes []commitment.Hash) []Hex {
	list := make([]Hex, len(hashes))
	for i, h := range hashes {
		list[i] = h.String()
	}
	return list
}

func statement(s house.Statement) Statement {
	return Statement{Index: s.Index, Text: s.Text, Path: hexes(s.Path)}
}

func published(p house.Published) Published {
	out := Published{Statements: make([]Statement, len(p.Statements)), Checkpoint: p.Checkpoint, Since: p.Since}
	for i, s := range p.Statements {
		out.Statements[i] = statement(s)
	}
	if p.Since > 0 {
		out.Consistency = hexes(p.Consistency)
	}
	return out
}

func sequence(s house.SequenceView) Sequence {
	return Sequence{
		Sequence: s.Sequence, Tenant: s.Tenant, Mode: Mode(s.Mode), Number: int64(s.Number),
		Rolls: s.Rolls[:], State: SequenceState(s.State), Index: s.Index,
		Match: s.Match, Game: s.Game, Segment: s.Segment,
	}
}

func match(m house.MatchView) Match {
	out := Match{
		Match: m.Match, Tenant: m.Tenant, Variant: m.Variant, Mode: Mode(m.Mode), Profile: MatchProfile(m.Profile),
		Options: m.Options, A: m.A, B: m.B, Score: m.Score[:], Links: m.Links[:], State: MatchState(m.State),
		Opened: m.OpenedAt, Games: make([]Game, len(m.Games)),
	}
	for i, g := range m.Games {
		out.Games[i] = Game{
			Game: g.Game, State: GameState(g.State), Segments: g.Segments, Rolls: g.Rolls[:],
			Lines: g.Lines, Head: g.Head, Due: g.Due, Round: int64(g.Round),
		}
		if m.Mode == commitment.Live.String() {
			out.Games[i].Links = g.Throw[:]
		}
		if d := g.Draw; d != nil {
			out.Games[i].Draw = DrawDue{Segment: d.Segment, Stream: Stream(d.Stream), Index: d.Index, Throw: d.Throw}
		}
	}
	return out
}

func roll(d house.DrawAnswer) Roll {
	return Roll{
		Format: RollFormatFairdicev1roll, Dice: d.Dice[:], Line: d.Line, Head: d.Head, Due: d.Due, Receipt: d.Receipt,
		Opening: Opening{Segment: d.Segment, Stream: Stream(d.Stream), Index: d.Index, Key: d.Key.String(), Path: hexes(d.Path)},
		Commit:  statement(d.Commit), Open: statement(d.Open), Assign: statement(d.Assign), Deal: statement(d.Deal), Checkpoint: d.Checkpoint,
	}
}

// bundle is the file of PROTOCOL.md §8.
func bundle(e house.Evidence) (*audit.Bundle, error) {
	b := &audit.Bundle{Archives: e.Archives, Log: audit.BundleLog{Origin: e.Origin, Key: e.Key, Checkpoint: e.Checkpoint}}
	for _, c := range e.Earlier {
		b.Log.Earlier = append(b.Log.Earlier, audit.BundleEarlier{Checkpoint: c.Checkpoint, Consistency: c.Consistency})
	}
	for _, s := range e.Statements {
		b.Statements = append(b.Statements, audit.BundleStatement{Index: uint64(s.Index), Text: s.Text, Path: s.Path})
	}
	for _, g := range e.Games {
		game := audit.BundleGame{Game: g.Game, Record: g.Record, Receipts: g.Receipts}
		for _, o := range g.Openings {
			stream, err := commitment.ParseStream(o.Stream)
			if err != nil {
				return nil, err
			}
			game.Openings = append(game.Openings, audit.BundleOpening{
				Segment: o.Segment, Stream: stream, Index: o.Index, Key: o.Key, Path: o.Path,
			})
		}
		b.Games = append(b.Games, game)
	}
	return b, nil
}
