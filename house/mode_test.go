package house_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/internal/beacon"
	"fairdice/replay"
	"fairdice/translog"
	"fairdice/translog/witness"

	"golang.org/x/mod/sumdb/note"
)

func TestEveryMode(t *testing.T) {
	for _, mode := range commitment.Modes() {
		t.Run(mode.String(), func(t *testing.T) {
			t.Parallel()
			b := newBench(t, func(c *house.Config) { c.Rolls = commitment.Lengths{3, 40, 35} })
			if mode == commitment.Real {
				if _, err := b.ImportThrows(b.ctx(), "default", throws(b.rng, 6*78)); err != nil {
					t.Fatal(err)
				}
			} else if err := b.TopUp(b.ctx(), "default", mode.String(), 8); err != nil {
				t.Fatal(err)
			}
			m := b.open("short", single, newPlayer(t, "a"), newPlayer(t, "b"), func(r *house.OpenRequest) { r.Mode = mode.String() })
			m.play(1)
			b.restart()
			b.checkEvidence(m, 1)
		})
	}
}

func throws(rng *rand.Rand, n int) []commitment.Dice {
	list := make([]commitment.Dice, n)
	for i := range list {
		list[i] = commitment.Dice{D1: uint8(rng.IntN(6) + 1), D2: uint8(rng.IntN(6) + 1)}
	}
	return list
}

func TestImportThrows(t *testing.T) {
	b := newBench(t, func(c *house.Config) { c.Rolls = commitment.Lengths{2, 4, 4} })
	list := throws(b.rng, 25)
	imp, err := b.ImportThrows(b.ctx(), "default", list)
	if err != nil {
		t.Fatal(err)
	}
	if len(imp.Archives) != 2 || imp.Left != 5 {
		t.Fatalf("%d archives and %d throws left, want 2 and 5", len(imp.Archives), imp.Left)
	}
	size := b.logSize()
	// No throw is used twice, not even as a part of a longer file.
	_, err = b.ImportThrows(b.ctx(), "default", append(throws(b.rng, 10), list[10:20]...))
	code(t, err, house.OtherContent)
	_, err = b.ImportThrows(b.ctx(), "default", list[:9])
	code(t, err, house.Malformed)
	_, err = b.ImportThrows(b.ctx(), "default", append([]commitment.Dice{{D1: 7, D2: 1}}, list...))
	code(t, err, house.Malformed)
	if got := b.logSize(); got != size {
		t.Errorf("refused imports have appended %d statements", got-size)
	}
	// The file is nobody's business before the secret is published, then everybody's.
	_, err = b.Archive(b.ctx(), imp.Archives[0].Hash)
	code(t, err, house.NotFound)
	if _, err := b.Retire(b.ctx(), b.p, imp.Archives[0].Sequence, "test", 0); err != nil {
		t.Fatal(err)
	}
	text, err := b.Archive(b.ctx(), imp.Archives[0].Hash)
	if err != nil {
		t.Fatal(err)
	}
	a, err := commitment.ParseArchive(text)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10 {
		if a.Throw(i) != list[i] {
			t.Errorf("throw %d is %s, want %s", i, a.Throw(i), list[i])
		}
	}
}

// TestLiveOrder: the seat on roll releases first, one link per throw, and
// nothing is drawn with one link.
func TestLiveOrder(t *testing.T) {
	b := newBench(t)
	ctx := b.ctx()
	m := b.open("short", "raise=cube stake=win series=single crawford=off", newPlayer(t, "a"), newPlayer(t, "b"),
		func(r *house.OpenRequest) { r.Mode = "live" })
	m.begin(1)
	put := func(p *player, throw int, v commitment.Hash) error {
		_, err := b.PutThrow(ctx, m.id, 1, 1, p.seat, throw, v)
		return err
	}
	draw := func(stream string, index int) error {
		_, err := b.Draw(ctx, b.p, m.id, 1, 1, stream, index)
		return err
	}
	wrong := commitment.Sum([]byte("wrong"))
	m.unchanged(func() {
		code(t, draw("opening", 0), house.AwaitingLink)
		code(t, put(m.a, 2, wrong), house.OutOfOrder)
		code(t, put(m.a, 0, wrong), house.OutOfOrder)
		code(t, put(m.a, 1, wrong), house.WrongLink)
	})
	vb := m.b.next(t)
	for range 2 { // in an opening draw the order is free, and a link can be sent again
		if err := put(m.b, 1, vb); err != nil {
			t.Fatal(err)
		}
	}
	code(t, put(m.b, 1, wrong), house.OtherContent)
	code(t, draw("opening", 0), house.AwaitingLink)
	va := m.a.next(t)
	if err := put(m.a, 1, va); err != nil {
		t.Fatal(err)
	}
	if err := draw("opening", 0); err != nil {
		t.Fatal(err)
	}
	if err := put(m.a, 1, va); err != nil {
		t.Errorf("a link of a drawn throw, sent again: %v", err)
	}
	code(t, put(m.a, 1, wrong), house.OtherContent)
	m.follow(1)
	for m.state.Due().Kind != replay.DueRoll {
		m.step(1)
	}
	on, other := m.a, m.b
	if m.state.OnTurn() == replay.B {
		on, other = other, on
	}
	throw := len(m.throwLines()) + 1
	v := other.next(t)
	code(t, put(other, throw, v), house.NotDue)
	if err := put(on, throw, on.next(t)); err != nil {
		t.Fatal(err)
	}
	_, err := b.Append(ctx, b.p, m.id, 1, len(m.lines)+1, []string{"double " + strings.ToUpper(on.seat)})
	code(t, err, house.NotDue)
	_, err = b.Append(ctx, b.p, m.id, 1, len(m.lines)+1, []string{"timeout " + strings.ToUpper(on.seat)})
	code(t, err, house.NotDue)
	if err := put(other, throw, v); err != nil {
		t.Fatal(err)
	}
	b.restart() // held links survive
	if err := draw(on.seat, 0); err != nil {
		t.Fatal(err)
	}
}

// throwLines are the lines of the record that are throws.
func (m *match) throwLines() []string {
	var list []string
	for _, l := range m.lines {
		if strings.HasPrefix(l, "opening") || strings.HasPrefix(l, "roll") {
			list = append(list, l)
		}
	}
	return list
}

// follow reads the record from the house.
func (m *match) follow(game int) {
	m.t.Helper()
	r, err := m.Record(m.ctx(), m.p, "", m.id, game)
	if err != nil {
		m.t.Fatal(err)
	}
	rec, err := replay.ParseRecord([]byte(r.Record))
	if err != nil {
		m.t.Fatal(err)
	}
	for _, l := range rec.Lines[len(m.lines):] {
		m.apply(l)
	}
}

func TestDiceOnly(t *testing.T) {
	b := newBench(t)
	ctx := b.ctx()
	m := b.open("long-classic", single, newPlayer(t, "a"), nil, func(r *house.OpenRequest) { r.Profile = "dice-only" })
	m.begin(1)
	var used [3]int
	names := []string{"opening", "a", "b"}
	for !m.state.Over() {
		if stream, ok := m.state.NextDraw(); ok {
			i := map[string]int{"opening": 0, "a": 1, "b": 2}[stream]
			a, err := b.Draw(ctx, b.p, m.id, 1, 1, stream, used[i])
			if err != nil {
				t.Fatal(err)
			}
			again, err := b.Draw(ctx, b.p, m.id, 1, 1, stream, used[i])
			if err != nil {
				t.Fatal(err)
			}
			diff(t, "the roll again", a, again)
			used[i]++
			line := fmt.Sprintf("opening %d %d", a.Dice[0], a.Dice[1])
			if i > 0 {
				line = fmt.Sprintf("roll %s %d %d", strings.ToUpper(stream), a.Dice[0], a.Dice[1])
			}
			m.apply(line)
			continue
		}
		if e, ok := m.state.EndDue(); ok {
			m.apply(e.String())
			continue
		}
		moves := m.state.LegalMoves(&m.gen)
		m.apply(moves[b.intN(len(moves))].String())
	}
	closeWith := func(lines []string) error {
		_, err := b.CloseGame(ctx, b.p, m.id, 1, lines, 0)
		return err
	}
	change := func(i int, line string) []string {
		lines := append([]string(nil), m.lines...)
		lines[i] = line
		return lines
	}
	m.unchanged(func() {
		_, err := b.Append(ctx, b.p, m.id, 1, 1, m.lines[:1])
		code(t, err, house.NotDue)
		_, err = b.Draw(ctx, b.p, m.id, 1, 1, names[1], used[1]+1)
		code(t, err, house.OutOfOrder)
		code(t, closeWith(nil), house.Malformed)
		code(t, closeWith(m.lines[:len(m.lines)-1]), house.Malformed)
		code(t, closeWith(append(append([]string(nil), m.lines...), "end A 1")), house.Malformed)
		code(t, closeWith(m.lines[1:]), house.Illegal)                                 // a throw is missing
		code(t, closeWith(append([]string{"opening 1 1"}, m.lines...)), house.Illegal) // one too many
		other := "opening 3 3"
		if m.lines[0] == other {
			other = "opening 4 4"
		}
		code(t, closeWith(change(0, other)), house.Illegal) // another die
		thrown := m.throwLines()
		decisive := slices.IndexFunc(thrown, func(l string) bool { return strings.HasPrefix(l, "roll") })
		first := slices.Index(m.lines, thrown[decisive])
		code(t, closeWith(append([]string{thrown[decisive]}, slices.Delete(slices.Clone(m.lines), first, first+1)...)), house.Illegal) // another order
	})
	a, err := b.CloseGame(ctx, b.p, m.id, 1, m.lines, 0)
	if err != nil {
		t.Fatal(err)
	}
	b.restart()
	again, err := b.CloseGame(ctx, b.p, m.id, 1, m.lines, 0)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "close again", a, again)
	code(t, closeWith(change(len(m.lines)-1, "end A 9")), house.OtherContent)
	code(t, closeWith(m.lines[:0:0]), house.Malformed)
	b.checkEvidence(m, 1)
}

// recorded is a relay that has the rounds of the beacon's vectors, from their time on.
type recorded struct {
	rounds map[uint64][]byte
	now    func() time.Time
	mu     sync.Mutex
	lie    bool
	asked  int
}

func (r *recorded) Signature(_ context.Context, round uint64) ([]byte, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked++
	sig, ok := r.rounds[round]
	if !ok || r.now().Before(beacon.Time(round)) {
		return nil, errors.New("no such round yet")
	}
	if r.lie {
		sig = bytes.Clone(r.rounds[42])
	}
	return sig, nil
}

func recordedRounds(t testing.TB) map[uint64][]byte {
	t.Helper()
	data, err := os.ReadFile("../internal/beacon/testdata/drand.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Rounds []struct {
			Round     uint64
			Signature string
		}
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	rounds := map[uint64][]byte{}
	for _, r := range file.Rounds {
		sig, err := hex.DecodeString(r.Signature)
		if err != nil {
			t.Fatal(err)
		}
		rounds[r.Round] = sig
	}
	return rounds
}

// clock is the time of a bench that runs background work.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) set(at time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = at
}

// asWitness lets the house ask a witness that runs in the same process.
type asWitness struct{ *witness.Witness }

func (asWitness) Name() string { return "in-process" }

func (w asWitness) Cosign(ctx context.Context, old int64, proof []commitment.Hash, checkpoint string) (string, error) {
	lines, err := w.AddCheckpoint(ctx, old, proof, checkpoint)
	var conflict *witness.ConflictError
	if errors.As(err, &conflict) {
		return "", &house.StaleError{Size: conflict.Size}
	}
	return lines, err
}

// TestBeacon: the round is later than the assign, the deal waits for it and
// for nothing else, and a lying relay changes nothing.
func TestBeacon(t *testing.T) {
	const round = 12040883
	at := beacon.Time(round).Add(-house.BeaconLead - time.Second)
	c := &clock{now: at}
	relay := &recorded{rounds: recordedRounds(t), now: c.Now, lie: true}
	skey, vkey, err := translog.NewWitnessKey("witness.example/w1", rand.NewChaCha8([32]byte{9}))
	if err != nil {
		t.Fatal(err)
	}
	cosigner, err := translog.NewCosigner(skey, c.Now)
	if err != nil {
		t.Fatal(err)
	}
	told := &logbook{}
	b := newBench(t, func(cfg *house.Config) {
		cfg.Now, cfg.Beacon, cfg.Observer = c.Now, relay, told
		w, err := witness.New(cosigner, []note.Verifier{cfg.LogVerifier}, witness.InMemory())
		if err != nil {
			t.Fatal(err)
		}
		if cfg.Policy, err = translog.NewPolicy(cfg.LogKey, []string{vkey}); err != nil {
			t.Fatal(err)
		}
		cfg.Witnesses = []house.Witness{asWitness{w}}
	})
	m := b.open("short", single, newPlayer(t, "a"), nil, func(r *house.OpenRequest) { r.Beacon = true })
	g, err := b.NextGame(b.ctx(), b.p, m.id, 1, 0)
	if err != nil {
		t.Fatal(err)
	}
	s, err := commitment.Parse([]byte(g.Published.Statements[0].Text))
	if err != nil {
		t.Fatal(err)
	}
	if r := s.(commitment.Assign).Round; r == nil || *r != round {
		t.Fatalf("the assign names round %v, want %d", r, round)
	}
	until := func(what string, done func() bool) {
		t.Helper()
		for range 200 {
			if done() {
				return
			}
			time.Sleep(50 * time.Millisecond)
		}
		t.Fatalf("%s: it never happened", what)
	}
	link := m.a.next(t)
	until("the link is taken", func() bool { // not before the witness has cosigned the assign
		_, err := b.PutLink(b.ctx(), m.id, 1, 1, "a", link, 0)
		if err != nil {
			code(t, err, house.NotPublic)
		}
		return err == nil
	})
	state := func() string {
		v, err := b.Match(b.ctx(), m.id)
		if err != nil {
			t.Fatal(err)
		}
		return v.Games[0].State
	}
	if got := state(); got != "awaiting-beacon" {
		t.Errorf("state before the round: %s", got)
	}
	_, err = b.Draw(b.ctx(), b.p, m.id, 1, 1, "opening", 0)
	code(t, err, house.AwaitingLink)
	c.set(beacon.Time(round))
	until("the relay is asked", func() bool { relay.mu.Lock(); defer relay.mu.Unlock(); return relay.asked > 1 })
	if got := state(); got != "awaiting-beacon" {
		t.Errorf("state while the relay lies: %s", got)
	}
	relay.mu.Lock()
	relay.lie = false
	relay.mu.Unlock()
	until("the deal", func() bool { return state() == "playing" })
	st, err := replay.Start(m.series.Next())
	if err != nil {
		t.Fatal(err)
	}
	m.state = st
	for m.step(1) {
	}
	if _, err := b.CloseGame(b.ctx(), b.p, m.id, 1, nil, 0); err != nil {
		t.Fatal(err)
	}
	ev, err := b.Evidence(b.ctx(), m.id)
	if err != nil {
		t.Fatal(err)
	}
	if err := b.config.Policy.Check(ev.Checkpoint, -1); err != nil {
		t.Errorf("the bundle's checkpoint: %v", err)
	}
	in := false
	for _, e := range ev.Earlier {
		cp, err := translog.OpenCheckpoint(e.Checkpoint, b.config.LogVerifier)
		if err != nil {
			t.Fatal(err)
		}
		in = in || cp.Size > g.Published.Statements[0].Index && b.config.Policy.Check(e.Checkpoint, beacon.Time(round).Unix()) == nil
	}
	asked := "round of " + beacon.Time(round).Format(time.TimeOnly)
	rolls := m.state.Throws()
	if told.has(asked+" failed") == 0 || told.has(asked) != 1 || told.has("drawn random") != rolls[0]+rolls[1]+rolls[2] {
		t.Errorf("an observer was told %v of %v rolls", told.count, rolls)
	}
	if !in {
		t.Error("no earlier checkpoint, cosigned before the round, contains the assign")
	}
	b.checkEvidence(m, 1)
}
