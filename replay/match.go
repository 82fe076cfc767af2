package replay

import (
	"errors"

	"fairdice/internal/phrase"
	"fairdice/rules"
)

// Match is the state of a series between two games (RULES.md §7): the score, the number of the next game, and whether the Crawford
// game has been played. It is a comparable value; it begins with [NewMatch].
type Match struct {
	variant  rules.Variant
	options  Options
	next     int
	score    [2]int
	crawford bool // the Crawford game is over
	over     bool
}

// NewMatch returns a match at 0 : 0. It refuses options that do not go together.
func NewMatch(v rules.Variant, o Options) (Match, error) {
	if err := o.Validate(v); err != nil {
		return Match{}, phrase.Errorf("new match: %w", err)
	}
	return Match{variant: v, options: o, next: 1}, nil
}

// Next returns what the next game starts from. It means nothing once the match is over.
func (m Match) Next() Setting {
	s := Setting{Variant: m.variant, Options: m.options, Game: m.next, Score: m.score}
	oneAway := max(m.score[A], m.score[B]) == m.options.Series.N-1
	s.Crawford = s.crawfordPossible() && !m.crawford && oneAway
	return s
}

// Add counts a finished game.
func (m Match) Add(r Result) (Match, error) {
	if m.over || m.next == 0 {
		return m, errors.New("add game: the match is over")
	}
	if r.Draw != (r.Points == 0) || r.Points < 0 || r.Points > MaxPoints {
		return m, phrase.Errorf("add game: %q is no result", r)
	}
	m.crawford = m.crawford || m.Next().Crawford
	m.next++
	if !r.Draw {
		m.score[r.Seat] += int(r.Points)
	}
	m.over = !m.options.Series.counted() || max(m.score[A], m.score[B]) >= m.options.Series.N
	return m, nil
}

// Skip passes over the number of a game that was aborted: the score stays, and a Crawford game is still to be played.
func (m Match) Skip() (Match, error) {
	if m.over || m.next == 0 {
		return m, errors.New("skip game: the match is over")
	}
	m.next++
	return m, nil
}

// Score returns the points of seats A and B.
func (m Match) Score() [2]int { return m.score }

// Over reports whether the series has been decided. A single game has also when it was drawn.
func (m Match) Over() bool { return m.over }
