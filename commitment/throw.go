package commitment

// throw fills the dice of the sequence (PROTOCOL.md §2, RULES.md §8).
func (q *Sequence) throw(g *generator, cut Cut, archive *Archive) {
	switch q.mode {
	case Live:
		return
	case Real:
		q.throwReal(g, cut, archive)
		return
	}
	draw(g.stream("opening"), q.part(StreamOpening))
	a, b := q.part(StreamA), q.part(StreamB)
	switch q.mode {
	case Random:
		draw(g.stream("a"), a)
		draw(g.stream("b"), b)
	case Balanced, Twofold, Triple:
		q.offsets[StreamA] = throwDeck(g.stream("a"), a, q.mode.Deck())
		q.offsets[StreamB] = throwDeck(g.stream("b"), b, q.mode.Deck())
	case Equal:
		throwEqual(g, a, b)
	case Levelled:
		throwLevelled(g, a, b)
	}
}

// draw fills a part with independent uniform pairs.
func draw(s *byteStream, part []Dice) {
	for i := range part {
		part[i] = s.pair()
	}
}

// throwDeck deals shuffled decks of copies × 36 cards and returns the offset: the first deck starts at a uniform card, so
// that nobody can count from the beginning which pairs are still to come.
func throwDeck(s *byteStream, part []Dice, copies int) int {
	n := pairs * copies
	offset := s.uniform(n)
	deck := make([]uint8, n)
	for from := offset; len(part) > 0; from = 0 {
		for i := range deck {
			deck[i] = uint8(i)
		}
		s.shuffle(deck)
		for _, card := range deck[from:] {
			if len(part) == 0 {
				break
			}
			part[0] = pair(int(card) % pairs)
			part = part[1:]
		}
	}
	return offset
}

// Block lengths of the modes that couple the two players.
const (
	equalBlock    = 12
	levelledBlock = 6
)

// Bounds of a levelled block.
const (
	levelledPips    = 8 // greatest difference of the players' pips
	levelledDoubles = 1 // greatest difference of their doubles
)

// throwEqual gives both players the same twelve throws, each in an order of his own.
func throwEqual(g *generator, a, b []Dice) {
	cards, orderA, orderB := g.stream("equal"), g.stream("a"), g.stream("b")
	var drawn, copyA, copyB [equalBlock]uint8
	for at := 0; at < max(len(a), len(b)); at += equalBlock {
		for i := range drawn {
			drawn[i] = uint8(cards.uniform(pairs))
		}
		copyA, copyB = drawn, drawn
		orderA.shuffle(copyA[:])
		orderB.shuffle(copyB[:])
		for i := range equalBlock {
			put(a, at+i, pair(int(copyA[i])))
			put(b, at+i, pair(int(copyB[i])))
		}
	}
}

// throwLevelled draws blocks of six throws for each player until both are close in pips and doubles.
func throwLevelled(g *generator, a, b []Dice) {
	s := g.stream("levelled")
	var blockA, blockB [levelledBlock]Dice
	for at := 0; at < max(len(a), len(b)); at += levelledBlock {
		for ok := false; !ok; ok = levelled(blockA[:], blockB[:]) {
			draw(s, blockA[:])
			draw(s, blockB[:])
		}
		for i := range levelledBlock {
			put(a, at+i, blockA[i])
			put(b, at+i, blockB[i])
		}
	}
}

// put sets an element if the stream reaches so far: the shorter stream ends inside a block, or before it.
func put(part []Dice, i int, d Dice) {
	if i < len(part) {
		part[i] = d
	}
}

// levelled reports whether two full blocks keep both bounds.
func levelled(a, b []Dice) bool {
	pips, doubles := 0, 0
	for i := range a {
		pips += a[i].Pips() - b[i].Pips()
		if a[i].IsDouble() {
			doubles++
		}
		if b[i].IsDouble() {
			doubles--
		}
	}
	return -levelledPips <= pips && pips <= levelledPips && -levelledDoubles <= doubles && doubles <= levelledDoubles
}

// throwReal hands out the recorded throws in recorded order from a rotation that the cut decides; without a cut the
// rotation is 0, and the commit's root fixes the archive itself.
func (q *Sequence) throwReal(g *generator, cut Cut, archive *Archive) {
	n := len(q.dice)
	r := 0
	if cut != NoCut {
		r = int(g.stream("real").below(uint64(n)))
	}
	for j := range q.dice {
		q.dice[j] = archive.throws[(j+r)%n]
	}
}
