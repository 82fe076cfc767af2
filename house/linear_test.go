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
	"fairdice/rules"
	"fairdice/store"

	"github.com/anishathalye/porcupine"
)

// The history of one game under several clients at once is linearizable if
// the answers of all of them are what one house would have answered that
// carried the same requests out one after the other, each at some moment
// between its beginning and its end. What such a house answers is seat: the
// whole life of a refereed game whose two players take part in the cut.

// seat is one request.
type seat struct {
	kind   string // link, draw, append, close, abort
	player int    // whose link
	link   commitment.Hash
	stream string
	index  int
	line   int
	text   string // of the line, or the reason
}

func (r seat) String() string {
	switch r.kind {
	case "link":
		return fmt.Sprintf("link %c %.4x", 'a'+r.player, r.link[:])
	case "draw":
		return fmt.Sprintf("draw %s %d", r.stream, r.index)
	case "append":
		return fmt.Sprintf("append %d %q", r.line, r.text)
	}
	return r.kind + " " + r.text
}

// said is its answer.
type said struct {
	code    house.Code // of a refusal, "" otherwise
	text    string     // of a draw: the record line it wrote
	line    int
	receipt string
	head    string // of the record after it
	dealt   bool   // by this link
}

// story is how the game stands; two that are equal are the same.
type story struct {
	links [2]commitment.Hash // released
	last  int                // 1 and 2: whose link completed the deal
	lines string             // of the record, each with its end
	rolls string             // every draw with its answer
	ended string             // "", closed, or aborted and the reason
}

func (s story) dealt() bool { return s.last > 0 }

// sequential is the house that does one thing after the other.
type sequential struct {
	header  replay.Header
	setting replay.Setting
	links   [2]commitment.Hash // those that continue the chains

	mu     sync.Mutex
	folded map[string]replay.State
}

func (m *sequential) fold(lines string) replay.State {
	m.mu.Lock()
	defer m.mu.Unlock()
	st, ok := m.folded[lines]
	if ok {
		return st
	}
	st, err := replay.Start(m.setting)
	var gen rules.Generator
	for line := range strings.Lines(lines) {
		var e replay.Event
		if e, err = replay.ParseEvent(strings.TrimSuffix(line, "\n")); err == nil {
			st, err = st.Apply(&gen, e)
		}
		if err != nil {
			panic(fmt.Sprintf("the model has a record that cannot be: %q: %v", line, err))
		}
	}
	m.folded[lines] = st
	return st
}

// thrown is how many rolls of a stream the record has.
func thrown(st replay.State, stream string) int {
	return int(st.Throws()[map[string]int{"opening": 0, "a": 1, "b": 2}[stream]])
}

func (m *sequential) head(lines string) string {
	h := m.header.Head()
	for line := range strings.Lines(lines) {
		h = h.Next(strings.TrimSuffix(line, "\n"))
	}
	return h.String()
}

// step says what must be answered, and how the game stands afterwards. What
// only the house knows, the dice and the receipt of a new draw, is as it was answered.
func (m *sequential) step(s story, r seat, out said) (said, story) {
	no := func(c house.Code) (said, story) { return said{code: c}, s }
	st := m.fold(s.lines)
	lines := slices.Collect(strings.Lines(s.lines))
	switch r.kind {
	case "link":
		switch {
		case s.links[r.player] == r.link:
		case s.links[r.player] != commitment.Hash{}:
			return no(house.OtherContent)
		case s.ended != "" || st.Decided():
			return no(house.GameEnded)
		case r.link != m.links[r.player]:
			return no(house.WrongLink)
		default:
			if s.links[r.player] = r.link; s.links[1-r.player] != (commitment.Hash{}) {
				s.last = r.player + 1
			}
		}
		return said{dealt: s.last == r.player+1}, s
	case "draw":
		roll := fmt.Sprintf("%s %d ", r.stream, r.index)
		for old := range strings.Lines(s.rolls) {
			if rest, ok := strings.CutPrefix(old, roll); ok { // drawn before: the same answer for ever
				var was said
				fmt.Sscanf(rest, "%d %s %s %q", &was.line, &was.receipt, &was.head, &was.text)
				return was, s
			}
		}
		due, ok := st.NextDraw()
		switch {
		case s.ended != "":
			return no(house.GameEnded)
		case !ok || due != r.stream:
			return no(house.NotDue)
		case r.index != thrown(st, r.stream):
			return no(house.OutOfOrder)
		case !s.dealt():
			return no(house.AwaitingLink)
		case out.code != "":
			return said{text: "a roll"}, s
		}
		s.lines += out.text + "\n"
		now := said{text: out.text, line: len(lines) + 1, receipt: out.receipt, head: m.head(s.lines)}
		s.rolls += fmt.Sprintf("%s%d %s %s %q\n", roll, now.line, now.receipt, now.head, now.text)
		return now, s
	case "append":
		switch {
		case r.line > len(lines)+1:
			return no(house.OutOfOrder)
		case r.line <= len(lines) && lines[r.line-1] != r.text+"\n":
			return no(house.OtherContent)
		case r.line <= len(lines):
		case s.ended != "":
			return no(house.GameEnded)
		default:
			e, err := replay.ParseEvent(r.text)
			if err != nil {
				panic(err)
			}
			switch throws := st.Throws(); {
			case e.Kind == replay.Timeout && !s.dealt() && s.links[e.Seat] != (commitment.Hash{}),
				e.Kind == replay.Timeout && s.dealt() && throws[0]+throws[1]+throws[2] == 0:
				return no(house.NotDue)
			case !s.dealt() && e.Kind != replay.Timeout && e.Kind != replay.End:
				return no(house.AwaitingLink)
			}
			var gen rules.Generator
			if _, err := st.Apply(&gen, e); err != nil {
				return no(house.Illegal)
			}
			s.lines += r.text + "\n"
		}
		return said{head: m.head(strings.Join(slices.Collect(strings.Lines(s.lines))[:r.line], ""))}, s
	case "close":
		switch {
		case strings.HasPrefix(s.ended, "aborted"):
			return no(house.GameEnded)
		case s.ended == "" && !st.Over():
			return no(house.NotDue)
		}
		s.ended = "closed"
		return said{}, s
	}
	switch {
	case s.ended == "closed":
		return no(house.GameEnded)
	case s.ended != "" && s.ended != "aborted "+r.text:
		return no(house.OtherContent)
	case s.ended == "" && (st.Over() || st.Decided()):
		return no(house.NotDue)
	}
	s.ended = "aborted " + r.text
	return said{}, s
}

func (m *sequential) model() porcupine.Model {
	return porcupine.Model{
		Init: func() any { return story{} },
		Step: func(state, in, out any) (bool, any) {
			want, next := m.step(state.(story), in.(seat), out.(said))
			return want == out.(said), next
		},
		DescribeOperation: func(in, out any) string { return fmt.Sprintf("%v: %+v", in, out) },
	}
}

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

// choose picks a request that may make sense, as the record stands in the
// database, or may come too early, too late or with other content.
func (c *crowd) choose(ctx context.Context, rng *rand.Rand, last bool) (r seat, err error) {
	var lines []string
	if err := c.houses[0].config.Store.View(ctx, func(r store.Reader) (err error) {
		lines, err = r.Events(c.id, 1, 1)
		return err
	}); err != nil {
		return seat{}, err
	}
	text := ""
	if len(lines) > 0 {
		text = strings.Join(lines, "\n") + "\n"
	}
	st := c.model.fold(text)
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
			houses := on.houses(t)
			all := map[string]int{}
			for game := range 3 {
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

// TestLostUpdate: the check finds one update in a hundred requests that was acknowledged and lost.
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
	for game := range 3 {
		c := newCrowd(t, []*bench{first, second})
		for player, link := range c.model.links {
			if _, err := c.ask(t.Context(), 0, seat{kind: "link", player: player, link: link}); err != nil {
				t.Fatal(err)
			}
		}
		broken.left.Store(4)
		// A house may notice that its database is damaged; that is not what is tested.
		c.play(t, 4, 24, uint64(game))
		if left := broken.left.Load(); left > 0 {
			t.Errorf("game %d: no update was lost: %v", game, c.kinds())
		} else if got := c.check(); got != porcupine.Illegal {
			t.Errorf("game %d: the history with a lost update is %s", game, got)
		}
	}
}
