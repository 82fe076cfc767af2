package mat_test

import (
	"regexp"
	"strconv"
	"strings"

	"fairdice/rules"
)

// brute is a second reader for tests, as simple as can be and sharing no code with the first: it follows the set of all
// positions that fit the rows, found by filtering the list of all legal ends. It knows only well-formed rows of files to points.
type brute struct {
	short rules.Rules
	gen   rules.Generator
}

var (
	bruteRow  = regexp.MustCompile(`^\s*\d+\)(.*)$`)
	bruteCell = regexp.MustCompile(`\d\d:|Doubles|Takes|Drops|Wins|Losses|\?\?\?\?`)
	bruteHop  = regexp.MustCompile(`(bar|\d+)((?:/(?:off|\d+)\*?)+)(?:\((\d)\))?`)
)

// play is one cell with dice.
type play struct {
	line  int
	right bool
	dice  [2]uint8
	text  string
	last  bool // nothing but a result follows in the game
}

// games returns the plays of every game of a file.
func (b *brute) games(text string) [][]play {
	var games [][]play
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, "\r ")
		if strings.HasPrefix(strings.TrimSpace(line), "Game ") {
			games = append(games, nil)
			continue
		}
		m := bruteRow.FindStringSubmatchIndex(line)
		if m == nil || len(games) == 0 {
			continue
		}
		cells := bruteCell.FindAllStringIndex(line[m[2]:], -1)
		for n, at := range cells {
			start, end := m[2]+at[0], len(line)
			if n+1 < len(cells) {
				end = m[2] + cells[n+1][0]
			}
			cell := line[start:end]
			if cell[2] != ':' {
				if g := games[len(games)-1]; len(g) > 0 && (cell[0] == 'D' || cell[0] == 'T') {
					g[len(g)-1].last = false
				}
				continue
			}
			p := play{line: i + 1, right: n == 1 || start > 20, dice: [2]uint8{cell[0] - '0', cell[1] - '0'}, text: cell[3:], last: true}
			g := &games[len(games)-1]
			if len(*g) > 0 {
				(*g)[len(*g)-1].last = false
			}
			*g = append(*g, p)
		}
	}
	return games
}

// fault returns the line of the first play that no legal game can have, or 0.
func (b *brute) fault(game []play) int {
	positions := map[rules.Position]bool{b.short.Start(): true}
	for i, p := range game {
		mover := rules.White
		if p.right != game[0].right {
			mover = rules.Black
		}
		if i == 0 && p.dice[0] == p.dice[1] || i > 0 && p.right == game[i-1].right {
			return p.line
		}
		next := map[rules.Position]bool{}
		for at := range positions {
			s := rules.StageOf(mover, rules.Own, rules.Dice{A: p.dice[0], B: p.dice[1]})
			s.Roll = 7
			plays := b.gen.Plays(b.short, at, s)
			want, moved := after(at.Setup(), mover, p.text)
			if !named(at, at, mover, p) {
				continue
			}
			for _, end := range plays.Ends {
				if e := end.Setup(); e.Points[mover] == want.Points[mover] && e.Bar[mover] == want.Bar[mover] && e.Off[mover] == want.Off[mover] && moved == (plays.K > 0) && named(at, end, mover, p) {
					next[end] = true
				}
			}
			if !moved && p.last {
				next[at] = true // thrown, then given up
			}
		}
		if positions = next; len(positions) == 0 {
			return p.line
		}
	}
	return 0
}

// named reports whether the landings that a cell names fit: none is closed, an enemy blot that stood on one is gone at the end, and the
// distances are those of the dice.
func named(start, end rules.Position, mover rules.Color, p play) bool {
	a, b, used := int(p.dice[0]), int(p.dice[1]), 0
	for _, m := range bruteHop.FindAllStringSubmatch(p.text, -1) {
		at, _ := strconv.Atoi(m[1])
		if m[1] == "bar" {
			at = 25
		}
		count := 1
		if m[3] != "" {
			count, _ = strconv.Atoi(m[3])
		}
		for _, stop := range strings.Split(strings.ReplaceAll(m[2], "*", ""), "/")[1:] {
			to, _ := strconv.Atoi(stop)
			if enemies := func(q rules.Position) int { return q.At(mover.Other(), to-1) }; to > 0 && (enemies(start) > 1 || enemies(start) == 1 && start != end && enemies(end) > 0) {
				return false
			}
			switch d := at - to; {
			case to > 0 && a != b && d != a && d != b && d != a+b, to > 0 && a == b && d%a != 0:
				return false
			case d == a+b && a != b:
				used += 2 * count
			case a == b:
				used += (d + a - 1) / a * count
			default:
				used += count
			}
			at = to
		}
	}
	if a == b {
		return used <= 4
	}
	return used <= 2
}

// after moves the checkers of one side as a cell says, and says whether it says anything.
func after(s rules.Setup, mover rules.Color, text string) (rules.Setup, bool) {
	moved := false
	for _, m := range bruteHop.FindAllStringSubmatch(text, -1) {
		stops := strings.Split(strings.ReplaceAll(m[2], "*", ""), "/")[1:]
		count := 1
		if m[3] != "" {
			count, _ = strconv.Atoi(m[3])
		}
		put(&s, mover, m[1], -count)
		put(&s, mover, stops[len(stops)-1], count)
		moved = true
	}
	return s, moved
}

func put(s *rules.Setup, c rules.Color, point string, n int) {
	switch number, _ := strconv.Atoi(point); {
	case point == "bar" || number == 25:
		s.Bar[c] += n
	case point == "off" || number == 0:
		s.Off[c] += n
	default:
		s.Points[c][24-number] += n
	}
}
