package sgf

import (
	"errors"
	"strconv"
	"strings"

	"fairdice/internal/phrase"
	"fairdice/replay"
	"fairdice/replay/sheet"
	"fairdice/rules"
)

// root is what the first node of a game says.
type root struct {
	line   int
	info   bool // MI was given
	length int
	score  [2]int
	rules  string
	result string
	backg  bool
	cube   int64 // CV: the value it begins with, after automatic doubles
	number int   // of the game, from 1
	names  [2]string
	app    string
}

func (g *root) set(name, value string) {
	switch name {
	case "GM":
		g.backg = strings.TrimSpace(value) == "6"
	case "RU":
		g.rules = value
	case "RE":
		g.result = value
	case "AP":
		g.app = value
	case "PW":
		g.names[replay.A] = value
	case "PB":
		g.names[replay.B] = value
	case "CV":
		g.cube, _ = strconv.ParseInt(value, 10, 48)
	case "MI":
		key, number, _ := strings.Cut(value, ":")
		n, err := strconv.Atoi(number)
		if err != nil || n < 0 || n > 1<<20 {
			return
		}
		g.info = true
		switch key {
		case "length":
			g.length = n
		case "game":
			g.number = n + 1
		case "ws":
			g.score[replay.A] = n
		case "bs":
			g.score[replay.B] = n
		}
	}
}

// variations maps the words of RU that GNU Backgammon writes to variants.
var variations = map[string]string{"Nackgammon": "nackgammon", "Hypergammon3": "hyper", "Tavla": "tavla"}

// begin starts a game after its root.
func (f *file) begin(g *root) error {
	if !g.backg {
		return errors.New("the game is not backgammon: GM is not 6")
	}
	crawford, id := false, "short"
	for word := range strings.SplitSeq(g.rules, ":") {
		switch {
		case word == "Crawford":
			crawford = true
		case variations[word] != "":
			id = variations[word]
		case strings.HasPrefix(word, "Hypergammon"):
			return phrase.Errorf("the variation %q is not one that can be checked", word)
		}
	}
	if f.sheet == nil {
		f.length, f.crawford = g.length, crawford
		f.variant, _ = rules.Lookup(id)
		if f.opt.Variant != nil {
			f.variant = *f.opt.Variant
		}
		f.players, f.app = g.names, g.app
		f.sheet = sheet.New(sheet.Options{Variant: f.variant, Length: f.length, Crawford: crawford, Observe: f.opt.Observe, Keep: f.opt.Keep})
	}
	if f.games++; f.games > MaxGames {
		return phrase.Errorf("the file holds more than %d games", MaxGames)
	}
	f.resigned = nil
	f.sheet.Expect(sheet.Hints{Number: g.number, Cube: g.cube, Line: g.line})
	score := &g.score
	if !g.info {
		score = nil
	}
	f.sheet.Game(g.line, score)
	return nil
}

// finish ends a game tree with the result that its root gives.
func (f *file) finish(g *root, nodes int) error {
	if nodes == 0 {
		return errors.New("the game tree has no node")
	}
	if nodes == 1 {
		if err := f.begin(g); err != nil {
			return err
		}
	}
	if g.result == "" || strings.EqualFold(g.result, "void") || g.result == "?" {
		return nil
	}
	// W+2, B+2R, W+2Resign: that it was resigned is shown by the rows themselves.
	winner, number, ok := strings.Cut(g.result, "+")
	number = strings.TrimSuffix(strings.TrimSuffix(number, "Resign"), "R")
	points, err := strconv.ParseInt(number, 10, 48)
	if !ok || err != nil || points <= 0 || winner != "W" && winner != "B" {
		f.sheet.Bad(g.line, "cannot read the result %q", g.result)
		return nil
	}
	f.sheet.Result(g.line, seat(winner), points)
	return nil
}

func seat(color string) replay.Seat {
	if color == "W" {
		return replay.A
	}
	return replay.B
}

// node judges one property of a node after the root.
func (f *file) node(line int, name, value string) {
	switch name {
	case "W", "B":
	case "AW", "AB", "AE":
		f.sheet.Bad(line, "the game goes on from an arranged position")
		return
	default:
		f.skip(line, name)
		return
	}
	who := seat(name)
	switch value {
	case "double", "redouble":
		f.sheet.Double(line, who, 0)
	case "take":
		f.sheet.Take(line, who)
	case "drop":
		f.sheet.Drop(line, who)
	case "accept":
		if f.resigned == nil || *f.resigned == who {
			f.sheet.Bad(line, "nobody has resigned: nothing can be accepted")
			return
		}
		f.sheet.GiveUp(line, *f.resigned)
	case "reject":
		f.resigned = nil
	default:
		if strings.HasPrefix(value, "resign") {
			f.resigned = &who
			return
		}
		f.play(line, who, value)
	}
}

// play judges "53hcfc": two dice, then pairs of points.
func (f *file) play(line int, who replay.Seat, value string) {
	if len(value) < 2 || len(value)%2 != 0 || len(value) > 2+2*len(f.hops) {
		f.sheet.Bad(line, "cannot read the play %q", value[:min(len(value), 40)])
		return
	}
	dice := rules.Dice{A: value[0] - '0', B: value[1] - '0'}
	hops := f.hops[:0]
	for i := 2; i < len(value); i += 2 {
		from, okFrom := point(who, value[i])
		to, okTo := point(who, value[i+1])
		if !okFrom || !okTo || from <= to {
			f.sheet.Bad(line, "cannot read the step %q", value[i:i+2])
			return
		}
		hops = append(hops, sheet.Hop{From: from, To: to, Star: sheet.Silent})
	}
	if !dice.Valid() {
		f.sheet.Bad(line, "no dice show %q", value[:2])
		return
	}
	f.sheet.Play(line, who, dice, sheet.Play{Hops: hops, Unable: len(hops) == 0})
}

// point translates a letter into the mover's own number.
func point(who replay.Seat, c byte) (uint8, bool) {
	switch {
	case c == 'y':
		return replay.BarNumber, true
	case c == 'z':
		return replay.OffNumber, true
	case c < 'a' || c > 'x':
		return 0, false
	case who == replay.A:
		return c - 'a' + 1, true
	default:
		return 24 - (c - 'a'), true
	}
}
