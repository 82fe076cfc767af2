package house_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/store/sqlite"
)

// unchanged fails if f changes the log or the record of game 1.
func (m *match) unchanged(f func()) {
	m.t.Helper()
	look := func() (int64, []house.GameView) {
		v, err := m.Match(m.ctx(), m.id)
		if err != nil {
			m.t.Fatal(err)
		}
		return m.logSize(), v.Games
	}
	size, games := look()
	f()
	size2, games2 := look()
	diff(m.t, "log size after a refusal", size, size2)
	diff(m.t, "games after a refusal", games, games2)
}

func TestRefusals(t *testing.T) {
	b := newBench(t)
	ctx := b.ctx()
	m := b.open("short", single, newPlayer(t, "a"), newPlayer(t, "b"))
	stranger := house.Principal{Tenant: "other", Scopes: house.Scopes()}
	reader := house.Principal{Tenant: "default", Scopes: []string{house.ScopeRead}}
	wrong := commitment.Sum([]byte("wrong"))

	draw := func(p house.Principal, game, segment int, stream string, index int) error {
		_, err := b.Draw(ctx, p, m.id, game, segment, stream, index)
		return err
	}
	post := func(p house.Principal, line int, lines ...string) error {
		_, err := b.Append(ctx, p, m.id, 1, line, lines)
		return err
	}
	link := func(seat string, v commitment.Hash) error {
		_, err := b.PutLink(ctx, m.id, 1, 1, seat, v, 0)
		return err
	}

	m.unchanged(func() {
		code(t, draw(b.p, 1, 1, "opening", 0), house.NotFound) // no game yet
		code(t, link("a", wrong), house.NotFound)
		_, err := b.NextGame(ctx, b.p, m.id, 2, 0)
		code(t, err, house.OutOfOrder)
		_, err = b.NextGame(ctx, stranger, m.id, 1, 0)
		code(t, err, house.NotFound)
		_, err = b.NextGame(ctx, reader, m.id, 1, 0)
		code(t, err, house.Forbidden)
		_, err = b.NextGame(ctx, house.Principal{}, m.id, 1, 0)
		code(t, err, house.Unauthorized)
		_, err = b.Evidence(ctx, m.id)
		code(t, err, house.NotFound)
		req := m.request()
		req.B = "carol"
		_, err = b.OpenMatch(ctx, b.p, req)
		code(t, err, house.OtherContent)
		_, err = b.OpenMatch(ctx, stranger, m.request())
		code(t, err, house.OtherContent)
	})
	if _, err := b.NextGame(ctx, b.p, m.id, 1, 0); err != nil {
		t.Fatal(err)
	}
	va, vb := m.a.next(t), m.b.next(t)
	m.unchanged(func() {
		code(t, draw(b.p, 1, 1, "opening", 0), house.AwaitingLink)
		code(t, link("a", wrong), house.WrongLink)
		code(t, link("a", vb), house.WrongLink)
		code(t, link("c", va), house.Malformed)
		second, _ := m.a.chain.Link(2)
		code(t, link("a", second), house.WrongLink)
		code(t, post(b.p, 1, "move A 13/7"), house.AwaitingLink)
		_, err := b.NextGame(ctx, b.p, m.id, 2, 0)
		code(t, err, house.NotDue)
		_, err = b.CloseGame(ctx, b.p, m.id, 1, nil, 0)
		code(t, err, house.NotDue)
		_, err = b.Abandon(ctx, b.p, m.id, 0)
		code(t, err, house.NotDue)
	})
	if err := link("a", va); err != nil {
		t.Fatal(err)
	}
	m.unchanged(func() {
		code(t, link("a", wrong), house.OtherContent)
		code(t, draw(b.p, 1, 1, "opening", 0), house.AwaitingLink)
		code(t, post(b.p, 1, "timeout A"), house.NotDue) // the house holds A's link
	})
	if err := link("b", vb); err != nil {
		t.Fatal(err)
	}
	m.state = mustStart(t, m)
	m.unchanged(func() {
		code(t, draw(b.p, 1, 1, "opening", 1), house.OutOfOrder)
		code(t, draw(b.p, 1, 1, "a", 0), house.NotDue)
		code(t, draw(b.p, 1, 2, "opening", 0), house.OutOfOrder)
		code(t, draw(b.p, 2, 1, "opening", 0), house.NotFound)
		code(t, draw(b.p, 1, 1, "c", 0), house.Malformed)
		code(t, draw(stranger, 1, 1, "opening", 0), house.NotFound)
		code(t, draw(reader, 1, 1, "opening", 0), house.Forbidden)
		code(t, post(b.p, 1, "opening 6 1"), house.NotDue)
		code(t, post(b.p, 2, "move A 13/7"), house.OutOfOrder)
		code(t, post(b.p, 1, "nonsense"), house.Malformed)
		code(t, post(b.p, 1), house.Malformed)
		_, err := b.Record(ctx, house.Principal{}, "", m.id, 1)
		code(t, err, house.Forbidden)
		_, err = b.Record(ctx, stranger, "x", m.id, 1)
		code(t, err, house.Forbidden)
	})
	for m.state.Due().String() == "opening" {
		m.step(1)
	}
	m.unchanged(func() {
		// A stage is due now, not a roll, and the dice are no invitation to any move.
		code(t, draw(b.p, 1, 1, "a", 0), house.NotDue)
		seat := m.state.OnTurn().String()
		e := code(t, post(b.p, len(m.lines)+1, "move "+seat+" 24/1"), house.Illegal)
		if e.Line != len(m.lines)+1 || len(e.Alternatives) == 0 || e.Board == "" {
			t.Errorf("the refusal lacks line, alternatives or board: %+v", e)
		}
		if err := post(b.p, len(m.lines)+1, e.Alternatives[0], "move "+seat+" 24/1"); house.CodeOf(err) != house.Illegal {
			t.Errorf("a request with one illegal line: %v", err) // and nothing of it is written
		}
		code(t, post(b.p, len(m.lines), "resign "+seat+" 1"), house.OtherContent)
		code(t, post(b.p, len(m.lines)+1, "end "+seat+" 1"), house.Illegal)
	})
	for m.step(1) {
	}
	m.unchanged(func() {
		code(t, post(b.p, len(m.lines)+1, "end A 1"), house.Illegal)
		_, err := b.AbortGame(ctx, b.p, m.id, 1, "whim", 0)
		code(t, err, house.NotDue)
	})
	if _, err := b.CloseGame(ctx, b.p, m.id, 1, nil, 0); err != nil {
		t.Fatal(err)
	}
	m.unchanged(func() {
		throws := m.state.Throws()
		code(t, draw(b.p, 1, 1, "a", throws[1]), house.GameEnded)
		code(t, post(b.p, len(m.lines)+1, "end A 1"), house.GameEnded)
		_, err := b.AbortGame(ctx, b.p, m.id, 1, "whim", 0)
		code(t, err, house.GameEnded)
		_, err = b.Abandon(ctx, b.p, m.id, 0)
		code(t, err, house.MatchEnded)
		_, err = b.CloseGame(ctx, stranger, m.id, 1, nil, 0)
		code(t, err, house.NotFound)
	})
}

func TestOpenRefusals(t *testing.T) {
	b := newBench(t)
	pa := newPlayer(t, "a")
	b.open("short", single, pa, nil)
	for name, change := range map[string]func(*house.OpenRequest){
		"equal players":     func(r *house.OpenRequest) { r.B = r.A },
		"player an address": func(r *house.OpenRequest) { r.A = "alice@example.org" },
		"no player":         func(r *house.OpenRequest) { r.A = "" },
		"unknown variant":   func(r *house.OpenRequest) { r.Variant = "chess" },
		"unknown mode":      func(r *house.OpenRequest) { r.Mode = "lucky" },
		"unknown option":    func(r *house.OpenRequest) { r.Options = "raise=high stake=win series=single crawford=off" },
		"no option":         func(r *house.OpenRequest) { r.Options = "" },
		"options that do not go together": func(r *house.OpenRequest) {
			r.Options = "raise=cube stake=win series=reverse crawford=off"
		},
		"anchor used before": func(r *house.OpenRequest) { r.AnchorB = pa.anchor() },
		"equal anchors": func(r *house.OpenRequest) {
			r.AnchorA = newPlayer(t, "a").anchor()
			r.AnchorB = r.AnchorA
		},
		"profile": func(r *house.OpenRequest) { r.Profile = "trust-me" },
	} {
		t.Run(name, func(t *testing.T) {
			size := b.logSize()
			r := house.OpenRequest{Match: newID(), Variant: "short", Mode: "random", Profile: "refereed", Options: single, A: "alice", B: "bob"}
			change(&r)
			_, err := b.OpenMatch(b.ctx(), b.p, r)
			code(t, err, house.Invalid)
			if got := b.logSize(); got != size {
				t.Errorf("the log grew from %d to %d", size, got)
			}
		})
	}
	for _, id := range []string{"", "x", "01970000-0000-4000-8000-000000000101", "01970000-0000-7000-8000-00000000010A", "{01970000-0000-7000-8000-000000000101}"} {
		_, err := b.OpenMatch(b.ctx(), b.p, house.OpenRequest{Match: id, Variant: "short", Mode: "random", Profile: "refereed", Options: single, A: "alice", B: "bob"})
		code(t, err, house.Malformed)
	}
}

// TestAbort: the secret of an aborted game is published with the links that
// were released, the number is used up, the match goes on.
func TestAbort(t *testing.T) {
	b := newBench(t)
	ctx := b.ctx()
	m := b.open("short", "raise=mars stake=win series=points:3 crawford=off", newPlayer(t, "a"), newPlayer(t, "b"))
	if _, err := b.NextGame(ctx, b.p, m.id, 1, 0); err != nil {
		t.Fatal(err)
	}
	va := m.a.next(t)
	if _, err := b.PutLink(ctx, m.id, 1, 1, "a", va, 0); err != nil {
		t.Fatal(err)
	}
	a, err := b.AbortGame(ctx, b.p, m.id, 1, "network", 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := commitment.Parse([]byte(a.Published.Statements[0].Text))
	if err != nil {
		t.Fatal(err)
	}
	abort := s.(commitment.Abort)
	if abort.LinkA == nil || *abort.LinkA != va || abort.LinkB != nil || len(abort.Secrets) != 1 {
		t.Errorf("the abort lacks the released link or the secret:\n%s", s.Text())
	}
	again, err := b.AbortGame(ctx, b.p, m.id, 1, "network", 0)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "abort again", a, again)
	_, err = b.AbortGame(ctx, b.p, m.id, 1, "power", 0)
	code(t, err, house.OtherContent)
	if m.series, err = m.series.Skip(); err != nil {
		t.Fatal(err)
	}
	b.restart()
	m.play(2)
	b.checkEvidence(m, 2)
}

func TestRetire(t *testing.T) {
	b := newBench(t)
	list, _, err := b.Sequences(b.ctx(), "default", "random", "free", 0, 10)
	if err != nil {
		t.Fatal(err)
	}
	id := list[1].Sequence
	a, err := b.Retire(b.ctx(), b.p, id, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.Retire(b.ctx(), b.p, id, "test", 0)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "retire again", a, again)
	_, err = b.Retire(b.ctx(), b.p, id, "other", 0)
	code(t, err, house.OtherContent)
	_, err = b.Retire(b.ctx(), house.Principal{Tenant: "other", Scopes: house.Scopes()}, id, "test", 0)
	code(t, err, house.NotFound)
	// The next two games skip it.
	for range 2 {
		m := b.open("short", single, nil, nil)
		g, err := b.NextGame(b.ctx(), b.p, m.id, 1, 0)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(g.Published.Statements[0].Text, id) {
			t.Errorf("the retired sequence was assigned")
		}
	}
}

func TestSeal(t *testing.T) {
	b := newBench(t)
	a, err := b.Seal(b.ctx(), b.p, "random", 9, 0)
	if err != nil {
		t.Fatal(err)
	}
	again, err := b.Seal(b.ctx(), b.p, "random", 9, 0)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "seal again", a, again)
	list, _, err := b.Sequences(b.ctx(), "default", "random", "", 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	for i, s := range list {
		if s.Number != uint64(i) {
			t.Errorf("sequence %d has number %d", i, s.Number)
		}
	}
	if len(list) != 10 {
		t.Errorf("%d sequences, want 10", len(list))
	}
	_, err = b.Seal(b.ctx(), b.p, "random", 10_000, 0)
	code(t, err, house.OutOfOrder)
	_, err = b.Seal(b.ctx(), house.Principal{Tenant: "default", Scopes: []string{house.ScopeDraw}}, "random", 9, 0)
	code(t, err, house.Forbidden)
}

func TestConsistencySince(t *testing.T) {
	b := newBench(t)
	m := b.open("short", single, nil, nil)
	p, err := b.Statements(b.ctx(), m.id, 3)
	if err != nil {
		t.Fatal(err)
	}
	if p.Since != 3 || len(p.Consistency) == 0 {
		t.Errorf("no consistency proof from 3: %+v", p)
	}
	_, err = b.Statements(b.ctx(), m.id, 1_000_000)
	code(t, err, house.Malformed)
}

// TestOldBackup: a database older than the last signed checkpoint must not sign again.
func TestOldBackup(t *testing.T) {
	b := newBench(t)
	m := b.open("short", single, nil, nil)
	b.stop()
	backup, err := os.ReadFile(filepath.Join(b.dir, "test.db"))
	if err != nil {
		t.Fatal(err)
	}
	b.start()
	m.play(1)
	b.stop()
	if err := os.WriteFile(filepath.Join(b.dir, "test.db"), backup, 0o600); err != nil {
		t.Fatal(err)
	}
	st, err := sqlite.Open(filepath.Join(b.dir, "test.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	b.config.Store = st
	_, err = house.New(t.Context(), b.config)
	if err == nil || !strings.Contains(err.Error(), "older backup") {
		t.Errorf("a house on an old backup: %v", err)
	}
}

// TestRefusedSince: a size that was never signed is refused before anything happens.
func TestRefusedSince(t *testing.T) {
	b := newBench(t)
	ctx := b.ctx()
	m := b.open("short", single, newPlayer(t, "a"), nil)
	const never = 1 << 40
	m.unchanged(func() {
		req := m.request()
		req.Match, req.Since = newID(), never
		_, err := b.OpenMatch(ctx, b.p, req)
		code(t, err, house.Malformed)
		_, err = b.NextGame(ctx, b.p, m.id, 1, never)
		code(t, err, house.Malformed)
		_, err = b.Abandon(ctx, b.p, m.id, never)
		code(t, err, house.Malformed)
		_, err = b.Seal(ctx, b.p, "random", 50, never)
		code(t, err, house.Malformed)
	})
	if _, err := b.NextGame(ctx, b.p, m.id, 1, 0); err != nil {
		t.Fatal(err)
	}
	v := m.a.next(t)
	m.unchanged(func() {
		_, err := b.PutLink(ctx, m.id, 1, 1, "a", v, never)
		code(t, err, house.Malformed)
		_, err = b.AbortGame(ctx, b.p, m.id, 1, "whim", -1)
		code(t, err, house.Malformed)
	})
}

// TestPublicView: who has neither key nor token learns no die and no move of a
// running game, and nothing by which a guess could be confirmed.
func TestPublicView(t *testing.T) {
	b := newBench(t)
	m := b.open("short", single, nil, nil)
	m.begin(1)
	for range 20 {
		m.step(1)
		v, err := b.Match(b.ctx(), m.id)
		if err != nil {
			t.Fatal(err)
		}
		if g := v.Games[0]; g.Head != "" || strings.ContainsAny(g.Due, "0123456789") {
			t.Fatalf("after %q everybody sees head %q, due %q", m.lines[len(m.lines)-1], g.Head, g.Due)
		}
	}
}

// TestDecidedGame: a result is neither aborted by the platform nor by the deadline.
func TestDecidedGame(t *testing.T) {
	b := newBench(t)
	m := b.open("short", single, nil, nil)
	m.begin(1)
	for m.state.Due().String() == "opening" {
		m.step(1)
	}
	if _, err := b.Append(b.ctx(), b.p, m.id, 1, len(m.lines)+1, []string{"resign A 1"}); err != nil {
		t.Fatal(err)
	}
	m.unchanged(func() {
		_, err := b.AbortGame(b.ctx(), b.p, m.id, 1, "whim", 0)
		code(t, err, house.NotDue)
	})
	b.now = b.now.Add(house.AssignedLimit)
	swept, err := b.Sweep(b.ctx())
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "swept", house.Swept{Closed: 1}, swept)
}

// TestFlagBeforeTheFirstRoll: a closed game that was dealt has a roll.
func TestFlagBeforeTheFirstRoll(t *testing.T) {
	b := newBench(t)
	m := b.open("short", single, nil, nil)
	m.begin(1)
	m.unchanged(func() {
		_, err := b.Append(b.ctx(), b.p, m.id, 1, 1, []string{"timeout A"})
		code(t, err, house.NotDue)
	})
	m.step(1)
	if _, err := b.Append(b.ctx(), b.p, m.id, 1, 2, []string{"timeout A"}); err != nil {
		t.Error(err)
	}
}

func TestWrongMasterKey(t *testing.T) {
	b := newBench(t)
	b.stop()
	right := b.config.Master
	wrong, err := house.NewMasterKey(strings.NewReader(strings.Repeat("another key ", 10)))
	if err != nil {
		t.Fatal(err)
	}
	st, err := sqlite.Open(filepath.Join(b.dir, "test.db"), sqlite.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b.config.Store, b.config.Master = st, wrong
	if _, err := house.New(t.Context(), b.config); err == nil || !strings.Contains(err.Error(), "master key") {
		t.Errorf("a house under another master key: %v", err)
	}
	st.Close()
	b.config.Master = right
	b.start()
}

// TestBundleOfARunningMatch holds all statements of the match, and nothing of the running game that is private.
func TestBundleOfARunningMatch(t *testing.T) {
	b := newBench(t)
	m := b.open("short", "raise=mars stake=win series=points:25 crawford=off", nil, nil)
	m.play(1)
	m.begin(2)
	for range 6 {
		m.step(2)
	}
	ev, err := b.Evidence(b.ctx(), m.id)
	if err != nil {
		t.Fatal(err)
	}
	all, err := b.Statements(b.ctx(), m.id, 0)
	if err != nil {
		t.Fatal(err)
	}
	if len(ev.Statements) != len(all.Statements) || len(ev.Games) != 2 {
		t.Errorf("%d statements and %d games, want %d and 2", len(ev.Statements), len(ev.Games), len(all.Statements))
	}
	if g := ev.Games[1]; len(g.Receipts)+len(g.Openings) != 0 || strings.Contains(g.Record, "opening ") {
		t.Errorf("the bundle tells of the running game:\n%s", g.Record)
	}
}
