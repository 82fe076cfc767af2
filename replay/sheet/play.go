package sheet

import (
	"slices"
	"strconv"

	"fairdice/replay"
	"fairdice/rules"
)

// Hop is one checker's journey as it is written: from and to in the numbers of records (RULES.md §1), replay.BarNumber and
// replay.OffNumber included. Landings between them are not named.
type Hop struct {
	From, To uint8
	Star     Star
}

// Star is what a row says about hits of one journey.
type Star uint8

// What a row may say.
const (
	Plain  Star = iota // no star: nothing was hit, or the star was left out
	Hit                // a star: something was hit on the way
	Silent             // the row cannot say: a further checker of a group such as 6/5*(2)
)

// Play is what a row says was played with its dice.
type Play struct {
	Hops   []Hop
	Unable bool // the row says that nothing could be moved; without it an empty play may also be a game given up

	Unknown bool // the row says that it does not know what was played
}

// words says what a row was for those who watch; nothing if nobody does.
func (s *Sheet) words(what string, seat replay.Seat, dice rules.Dice, p Play) string {
	if s.opt.Observe == nil {
		return ""
	}
	b := append(append(append(s.told[:0], what...), ' '), seat.String()...)
	for _, d := range []uint8{dice.A, dice.B} {
		if d > 0 {
			b = strconv.AppendUint(append(b, ' '), uint64(d), 10)
		}
	}
	for _, h := range p.Hops {
		b = replay.Hop{From: h.From, To: h.To, Star: h.Star == Hit}.Append(append(b, ' '))
	}
	s.told = b
	return string(b)
}

// maxReadings bounds how many readings of a game are followed at a time. Each row with a choice doubles them at most, and the
// next rows settle nearly all: the opponent's checker is on the bar or it is not.
const maxReadings = 32

// candidate is one legal way to read a play.
type candidate struct {
	state   replay.State
	penalty int // journeys whose star does not fit the hits
	steps   []replay.Hop
}

// numbers translates the points of records into the distance a checker of either colour still has to go, and back.
type numbers struct {
	own, record [2][replay.BarNumber + 1]uint8
}

func newNumbers(r rules.Rules) numbers {
	var n numbers
	for _, c := range []rules.Color{rules.White, rules.Black} {
		for point := 1; point <= 24; point++ {
			own := 24 - r.PointIndex(c, point)
			n.own[c][point], n.record[c][own] = uint8(own), uint8(point)
		}
		n.own[c][replay.BarNumber], n.record[c][replay.BarNumber] = replay.BarNumber, replay.BarNumber
	}
	return n
}

// decoder finds the legal readings of one play. Its buffers live as long as the sheet: replaying a match allocates nothing per
// row.
type decoder struct {
	gen   rules.Generator
	steps [replay.MaxHops]replay.Hop
	found []candidate
	names numbers
	keep  bool // candidates remember their steps

	state replay.State // before the play, the throw included
	seat  replay.Seat
	hops  []Hop    // in record numbers
	ends  [4]uint8 // where each journey ends, as a distance
	at    [4]uint8 // where each journey stands, as a distance
	hit   [4]bool  // whether it hit something
	mover rules.Color
	enemy rules.Color
	dice  [4]uint8
	used  uint8 // bit per die
	all   bool  // go on after the first legal reading

	// The first complete reading that is illegal: if no other is legal, it is the one to be explained.
	complete   bool
	firstSteps []replay.Hop
}

// decode returns all legal readings of a play by the seat that is on turn, or why there is none. The readings are valid until the
// next call.
func (d *decoder) decode(st replay.State, seat replay.Seat, hops []Hop) ([]candidate, error) {
	d.found, d.state, d.seat, d.hops = d.found[:0], st, seat, hops
	d.complete, d.used, d.all = false, 0, false
	if len(hops) > 0 && len(hops) <= len(d.at) {
		d.dice = st.Game().Stage().Dice
		d.mover = st.Color(seat)
		d.enemy = d.mover.Other()
		for i, h := range hops {
			d.at[i], d.ends[i], d.hit[i] = d.names.own[d.mover][h.From], d.names.own[d.mover][h.To], false
		}
		d.all = d.choice()
		d.walk(0)
		if len(d.found) > 0 {
			return d.found, nil
		}
		if d.complete {
			_, err := st.Apply(&d.gen, replay.Event{Kind: replay.Move, Seat: seat, Steps: d.firstSteps})
			return nil, err
		}
	}
	// The distances do not fit the dice, or nothing was played: the state machine says what is wrong with the row as it
	// is written.
	steps := d.steps[:0]
	for _, h := range hops[:min(len(hops), len(d.steps))] {
		steps = append(steps, replay.Hop{From: h.From, To: h.To, Star: h.Star == Hit})
	}
	next, err := st.Apply(&d.gen, replay.Event{Kind: replay.Move, Seat: seat, Steps: steps})
	if err != nil {
		return nil, err
	}
	d.found = append(d.found, candidate{state: next, steps: d.kept(steps)})
	return d.found, nil
}

// choice reports whether different readings of the play can end differently: one checker moved by both of two dice, with an enemy
// blot on one of the two landings it may have used.
func (d *decoder) choice() bool {
	if len(d.hops) != 1 || d.dice[0] == d.dice[1] {
		return false
	}
	for _, v := range d.dice[:2] {
		if from := d.at[0]; from > v && d.blot(from-v) {
			return true
		}
	}
	return false
}

// blot reports whether one enemy checker, that can be hit or pinned, stood on a point before the play.
func (d *decoder) blot(distance uint8) bool {
	r := d.state.Setting().Variant.Rules
	return d.state.Position().At(d.enemy, r.Across(24-int(distance))) == 1 && (r.HasBar() || r.Pins())
}

// contact reports whether a step landing on a point after the first steps of the play hits or pins what stands there.
func (d *decoder) contact(depth int, distance uint8) bool {
	if !d.blot(distance) {
		return false
	}
	point := d.names.record[d.mover][distance]
	if d.state.Setting().Variant.Rules.HasBar() {
		return !d.taken(depth, point)
	}
	// A pin holds as long as a checker of the mover stays on the point.
	own := d.state.Position().At(d.mover, 24-int(distance))
	for _, s := range d.steps[:depth] {
		if s.To == point {
			own++
		}
		if s.From == point {
			own--
		}
	}
	return own == 0
}

func (d *decoder) kept(steps []replay.Hop) []replay.Hop {
	if !d.keep {
		return nil
	}
	return slices.Clone(steps)
}

// walk tries every order of steps that completes all journeys, the written order first, and returns whether to stop.
func (d *decoder) walk(depth int) bool {
	done := true
	for i := range d.hops {
		if d.at[i] == d.ends[i] {
			continue
		}
		done = false
		last := uint8(0)
		for j, v := range d.dice {
			if v == 0 || v == last || d.used&(1<<j) != 0 {
				continue
			}
			last = v
			if d.step(depth, i, j) {
				return true
			}
		}
	}
	return done && d.accept(depth)
}

// step moves journey i by die j and walks on.
func (d *decoder) step(depth, i, j int) bool {
	from, to, v := d.at[i], d.ends[i], d.dice[j]
	next := uint8(replay.OffNumber)
	if from > v {
		next = from - v
	}
	if next < to || next == replay.OffNumber && to != replay.OffNumber {
		return false
	}
	star := next != replay.OffNumber && d.contact(depth, next)
	names := &d.names.record[d.mover]
	d.steps[depth] = replay.Hop{From: names[from], To: names[next], Star: star}
	hit := d.hit[i]
	d.at[i], d.hit[i], d.used = next, hit || star, d.used|1<<j
	stop := d.walk(depth + 1)
	d.at[i], d.hit[i], d.used = from, hit, d.used&^(1<<j)
	return stop
}

// taken reports whether an earlier step of the play landed on the point, and so hit what stood there.
func (d *decoder) taken(depth int, number uint8) bool {
	for _, s := range d.steps[:depth] {
		if s.To == number {
			return true
		}
	}
	return false
}

// accept asks the state machine about a complete reading.
func (d *decoder) accept(depth int) bool {
	e := replay.Event{Kind: replay.Move, Seat: d.seat, Steps: d.steps[:depth]}
	next, ok := d.state.Try(&d.gen, e)
	if !ok {
		if !d.complete {
			d.complete, d.firstSteps = true, append(d.firstSteps[:0], e.Steps...)
		}
		return false
	}
	penalty := 0
	for i, h := range d.hops {
		if h.Star != Silent && (h.Star == Hit) != d.hit[i] {
			penalty++
		}
	}
	for i := range d.found {
		if d.found[i].state == next {
			d.found[i].penalty = min(d.found[i].penalty, penalty)
			return !d.all
		}
	}
	d.found = append(d.found, candidate{state: next, penalty: penalty, steps: d.kept(e.Steps)})
	return !d.all
}
