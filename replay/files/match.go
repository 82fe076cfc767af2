package files

import (
	"errors"
	"fmt"
	"slices"

	"fairdice/replay"
	"fairdice/replay/sheet"
)

// MaxKept bounds the games of a match that is kept for writing it again.
const MaxKept = 10_000

// matchOf returns the match that a native record is a game of.
func matchOf(record replay.Record, setting replay.Setting, out replay.Replayed) sheet.Match {
	m := sheet.Match{Variant: setting.Variant, Options: &setting.Options, Length: setting.Options.Series.N, Crawford: setting.Options.Crawford}
	if record.Header != nil {
		m.ID = record.Header.Match
	}
	g := sheet.Game{Number: setting.Game, Score: setting.Score, Crawford: setting.Crawford, Drawn: true, Events: out.Events}
	if out.Finished {
		g.Events = out.Events[:len(out.Events)-1]
		g.Result = &sheet.Outcome{Winner: out.Result.Seat, Points: out.Result.Points, Draw: out.Result.Draw}
	}
	m.Games = []sheet.Game{g}
	return m
}

// Join makes one match of the games of several files, in the order of their numbers.
func Join(matches []sheet.Match) (sheet.Match, error) {
	if len(matches) == 0 {
		return sheet.Match{}, errors.New("join games: there is none")
	}
	joined := matches[0]
	joined.Games = nil
	for _, m := range matches {
		switch {
		case m.ID != joined.ID || m.Variant != joined.Variant || m.Length != joined.Length || m.Crawford != joined.Crawford:
			return sheet.Match{}, errors.New("join games: the games are not of one match")
		case (m.Options == nil) != (joined.Options == nil) || m.Options != nil && *m.Options != *joined.Options:
			return sheet.Match{}, errors.New("join games: the games have different options")
		}
		joined.Games = append(joined.Games, m.Games...)
	}
	slices.SortStableFunc(joined.Games, func(a, b sheet.Game) int { return a.Number - b.Number })
	for i := range joined.Games[1:] {
		if n := joined.Games[i].Number; n == joined.Games[i+1].Number {
			return sheet.Match{}, fmt.Errorf("join games: game %d is there twice", n)
		}
	}
	return joined, nil
}

// Native returns the native record of one game of a match: with its header if the match has a UUIDv7, else the event lines alone. The file must
// have named the options and shown the opening draws: nothing is made up.
func Native(m sheet.Match, g sheet.Game) (replay.Record, error) {
	if m.Options == nil || !g.Drawn {
		return replay.Record{}, errors.New("the file does not say what a record must: the options and the opening draws")
	}
	r := replay.Record{FirstLine: 1}
	for _, e := range g.Events {
		r.Lines = append(r.Lines, e.String())
	}
	if o := g.Result; o != nil {
		r.Lines = append(r.Lines, replay.Event{Kind: replay.End, Seat: o.Winner, Points: o.Points, Draw: o.Draw}.String())
	}
	h := replay.Header{Match: m.ID, Game: g.Number, Variant: m.Variant.ID, Options: *m.Options, Score: g.Score, Crawford: g.Crawford}
	if _, err := replay.ParseRecord([]byte(h.Text())); err == nil {
		r.Header, r.FirstLine = &h, 9
	}
	return r, nil
}
