package player_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
	"fairdice/translog"
)

const (
	origin  = "dice.example/log"
	match   = "01940c3e-7b4a-7c1d-9a52-3f6d0b8e2c11"
	seqOne  = "01940c3e-7b4a-7c1d-9a52-000000000001"
	seqTwo  = "01940c3e-7b4a-7c1d-9a52-000000000002"
	options = "raise=mars stake=win series=single crawford=off"
)

var start = time.Date(2026, 11, 29, 21, 52, 6, 0, time.UTC)

// dealer is a house that can do anything but forge signatures: it has one
// log key, and as many logs as it likes.
type dealer struct {
	t      *testing.T
	signer note.Signer
	vkey   string
	texts  []string
	hashes memory
	shown  []int // statements it shows; nil: all
	show   func(*client.Published)
	taken  []int // links that it says it has of A and B; nil: none
}

type memory []tlog.Hash

func (m memory) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	list := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		list[i] = m[x]
	}
	return list, nil
}

func newDealer(t *testing.T) *dealer {
	skey, vkey, err := commitment.NewKey(origin, rand.Reader)
	must(t, err)
	signer, err := commitment.NewSigner(skey)
	must(t, err)
	return &dealer{t: t, signer: signer, vkey: vkey}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func (d *dealer) log(statements ...commitment.Statement) {
	d.t.Helper()
	for _, s := range statements {
		text := s.Text()
		if _, err := commitment.Parse(text); err != nil {
			d.t.Fatalf("the test's own %s: %v", s.Type(), err)
		}
		more, err := tlog.StoredHashes(int64(len(d.texts)), text, d.hashes)
		must(d.t, err)
		d.texts, d.hashes = append(d.texts, string(text)), append(d.hashes, more...)
	}
}

// fork is another log of the same key with the first n statements in common.
func (d *dealer) fork(n int) *dealer {
	f := &dealer{t: d.t, signer: d.signer, vkey: d.vkey}
	for _, text := range d.texts[:n] {
		s, err := commitment.Parse([]byte(text))
		must(d.t, err)
		f.log(s)
	}
	return f
}

func hexes(list []commitment.Hash) []client.Hex {
	out := []client.Hex{}
	for _, h := range list {
		out = append(out, h.String())
	}
	return out
}

// Statements answers a player, with sound proofs of whatever the log says.
func (d *dealer) Statements(_ context.Context, _ string, seen int64) (client.Published, error) {
	size := int64(len(d.texts))
	root, err := translog.Root(size, d.hashes)
	must(d.t, err)
	signed, err := translog.SignCheckpoint(translog.Checkpoint{Origin: origin, Size: size, Root: root}, d.signer)
	must(d.t, err)
	p := client.Published{Checkpoint: signed, Since: seen}
	if seen > 0 && seen <= size {
		proof, err := translog.Consistency(seen, size, d.hashes)
		must(d.t, err)
		p.Consistency = hexes(proof)
	}
	shown := d.shown
	if shown == nil {
		for i := range d.texts {
			shown = append(shown, i)
		}
	}
	for _, i := range shown {
		path, err := translog.Inclusion(size, int64(i), d.hashes)
		must(d.t, err)
		p.Statements = append(p.Statements, client.Statement{Index: int64(i), Text: d.texts[i], Path: hexes(path)})
	}
	if d.show != nil {
		d.show(&p)
	}
	return p, nil
}

// Match says how many links the house has.
func (d *dealer) Match(context.Context, string) (client.Match, error) {
	if d.taken == nil {
		return client.Match{Links: []int{0, 0}}, nil
	}
	return client.Match{Links: d.taken}, nil
}

func commit(number uint64, sequence string) commitment.Commit {
	return commitment.Commit{Log: origin, Tenant: "club", Mode: commitment.Random, Number: number, Sequence: sequence,
		Rolls: commitment.Lengths{16, 256, 256}, SecretHash: commitment.Sum([]byte(sequence)), Root: commitment.Sum([]byte("r" + sequence)), Time: start}
}

func open(anchor commitment.Hash) commitment.Open {
	_, receipts, err := commitment.NewKey(origin+"/receipts", bytes.NewReader(make([]byte, 64)))
	if err != nil {
		panic(err) // of a test's constant
	}
	other := commitment.Sum([]byte("the other player"))
	return commitment.Open{Log: origin, Match: match, Tenant: "club", Variant: "short", RulesVersion: "1", RulesHash: commitment.Sum([]byte("rules")),
		Mode: commitment.Random, Profile: commitment.Refereed, Options: options, A: "ada", B: "ben",
		AnchorA: &commitment.Anchor{Hash: anchor}, AnchorB: &commitment.Anchor{Hash: other}, ReceiptKey: receipts, Time: start}
}

func assign(game, segment int, number uint64, sequence string) commitment.Assign {
	return commitment.Assign{Match: match, Game: game, Segment: segment, Sequence: sequence, Number: number, Time: start}
}

func newPlayer(t *testing.T, vkey string) (*twin, string) {
	t.Helper()
	return newPlayerOn(t, vkey, player.Terms{Match: match, Token: "ada", Opponent: "ben", Tenant: "club", Variant: "short", Mode: "random", Profile: "refereed",
		Options: options, Rules: commitment.Sum([]byte("rules")).String()})
}

func newPlayerOn(t *testing.T, vkey string, terms player.Terms) (*twin, string) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "ada.json")
	_, err := player.New(file, vkey, 8, rand.Reader)
	must(t, err)
	p := loadTwin(t, file)
	must(t, p.Join(terms))
	return p, file
}

// An honest house gets one link for each segment, the same one when it asks
// again, also after the player's process has died.
func TestHonestHouse(t *testing.T) {
	d := newDealer(t)
	p, file := newPlayer(t, d.vkey)
	d.log(commit(0, seqOne), commit(1, seqTwo), open(p.Anchor()), assign(1, 1, 0, seqOne))
	first, err := p.Release(t.Context(), d, 1, 1)
	must(t, err)
	if first.Seat != client.SeatA || commitment.LinkHash(first.Link) != p.Anchor() {
		t.Errorf("seat %s released %s for anchor %s", first.Seat, first.Link, p.Anchor())
	}
	again := loadTwin(t, file)
	d.log(commitment.Deal{Match: match, Game: 1, Segment: 1, Sequence: seqOne, LinkA: &first.Link, LinkB: ptr(commitment.Sum([]byte("b"))),
		Cut: commitment.NewCut(match, 1, 1, &first.Link, ptr(commitment.Sum([]byte("b"))), nil), Root: commitment.Sum([]byte("root")), Time: start})
	same, err := again.Release(t.Context(), d, 1, 1)
	must(t, err)
	if same != first {
		t.Errorf("the same segment got %v, then %v", first, same)
	}
	d.log(assign(1, 2, 1, seqTwo))
	next, err := again.Release(t.Context(), d, 1, 2)
	must(t, err)
	if commitment.LinkHash(next.Link) != first.Link {
		t.Error("the second link does not continue the first")
	}
	if n, of := again.Spent(); n != 2 || of != 8 {
		t.Errorf("%d of %d links spent", n, of)
	}
}

func ptr[T any](v T) *T { return &v }

// Every way in which a house may want a link it should not get.
func TestDishonestHouse(t *testing.T) {
	stranger := commitment.Sum([]byte("stranger"))
	for _, c := range []struct {
		name  string
		check string // of PROTOCOL.md §9 that catches it
		// log writes a log without the honest first release having happened.
		log func(d *dealer, own commitment.Hash)
	}{
		{"no open", "log.order", func(d *dealer, own commitment.Hash) {
			d.log(commit(0, seqOne), assign(1, 1, 0, seqOne))
		}},
		{"another anchor in the open", "level", func(d *dealer, own commitment.Hash) {
			d.log(commit(0, seqOne), open(stranger), assign(1, 1, 0, seqOne))
		}},
		{"the anchor called custodial", "level", func(d *dealer, own commitment.Hash) {
			o := open(own)
			o.AnchorA.Custodial = true
			d.log(commit(0, seqOne), o, assign(1, 1, 0, seqOne))
		}},
		{"the anchor in the other seat", "statements.refs", func(d *dealer, own commitment.Hash) {
			o := open(own)
			o.AnchorA, o.AnchorB = o.AnchorB, o.AnchorA
			d.log(commit(0, seqOne), o, assign(1, 1, 0, seqOne))
		}},
		{"other options than agreed", "statements.refs", func(d *dealer, own commitment.Hash) {
			o := open(own)
			o.Options = strings.Replace(options, "single", "points:9", 1)
			d.log(commit(0, seqOne), o, assign(1, 1, 0, seqOne))
		}},
		{"other rules than agreed", "statements.refs", func(d *dealer, own commitment.Hash) {
			o := open(own)
			o.RulesHash = stranger
			d.log(commit(0, seqOne), o, assign(1, 1, 0, seqOne))
		}},
		{"the open of another log", "statements.refs", func(d *dealer, own commitment.Hash) {
			q, o := commit(0, seqOne), open(own)
			q.Log, o.Log = "other.example/log", "other.example/log"
			d.log(q, o, assign(1, 1, 0, seqOne))
		}},
		{"two opens", "log.order", func(d *dealer, own commitment.Hash) {
			d.log(commit(0, seqOne), open(own), open(own), assign(1, 1, 0, seqOne))
		}},
		{"the assign not in the checkpoint", "log.order", func(d *dealer, own commitment.Hash) {
			d.log(commit(0, seqOne), open(own))
		}},
		{"the assign shown but not logged", "log.inclusion", func(d *dealer, own commitment.Hash) {
			d.log(commit(0, seqOne), open(own), commit(1, seqTwo))
			d.show = func(p *client.Published) { p.Statements[2].Text = string(assign(1, 1, 0, seqOne).Text()) }
		}},
		{"the assign before the open", "log.order", func(d *dealer, own commitment.Hash) {
			d.log(commit(0, seqOne), assign(1, 1, 0, seqOne), open(own))
		}},
		{"the commit after the assign", "log.order", func(d *dealer, own commitment.Hash) {
			d.log(open(own), assign(1, 1, 0, seqOne), commit(0, seqOne))
		}},
		{"no commit", "log.order", func(d *dealer, own commitment.Hash) {
			d.log(open(own), assign(1, 1, 0, seqOne))
		}},
		{"two commits of one sequence", "log.order", func(d *dealer, own commitment.Hash) {
			d.log(commit(0, seqOne), commit(1, seqOne), open(own), assign(1, 1, 0, seqOne))
		}},
		{"a commit of another tenant", "statements.refs", func(d *dealer, own commitment.Hash) {
			q := commit(0, seqOne)
			q.Tenant = "rival"
			d.log(q, open(own), assign(1, 1, 0, seqOne))
		}},
		{"a commit of another mode", "statements.refs", func(d *dealer, own commitment.Hash) {
			q := commit(0, seqOne)
			q.Mode = commitment.Balanced
			d.log(q, open(own), assign(1, 1, 0, seqOne))
		}},
		{"another number in the assign", "statements.refs", func(d *dealer, own commitment.Hash) {
			d.log(commit(0, seqOne), open(own), assign(1, 1, 1, seqOne))
		}},
		{"two assigns of the segment", "statements.refs", func(d *dealer, own commitment.Hash) {
			d.log(commit(0, seqOne), commit(1, seqTwo), open(own), assign(1, 1, 0, seqOne), assign(1, 1, 1, seqTwo))
		}},
		{"one sequence for two segments", "statements.refs", func(d *dealer, own commitment.Hash) {
			d.log(commit(0, seqOne), open(own), assign(1, 1, 0, seqOne), assign(1, 2, 0, seqOne))
		}},
		{"an assign of another match", "statements.refs", func(d *dealer, own commitment.Hash) {
			a := assign(1, 1, 0, seqOne)
			a.Match = seqTwo
			d.log(commit(0, seqOne), open(own), a)
		}},
		{"dealt before the link", "deal.links", func(d *dealer, own commitment.Hash) {
			d.log(commit(0, seqOne), open(own), assign(1, 1, 0, seqOne), commitment.Deal{Match: match, Game: 1, Segment: 1, Sequence: seqOne,
				LinkA: &stranger, Cut: commitment.NewCut(match, 1, 1, &stranger, nil, nil), Root: stranger, Time: start})
		}},
		{"another key", "log.signature", func(d *dealer, own commitment.Hash) {
			d.log(commit(0, seqOne), open(own), assign(1, 1, 0, seqOne))
			d.signer = newDealer(d.t).signer
		}},
		{"a checkpoint that is none", "log.signature", func(d *dealer, own commitment.Hash) {
			d.log(commit(0, seqOne), open(own), assign(1, 1, 0, seqOne))
			d.show = func(p *client.Published) { p.Checkpoint = "trust me\n" }
		}},
		{"one statement twice", "format", func(d *dealer, own commitment.Hash) {
			d.log(commit(0, seqOne), open(own), assign(1, 1, 0, seqOne))
			d.shown = []int{0, 1, 1, 2}
		}},
		{"a proof that is no hash", "log.inclusion", func(d *dealer, own commitment.Hash) {
			d.log(commit(0, seqOne), open(own), assign(1, 1, 0, seqOne))
			d.show = func(p *client.Published) { p.Statements[0].Path[0] = "AB" }
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDealer(t)
			p, _ := newPlayer(t, d.vkey)
			c.log(d, p.Anchor())
			refused(t, p, d, 1, 1, c.check)
			if n, _ := p.Spent(); n != 0 {
				t.Errorf("%d links are spent", n)
			}
		})
	}
}

// What a house may try once it has a link, or has shown a log.
func TestDishonestLater(t *testing.T) {
	for _, c := range []struct {
		name  string
		check string
		segs  [2]int // game and segment asked for
		next  func(d *dealer, own commitment.Hash) *dealer
	}{
		{"the assign changed", "log.consistency", [2]int{1, 1}, func(d *dealer, own commitment.Hash) *dealer {
			f := d.fork(3)
			f.log(assign(1, 1, 1, seqTwo))
			return f
		}},
		{"a forked log, longer", "log.consistency", [2]int{1, 2}, func(d *dealer, own commitment.Hash) *dealer {
			f := d.fork(2)
			f.log(open(own), commit(2, match), assign(1, 1, 0, seqOne), assign(1, 2, 1, seqTwo))
			return f
		}},
		{"a shorter log", "log.consistency", [2]int{1, 1}, func(d *dealer, own commitment.Hash) *dealer { return d.fork(3) }},
		{"no consistency proof", "log.consistency", [2]int{1, 2}, func(d *dealer, own commitment.Hash) *dealer {
			d.log(assign(1, 2, 1, seqTwo))
			d.show = func(p *client.Published) { p.Consistency = nil }
			return d
		}},
		{"the old assign hidden", "log.order", [2]int{1, 2}, func(d *dealer, own commitment.Hash) *dealer {
			d.log(assign(1, 2, 1, seqTwo))
			d.shown = []int{0, 1, 2, 4}
			return d
		}},
		{"another assign shown for the old segment", "statements.refs", [2]int{1, 1}, func(d *dealer, own commitment.Hash) *dealer {
			d.log(assign(1, 1, 1, seqTwo))
			d.shown = []int{0, 1, 2, 4}
			return d
		}},
		{"the sequence replayed in another segment", "statements.refs", [2]int{1, 2}, func(d *dealer, own commitment.Hash) *dealer {
			d.log(assign(1, 2, 0, seqOne))
			return d
		}},
		{"the sequence replayed in another game", "statements.refs", [2]int{2, 1}, func(d *dealer, own commitment.Hash) *dealer {
			d.log(assign(2, 1, 0, seqOne))
			return d
		}},
		{"another open", "statements.refs", [2]int{1, 2}, func(d *dealer, own commitment.Hash) *dealer {
			o := open(own)
			o.Time = start.Add(time.Second)
			d.log(o, func() commitment.Statement { a := assign(1, 2, 1, seqTwo); a.Time = o.Time; return a }())
			d.shown = []int{0, 1, 3, 4, 5}
			return d
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDealer(t)
			p, file := newPlayer(t, d.vkey)
			d.log(commit(0, seqOne), commit(1, seqTwo), open(p.Anchor()), assign(1, 1, 0, seqOne))
			_, err := p.Release(t.Context(), d, 1, 1)
			must(t, err)
			p = loadTwin(t, file) // whatever it knows must have been written down
			refused(t, p, c.next(d, p.Anchor()), c.segs[0], c.segs[1], c.check)
			if n, _ := p.Spent(); n != 1 {
				t.Errorf("%d links are spent, 1 was", n)
			}
		})
	}
}

func refused(t *testing.T, p *twin, d *dealer, game, segment int, check string) {
	t.Helper()
	l, err := p.Release(t.Context(), d, game, segment)
	var distrust *player.Distrust
	if !errors.As(err, &distrust) || distrust.Check != check {
		t.Errorf("released %v, %v; want a refusal for %s", l, err, check)
	}
}

// An ended game gets no link, a used-up chain has none, and no distrust is due.
func TestNoLink(t *testing.T) {
	d := newDealer(t)
	file := filepath.Join(t.TempDir(), "p.json")
	_, err := player.New(file, d.vkey, 1, rand.Reader)
	must(t, err)
	p := loadTwin(t, file)
	if _, err := p.Release(t.Context(), d, 1, 1); err == nil {
		t.Error("a link without a match")
	}
	must(t, p.Join(player.Terms{Match: match}))
	d.log(commit(0, seqOne), commit(1, seqTwo), open(p.Anchor()), assign(1, 1, 0, seqOne))
	_, err = p.Release(t.Context(), d, 1, 1)
	must(t, err)
	d.log(assign(1, 2, 1, seqTwo))
	if _, err := p.Release(t.Context(), d, 1, 2); !errors.Is(err, commitment.ErrSpent) {
		t.Errorf("a chain of one link: %v", err)
	}
	d.log(commitment.Abort{Match: match, Game: 1, By: "platform", Reason: "crash", RecordHead: commitment.Sum(nil), Time: start,
		Secrets: []commitment.RevealedSecret{{Sequence: seqOne}, {Sequence: seqTwo}}})
	if _, err := p.Release(t.Context(), d, 1, 2); err == nil || !strings.Contains(err.Error(), "ended") {
		t.Errorf("a link for an ended game: %v", err)
	}
}

// An anchor is for one match.
func TestOneMatch(t *testing.T) {
	d := newDealer(t)
	p, file := newPlayer(t, d.vkey)
	if err := p.Join(player.Terms{Match: seqOne}); err == nil {
		t.Error("one chain joined two matches")
	}
	if _, err := player.New(file, d.vkey, 8, rand.Reader); !errors.Is(err, os.ErrExist) {
		t.Errorf("a new chain over an old one: %v", err)
	}
	info, err := os.Stat(file)
	must(t, err)
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the file's mode is %v", info.Mode())
	}
	text, err := os.ReadFile(file)
	must(t, err)
	for _, bad := range [][2]string{{`"format": "fairdice/v1/player"`, `"format": "x"`}, {`"length": 8`, `"length": -1`}, {`"last": "`, `"last": "zz`}, {`"key": "dice`, `"key": "nice`}, {"{", ""}} {
		broken := filepath.Join(t.TempDir(), "broken.json")
		must(t, os.WriteFile(broken, bytes.Replace(text, []byte(bad[0]), []byte(bad[1]), 1), 0o600))
		if _, err := player.Load(broken); err == nil {
			t.Errorf("a file with %s was loaded", bad[1])
		}
		damaged, err := os.ReadFile(broken)
		must(t, err)
		if a, ok := ask(t, question{State: string(damaged), Act: "load"}); ok && a.Refusal == "" {
			t.Errorf("web/player.js has loaded a file with %s", bad[1])
		}
	}
}
