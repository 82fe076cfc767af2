package house_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/replay"
	"fairdice/rules"
	"fairdice/store"
	"fairdice/store/sqlite"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"
)

const origin = "test.example/log"

// bench is a house on a database in a temporary folder, with a clock of its own.
type bench struct {
	*house.House
	t      testing.TB
	dir    string
	config house.Config
	now    time.Time

	database func() (store.Store, error) // nil: SQLite in dir

	p   house.Principal
	mu  sync.Mutex
	rng *rand.Rand
}

var everyScope = house.Principal{Tenant: "default", Scopes: house.Scopes()}

func newBench(t testing.TB, change ...func(*house.Config)) *bench {
	t.Helper()
	b := unstarted(t)
	for _, f := range change {
		f(&b.config)
	}
	b.start()
	t.Cleanup(func() { b.stop() })
	if err := b.AddTenant(b.ctx(), "default"); err != nil {
		t.Fatal(err)
	}
	for _, m := range house.Sealable() {
		if err := b.TopUp(b.ctx(), "default", m, 4); err != nil {
			t.Fatal(err)
		}
	}
	return b
}

// unstarted is a bench with its keys.
func unstarted(t testing.TB) *bench {
	t.Helper()
	b := &bench{t: t, dir: t.TempDir(), now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC), p: everyScope, rng: rand.New(rand.NewPCG(1, 2))}
	seed := rand.NewChaCha8([32]byte{7})
	key := func(name string) (string, string) {
		skey, vkey, err := commitment.NewKey(name, seed)
		if err != nil {
			t.Fatal(err)
		}
		return skey, vkey
	}
	logSkey, logVkey := key(origin)
	recSkey, recVkey := key(origin + "/receipts")
	logSigner, err := commitment.NewSigner(logSkey)
	if err != nil {
		t.Fatal(err)
	}
	recSigner, err := commitment.NewSigner(recSkey)
	if err != nil {
		t.Fatal(err)
	}
	verifier, err := commitment.ParseVerifier(logVkey)
	if err != nil {
		t.Fatal(err)
	}
	master, err := house.NewMasterKey(seed)
	if err != nil {
		t.Fatal(err)
	}
	b.config = house.Config{
		Origin: origin, Log: logSigner, LogVerifier: verifier, LogKey: logVkey,
		Receipts: recSigner, ReceiptKey: recVkey, Master: master,
		HeadFile: filepath.Join(b.dir, "head"), Now: func() time.Time { return b.now },
		Pool:   house.PoolMarks{Low: 0, Full: 4},
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
	}
	return b
}

func (b *bench) ctx() context.Context { return b.t.Context() }

func (b *bench) start() {
	b.t.Helper()
	open := b.database
	if open == nil {
		open = func() (store.Store, error) { return sqlite.Open(filepath.Join(b.dir, "test.db"), sqlite.Options{}) }
	}
	st, err := open()
	if err != nil {
		b.t.Fatal(err)
	}
	b.config.Store = repeating{st}
	b.House, err = house.New(context.Background(), b.config)
	if err != nil {
		st.Close()
		b.t.Fatal(err)
	}
}

func (b *bench) stop() {
	if b.House == nil {
		return
	}
	b.House.Close()
	b.config.Store.Close()
	b.House = nil
}

// repeating is a store that has to run every update a second time, as a
// database with other writers may (package store).
type repeating struct{ store.Store }

var errRepeat = errors.New("run again")

func (r repeating) Update(ctx context.Context, fn func(store.Tx) error) error {
	err := r.Store.Update(ctx, func(tx store.Tx) error {
		if err := fn(tx); err != nil {
			return err
		}
		return errRepeat
	})
	if !errors.Is(err, errRepeat) {
		return err
	}
	return r.Store.Update(ctx, fn)
}

// restart reads everything from the database again.
func (b *bench) restart() {
	b.t.Helper()
	b.stop()
	b.start()
}

func (b *bench) logSize() int64 {
	b.t.Helper()
	var head store.LogHead
	if err := b.config.Store.View(context.Background(), func(r store.Reader) (err error) {
		head, err = r.LogHead()
		return err
	}); err != nil {
		b.t.Fatal(err)
	}
	return head.Size
}

// player is one seat with its chain.
type player struct {
	seat  string
	chain *commitment.Chain
	used  int
}

func newPlayer(t testing.TB, seat string) *player {
	t.Helper()
	c, err := commitment.NewChain(rand.NewChaCha8([32]byte([]byte(fmt.Sprintf("%-32s", uuid.NewString())[:32]))), 1024)
	if err != nil {
		t.Fatal(err)
	}
	return &player{seat: seat, chain: c}
}

func (p *player) anchor() *commitment.Anchor {
	if p == nil {
		return nil
	}
	return &commitment.Anchor{Hash: p.chain.Anchor()}
}

func (p *player) next(t testing.TB) commitment.Hash {
	t.Helper()
	p.used++
	v, err := p.chain.Link(p.used)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// match is a match being played in a test.
type match struct {
	*bench
	id      string
	variant rules.Variant
	options replay.Options
	a, b    *player
	series  replay.Match
	lines   []string // of the current game
	state   replay.State
	gen     rules.Generator
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func (m *match) request() house.OpenRequest {
	return house.OpenRequest{Match: m.id, Variant: m.variant.ID, Mode: "random", Profile: "refereed",
		Options: m.options.String(), A: "alice", B: "bob", AnchorA: m.a.anchor(), AnchorB: m.b.anchor()}
}

const single = "raise=mars stake=win series=single crawford=off"

// open opens a match; players nil means that the seat has no anchor.
func (b *bench) open(variant, options string, pa, pb *player, change ...func(*house.OpenRequest)) *match {
	b.t.Helper()
	v, err := rules.Lookup(variant)
	if err != nil {
		b.t.Fatal(err)
	}
	o, err := replay.ParseOptions(options)
	if err != nil {
		b.t.Fatal(err)
	}
	m := &match{bench: b, id: newID(), variant: v, options: o, a: pa, b: pb}
	if m.series, err = replay.NewMatch(v, o); err != nil {
		b.t.Fatal(err)
	}
	req := m.request()
	for _, f := range change {
		f(&req)
	}
	if _, err := b.OpenMatch(b.ctx(), b.p, req); err != nil {
		b.t.Fatal(err)
	}
	return m
}

// begin assigns and deals game n.
func (m *match) begin(n int) {
	m.t.Helper()
	if _, err := m.NextGame(m.ctx(), m.p, m.id, n, 0); err != nil {
		m.t.Fatal(err)
	}
	m.links(n, 1)
	set := m.series.Next()
	st, err := replay.Start(set)
	if err != nil {
		m.t.Fatal(err)
	}
	m.state, m.lines = st, nil
}

func (m *match) links(game, segment int) {
	m.t.Helper()
	for _, p := range []*player{m.a, m.b} {
		if p == nil {
			continue
		}
		if _, err := m.PutLink(m.ctx(), m.id, game, segment, p.seat, p.next(m.t), 0); err != nil {
			m.t.Fatal(err)
		}
	}
}

// step draws or posts what is due, with random moves, and returns false at the end of the record.
func (m *match) step(game int) bool {
	m.t.Helper()
	if m.state.Over() {
		return false
	}
	if stream, ok := m.state.NextDraw(); ok {
		view, err := m.Match(m.ctx(), m.id)
		if err != nil {
			m.t.Fatal(err)
		}
		due := view.Games[game-1].Draw
		if due == nil || due.Stream != stream {
			m.t.Fatalf("draw due is %v, want stream %s", due, stream)
		}
		m.throwLinks(game, due)
		a, err := m.Draw(m.ctx(), m.p, m.id, game, due.Segment, stream, due.Index)
		if house.CodeOf(err) == house.AwaitingLink {
			m.links(game, due.Segment)
			m.throwLinks(game, due)
			a, err = m.Draw(m.ctx(), m.p, m.id, game, due.Segment, stream, due.Index)
		}
		if err != nil {
			m.t.Fatal(err)
		}
		line := fmt.Sprintf("opening %d %d", a.Dice[0], a.Dice[1])
		if stream != "opening" {
			line = fmt.Sprintf("roll %s %d %d", strings.ToUpper(stream), a.Dice[0], a.Dice[1])
		}
		m.apply(line)
		if a.Line != len(m.lines) {
			m.t.Fatalf("draw wrote line %d, want %d", a.Line, len(m.lines))
		}
		return true
	}
	line := ""
	if e, ok := m.state.EndDue(); ok {
		line = e.String()
	} else {
		moves := m.state.LegalMoves(&m.gen)
		if len(moves) == 0 {
			m.t.Fatalf("no legal move, due: %s", m.state.Due())
		}
		line = moves[m.intN(len(moves))].String()
	}
	a, err := m.Append(m.ctx(), m.p, m.id, game, len(m.lines)+1, []string{line})
	if err != nil {
		m.t.Fatal(err)
	}
	m.apply(line)
	if a.Lines != len(m.lines) || a.Due != m.state.Due().String() {
		m.t.Fatalf("append answered %d lines, due %q; want %d, %q", a.Lines, a.Due, len(m.lines), m.state.Due())
	}
	return true
}

// throwLinks releases both links for a throw of mode live, the seat on roll first.
func (m *match) throwLinks(game int, due *house.DrawDue) {
	m.t.Helper()
	view, err := m.Match(m.ctx(), m.id)
	if err != nil {
		m.t.Fatal(err)
	}
	if view.Mode != "live" || view.Games[game-1].Segments < due.Segment || view.Games[game-1].Due == "deal" {
		return
	}
	order := []*player{m.a, m.b}
	if due.Stream == "b" {
		order = []*player{m.b, m.a}
	}
	for _, p := range order {
		if _, err := m.PutThrow(m.ctx(), m.id, game, due.Segment, p.seat, due.Throw, p.next(m.t)); err != nil {
			m.t.Fatal(err)
		}
	}
}

func (m *match) apply(line string) {
	m.t.Helper()
	e, err := replay.ParseEvent(line)
	if err == nil {
		m.state, err = m.state.Apply(&m.gen, e)
	}
	if err != nil {
		m.t.Fatalf("line %q: %v", line, err)
	}
	m.lines = append(m.lines, line)
}

// play plays game n to its close.
func (m *match) play(n int) house.CloseAnswer {
	m.t.Helper()
	m.begin(n)
	for m.step(n) {
	}
	a, err := m.CloseGame(m.ctx(), m.p, m.id, n, nil, 0)
	if err != nil {
		m.t.Fatal(err)
	}
	if m.series, err = m.series.Add(m.state.Result()); err != nil {
		m.t.Fatal(err)
	}
	return a
}

// code fails the test unless err is a refusal of that kind.
func code(t testing.TB, err error, want house.Code) *house.Error {
	t.Helper()
	var e *house.Error
	if !errors.As(err, &e) || e.Code != want {
		t.Fatalf("got error %v, want %s", err, want)
	}
	return e
}

func diff(t testing.TB, what string, want, got any) {
	t.Helper()
	if d := cmp.Diff(want, got); d != "" {
		t.Fatalf("%s (-want +got):\n%s", what, d)
	}
}

func mustStart(t testing.TB, m *match) replay.State {
	t.Helper()
	st, err := replay.Start(m.series.Next())
	if err != nil {
		t.Fatal(err)
	}
	return st
}

// stepKeeping is step through keep, which remembers each request and its answer.
func (m *match) stepKeeping(game int, keep func(string, func() (any, error))) bool {
	m.t.Helper()
	if m.state.Over() {
		return false
	}
	if stream, ok := m.state.NextDraw(); ok {
		index := m.state.Throws()[map[string]int{"opening": 0, "a": 1, "b": 2}[stream]]
		var dice [2]int
		keep(fmt.Sprintf("draw %s %d", stream, index), func() (any, error) {
			a, err := m.Draw(m.ctx(), m.p, m.id, game, 1, stream, index)
			dice = a.Dice
			return a, err
		})
		line := fmt.Sprintf("opening %d %d", dice[0], dice[1])
		if stream != "opening" {
			line = fmt.Sprintf("roll %s %d %d", strings.ToUpper(stream), dice[0], dice[1])
		}
		m.apply(line)
		return true
	}
	line := ""
	if e, ok := m.state.EndDue(); ok {
		line = e.String()
	} else {
		moves := m.state.LegalMoves(&m.gen)
		line = moves[m.intN(len(moves))].String()
	}
	first := len(m.lines) + 1
	keep("line "+line, func() (any, error) { return m.Append(m.ctx(), m.p, m.id, game, first, []string{line}) })
	m.apply(line)
	return true
}

// intN is safe for the matches of one bench that run side by side.
func (b *bench) intN(n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rng.IntN(n)
}
