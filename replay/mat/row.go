package mat

import (
	"bytes"
	"errors"
	"strings"

	"fairdice/internal/phrase"
	"fairdice/replay"
	"fairdice/replay/sheet"
	"fairdice/rules"
)

// kind is what one column of a row says.
type kind uint8

const (
	play    kind = iota // dice, with or without a play
	double              // "Doubles => 4"
	take                // "Takes"
	drop                // "Drops"
	wins                // "Wins 2 points"
	loses               // "Losses 2 points"
	draws               // "Draw": nobody has won
	concede             // "Concedes", "Resigns": gives up
)

// cell is one column of a row.
type cell struct {
	kind    kind
	seat    replay.Seat
	column  int // where it starts, from 0
	dice    rules.Dice
	thrown  bool  // play: there are dice; "00:" has none
	stage   uint8 // play: one further stage of this die, "03:"
	unable  bool  // play: "Cannot Move"
	unknown bool  // play: "????"
	value   int64
	hops    []sheet.Hop
}

// row is a numbered line taken apart. Its buffers are reused from row to row.
type row struct {
	absolute bool // the variant counts points for both sides alike: numbers may rise
	cells    [2]cell
	n        int
	hops     [2][maxHops]sheet.Hop
}

// maxHops bounds the journeys of one play; more than four are wrong anyway, and the state machine says so.
const maxHops = 8

// keywords are the words that begin a column, lower case.
var keywords = map[string]kind{
	"doubles": double, "redoubles": double, "double": double, "beavers": double, "beaver": double, "raccoons": double, "raccoon": double,
	"takes": take, "take": take, "accepts": take,
	"drops": drop, "drop": drop, "passes": drop, "pass": drop, "rejects": drop,
	"wins": wins, "win": wins,
	"losses": loses, "loses": loses, "lost": loses, "losse": loses,
	"draw": draws, "drawn": draws, "draws": draws,
	"concedes": concede, "concede": concede, "resigns": concede, "resign": concede, "abandons": concede,
}

// fill are words that may follow a keyword and add nothing.
var fill = map[string]bool{
	"=>": true, "->": true, "to": true, "point": true, "points": true, "and": true, "the": true, "match": true, "game": true, "single": true, "gammon": true,
	"backgammon": true, "a": true,
}

// parse takes the columns of a row apart. The text begins at column offset of its line; columns that begin before middle are seat A's. It
// returns what cannot be read, or nil.
func (r *row) parse(text []byte, offset, middle int) error {
	r.n = 0
	for pos := 0; ; {
		for pos < len(text) && (text[pos] == ' ' || text[pos] == '\t') {
			pos++
		}
		if pos == len(text) {
			break
		}
		end := pos
		for end < len(text) && text[end] != ' ' && text[end] != '\t' {
			end++
		}
		if bad := r.word(text[pos:end], column(text, offset, pos)); bad != nil {
			return bad
		}
		pos = end
	}
	switch {
	case r.n == 1 && r.cells[0].column >= middle:
		r.cells[0].seat = replay.B
	case r.n == 2:
		r.cells[1].seat = replay.B
	}
	return nil
}

// column returns where a position of the text is seen, tabs expanded to eight.
func column(text []byte, offset, pos int) int {
	at := offset
	for _, c := range text[:pos] {
		if c == '\t' {
			at |= 7
		}
		at++
	}
	return at
}

// word adds one word to the row and returns why it cannot, or nil.
func (r *row) word(w []byte, column int) error {
	if len(w) >= 3 && w[2] == ':' && digit(w[0]) && digit(w[1]) {
		return r.throw(w, column)
	}
	var last *cell
	if r.n > 0 {
		last = &r.cells[r.n-1]
	}
	if digit(w[0]) || bytes.IndexByte(w, '/') > 0 {
		return r.number(w, last)
	}
	var buffer [16]byte
	lower := fold(buffer[:0], w)
	if k, ok := keywords[string(lower)]; ok {
		if k == concede && last != nil && last.kind == play && len(last.hops) == 0 && !last.unable {
			last.kind = concede
			return nil
		}
		return r.begin(k, column)
	}
	switch {
	case len(bytes.Trim(w, "?")) == 0:
		// What was played is not known: as a rule, nothing, because the game was given up.
		if last == nil || last.kind != play || len(last.hops) > 0 {
			if bad := r.begin(play, column); bad != nil {
				return bad
			}
		}
		r.cells[r.n-1].unknown = true
		return nil
	case last != nil && last.kind == play && len(last.hops) == 0 && unableWords[string(lower)]:
		last.unable = true
		return nil
	case string(lower) == "cannot" || string(lower) == "can't" || string(lower) == "dances":
		return r.begin(play, column)
	case last != nil && last.kind != play && fill[string(lower)]:
		return nil
	}
	return phrase.Errorf("cannot read \"%s\"", clip(w))
}

// fold appends a word in lower case and without a full stop; nothing of a word that is longer than any known one.
func fold(b, w []byte) []byte {
	w = bytes.TrimRight(w, ".,!")
	if len(w) > cap(b) {
		return b
	}
	for _, c := range w {
		if c >= 'A' && c <= 'Z' {
			c += 'a' - 'A'
		}
		b = append(b, c)
	}
	return b
}

// unableWords are the words of "Cannot Move" and its relatives.
var unableWords = map[string]bool{"cannot": true, "can't": true, "move": true, "no": true, "(no": true, "move)": true, "play": true,
	"play)": true, "dance": true, "dances": true, "fans": true, "-": true}

func (r *row) begin(k kind, column int) error {
	if r.n == len(r.cells) {
		return errors.New("the row has more than two columns")
	}
	r.cells[r.n] = cell{kind: k, column: column, hops: r.hops[r.n][:0]}
	r.n++
	return nil
}

// throw begins a column with dice; steps may follow the colon without a space.
func (r *row) throw(w []byte, column int) error {
	if bad := r.begin(play, column); bad != nil {
		return bad
	}
	c := &r.cells[r.n-1]
	c.dice = rules.Dice{A: w[0] - '0', B: w[1] - '0'}
	c.thrown = c.dice != rules.Dice{}
	switch {
	case c.thrown && c.dice.A == 0 && c.dice.B <= 6:
		c.stage = c.dice.B
	case c.thrown && !c.dice.Valid():
		return phrase.Errorf("no dice show \"%s\"", string(w[:2])) // the bytes of w are those of a later line when it is said again
	}
	if len(w) > 3 {
		return c.step(w[3:], r.absolute)
	}
	return nil
}

// number adds steps to a play, or a number to a cube action or result.
func (r *row) number(w []byte, last *cell) error {
	switch {
	case last == nil:
		return phrase.Errorf("\"%s\" stands before any dice", clip(w))
	case last.kind == play:
		return last.step(w, r.absolute)
	case last.value != 0:
		return phrase.Errorf("cannot read \"%s\" after a number", clip(w))
	}
	n, ok := decimal(w)
	if !ok {
		return phrase.Errorf("cannot read the number \"%s\"", clip(w))
	}
	last.value = n
	return nil
}

// step adds one word of a play: from/to, landings on the way, stars, a number of checkers in brackets.
func (c *cell) step(w []byte, absolute bool) error {
	text, count := w, 1
	if n := len(w); n > 3 && w[n-1] == ')' && w[n-3] == '(' && w[n-2] >= '1' && w[n-2] <= '4' {
		count, text = int(w[n-2]-'0'), w[:n-3]
	}
	first := len(c.hops)
	var at uint8
	for i := 0; ; i++ {
		part, rest, more := bytes.Cut(text, []byte{'/'})
		star := sheet.Plain
		if n := len(part); n > 0 && part[n-1] == '*' {
			part, star = part[:n-1], sheet.Hit
		}
		number, ok := point(part, i == 0)
		if !ok || i == 0 && (star == sheet.Hit || !more) || i > 0 && (number >= at && !absolute || number == at) {
			return phrase.Errorf("cannot read the step \"%s\"", clip(w))
		}
		if i > 0 {
			if len(c.hops) == cap(c.hops) {
				return errors.New("the play has more steps than dice")
			}
			c.hops = append(c.hops, sheet.Hop{From: at, To: number, Star: star})
		}
		if at = number; !more {
			break
		}
		text = rest
	}
	chain := len(c.hops) - first
	for range count - 1 {
		for i := range chain {
			h := c.hops[first+i]
			if len(c.hops) == cap(c.hops) {
				return errors.New("the play has more steps than dice")
			}
			c.hops = append(c.hops, sheet.Hop{From: h.From, To: h.To, Star: sheet.Silent})
		}
	}
	return nil
}

// point reads a point, the bar ("bar" or 25, only as a start) or off ("off" or 0, only as an end).
func point(text []byte, start bool) (uint8, bool) {
	if len(text) > 0 && len(text) <= 2 && digit(text[0]) {
		n := text[0] - '0'
		if len(text) == 2 {
			if !digit(text[1]) {
				return 0, false
			}
			n = n*10 + text[1] - '0'
		}
		return n, n <= 25 && (n != 0 || !start) && (n != 25 || start)
	}
	switch {
	case start && bytes.EqualFold(text, []byte("bar")):
		return replay.BarNumber, true
	case !start && bytes.EqualFold(text, []byte("off")):
		return replay.OffNumber, true
	}
	return 0, false
}

func digit(c byte) bool { return c >= '0' && c <= '9' }

func decimal(w []byte) (int64, bool) {
	if len(w) == 0 || len(w) > 15 {
		return 0, false
	}
	n := int64(0)
	for _, c := range w {
		if !digit(c) {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	return n, true
}

// clip makes foreign bytes fit for a message.
func clip(w []byte) string {
	if len(w) > 40 {
		w = w[:40]
	}
	return strings.ToValidUTF8(string(w), "?")
}
