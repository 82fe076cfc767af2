package commitment

import "time"

// An Assign gives a game its next sequence, the lowest free one, before anybody's contribution to the cut is known.
type Assign struct {
	Match    string
	Game     int // from 1
	Segment  int // from 1 to 30
	Sequence string
	Number   uint64  // of the sequence
	Round    *uint64 // quicknet round, in beacon matches
	Time     time.Time
}

// Type returns "assign".
func (Assign) Type() string { return "assign" }

// When returns the time of the statement.
func (a Assign) When() time.Time { return a.Time }

// Text returns the lines of the statement.
func (a Assign) Text() []byte {
	w := newPrinter("assign")
	w.line("match", a.Match)
	w.integer("game", a.Game)
	w.integer("segment", a.Segment)
	w.line("sequence", a.Sequence)
	w.unsigned("number", a.Number)
	if a.Round != nil {
		w.unsigned("round", *a.Round)
	}
	w.time(a.Time)
	return w
}

func readAssign(p *parser) Statement {
	a := Assign{Match: p.id("match"), Game: p.game(), Segment: p.segment(), Sequence: p.id("sequence"), Number: p.integer("number", 0, MaxInteger)}
	if f, ok := p.optional("round", 1); ok {
		round := p.integerOf("round", f[0], 0, MaxInteger)
		a.Round = &round
	}
	a.Time = p.time()
	return a
}

// A Deal publishes the hash of the cut dice, after every contribution and before the first roll.
type Deal struct {
	Match        string
	Game         int
	Segment      int
	Sequence     string
	LinkA, LinkB *Hash  // of the players with an anchor
	Signature    []byte // of the beacon's round, SignatureSize bytes, or nil
	Cut          Cut    // NewCut of the above
	Root         Hash   // of the roll tree with Cut
	Time         time.Time
}

// Type returns "deal".
func (Deal) Type() string { return "deal" }

// When returns the time of the statement.
func (d Deal) When() time.Time { return d.Time }

// Text returns the lines of the statement.
func (d Deal) Text() []byte {
	w := newPrinter("deal")
	w.line("match", d.Match)
	w.integer("game", d.Game)
	w.integer("segment", d.Segment)
	w.line("sequence", d.Sequence)
	w.inputs(d.LinkA, d.LinkB, d.Signature)
	w.line("cut", string(d.Cut))
	w.hash("root", d.Root)
	w.time(d.Time)
	return w
}

func readDeal(p *parser) Statement {
	d := Deal{Match: p.id("match"), Game: p.game(), Segment: p.segment(), Sequence: p.id("sequence")}
	d.LinkA, d.LinkB, d.Signature = p.inputs()
	if s := p.text("cut"); p.err == nil {
		var err error
		d.Cut, err = ParseCut(s)
		p.check("cut", "hex", err)
	}
	d.Root = p.hash("root")
	d.Time = p.time()
	return d
}
