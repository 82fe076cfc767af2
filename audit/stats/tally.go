package stats

import (
	"math"

	"fairdice/audit"
	"fairdice/commitment"
)

// Sizes of what is counted.
const (
	pairs   = 36
	faces   = 6
	gapAges = 13 // rolls since the last double: 0 … 11, 12 and more
)

// Window is how many rolls of each seat the luck of a game is measured on.
const Window = 10

// Mean and spread of a roll's worth in sixths of a pip: a+b, 4a for a double
// (RULES.md §8). The mean is 49/6; sixths keep every sum an integer.
const meanSixths = 49

var varSixths = func() float64 {
	sum := 0
	for a := 1; a <= 6; a++ {
		for b := 1; b <= 6; b++ {
			u := excess(commitment.Dice{D1: uint8(a), D2: uint8(b)})
			sum += u * u
		}
	}
	return float64(sum) / pairs
}()

// excess is what a roll is worth above the mean, in sixths of a pip.
func excess(d commitment.Dice) int { return 6*d.Pips() - meanSixths }

func card(d commitment.Dice) int { return int(d.D1-1)*faces + int(d.D2-1) }

// Lot says what became of a game or sequence.
type Lot uint8

// The lots.
const (
	Finished Lot = iota // the game was closed
	Dropped             // the game was aborted
	Unused              // the sequence was retired without a game
	lots
)

// Game is what the statistics look at in one game.
type Game struct {
	Mode   commitment.Mode
	Lot    Lot
	Served []audit.Throw
	Dealt  map[int]*commitment.Sequence // by segment: unplayed dice included
	First  *commitment.Sequence         // what the luck of the game is measured on; nil: on what was served
	White  int                          // 0: seat A plays White, 1: seat B, -1: not known
}

// Tally adds up what was seen. Arrays over seats hold A, then B; over colours
// White, then Black. Sums are in sixths of a pip.
type Tally struct {
	Games [lots]int64 `json:"games"`

	// The dice that were served on the personal streams.
	Pairs   [pairs]int64   `json:"pairs"`
	PairsA  [pairs]int64   `json:"pairsA"` // those of A
	Rolls   [2]int64       `json:"rolls"`
	Worth   [2]int64       `json:"worth"`   // above the mean, by seat
	ByColor [2]int64       `json:"byColor"` // above the mean, by colour
	Colored [2]int64       `json:"colored"` // rolls, by colour
	Serial  int64          `json:"serial"`  // products of neighbours
	Squares int64          `json:"squares"` // of the first of two neighbours
	Gaps    [gapAges]int64 `json:"gaps"`    // rolls with that many since the last double
	Doubles [gapAges]int64 `json:"doubles"` // those that were a double
	Opening [pairs]int64   `json:"opening"` // opening draws

	// Whole blocks that were begun, from the secrets.
	Blocks  int64        `json:"blocks"`
	Cards   [pairs]int64 `json:"cards"`   // of begun blocks; mode equal: of A's copy
	First   [pairs]int64 `json:"first"`   // of the first blocks of decks, which begin at a random card
	FirstV  int64        `json:"firstV"`  // variance of their cards, in millionths of a card
	Early   [2]int64     `json:"early"`   // first half against whole block by seat, in thousandths of a sixth
	EarlyV  [2]int64     `json:"earlyV"`  // its variance, in sixths squared
	EarlyC  [2]int64     `json:"earlyC"`  // by colour
	EarlyCV [2]int64     `json:"earlyCV"` //
	Apart   int64        `json:"apart"`   // mode levelled: A's pips above B's
	ApartV  int64        `json:"apartV"`  // squares of that

	// Luck of whole games: A's first rolls against B's.
	Luck  [lots]Moments `json:"luck"`
	LuckW Moments       `json:"luckW"` // White's against Black's, finished games
}

// Moments are the number, sum and sum of squares of some values.
type Moments struct {
	N   int64 `json:"n"`
	Sum int64 `json:"sum"`
	Sq  int64 `json:"sq"`
}

func (m *Moments) put(v int64) { m.N, m.Sum, m.Sq = m.N+1, m.Sum+v, m.Sq+v*v }

func (m *Moments) add(o Moments) { m.N, m.Sum, m.Sq = m.N+o.N, m.Sum+o.Sum, m.Sq+o.Sq }

// Measure counts one game.
func Measure(g Game) Tally {
	var t Tally
	t.Games[g.Lot]++
	t.served(g)
	if g.Mode.Blocks() {
		for segment, q := range g.Dealt {
			t.blocks(g, segment, q)
		}
	}
	t.luck(g)
	return t
}

// served counts the dice that were drawn. Games end when the dice decide them,
// so numbers of rolls depend on the rolls; what is compared are therefore
// sums of deviations from what was to be expected before each roll, whose
// mean is zero whenever the game stops (docs/statistics.md).
func (t *Tally) served(g Game) {
	var last [2]int
	var age, seen [2]int
	for _, s := range g.Served {
		if s.Stream == commitment.StreamOpening {
			t.Opening[card(s.Dice)]++
			continue
		}
		seat := int(s.Stream - commitment.StreamA)
		u := excess(s.Dice)
		t.Pairs[card(s.Dice)]++
		if seat == 0 {
			t.PairsA[card(s.Dice)]++
		}
		t.Rolls[seat]++
		t.Worth[seat] += int64(u)
		if g.White >= 0 {
			color := seat ^ g.White
			t.ByColor[color] += int64(u)
			t.Colored[color]++
		}
		if seen[seat] > 0 {
			t.Serial += int64(u * last[seat])
			t.Squares += int64(last[seat] * last[seat])
		}
		at := min(age[seat], gapAges-1)
		t.Gaps[at]++
		age[seat]++
		if s.Dice.IsDouble() {
			t.Doubles[at]++
			age[seat] = 0
		}
		last[seat] = u
		seen[seat]++
	}
}

// luck measures A's first rolls against B's. Where the whole sequence is known
// the rolls are those of the secret, played or not: then nothing that happened
// in the game can have chosen them.
func (t *Tally) luck(g Game) {
	sum, known := 0, false
	switch {
	case g.First != nil && g.Mode != commitment.Live:
		known = true
		n := g.First.Lengths()
		for i := range min(Window, n[commitment.StreamA], n[commitment.StreamB]) {
			sum += excess(g.First.Dice(commitment.StreamA, i)) - excess(g.First.Dice(commitment.StreamB, i))
		}
	case g.Mode == commitment.Live:
		for _, s := range g.Served {
			if s.Segment != 1 || s.Index >= Window || s.Stream == commitment.StreamOpening {
				continue
			}
			known = true
			if s.Stream == commitment.StreamA {
				sum += excess(s.Dice)
			} else {
				sum -= excess(s.Dice)
			}
		}
	}
	if !known {
		return
	}
	t.Luck[g.Lot].put(int64(sum))
	if g.White >= 0 && g.Lot == Finished {
		if g.White == 1 {
			sum = -sum
		}
		t.LuckW.put(int64(sum))
	}
}

// blocks counts the blocks of one segment that were begun, each as a whole.
// Whether a block is begun follows from what came before it, so its own cards
// are not chosen by it, as those that were served before the game ended are.
func (t *Tally) blocks(g Game, segment int, q *commitment.Sequence) {
	var used [2]int
	for _, s := range g.Served {
		if s.Segment == segment && s.Stream != commitment.StreamOpening {
			seat := int(s.Stream - commitment.StreamA)
			used[seat] = max(used[seat], s.Index+1)
		}
	}
	n := q.Lengths()
	size, shared := 36*g.Mode.Deck(), false
	switch g.Mode {
	case commitment.Equal:
		size, shared = 12, true
	case commitment.Levelled:
		size, shared = 6, true
	}
	if shared {
		both := max(used[0], used[1])
		used = [2]int{both, both}
	}
	var streams [2][]commitment.Dice
	for seat := range streams {
		st := commitment.StreamA + commitment.Stream(seat)
		for i := range n[st] {
			streams[seat] = append(streams[seat], q.Dice(st, i))
		}
	}
	for seat, dice := range streams {
		from, end := 0, size
		if !shared {
			end -= q.Offset(commitment.StreamA + commitment.Stream(seat))
		}
		for ; from < used[seat] && end <= len(dice); from, end = end, end+size {
			t.block(g, seat, dice[from:end], from == 0 && !shared)
			if g.Mode == commitment.Levelled && seat == 0 && end <= len(streams[1]) {
				d := int64(0)
				for i := from; i < end; i++ {
					d += int64(excess(dice[i]) - excess(streams[1][i]))
				}
				t.Apart += d
				t.ApartV += d * d
			}
		}
	}
}

// block counts one block. Given its cards, every order of them is as likely as
// any other: the first half is a sample of the whole, drawn without replacement.
func (t *Tally) block(g Game, seat int, dice []commitment.Dice, first bool) {
	t.Blocks++
	if g.Mode != commitment.Equal || seat == 0 {
		for _, d := range dice {
			t.Cards[card(d)]++
		}
	}
	m := len(dice)
	if deck := g.Mode.Deck(); first && deck > 0 {
		size := float64(36 * deck)
		for _, d := range dice {
			t.First[card(d)]++
		}
		t.FirstV += int64(math.Round(1e6 * float64(m) * (size - float64(m)) / (size - 1)))
	}
	half := m / 2
	if half == 0 {
		return
	}
	sum, squares, early := 0, 0, 0
	for i, d := range dice {
		u := excess(d)
		sum += u
		squares += u * u
		if i < half {
			early += u
		}
	}
	mean := float64(sum) / float64(m)
	spread := (float64(squares) - mean*float64(sum)) / float64(m-1)
	d := int64(math.Round(1e3 * (float64(early) - float64(half)*mean)))
	v := int64(math.Round(float64(half) * float64(m-half) / float64(m) * spread))
	t.Early[seat] += d
	t.EarlyV[seat] += v
	if g.White >= 0 {
		t.EarlyC[seat^g.White] += d
		t.EarlyCV[seat^g.White] += v
	}
}

// Add adds another tally.
func (t *Tally) Add(o *Tally) {
	addAll(t.Games[:], o.Games[:])
	addAll(t.Pairs[:], o.Pairs[:])
	addAll(t.PairsA[:], o.PairsA[:])
	addAll(t.Rolls[:], o.Rolls[:])
	addAll(t.Worth[:], o.Worth[:])
	addAll(t.ByColor[:], o.ByColor[:])
	addAll(t.Colored[:], o.Colored[:])
	t.Serial += o.Serial
	t.Squares += o.Squares
	addAll(t.Gaps[:], o.Gaps[:])
	addAll(t.Doubles[:], o.Doubles[:])
	addAll(t.Opening[:], o.Opening[:])
	t.Blocks += o.Blocks
	addAll(t.Cards[:], o.Cards[:])
	addAll(t.First[:], o.First[:])
	t.FirstV += o.FirstV
	addAll(t.Early[:], o.Early[:])
	addAll(t.EarlyV[:], o.EarlyV[:])
	addAll(t.EarlyC[:], o.EarlyC[:])
	addAll(t.EarlyCV[:], o.EarlyCV[:])
	t.Apart += o.Apart
	t.ApartV += o.ApartV
	for i := range t.Luck {
		t.Luck[i].add(o.Luck[i])
	}
	t.LuckW.add(o.LuckW)
}

func addAll(to, from []int64) {
	for i, v := range from {
		to[i] += v
	}
}
