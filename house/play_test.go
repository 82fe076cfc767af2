package house_test

import (
	"strings"
	"sync"
	"testing"
	"time"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/translog"
)

func TestWholeMatches(t *testing.T) {
	for _, variant := range []string{"short", "long-classic"} {
		for _, mode := range []string{"random", "balanced"} {
			for _, level := range []string{"L0", "A only", "L2"} {
				t.Run(variant+" "+mode+" "+level, func(t *testing.T) {
					t.Parallel()
					b := newBench(t)
					var pa, pb *player
					if level != "L0" {
						pa = newPlayer(t, "a")
					}
					if level == "L2" {
						pb = newPlayer(t, "b")
					}
					m := b.open(variant, "raise=mars stake=win series=points:2 crawford=off", pa, pb, func(r *house.OpenRequest) { r.Mode = mode })
					var last house.CloseAnswer
					n := 0
					for !m.series.Over() {
						n++
						last = m.play(n)
					}
					if !last.Finished {
						t.Error("the match is decided, but its last close has no finish")
					}
					diff(t, "score", m.series.Score(), last.Score)
					b.checkEvidence(m, n)
					if _, err := b.NextGame(b.ctx(), b.p, m.id, n+1, 0); house.CodeOf(err) != house.MatchEnded {
						t.Errorf("a game after the end: %v", err)
					}
				})
			}
		}
	}
}

// checkEvidence verifies from outside what the house hands out: every
// statement is in the checkpoint, every roll opens against its deal, every
// receipt is signed and chained, the revealed secret rebuilds the root.
func (b *bench) checkEvidence(m *match, games int) {
	b.t.Helper()
	ev, err := b.Evidence(b.ctx(), m.id)
	if err != nil {
		b.t.Fatal(err)
	}
	cp, err := translog.OpenCheckpoint(ev.Checkpoint, b.config.LogVerifier)
	if err != nil {
		b.t.Fatal(err)
	}
	deals := map[[2]int]commitment.Deal{}
	commits := map[string]commitment.Commit{}
	secrets := map[string]commitment.Secret{}
	for _, s := range ev.Statements {
		if err := translog.VerifyInclusion(translog.LeafHash([]byte(s.Text)), s.Index, cp.Size, s.Path, cp.Root); err != nil {
			b.t.Error(err)
		}
		st, err := commitment.Parse([]byte(s.Text))
		if err != nil {
			b.t.Fatal(err)
		}
		switch st := st.(type) {
		case commitment.Commit:
			commits[st.Sequence] = st
		case commitment.Deal:
			deals[[2]int{st.Game, st.Segment}] = st
		case commitment.Close:
			for _, s := range st.Secrets {
				secrets[s.Sequence] = s.Secret
			}
		}
	}
	archives := map[string]*commitment.Archive{}
	for _, text := range ev.Archives {
		a, err := commitment.ParseArchive([]byte(text))
		if err != nil {
			b.t.Fatal(err)
		}
		for id, c := range commits {
			if c.Archive != nil && *c.Archive == a.Hash() {
				archives[id] = a
			}
		}
	}
	for _, e := range ev.Earlier {
		old, err := translog.OpenCheckpoint(e.Checkpoint, b.config.LogVerifier)
		if err != nil {
			b.t.Fatal(err)
		}
		if err := translog.VerifyConsistency(old.Size, old.Root, cp.Size, cp.Root, e.Consistency); err != nil {
			b.t.Error(err)
		}
	}
	if len(ev.Games) != games {
		b.t.Fatalf("%d games in the evidence, want %d", len(ev.Games), games)
	}
	for _, g := range ev.Games {
		var previous *commitment.Hash
		for i, note := range g.Receipts {
			r, err := commitment.OpenReceipt(note, b.config.ReceiptKey)
			if err != nil {
				b.t.Fatal(err)
			}
			if (previous == nil) != (r.Previous == nil) || previous != nil && *previous != *r.Previous {
				b.t.Errorf("game %d receipt %d does not follow the one before", g.Game, i)
			}
			h := r.Hash()
			previous = &h
			deal := deals[[2]int{g.Game, r.Segment}]
			commit := commits[deal.Sequence]
			leaf := r.Dice
			if commit.Mode == commitment.Live {
				leaf = commitment.Dice{} // dice are in no leaf before they are thrown
			}
			o := commitment.Opening{Stream: r.Stream, Index: r.Index, Dice: leaf, Key: g.Openings[i].Key, Path: g.Openings[i].Path}
			if err := o.Verify(deal.Root, commit.Rolls); err != nil {
				b.t.Errorf("game %d roll %d: %v", g.Game, i, err)
			}
			seq, err := commitment.Build(secrets[deal.Sequence], deal.Sequence, commit.Mode, commit.Rolls, deal.Cut, archives[deal.Sequence])
			if err != nil {
				b.t.Fatal(err)
			}
			dice := seq.Dice(r.Stream, r.Index)
			if commit.Mode == commitment.Live {
				dice = commitment.LiveDice(seq.Key(r.Stream, r.Index), r.Links[0], r.Links[1])
			}
			if seq.Root() != deal.Root || dice != r.Dice {
				b.t.Errorf("game %d roll %d: the secret gives other dice", g.Game, i)
			}
			if i > 3 { // building is the slow part; the roots are the same for all rolls
				break
			}
		}
	}
}

// TestSameAnswerForEver plays a match, keeping every answer, and asks all of
// it again: at once, at the end, and after a restart.
func TestSameAnswerForEver(t *testing.T) {
	b := newBench(t)
	m := b.open("short", single, newPlayer(t, "a"), newPlayer(t, "b"))
	type ask struct {
		name string
		call func() (any, error)
		want any
	}
	var asked []ask
	repeat := func(when string) {
		t.Helper()
		for _, a := range asked {
			got, err := a.call()
			if err != nil {
				t.Fatalf("%s, %s: %v", when, a.name, err)
			}
			diff(t, when+", "+a.name, a.want, got)
		}
	}
	keep := func(name string, call func() (any, error)) {
		t.Helper()
		want, err := call()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		asked = append(asked, ask{name, call, want})
		got, err := call()
		if err != nil {
			t.Fatalf("%s again: %v", name, err)
		}
		diff(t, name+" again", want, got)
	}
	ctx := b.ctx()
	keep("open", func() (any, error) { return b.OpenMatch(ctx, b.p, m.request()) })
	keep("assign", func() (any, error) { return b.NextGame(ctx, b.p, m.id, 1, 0) })
	va, vb := m.a.next(t), m.b.next(t)
	keep("link a", func() (any, error) { return b.PutLink(ctx, m.id, 1, 1, "a", va, 0) })
	keep("link b", func() (any, error) { return b.PutLink(ctx, m.id, 1, 1, "b", vb, 0) })
	repeat("after the deal")
	m.state = mustStart(t, m)
	for i := 0; m.stepKeeping(1, keep); i++ {
		if i == 20 {
			b.restart()
			repeat("after a restart in the middle")
		}
	}
	keep("close", func() (any, error) { return b.CloseGame(ctx, b.p, m.id, 1, nil, 0) })
	keep("evidence", func() (any, error) { return b.Evidence(ctx, m.id) })
	size := b.logSize()
	repeat("at the end")
	if err := b.TopUp(ctx, "default", "random", 8); err != nil { // the log goes on
		t.Fatal(err)
	}
	repeat("after the log has grown")
	b.restart()
	repeat("after a restart")
	if got := b.logSize(); got != size+5 {
		t.Errorf("repeating has changed the log: %d statements, want %d", got, size+5)
	}
}

func TestOneRollForTwoClients(t *testing.T) {
	b := newBench(t)
	m := b.open("short", single, nil, nil)
	m.begin(1)
	const clients = 8
	for range 12 {
		view, err := b.Match(b.ctx(), m.id)
		if err != nil {
			t.Fatal(err)
		}
		due := view.Games[0].Draw
		if due == nil {
			if !m.step(1) {
				break
			}
			continue
		}
		var wg sync.WaitGroup
		answers := make([]house.DrawAnswer, clients)
		for i := range clients {
			wg.Go(func() {
				a, err := b.Draw(b.ctx(), b.p, m.id, 1, due.Segment, due.Stream, due.Index)
				if err != nil {
					t.Error(err)
				}
				answers[i] = a
			})
		}
		wg.Wait()
		for _, a := range answers[1:] {
			diff(t, "the same roll", answers[0], a)
		}
		r, err := b.Record(b.ctx(), b.p, "", m.id, 1)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(strings.TrimSuffix(r.Record, "\n"), "\n")
		m.apply(lines[len(lines)-1])
	}
}

func TestContinuationSegment(t *testing.T) {
	b := newBench(t, func(c *house.Config) { c.Rolls = commitment.Lengths{2, 15, 11} })
	m := b.open("short", single, newPlayer(t, "a"), newPlayer(t, "b"))
	if err := b.TopUp(b.ctx(), "default", "random", 40); err != nil {
		t.Fatal(err)
	}
	a := m.play(1)
	if !a.Finished {
		t.Error("the match is not finished")
	}
	view, err := b.Match(b.ctx(), m.id)
	if err != nil {
		t.Fatal(err)
	}
	if view.Games[0].Segments < 2 {
		t.Fatalf("the game has %d segments, want more than one", view.Games[0].Segments)
	}
	b.checkEvidence(m, 1)
}

func TestClockSetBack(t *testing.T) {
	b := newBench(t)
	b.now = b.now.Add(time.Hour)
	m := b.open("short", single, nil, nil)
	b.now = b.now.Add(-2 * time.Hour)
	m.play(1)
	ev, err := b.Evidence(b.ctx(), m.id)
	if err != nil {
		t.Fatal(err)
	}
	var last time.Time
	for _, s := range ev.Statements {
		st, err := commitment.Parse([]byte(s.Text))
		if err != nil {
			t.Fatal(err)
		}
		if st.When().Before(last) {
			t.Errorf("statement %d is dated before the one in front of it", s.Index)
		}
		last = st.When()
	}
}
