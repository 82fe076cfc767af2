//go:build unix

package house_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/replay"
	"fairdice/rules"
	"fairdice/store"
	"fairdice/store/postgres"
	"fairdice/store/postgres/pgtest"
	"fairdice/translog"
)

func TestMain(m *testing.M) { os.Exit(pgtest.Main(m)) }

// instances are houses on one PostgreSQL database, with a head file each.
func instances(t *testing.T, n int, wrap ...func(store.Store) store.Store) []*bench {
	t.Helper()
	return instancesOn(t, pgtest.Database(t), n, wrap...)
}

func instancesOn(t *testing.T, address string, n int, wrap ...func(store.Store) store.Store) []*bench {
	t.Helper()
	open := func(i int) func() (store.Store, error) {
		return func() (store.Store, error) {
			s, err := postgres.Open(context.Background(), address, postgres.Options{Connections: 24})
			if err == nil && i < len(wrap) {
				s = wrap[i](s)
			}
			return s, err
		}
	}
	all := make([]*bench, n)
	for i := range all {
		b := unstarted(t) // all have the same keys
		b.database = open(i)
		b.config.Shared, b.config.Lease = true, 600*time.Millisecond
		b.config.Pool = house.PoolMarks{Low: 16, Full: 96}
		b.start()
		t.Cleanup(b.stop)
		all[i] = b
	}
	if err := all[0].AddTenant(t.Context(), "default"); err != nil {
		t.Fatal(err)
	}
	if err := all[0].TopUp(t.Context(), "default", "random", 96); err != nil {
		t.Fatal(err)
	}
	return all
}

// verifyLog reads the log as a stranger would: every statement, every checkpoint.
func verifyLog(t *testing.T, b *bench) {
	t.Helper()
	err := b.config.Store.View(context.Background(), func(r store.Reader) error {
		head, err := r.LogHead()
		if err != nil {
			return err
		}
		entries, err := r.Entries(0, head.Size)
		if err != nil {
			return err
		}
		numbers := map[string]uint64{} // of the sequences, per mode
		for i, e := range entries {
			s, err := commitment.Parse(e.Text)
			if err != nil || e.Index != int64(i) {
				return fmt.Errorf("entry %d: %w", i, err)
			}
			if c, ok := s.(commitment.Commit); ok {
				mode := c.Mode.String()
				if c.Number != numbers[mode] {
					t.Errorf("sequence %d of mode %s is committed after %d", c.Number, mode, numbers[mode])
				}
				numbers[mode]++
			}
		}
		checkpoints := 0
		for size := int64(0); ; checkpoints++ {
			c, err := r.Checkpoint(size + 1)
			if err != nil {
				break
			}
			cp, err := translog.OpenCheckpoint(c.Note, b.config.LogVerifier)
			if err != nil {
				return err
			}
			root, err := translog.Root(cp.Size, translog.Stored(r))
			if err != nil || root != cp.Root {
				t.Errorf("checkpoint of %d statements has root %s, the database %s (%v)", cp.Size, cp.Root, root, err)
			}
			size = cp.Size
		}
		t.Logf("%d statements, %d checkpoints", len(entries), checkpoints)
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// mortal is the store of an instance that dies: what it was doing is done or
// not, and nobody hears of it.
type mortal struct {
	store.Store
	dead atomic.Bool
}

var errDead = errors.New("the instance is dead")

func (m *mortal) Update(ctx context.Context, fn func(store.Tx) error) error {
	return m.heard(func() error { return m.Store.Update(ctx, fn) })
}

func (m *mortal) View(ctx context.Context, fn func(store.Reader) error) error {
	return m.heard(func() error { return m.Store.View(ctx, fn) })
}

func (m *mortal) heard(fn func() error) error {
	if m.dead.Load() {
		return errDead
	}
	err := fn()
	if m.dead.Load() {
		return errDead
	}
	return err
}

// TestInstances: 64 clients play games through two instances, each request
// through either, and the one that signs dies on the way. No client sees
// anything of it but that a request has to be repeated at the other instance.
func TestInstances(t *testing.T) {
	var first mortal
	both := instances(t, 2, func(s store.Store) store.Store { first.Store = s; return &first })
	var turn atomic.Int64
	once := func(fn func(b *bench) error) error {
		if turn.Add(1)%2 == 0 && !first.dead.Load() {
			err := fn(both[0])
			if err == nil || !first.dead.Load() {
				return err
			}
		}
		return fn(both[1])
	}
	call := func(fn func(b *bench) error) error {
		for {
			if err := once(fn); house.CodeOf(err) != house.Unavailable {
				return err
			}
		}
	}
	const clients, throws = 64, 6
	var reached, wg sync.WaitGroup
	reached.Add(clients)
	variant, err := rules.Lookup("short")
	if err != nil {
		t.Fatal(err)
	}
	options, err := replay.ParseOptions(single)
	if err != nil {
		t.Fatal(err)
	}
	for range clients {
		wg.Go(func() {
			m := &match{bench: both[1], id: newID(), variant: variant, options: options}
			half := sync.OnceFunc(reached.Done)
			defer half()
			if err := call(func(b *bench) error { _, err := b.OpenMatch(t.Context(), b.p, m.request()); return err }); err != nil {
				t.Error(err)
				return
			}
			for {
				err := call(func(b *bench) error { _, err := b.NextGame(t.Context(), b.p, m.id, 1, 0); return err })
				if house.CodeOf(err) == house.PoolEmpty {
					time.Sleep(20 * time.Millisecond)
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				break
			}
			series, err := replay.NewMatch(m.variant, m.options)
			if err == nil {
				m.state, err = replay.Start(series.Next())
			}
			if err != nil {
				t.Error(err)
				return
			}
			for drawn := 0; drawn < throws; {
				if drawn == throws/2 {
					half()
				}
				if m.turn(t, call) {
					drawn++
				}
				if t.Failed() {
					return
				}
			}
			if err := call(func(b *bench) error {
				_, err := b.AbortGame(t.Context(), b.p, m.id, 1, "test", 0)
				return err
			}); err != nil {
				t.Error(err)
			}
		})
	}
	reached.Wait()
	first.dead.Store(true)
	wg.Wait()
	verifyLog(t, both[1])
}

// turn draws the throw that is due, twice and through different instances, or
// posts a move; it reports whether it drew.
func (m *match) turn(t *testing.T, call func(func(*bench) error) error) bool {
	stream, ok := m.state.NextDraw()
	if ok {
		index := m.state.Throws()[map[string]int{"opening": 0, "a": 1, "b": 2}[stream]]
		var answers [2]house.DrawAnswer
		for i := range answers {
			if err := call(func(b *bench) (err error) {
				answers[i], err = b.Draw(t.Context(), b.p, m.id, 1, 1, stream, index)
				return err
			}); err != nil {
				t.Errorf("draw %s %d: %v", stream, index, err)
				return true
			}
		}
		diff(t, "the same throw from two instances", answers[0], answers[1])
		line := fmt.Sprintf("opening %d %d", answers[0].Dice[0], answers[0].Dice[1])
		if stream != "opening" {
			line = fmt.Sprintf("roll %c %d %d", stream[0]-'a'+'A', answers[0].Dice[0], answers[0].Dice[1])
		}
		m.went(t, line)
		return true
	}
	moves := m.state.LegalMoves(&m.gen)
	line := moves[m.intN(len(moves))].String()
	first := len(m.lines) + 1
	for range 2 {
		if err := call(func(b *bench) error {
			_, err := b.Append(t.Context(), b.p, m.id, 1, first, []string{line})
			return err
		}); err != nil {
			t.Errorf("append %q: %v", line, err)
			return false
		}
	}
	m.went(t, line)
	return false
}

func (m *match) went(t *testing.T, line string) {
	e, err := replay.ParseEvent(line)
	if err == nil {
		m.state, err = m.state.Apply(&m.gen, e)
	}
	if err != nil {
		t.Errorf("line %q: %v", line, err)
	}
	m.lines = append(m.lines, line)
}

// TestOneMatchTwoInstances: 16 clients ask both instances for every throw of one game at the same time;
// each throw has one answer.
func TestOneMatchTwoInstances(t *testing.T) {
	both := instances(t, 2)
	m := both[0].open("short", single, nil, nil, func(r *house.OpenRequest) { r.Profile = "dice-only" })
	if _, err := both[1].NextGame(t.Context(), m.p, m.id, 1, 0); err != nil {
		t.Fatal(err)
	}
	const clients, throws = 16, 8
	var answers [clients][throws]house.DrawAnswer
	var wg sync.WaitGroup
	for c := range clients {
		wg.Go(func() {
			for i := range throws {
				a, err := both[c%2].Draw(t.Context(), m.p, m.id, 1, 1, "a", i)
				if err != nil {
					t.Errorf("client %d, throw %d: %v", c, i, err)
					return
				}
				a.Head, a.Due = "", ""
				answers[c][i] = a
			}
		})
	}
	wg.Wait()
	for c := range clients {
		diff(t, fmt.Sprint("answers of client ", c), answers[0], answers[c])
	}
	verifyLog(t, both[0])
}

// paused is a store whose instance stops for a while before its next update
// that stores a checkpoint, as under SIGSTOP.
type paused struct {
	store.Store
	armed   atomic.Bool
	stopped chan struct{}
	wake    chan struct{}
}

// publishing notices the moment just before a checkpoint is committed.
type publishing struct {
	store.Tx
	noticed *bool
}

func (p publishing) AddCheckpoint(c store.Checkpoint) error {
	*p.noticed = true
	return p.Tx.AddCheckpoint(c)
}

func (p *paused) Update(ctx context.Context, fn func(store.Tx) error) error {
	if p.armed.Load() {
		noticed := false
		trial := fmt.Errorf("trial")
		p.Store.Update(ctx, func(tx store.Tx) error {
			if err := fn(publishing{tx, &noticed}); err != nil {
				return err
			}
			return trial
		})
		if noticed && p.armed.Swap(false) {
			close(p.stopped)
			<-p.wake
		}
	}
	return p.Store.Update(ctx, fn)
}

// TestSignerPaused: the instance that signs stops between its signature and
// its commit; another one takes over; the first wakes up, publishes nothing of
// what it has signed, and takes over in turn when the second leaves.
func TestSignerPaused(t *testing.T) {
	p := &paused{stopped: make(chan struct{}), wake: make(chan struct{})}
	both := instances(t, 2, func(s store.Store) store.Store { p.Store = s; return p })
	seal := func(b *bench, number uint64) house.SealAnswer {
		t.Helper()
		a, err := b.Seal(t.Context(), b.p, "equal", number, 0)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	seal(both[0], 0)
	seal(both[1], 1)
	epoch := func() (l store.Lease) {
		if err := both[1].config.Store.View(t.Context(), func(r store.Reader) (err error) {
			l, err = r.Lease("signer")
			return err
		}); err != nil {
			t.Fatal(err)
		}
		return l
	}
	before := epoch()

	p.armed.Store(true)
	answered := make(chan error, 1)
	go func() {
		_, err := both[0].Seal(context.Background(), both[0].p, "equal", 2, 0)
		answered <- err
	}()
	<-p.stopped
	start := time.Now()
	seal(both[1], 3) // waits for the end of the lease
	t.Logf("taken over after %v", time.Since(start))
	if after := epoch(); after.Epoch != before.Epoch+1 || after.Holder == before.Holder {
		t.Errorf("the lease is %+v, was %+v", after, before)
	}
	close(p.wake)
	if err := <-answered; err != nil {
		t.Errorf("the request that waited for the paused instance: %v", err)
	}
	seal(both[0], 4)
	if after := epoch(); after.Epoch != before.Epoch+1 {
		t.Errorf("the paused instance signs again: %+v", after)
	}
	both[1].stop()
	start = time.Now()
	seal(both[0], 5)
	t.Logf("taken over after %v, from one that has left", time.Since(start))
	verifyLog(t, both[0])
}
