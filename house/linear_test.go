//go:build unix

package house_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/internal/selfplay"
	"fairdice/replay"
	"fairdice/store"

	"github.com/anishathalye/porcupine"
)

// crowd is clients that do what they like with one game, each through an instance of its own.
type crowd struct {
	*match
	houses  []*bench
	model   *sequential
	started time.Time

	mu      sync.Mutex
	history []porcupine.Operation
}

func newCrowd(t *testing.T, houses []*bench) *crowd {
	m := houses[0].open("short", single, newPlayer(t, "a"), newPlayer(t, "b"))
	if _, err := m.NextGame(t.Context(), m.p, m.id, 1, 0); err != nil {
		t.Fatal(err)
	}
	return &crowd{match: m, houses: houses, started: time.Now(), model: &sequential{
		header:  replay.Header{Match: m.id, Game: 1, Variant: m.variant.ID, Options: m.options},
		setting: m.series.Next(), links: [2]commitment.Hash{m.a.next(t), m.b.next(t)}, folded: map[string]replay.State{},
	}}
}

// ask sends one request, again while the house says only that it is not the moment.
func (c *crowd) ask(ctx context.Context, client int, r seat) (out said, err error) {
	h := c.houses[client%len(c.houses)]
	op := porcupine.Operation{ClientId: client, Input: r, Call: time.Since(c.started).Nanoseconds()}
	for {
		switch r.kind {
		case "link":
			var a house.LinkAnswer
			a, err = h.PutLink(ctx, c.id, 1, 1, string(rune('a'+r.player)), r.link, 0)
			out = said{dealt: a.Published != nil}
		case "draw":
			var a house.DrawAnswer
			a, err = h.Draw(ctx, c.p, c.id, 1, 1, r.stream, r.index)
			out = said{text: rollLine(r.stream, a.Dice), line: a.Line, receipt: fmt.Sprintf("%x", sha256.Sum256([]byte(a.Receipt))), head: a.Head}
		case "append":
			var a house.AppendAnswer
			a, err = h.Append(ctx, c.p, c.id, 1, r.line, []string{r.text})
			out = said{head: a.Head}
		case "close":
			_, err = h.CloseGame(ctx, c.p, c.id, 1, nil, 0)
			out = said{}
		case "abort":
			_, err = h.AbortGame(ctx, c.p, c.id, 1, r.text, 0)
			out = said{}
		}
		if code := house.CodeOf(err); code != house.Unavailable && code != house.NotPublic {
			break
		}
	}
	if err != nil {
		out = said{code: house.CodeOf(err)}
		if out.code == "" {
			return out, fmt.Errorf("%v: %w", r, err)
		}
	}
	op.Output, op.Return = out, time.Since(c.started).Nanoseconds()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.history = append(c.history, op)
	return out, nil
}

// record is that of the game as it stands in the database.
func (c *crowd) record(ctx context.Context) (text string, err error) {
	err = c.houses[0].config.Store.View(ctx, func(r store.Reader) error {
		lines, err := r.Events(c.id, 1, 1)
		for _, line := range lines {
			text += line + "\n"
		}
		return err
	})
	return text, err
}

// choose picks a request that may make sense, as the record stands in the
// database, or may come too early, too late or with other content.
func (c *crowd) choose(ctx context.Context, rng *rand.Rand, last bool) (r seat, err error) {
	text, err := c.record(ctx)
	if err != nil {
		return seat{}, err
	}
	st, lines := c.model.fold(text), strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if text == "" {
		lines = nil
	}
	switch n := rng.IntN(20); {
	case last && n < 3:
		return seat{kind: "close"}, nil
	case last && n == 3:
		return seat{kind: "abort", text: fmt.Sprint("reason-", rng.IntN(2))}, nil
	case n < 6 || text == "" && n < 12:
		player := rng.IntN(2)
		link := c.model.links[player]
		if rng.IntN(4) == 0 {
			link[0]++
		}
		return seat{kind: "link", player: player, link: link}, nil
	case n == 6 && len(lines) > 0:
		line := rng.IntN(len(lines))
		if e, err := replay.ParseEvent(lines[line]); err == nil && e.Kind != replay.Opening && e.Kind != replay.Roll {
			return seat{kind: "append", line: line + 1, text: lines[line]}, nil
		}
	}
	if stream, ok := st.NextDraw(); ok || rng.IntN(4) == 0 {
		if !ok {
			stream = "a"
		}
		index := thrown(st, stream) + rng.IntN(5)/3 - rng.IntN(4)/3
		return seat{kind: "draw", stream: stream, index: max(index, 0)}, nil
	}
	player := selfplay.New(selfplay.Random, rng.Uint64())
	if last {
		player.GiveUp = 0.5
	}
	e, ok := player.Next(st)
	if !ok {
		return seat{kind: "close"}, nil
	}
	return seat{kind: "append", line: len(lines) + 1 + rng.IntN(10)/9, text: e.String()}, nil
}

// play lets the clients loose.
func (c *crowd) play(t *testing.T, clients, requests int, seed uint64) error {
	errs := make([]error, clients)
	var wg sync.WaitGroup
	for n := range clients {
		wg.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(n)))
			for i := range requests {
				r, err := c.choose(t.Context(), rng, i > requests*2/3)
				if err == nil {
					_, err = c.ask(t.Context(), n, r)
				}
				if err != nil {
					errs[n] = fmt.Errorf("client %d: %w", n, err)
				}
			}
		})
	}
	wg.Wait()
	return errors.Join(errs...)
}

// checkPatience is far more than the check of a history of this size takes.
const checkPatience = time.Minute

func (c *crowd) check() porcupine.CheckResult {
	return porcupine.CheckOperationsTimeout(c.model.model(), c.history, checkPatience)
}

// longest is the longest part of the history that one house could have
// answered, and how the game stands after it: what comes next is the violation.
func (c *crowd) longest() string {
	_, info := porcupine.CheckOperationsVerbose(c.model.model(), c.history, checkPatience)
	var best []int
	for _, partial := range info.PartialLinearizations()[0] {
		if len(partial) > len(best) {
			best = partial
		}
	}
	var b strings.Builder
	s := story{}
	for _, i := range best {
		op := c.history[i]
		_, s = c.model.step(s, op.Input.(seat), op.Output.(said))
	}
	fmt.Fprintf(&b, "; after %d of them: %+v\nnone of the others fits:", len(best), s)
	left := 0
	for i, op := range c.history {
		if !slices.Contains(best, i) && left < 5 {
			want, _ := c.model.step(s, op.Input.(seat), op.Output.(said))
			fmt.Fprintf(&b, "\n%v: %+v, here %+v", op.Input, op.Output, want)
			left++
		}
	}
	return b.String()
}

// kinds counts what was answered, so that a test which asks only what is refused is noticed.
func (c *crowd) kinds() map[string]int {
	n := map[string]int{}
	for _, op := range c.history {
		kind := op.Input.(seat).kind
		if code := op.Output.(said).code; code != "" {
			kind += " " + string(code)
		}
		n[kind]++
	}
	return n
}

func TestLinearizable(t *testing.T) {
	for _, on := range []struct {
		name   string
		houses func(t *testing.T) []*bench
	}{
		{"SQLite", func(t *testing.T) []*bench { return []*bench{newBench(t)} }},
		{"PostgreSQL, two instances", func(t *testing.T) []*bench { return instances(t, 2) }},
	} {
		t.Run(on.name, func(t *testing.T) {
			games := 3
			if testing.Short() { // under the race detector
				games = 1
			}
			houses := on.houses(t)
			all := map[string]int{}
			for game := range games {
				c := newCrowd(t, houses)
				if err := c.play(t, 8, 24, uint64(game)); err != nil {
					t.Error(err)
				}
				if got := c.check(); got != porcupine.Ok {
					t.Errorf("game %d: the history of %d requests is %s%s", game, len(c.history), got, c.longest())
				}
				for k, n := range c.kinds() {
					all[k] += n
				}
			}
			t.Log(all)
			for _, k := range []string{"link", "draw", "append", "link other-content", "draw not-due"} {
				if all[k] == 0 {
					t.Errorf("no %s among the answers: %v", k, all)
				}
			}
		})
	}
}

// forgetful is a store that breaks its promise once: it acknowledges an update
// that writes record lines, and keeps nothing of it.
type forgetful struct {
	store.Store
	left atomic.Int64 // such updates until then
}

var errForgotten = errors.New("forgotten")

func (f *forgetful) Update(ctx context.Context, fn func(store.Tx) error) error {
	err := f.Store.Update(ctx, func(tx store.Tx) error {
		noticed := false
		if err := fn(noticing{tx, &noticed}); err != nil || !noticed {
			return err
		}
		if f.left.Add(-1) == 0 {
			return errForgotten
		}
		return nil
	})
	if errors.Is(err, errForgotten) {
		return nil
	}
	return err
}

type noticing struct {
	store.Tx
	lines *bool
}

func (n noticing) AddEvents(match string, game, first int, lines []string) error {
	*n.lines = true
	return n.Tx.AddEvents(match, game, first, lines)
}

// TestLostUpdate: the check finds an update that was acknowledged and lost: a
// move that one instance has taken, and then another one in its place.
func TestLostUpdate(t *testing.T) {
	first := newBench(t)
	broken := &forgetful{Store: first.config.Store}
	second := unstarted(t) // has the same keys
	for _, b := range []*bench{first, second} {
		if b.House != nil {
			b.House.Close()
		}
		b.config.Store, b.config.Shared = broken, true
		var err error
		if b.House, err = house.New(context.Background(), b.config); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() { second.House.Close() })
	c := newCrowd(t, []*bench{first, second})
	ask := func(client int, r seat) {
		t.Helper()
		if out, err := c.ask(t.Context(), client, r); err != nil || out.code != "" {
			t.Fatal(r, out, err)
		}
	}
	record := func() string {
		t.Helper()
		text, err := c.record(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	for player, link := range c.model.links {
		ask(player, seat{kind: "link", player: player, link: link})
	}
	st := c.model.fold("")
	for due, ok := st.NextDraw(); ok; due, ok = st.NextDraw() { // equal opening dice are thrown again
		ask(0, seat{kind: "draw", stream: due, index: thrown(st, due)})
		st = c.model.fold(record())
	}
	if got := c.check(); got != porcupine.Ok {
		t.Fatalf("the history before is %s", got)
	}
	moves, line := st.LegalMoves(&c.gen), strings.Count(record(), "\n")+1
	broken.left.Store(1)
	ask(0, seat{kind: "append", line: line, text: moves[0].String()})
	ask(1, seat{kind: "append", line: line, text: moves[1].String()})
	if got := c.check(); got != porcupine.Illegal {
		t.Errorf("the history with a lost update is %s", got)
	}
}
