package dealer

import (
	"strings"

	"fairdice/commitment"
	"fairdice/replay"
	"fairdice/rules"
)

// Terms are what a match is played under.
type Terms struct {
	Tenant   string // "club" if empty
	Variant  string
	Mode     commitment.Mode
	Options  string
	Rolls    commitment.Lengths
	Anchored bool
	StopAt   int // throws after which the player on turn resigns; 0: games are played out
}

func (t Terms) tenant() string {
	if t.Tenant == "" {
		return "club"
	}
	return t.Tenant
}

// Match is a match that is being played.
type Match struct {
	Terms
	Statement commitment.Open
	Chains    [2]*commitment.Chain
	Spent     [2]int
	Series    replay.Match
	Games     []Game

	TamperHeader func(*replay.Header)
	TamperRecord func([]string) []string
	// Drop looks at the dealt sequence before the first roll; if it returns
	// true, the game is aborted after as many throws as it likes to let pass.
	Drop func(*commitment.Sequence) (throws int, drop bool)

	house *House
	v     rules.Variant
}

// Game is one game as a bundle or an archive holds it.
type Game struct {
	Number   int
	Record   string
	Receipts []string
	Openings []Opening
	Running  bool // neither closed nor aborted: an archive leaves it out
}

// Opening discloses one roll.
type Opening struct {
	Segment int
	commitment.Opening
}

// Open opens a match.
func (h *House) Open(how Terms) *Match {
	v, err := rules.Lookup(how.Variant)
	h.must(err)
	o, err := replay.ParseOptions(how.Options)
	h.must(err)
	m := &Match{
		Terms: how, house: h, v: v,
		TamperHeader: func(*replay.Header) {}, TamperRecord: func(lines []string) []string { return lines },
		Drop: func(*commitment.Sequence) (int, bool) { return 0, false },
	}
	m.Series, err = replay.NewMatch(v, o)
	h.must(err)
	m.Statement = commitment.Open{
		Log: Origin, Match: h.ID(), Tenant: how.tenant(), Variant: how.Variant, RulesVersion: rules.Version, RulesHash: v.Hash(),
		Mode: how.Mode, Profile: commitment.Refereed, Options: how.Options, A: "alice", B: "bob", ReceiptKey: h.ReceiptKey,
	}
	if how.Anchored {
		for i, anchor := range []**commitment.Anchor{&m.Statement.AnchorA, &m.Statement.AnchorB} {
			m.Chains[i], err = commitment.NewChain(h.Random, 1024)
			h.must(err)
			*anchor = &commitment.Anchor{Hash: m.Chains[i].Anchor()}
		}
	}
	m.Statement.Time = h.Now()
	h.Publish(m.Statement)
	h.matches = append(h.matches, m)
	return m
}

func (m *Match) link(seat int) *commitment.Hash {
	if m.Chains[seat] == nil {
		return nil
	}
	m.Spent[seat]++
	v, err := m.Chains[seat].Link(m.Spent[seat])
	m.house.must(err)
	return &v
}

// table is one game while it is dealt.
type table struct {
	game     int
	segments []*Sequence
	used     [3]int // elements drawn of each stream, over all segments
	header   replay.Header
	lines    []string
	receipts []string
	openings []Opening
	previous *commitment.Hash
}

// deal assigns and deals the next segment of the game.
func (m *Match) deal(tb *table) {
	h := m.house
	s := h.take(m.Terms)
	segment := len(tb.segments) + 1
	h.Publish(commitment.Assign{Match: m.Statement.Match, Game: tb.game, Segment: segment, Sequence: s.ID, Number: s.Number, Time: h.Now()})
	a, b := m.link(0), m.link(1)
	cut := commitment.NewCut(m.Statement.Match, tb.game, segment, a, b, nil)
	var err error
	s.Dealt, err = commitment.Build(s.Secret, s.ID, m.Mode, m.Rolls, cut, s.Archive)
	h.must(err)
	h.Publish(commitment.Deal{
		Match: m.Statement.Match, Game: tb.game, Segment: segment, Sequence: s.ID, LinkA: a, LinkB: b, Cut: cut, Root: s.Dealt.Root(), Time: h.Now(),
	})
	tb.segments = append(tb.segments, s)
}

// draw gives the next element of a stream, with its receipt.
func (m *Match) draw(tb *table, stream commitment.Stream) commitment.Dice {
	h := m.house
	segment, index := tb.used[stream]/m.Rolls[stream], tb.used[stream]%m.Rolls[stream]
	tb.used[stream]++
	if segment == len(tb.segments) {
		m.deal(tb)
	}
	s := tb.segments[segment]
	o := s.Dealt.Open(stream, index)
	record := replay.Record{Header: &tb.header, Lines: tb.lines}
	head, _ := record.Head()
	r := commitment.Receipt{
		Match: m.Statement.Match, Game: tb.game, Segment: segment + 1, Sequence: s.ID, Stream: stream, Index: index, Dice: o.Dice,
		Key: o.Key, Previous: tb.previous, RecordLines: len(tb.lines), RecordHead: commitment.Hash(head), Time: h.Now(),
	}
	if m.Mode == commitment.Live {
		r.Links = &[2]commitment.Hash{*m.link(0), *m.link(1)}
		r.Dice = commitment.LiveDice(r.Key, r.Links[0], r.Links[1])
	}
	signed, err := r.Sign(h.stamp)
	h.must(err)
	sum := r.Hash()
	tb.previous = &sum
	tb.receipts = append(tb.receipts, signed)
	tb.openings = append(tb.openings, Opening{segment + 1, o})
	return r.Dice
}

// begin sets the table of the next game and deals its first segment.
func (m *Match) begin() (*table, replay.Setting) {
	setting := m.Series.Next()
	setting.Game = len(m.Games) + 1
	tb := &table{game: setting.Game, header: replay.Header{
		Match: m.Statement.Match, Game: setting.Game, Variant: m.Variant, Options: setting.Options, Score: setting.Score, Crawford: setting.Crawford,
	}}
	m.TamperHeader(&tb.header)
	m.deal(tb)
	return tb, setting
}

// Begin deals a game and leaves it in progress.
func (m *Match) Begin() {
	tb, _ := m.begin()
	m.Games = append(m.Games, Game{Number: tb.game, Running: true})
}

// Play deals and plays one game, and closes or aborts it.
func (m *Match) Play() {
	h := m.house
	tb, setting := m.begin()
	throws, drop := m.Drop(tb.segments[0].Dealt)
	st, err := replay.Start(setting)
	h.must(err)
	var gen rules.Generator
	for !st.Over() {
		e, throw := m.next(tb, st, &gen)
		if throw {
			if drop && len(tb.receipts) >= throws {
				m.abort(tb)
				return
			}
			dice := m.draw(tb, streamOf(e))
			e.Dice = rules.Dice{A: dice.D1, B: dice.D2}
		}
		st, err = replay.Apply(st, e)
		h.must(err)
		tb.lines = append(tb.lines, e.String())
	}
	tb.lines = m.TamperRecord(tb.lines)
	m.close(tb, st)
}

func (m *Match) close(tb *table, st replay.State) {
	h := m.house
	record := replay.Record{Header: &tb.header, Lines: tb.lines}
	head, _ := record.Head()
	result := st.Result()
	var err error
	m.Series, err = m.Series.Add(result)
	h.must(err)
	c := commitment.Close{
		Match: m.Statement.Match, Game: tb.game, Rolls: tb.used, Receipt: tb.previous, RecordLines: len(tb.lines), RecordHead: commitment.Hash(head),
		Result: commitment.Result{Seat: "AB"[result.Seat], Points: int(result.Points)}, ScoreA: m.Series.Score()[0], ScoreB: m.Series.Score()[1],
		Secrets: tb.secrets(),
	}
	if result.Draw {
		c.Result = commitment.Result{}
	}
	c.Time = h.Now()
	h.Publish(c)
	m.keep(tb, record)
}

func (m *Match) abort(tb *table) {
	record := replay.Record{Header: &tb.header, Lines: tb.lines}
	head, _ := record.Head()
	var err error
	m.Series, err = m.Series.Skip()
	m.house.must(err)
	m.house.Publish(commitment.Abort{
		Match: m.Statement.Match, Game: tb.game, By: "house", Reason: "failure", Rolls: tb.used, Receipt: tb.previous,
		RecordLines: len(tb.lines), RecordHead: commitment.Hash(head), Secrets: tb.secrets(), Time: m.house.Now(),
	})
	m.keep(tb, record)
}

func (tb *table) secrets() (list []commitment.RevealedSecret) {
	for _, s := range tb.segments {
		list = append(list, commitment.RevealedSecret{Sequence: s.ID, Secret: s.Secret})
	}
	return list
}

func (m *Match) keep(tb *table, record replay.Record) {
	m.Games = append(m.Games, Game{Number: tb.game, Record: string(record.Text()), Receipts: tb.receipts, Openings: tb.openings})
}

// next chooses what happens next; a throw still lacks its dice.
func (m *Match) next(tb *table, st replay.State, gen *rules.Generator) (e replay.Event, throw bool) {
	if legal := st.Legal(gen); len(legal) > 0 && legal[0].Kind != replay.Double {
		return legal[m.house.pick.IntN(len(legal))], false
	}
	stream, ok := st.NextDraw()
	if !ok {
		m.house.t.Fatalf("nothing is due: %s", st.Due())
	}
	if stream == replay.StreamOpening {
		return replay.Event{Kind: replay.Opening}, true
	}
	if m.StopAt > 0 && len(tb.receipts) >= m.StopAt {
		return replay.Event{Kind: replay.Resign, Seat: st.OnTurn(), Points: 1}, false
	}
	return replay.Event{Kind: replay.Roll, Seat: st.OnTurn()}, true
}

func streamOf(e replay.Event) commitment.Stream {
	if e.Kind == replay.Opening {
		return commitment.StreamOpening
	}
	st, err := commitment.ParseStream(strings.ToLower(e.Seat.String()))
	if err != nil {
		panic(err)
	}
	return st
}

// Finish finishes the match.
func (m *Match) Finish() {
	reason := "decided"
	if !m.Series.Over() {
		reason = "abandoned"
	}
	score := m.Series.Score()
	m.house.Publish(commitment.Finish{Match: m.Statement.Match, ScoreA: score[0], ScoreB: score[1], Reason: reason, Time: m.house.Now()})
}
