package audit

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"fairdice/commitment"
	"fairdice/replay"
	"fairdice/rules"
	"fairdice/translog"
)

// terms are what a dealer's match is played under.
type terms struct {
	variant  string
	mode     commitment.Mode
	options  string
	rolls    commitment.Lengths
	anchored bool
	stopAt   int // throws after which the player on turn resigns; 0: the game is played out
}

// dealer is a whole house in miniature for tests: it commits, assigns, deals
// and plays games of random legal moves, and makes the bundle. The tamper
// functions let it cheat in one place and sign everything again, which is what
// no edit of a finished bundle can do.
type dealer struct {
	terms
	t      testing.TB
	random *rand.ChaCha8
	pick   *rand.Rand
	signer note.Signer // of the log
	key    string
	stamp  note.Signer // of the receipts
	clock  time.Time
	texts  []string
	open   commitment.Open
	chains [2]*commitment.Chain
	spent  [2]int
	number uint64
	series replay.Match
	games  []BundleGame

	tamper       func(commitment.Statement) commitment.Statement
	tamperHeader func(*replay.Header)
	tamperRecord func([]string) []string
}

const testOrigin = "example.org/fairdice/dealer"

func newDealer(t testing.TB, how terms) *dealer {
	t.Helper()
	d := &dealer{terms: how, t: t, random: rand.NewChaCha8([32]byte{7}), clock: time.Date(2026, 11, 29, 21, 0, 0, 0, time.UTC)}
	d.pick = rand.New(d.random)
	d.tamper = func(s commitment.Statement) commitment.Statement { return s }
	d.tamperHeader = func(*replay.Header) {}
	d.tamperRecord = func(lines []string) []string { return lines }
	var receiptKey string
	d.signer, d.key = d.newKey(testOrigin)
	d.stamp, receiptKey = d.newKey(testOrigin + "/receipts")
	v, err := rules.Lookup(how.variant)
	d.must(err)
	o, err := replay.ParseOptions(how.options)
	d.must(err)
	d.series, err = replay.NewMatch(v, o)
	d.must(err)
	d.open = commitment.Open{
		Log: testOrigin, Match: d.id(), Tenant: "club", Variant: how.variant, RulesVersion: rules.Version, RulesHash: v.Hash(),
		Mode: how.mode, Profile: commitment.Refereed, Options: how.options, A: "alice", B: "bob", ReceiptKey: receiptKey,
	}
	if how.anchored {
		for i, anchor := range []**commitment.Anchor{&d.open.AnchorA, &d.open.AnchorB} {
			d.chains[i], err = commitment.NewChain(d.random, 4096)
			d.must(err)
			*anchor = &commitment.Anchor{Hash: d.chains[i].Anchor()}
		}
	}
	d.open.Time = d.now()
	d.publish(d.open)
	return d
}

func (d *dealer) must(err error) {
	d.t.Helper()
	if err != nil {
		d.t.Fatal(err)
	}
}

func (d *dealer) newKey(name string) (note.Signer, string) {
	skey, vkey, err := commitment.NewKey(name, d.random)
	d.must(err)
	s, err := commitment.NewSigner(skey)
	d.must(err)
	return s, vkey
}

func (d *dealer) id() string {
	return fmt.Sprintf("01970000-0000-7000-8000-%012x", d.pick.Uint64()>>16)
}

func (d *dealer) now() time.Time {
	d.clock = d.clock.Add(time.Second)
	return d.clock
}

func (d *dealer) publish(s commitment.Statement) {
	d.texts = append(d.texts, string(d.tamper(s).Text()))
}

func (d *dealer) link(seat int) *commitment.Hash {
	if d.chains[seat] == nil {
		return nil
	}
	d.spent[seat]++
	v, err := d.chains[seat].Link(d.spent[seat])
	d.must(err)
	return &v
}

// table is one game while it is dealt.
type table struct {
	game     int
	segments []*dealtSegment
	used     [3]int // elements drawn of each stream, over all segments
	header   replay.Header
	lines    []string
	receipts []string
	openings []BundleOpening
	previous *commitment.Hash
}

type dealtSegment struct {
	id     string
	secret commitment.Secret
	seq    *commitment.Sequence
}

// deal commits, assigns and deals the next segment of the game.
func (d *dealer) deal(tb *table) {
	secret, err := commitment.NewSecret(d.random)
	d.must(err)
	s := &dealtSegment{id: d.id(), secret: secret}
	sealed, err := commitment.Build(secret, s.id, d.mode, d.rolls, commitment.NoCut, nil)
	d.must(err)
	d.publish(commitment.Commit{
		Log: testOrigin, Tenant: "club", Mode: d.mode, Number: d.number, Sequence: s.id, Rolls: d.rolls,
		SecretHash: secret.Hash(), Root: sealed.Root(), Time: d.now(),
	})
	segment := len(tb.segments) + 1
	d.publish(commitment.Assign{Match: d.open.Match, Game: tb.game, Segment: segment, Sequence: s.id, Number: d.number, Time: d.now()})
	d.number++
	a, b := d.link(0), d.link(1)
	cut := commitment.NewCut(d.open.Match, tb.game, segment, a, b, nil)
	s.seq, err = commitment.Build(secret, s.id, d.mode, d.rolls, cut, nil)
	d.must(err)
	d.publish(commitment.Deal{
		Match: d.open.Match, Game: tb.game, Segment: segment, Sequence: s.id, LinkA: a, LinkB: b, Cut: cut, Root: s.seq.Root(), Time: d.now(),
	})
	tb.segments = append(tb.segments, s)
}

// draw gives the next element of a stream, with its receipt.
func (d *dealer) draw(tb *table, stream commitment.Stream) commitment.Dice {
	segment, index := tb.used[stream]/d.rolls[stream], tb.used[stream]%d.rolls[stream]
	tb.used[stream]++
	if segment == len(tb.segments) {
		d.deal(tb)
	}
	s := tb.segments[segment]
	o := s.seq.Open(stream, index)
	record := replay.Record{Header: &tb.header, Lines: tb.lines}
	head, _ := record.Head()
	r := commitment.Receipt{
		Match: d.open.Match, Game: tb.game, Segment: segment + 1, Sequence: s.id, Stream: stream, Index: index, Dice: o.Dice,
		Key: o.Key, Previous: tb.previous, RecordLines: len(tb.lines), RecordHead: commitment.Hash(head), Time: d.now(),
	}
	if d.mode == commitment.Live {
		r.Links = &[2]commitment.Hash{*d.link(0), *d.link(1)}
		r.Dice = commitment.LiveDice(r.Key, r.Links[0], r.Links[1])
	}
	signed, err := r.Sign(d.stamp)
	d.must(err)
	h := r.Hash()
	tb.previous = &h
	tb.receipts = append(tb.receipts, signed)
	tb.openings = append(tb.openings, BundleOpening{Segment: segment + 1, Stream: stream, Index: index, Key: o.Key, Path: o.Path})
	return r.Dice
}

// play deals and plays one game and closes it.
func (d *dealer) play() {
	setting := d.series.Next()
	setting.Game = len(d.games) + 1
	tb := &table{game: setting.Game, header: replay.Header{
		Match: d.open.Match, Game: setting.Game, Variant: d.variant, Options: setting.Options, Score: setting.Score, Crawford: setting.Crawford,
	}}
	d.tamperHeader(&tb.header)
	d.deal(tb)
	st, err := replay.Start(setting)
	d.must(err)
	var gen rules.Generator
	for !st.Over() {
		e, throw := d.next(tb, st, &gen)
		if throw {
			dice := d.draw(tb, map[string]commitment.Stream{"opening": commitment.StreamOpening, "a": commitment.StreamA, "b": commitment.StreamB}[streamName(e)])
			e.Dice = rules.Dice{A: dice.D1, B: dice.D2}
		}
		st, err = replay.Apply(st, e)
		d.must(err)
		tb.lines = append(tb.lines, e.String())
	}
	tb.lines = d.tamperRecord(tb.lines)
	record := replay.Record{Header: &tb.header, Lines: tb.lines}
	head, _ := record.Head()
	result := st.Result()
	d.series, err = d.series.Add(result)
	d.must(err)
	c := commitment.Close{
		Match: d.open.Match, Game: tb.game, Rolls: tb.used, Receipt: tb.previous, RecordLines: len(tb.lines), RecordHead: commitment.Hash(head),
		Result: commitment.Result{Seat: "AB"[result.Seat], Points: int(result.Points)}, ScoreA: d.series.Score()[0], ScoreB: d.series.Score()[1],
	}
	if result.Draw {
		c.Result = commitment.Result{}
	}
	for _, s := range tb.segments {
		c.Secrets = append(c.Secrets, commitment.RevealedSecret{Sequence: s.id, Secret: s.secret})
	}
	c.Time = d.now()
	d.publish(c)
	d.games = append(d.games, BundleGame{Game: tb.game, Record: string(record.Text()), Receipts: tb.receipts, Openings: tb.openings})
}

// next chooses what happens next; a throw still lacks its dice.
func (d *dealer) next(tb *table, st replay.State, gen *rules.Generator) (e replay.Event, throw bool) {
	if legal := st.Legal(gen); len(legal) > 0 && legal[0].Kind != replay.Double {
		return legal[d.pick.IntN(len(legal))], false
	}
	stream, ok := st.NextDraw()
	if !ok {
		d.t.Fatalf("nothing is due: %s", st.Due())
	}
	if stream == replay.StreamOpening {
		return replay.Event{Kind: replay.Opening}, true
	}
	if d.stopAt > 0 && len(tb.receipts) >= d.stopAt {
		return replay.Event{Kind: replay.Resign, Seat: st.OnTurn(), Points: 1}, false
	}
	return replay.Event{Kind: replay.Roll, Seat: st.OnTurn()}, true
}

func streamName(e replay.Event) string {
	if e.Kind == replay.Opening {
		return replay.StreamOpening
	}
	return strings.ToLower(e.Seat.String())
}

// bundle finishes the match and makes its bundle.
func (d *dealer) bundle() *Bundle {
	d.publish(commitment.Finish{Match: d.open.Match, ScoreA: d.series.Score()[0], ScoreB: d.series.Score()[1], Reason: "decided", Time: d.now()})
	var stored []tlog.Hash
	reader := tlog.HashReaderFunc(func(indexes []int64) ([]tlog.Hash, error) {
		out := make([]tlog.Hash, len(indexes))
		for i, x := range indexes {
			out[i] = stored[x]
		}
		return out, nil
	})
	for i, text := range d.texts {
		more, err := tlog.StoredHashes(int64(i), []byte(text), reader)
		d.must(err)
		stored = append(stored, more...)
	}
	size := int64(len(d.texts))
	root, err := translog.Root(size, reader)
	d.must(err)
	signed, err := translog.SignCheckpoint(translog.Checkpoint{Origin: testOrigin, Size: size, Root: root}, d.signer)
	d.must(err)
	b := &Bundle{Log: BundleLog{Origin: testOrigin, Key: d.key, Checkpoint: signed}, Games: d.games}
	for i, text := range d.texts {
		path, err := translog.Inclusion(size, int64(i), reader)
		d.must(err)
		b.Statements = append(b.Statements, BundleStatement{Index: uint64(i), Text: text, Path: path})
	}
	return b
}

// verify encodes and verifies the dealer's bundle under its own key.
func (d *dealer) verify() Report {
	data, err := d.bundle().Encode()
	d.must(err)
	return Verify(data, Trust{Key: d.key})
}

const singleGame = "raise=mars stake=win series=single crawford=off"

// TestPlayedMatches plays whole matches of every variant and mode and verifies
// them: what an honest house makes must pass, whatever the dice are.
func TestPlayedMatches(t *testing.T) {
	lengths := commitment.Lengths{4, 40, 40} // short enough that most games need several segments
	run := func(name string, how terms, games int) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDealer(t, how)
			for range games {
				d.play()
			}
			if r := d.verify(); r.Verdict != Verified {
				t.Errorf("%s", r.Text(TextStyle{}))
			}
		})
	}
	for _, v := range rules.Variants() {
		run(v.ID, terms{variant: v.ID, mode: commitment.Random, options: singleGame, rolls: lengths, anchored: true}, 1)
	}
	for _, m := range commitment.Modes() {
		if m == commitment.Real {
			continue // needs an archive; the vectors have it
		}
		run("mode-"+m.String(), terms{variant: "short", mode: m, options: singleGame, rolls: lengths, anchored: true}, 1)
	}
	run("sealed", terms{variant: "hyper", mode: commitment.Random, options: singleGame, rolls: lengths}, 1)
	run("series", terms{variant: "hyper", mode: commitment.Triple, options: "raise=cube stake=win series=points:25 crawford=on", rolls: lengths, anchored: true, stopAt: 9}, 4)
}

// TestCheatingHouse lets the house cheat in one place each and sign everything
// again: attacks that are not among the known-answer vectors.
func TestCheatingHouse(t *testing.T) {
	short := terms{variant: "short", mode: commitment.Random, options: singleGame, rolls: commitment.Lengths{4, 8, 8}, anchored: true, stopAt: 6}
	tests := []struct {
		name  string
		games int
		setup func(*dealer)
		want  ID
	}{
		{"player b's chain begins at player a's first link", 1, func(d *dealer) {
			first, err := d.chains[0].Link(1)
			d.must(err)
			d.open.AnchorB.Hash = first
			d.texts = nil
			d.publish(d.open)
			d.chains[1], d.spent[1] = d.chains[0], 1
		}, StatementsRefs},
		{"a second game after the single game was decided", 2, func(d *dealer) {
			next, err := replay.NewMatch(mustVariant(d.t, "short"), d.series.Next().Options)
			d.must(err)
			old := d.tamper
			d.tamper = func(s commitment.Statement) commitment.Statement {
				if c, ok := s.(commitment.Close); ok && c.Game == 1 {
					d.series = next
				}
				return old(s)
			}
		}, ResultCheck},
		{"a commit in another tenant's mode", 1, func(d *dealer) {
			d.tamper = func(s commitment.Statement) commitment.Statement {
				if c, ok := s.(commitment.Commit); ok {
					c.Mode = commitment.Balanced
					return c
				}
				return s
			}
		}, StatementsRefs},
		{"the rules hash of another variant", 1, func(d *dealer) {
			d.open.RulesHash = mustVariant(d.t, "tavla").Hash()
			d.texts = nil
			d.publish(d.open)
		}, RulesVersion},
		{"the record claims a Crawford game", 1, func(d *dealer) {
			d.tamperHeader = func(h *replay.Header) { h.Crawford = true }
		}, CubeCheck},
		{"the record begins at another score", 1, func(d *dealer) {
			d.tamperHeader = func(h *replay.Header) { h.Score = [2]int{1, 0} }
		}, RecordHead},
		{"a close without its end line", 1, func(d *dealer) {
			d.tamperRecord = func(lines []string) []string { return lines[:len(lines)-1] }
		}, ResultCheck},
		{"the deal of an anchored match without player b's link", 1, func(d *dealer) {
			d.tamper = func(s commitment.Statement) commitment.Statement {
				if deal, ok := s.(commitment.Deal); ok {
					deal.LinkB = nil
					return deal
				}
				return s
			}
		}, DealLinks},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			d := newDealer(t, short)
			test.setup(d)
			for range test.games {
				d.play()
			}
			r := d.verify()
			if r.Verdict != Failed || !slices.Contains(r.Failed(), test.want) {
				t.Errorf("verdict %s, failed %v, want %s among them", r.Verdict, r.Failed(), test.want)
			}
		})
	}
}

func mustVariant(t testing.TB, id string) rules.Variant {
	t.Helper()
	v, err := rules.Lookup(id)
	if err != nil {
		t.Fatal(err)
	}
	return v
}
