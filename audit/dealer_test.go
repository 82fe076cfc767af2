package audit

import (
	"slices"
	"testing"

	"fairdice/commitment"
	"fairdice/internal/dealer"
	"fairdice/replay"
	"fairdice/rules"
)

// terms are what a dealer's match is played under.
type terms = dealer.Terms

// table is a house with one match.
type table struct {
	*dealer.House
	*dealer.Match
	t testing.TB
}

func newDealer(t testing.TB, how terms) *table {
	t.Helper()
	h := dealer.New(t, 7)
	return &table{h, h.Open(how), t}
}

// bundle finishes the match and makes its bundle.
func (d *table) bundle() *Bundle {
	d.Finish()
	b := &Bundle{Log: BundleLog{Origin: dealer.Origin, Key: d.Key, Checkpoint: d.Checkpoint(len(d.Texts))}}
	for i, text := range d.Texts {
		b.Statements = append(b.Statements, BundleStatement{Index: uint64(i), Text: string(text), Path: d.Inclusion(i)})
	}
	for _, g := range d.Games {
		game := BundleGame{Game: g.Number, Record: g.Record, Receipts: g.Receipts}
		for _, o := range g.Openings {
			game.Openings = append(game.Openings, BundleOpening{Segment: o.Segment, Stream: o.Stream, Index: o.Index, Key: o.Key, Path: o.Path})
		}
		b.Games = append(b.Games, game)
	}
	return b
}

// verify encodes and verifies the dealer's bundle under its own key.
func (d *table) verify() Report {
	data, err := d.bundle().Encode()
	if err != nil {
		d.t.Fatal(err)
	}
	return Verify(data, Trust{Key: d.Key})
}

const singleGame = dealer.SingleGame

// TestPlayedMatches plays whole matches of every variant and mode and verifies
// them: what an honest house makes must pass, whatever the dice are.
func TestPlayedMatches(t *testing.T) {
	lengths := commitment.Lengths{4, 40, 40} // short enough that most games need several segments
	run := func(name string, how terms, games int) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := newDealer(t, how)
			for range games {
				d.Play()
			}
			if r := d.verify(); r.Verdict != Verified {
				t.Errorf("%s", r.Text(TextStyle{}))
			}
		})
	}
	for _, v := range rules.Variants() {
		run(v.ID, terms{Variant: v.ID, Mode: commitment.Random, Options: singleGame, Rolls: lengths, Anchored: true}, 1)
	}
	for _, m := range commitment.Modes() {
		if m == commitment.Real {
			continue // needs an archive; the vectors have it
		}
		run("mode-"+m.String(), terms{Variant: "short", Mode: m, Options: singleGame, Rolls: lengths, Anchored: true}, 1)
	}
	run("sealed", terms{Variant: "hyper", Mode: commitment.Random, Options: singleGame, Rolls: lengths}, 1)
	run("series", terms{Variant: "hyper", Mode: commitment.Triple, Options: "raise=cube stake=win series=points:25 crawford=on", Rolls: lengths, Anchored: true, StopAt: 9}, 4)
}

// TestCheatingHouse lets the house cheat in one place each and sign everything
// again: attacks that are not among the known-answer vectors.
func TestCheatingHouse(t *testing.T) {
	short := terms{Variant: "short", Mode: commitment.Random, Options: singleGame, Rolls: commitment.Lengths{4, 8, 8}, Anchored: true, StopAt: 6}
	tests := []struct {
		name  string
		games int
		setup func(*table)
		want  ID
	}{
		{"player b's chain begins at player a's first link", 1, func(d *table) {
			first, err := d.Chains[0].Link(1)
			if err != nil {
				d.t.Fatal(err)
			}
			d.Statement.AnchorB.Hash = first
			d.Texts = nil
			d.Publish(d.Statement)
			d.Chains[1], d.Spent[1] = d.Chains[0], 1
		}, StatementsRefs},
		{"a second game after the single game was decided", 2, func(d *table) {
			next, err := replay.NewMatch(mustVariant(d.t, "short"), d.Series.Next().Options)
			if err != nil {
				d.t.Fatal(err)
			}
			old := d.Tamper
			d.Tamper = func(s commitment.Statement) commitment.Statement {
				if c, ok := s.(commitment.Close); ok && c.Game == 1 {
					d.Series = next
				}
				return old(s)
			}
		}, ResultCheck},
		{"a commit in another tenant's mode", 1, func(d *table) {
			d.Tamper = func(s commitment.Statement) commitment.Statement {
				if c, ok := s.(commitment.Commit); ok {
					c.Mode = commitment.Balanced
					return c
				}
				return s
			}
		}, StatementsRefs},
		{"the rules hash of another variant", 1, func(d *table) {
			d.Statement.RulesHash = mustVariant(d.t, "tavla").Hash()
			d.Texts = nil
			d.Publish(d.Statement)
		}, RulesVersion},
		{"the record claims a Crawford game", 1, func(d *table) {
			d.TamperHeader = func(h *replay.Header) { h.Crawford = true }
		}, CubeCheck},
		{"the record begins at another score", 1, func(d *table) {
			d.TamperHeader = func(h *replay.Header) { h.Score = [2]int{1, 0} }
		}, RecordHead},
		{"a close without its end line", 1, func(d *table) {
			d.TamperRecord = func(lines []string) []string { return lines[:len(lines)-1] }
		}, ResultCheck},
		{"the deal of an anchored match without player b's link", 1, func(d *table) {
			d.Tamper = func(s commitment.Statement) commitment.Statement {
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
				d.Play()
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
