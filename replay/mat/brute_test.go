package mat_test

import (
	"regexp"
	"strconv"
	"strings"

	"fairdice/rules"
)

// brute is a second reader for tests, as simple as can be and sharing no code with the first but the list of all legal ends: it follows
// the set of all positions that fit the rows. It moves checkers by itself, knows who may turn the cube, and nothing of results. It
// knows only well-formed rows of files to points.
type brute struct {
	short rules.Rules
	gen   rules.Generator
}

var (
	bruteRow     = regexp.MustCompile(`^\s*\d+\)(.*)$`)
	bruteCell    = regexp.MustCompile(`\d\d:|Doubles|Takes|Drops|Wins|Losses|Concedes`)
	bruteHop     = regexp.MustCompile(`(bar|\d+)((?:/(?:off|\d+)\*?)+)(?:\((\d)\))?`)
	bruteScore   = regexp.MustCompile(`: (\d+)\s.*: (\d+)\s*$`)
	bruteLength  = regexp.MustCompile(`(?m)^\s*(\d+) point match`)
	bruteNoCraws = regexp.MustCompile(`(?i)Crawford "off"`)
)

// bruteGame is one game of a file.
type bruteGame struct {
	crawford bool
	cells    []bruteEvent
}

// bruteEvent is one cell with dice or the cube.
type bruteEvent struct {
	what  string // "play", "Doubles", "Takes", "Drops", "end"
	line  int
	right bool
	dice  [2]uint8
	text  string
	last  bool // nothing but a result follows in the game
}

// games returns the cells of every game of a file.
func (b *brute) games(text string) []bruteGame {
	length := 0
	if m := bruteLength.FindStringSubmatch(text); m != nil {
		length, _ = strconv.Atoi(m[1])
	}
	var games []bruteGame
	crawford, named := bruteNoCraws.MatchString(text), false // true: the Crawford game has been played
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimRight(line, "\r ")
		if strings.HasPrefix(strings.TrimSpace(line), "Game ") {
			games, named = append(games, bruteGame{}), true
			continue
		}
		if m := bruteScore.FindStringSubmatch(line); m != nil && named {
			named = false
			a, _ := strconv.Atoi(m[1])
			c, _ := strconv.Atoi(m[2])
			if max(a, c) == length-1 && length > 1 {
				games[len(games)-1].crawford, crawford = !crawford, true
			}
			continue
		}
		if m := bruteRow.FindStringSubmatchIndex(line); m != nil && len(games) > 0 {
			games[len(games)-1].row(i+1, line, m[2])
		}
	}
	return games
}

// row adds the cells of a row that begins at a column.
func (g *bruteGame) row(number int, line string, from int) {
	cells := bruteCell.FindAllStringIndex(line[from:], -1)
	for n, at := range cells {
		start, end := from+at[0], len(line)
		if n+1 < len(cells) {
			end = from + cells[n+1][0]
		}
		e := bruteEvent{what: line[start : from+at[1]], line: number, right: n == 1 || start > 20, last: true}
		switch {
		case e.what[2] == ':':
			e.dice, e.text, e.what = [2]uint8{line[start] - '0', line[start+1] - '0'}, line[start+3:end], "play"
		case e.what == "Wins" || e.what == "Losses" || e.what == "Concedes":
			e.what = "end"
		}
		for k := len(g.cells) - 1; k >= 0 && e.what != "end" && g.cells[k].last; k-- {
			g.cells[k].last = false
		}
		if e.what != "end" || len(g.cells) == 0 || g.cells[len(g.cells)-1].what != "end" {
			g.cells = append(g.cells, e)
		}
	}
}

// fault returns the line of the first cell that no legal game can have, or 0. From line starred on, the stars of the rows must say exactly
// what was hit.
func (b *brute) fault(game bruteGame, starred int) int {
	positions := map[rules.Position]bool{b.short.Start(): true}
	var first, turn bool // columns: whose first throw it was, whose turn it is
	begun, offered, over := false, false, false
	owner := 0 // 1: left, 2: right
	side := func(right bool) int {
		if right {
			return 2
		}
		return 1
	}
	for _, e := range game.cells {
		if over && e.what != "end" {
			return e.line
		}
		switch e.what {
		case "Doubles":
			if !begun || offered || game.crawford || e.right != turn || owner != 0 && owner != side(e.right) {
				return e.line
			}
			offered = true
		case "Takes", "Drops":
			if !offered || e.right == turn {
				return e.line
			}
			offered, owner, over = false, side(e.right), e.what == "Drops"
		case "end":
			over = true
		default:
			if offered || begun && e.right != turn || !begun && e.dice[0] == e.dice[1] {
				return e.line
			}
			if !begun {
				begun, first = true, e.right
			}
			mover := rules.White
			if e.right != first {
				mover = rules.Black
			}
			next := map[rules.Position]bool{}
			done := false
			for at := range positions {
				b.plays(at, mover, e, next, e.line >= starred)
			}
			for at := range next {
				done = done || at.Off(mover) == 15
			}
			if positions, turn = next, !e.right; len(positions) == 0 {
				return e.line
			}
			over = done
		}
	}
	return 0
}

// plays adds the legal ends that a cell can mean.
func (b *brute) plays(at rules.Position, mover rules.Color, e bruteEvent, next map[rules.Position]bool, starred bool) {
	s := rules.StageOf(mover, rules.Own, rules.Dice{A: e.dice[0], B: e.dice[1]})
	s.Roll = 7
	plays := b.gen.Plays(b.short, at, s)
	hops := bruteHop.FindAllStringSubmatch(e.text, -1)
	if len(hops) == 0 {
		if plays.K == 0 || e.last { // thrown, then given up
			next[at] = true
		}
		return
	}
	legal := map[rules.Position]bool{}
	for _, end := range plays.Ends {
		legal[end] = plays.K > 0
	}
	var journeys []journey
	for _, h := range hops {
		from, _ := strconv.Atoi(h[1])
		if h[1] == "bar" {
			from = 25
		}
		count := 1
		if h[3] != "" {
			count, _ = strconv.Atoi(h[3])
		}
		for n := range count {
			last := from
			for _, stop := range strings.Split(h[2], "/")[1:] {
				to, _ := strconv.Atoi(strings.TrimSuffix(stop, "*"))
				if to >= last {
					return
				}
				j := journey{from: last, to: to, stars: 2}
				if starred && n == 0 {
					j.stars = strings.Count(stop, "*")
				}
				journeys = append(journeys, j)
				last = to
			}
		}
	}
	dice := []int{int(e.dice[0]), int(e.dice[1])}
	if dice[0] == dice[1] {
		dice = append(dice, dice...)
	}
	if len(journeys) <= 4 {
		b.walk(at.Setup(), mover, journeys, dice, legal, next)
	}
}

// journey is one checker's way with the hits it must make: 0 none, 1 one or more, 2 any.
type journey struct{ from, to, stars int }

// walk makes the journeys step by step, in every order and with every die, and adds the ends that are legal.
func (b *brute) walk(s rules.Setup, mover rules.Color, journeys []journey, dice []int, legal, next map[rules.Position]bool) {
	if len(journeys) == 0 {
		if end, err := b.short.Position(s); err == nil && legal[end] {
			next[end] = true
		}
		return
	}
	for i, j := range journeys {
		for k, die := range dice {
			to := max(0, j.from-die)
			if to < j.to {
				continue
			}
			moved := s
			if !stepTo(&moved, mover, j.from, to) {
				continue
			}
			left := journey{from: to, to: j.to, stars: j.stars}
			if moved.Bar[mover.Other()] > s.Bar[mover.Other()] {
				if j.stars == 0 {
					continue
				}
				left.stars = 2
			}
			if to == j.to && left.stars == 1 {
				continue // a star, and nothing was hit
			}
			rest := append([]journey{}, journeys[:i]...)
			if to > j.to {
				rest = append(rest, left)
			}
			rest = append(rest, journeys[i+1:]...)
			others := append(append([]int{}, dice[:k]...), dice[k+1:]...)
			b.walk(moved, mover, rest, others, legal, next)
		}
	}
}

// stepTo moves one checker and hits what it lands on, and reports whether that can be.
func stepTo(s *rules.Setup, c rules.Color, from, to int) bool {
	switch {
	case from == 25 && s.Bar[c] > 0:
		s.Bar[c]--
	case from <= 24 && s.Points[c][24-from] > 0:
		s.Points[c][24-from]--
	default:
		return false
	}
	if to == 0 {
		s.Off[c]++
		return true
	}
	enemy := &s.Points[c.Other()][to-1]
	if *enemy > 1 {
		return false
	}
	if *enemy == 1 {
		*enemy = 0
		s.Bar[c.Other()]++
	}
	s.Points[c][24-to]++
	return true
}
