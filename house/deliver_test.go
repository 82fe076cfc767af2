package house_test

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"fairdice/commitment"
	"fairdice/house"
	"fairdice/store"
)

// mailbox is a courier that hands parcels to the test.
type mailbox struct {
	mu     sync.Mutex
	answer func(house.Parcel) house.Delivery
	seen   []house.Parcel
	hang   map[string]bool // by address: until the attempt is given up
	signed func() int64    // size of the last checkpoint
	early  []string
}

func (m *mailbox) Check(address string, _ bool) error {
	if !strings.HasPrefix(address, "https://") {
		return errors.New("not https")
	}
	return nil
}

func (m *mailbox) Send(ctx context.Context, p house.Parcel) house.Delivery {
	m.mu.Lock()
	m.seen = append(m.seen, p)
	answer, hang := m.answer, m.hang[p.Address]
	if index := parse(p.Body).Data.Index; m.signed != nil && index != nil && *index >= m.signed() {
		m.early = append(m.early, p.ID)
	}
	m.mu.Unlock()
	if hang {
		<-ctx.Done()
		return house.Delivery{Failure: "no answer in time"}
	}
	if answer == nil {
		return house.Delivery{Status: 200}
	}
	return answer(p)
}

func (m *mailbox) set(f func(house.Parcel) house.Delivery) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.answer = f
}

func (m *mailbox) parcels(address string) (all []house.Parcel) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, p := range m.seen {
		if p.Address == address {
			all = append(all, p)
		}
	}
	return all
}

type told struct {
	Type string
	Data struct {
		Log, Match, Statement, Mode string
		Game, Segment               int
		Index                       *int64
		Free                        *int
		Ends                        time.Time
	}
}

func parse(body []byte) (e told) {
	if err := json.Unmarshal(body, &e); err != nil {
		panic(err) // of the house's own making
	}
	return e
}

func types(ps []house.Parcel) (all []string) {
	for _, p := range ps {
		all = append(all, parse(p.Body).Type)
	}
	slices.Sort(all)
	return all
}

// eventually waits for the background: it fails when that never comes.
func eventually(t *testing.T, what string, f func() bool) {
	t.Helper()
	for end := time.Now().Add(20 * time.Second); !f(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("never: " + what)
		}
	}
}

// post is a bench with a courier.
type post struct {
	*bench
	*mailbox
	clock *clock
}

func newPost(t *testing.T, change ...func(*house.Config)) post {
	t.Helper()
	p := post{mailbox: &mailbox{hang: map[string]bool{}}, clock: &clock{now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}}
	p.bench = newBench(t, append(change, func(c *house.Config) { c.Courier, c.Deliver, c.Now = p.mailbox, true, p.clock.Now })...)
	return p
}

func (p post) endpoint(name string, events ...string) house.EndpointKey {
	p.t.Helper()
	k, err := p.AddEndpoint(p.ctx(), house.EndpointRequest{Tenant: "default", Address: "https://" + name + ".test/", Events: events})
	if err != nil {
		p.t.Fatal(err)
	}
	return k
}

func (p post) outbox() (o store.Outbox) {
	p.t.Helper()
	if err := p.config.Store.View(context.Background(), func(r store.Reader) (err error) {
		o, err = r.Outbox()
		return err
	}); err != nil {
		p.t.Fatal(err)
	}
	return o
}

func (p post) message(k house.EndpointKey, id string) (m store.Message) {
	p.t.Helper()
	if err := p.config.Store.View(context.Background(), func(r store.Reader) (err error) {
		m, err = r.Message(k.ID, id)
		return err
	}); err != nil {
		p.t.Fatal(err)
	}
	return m
}

// TestEvents plays a match with two games, one of them aborted: each endpoint is told
// of what it wants, once, with the statement as the log has it, and not before that is signed.
func TestEvents(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	p.signed = func() int64 {
		st, err := p.Stats(context.Background())
		if err != nil {
			t.Error(err)
		}
		return st.Signed
	}
	p.endpoint("all")
	p.endpoint("some", house.GameClosed, house.MatchFinished)
	m := p.open("short", "raise=mars stake=win series=points:1 crawford=off", newPlayer(t, "a"), newPlayer(t, "b"))
	m.begin(1)
	if _, err := p.AbortGame(p.ctx(), p.p, m.id, 1, "test", 0); err != nil {
		t.Fatal(err)
	}
	var err error
	if m.series, err = m.series.Skip(); err != nil {
		t.Fatal(err)
	}
	m.begin(2)
	for m.step(2) {
	}
	if _, err := p.CloseGame(p.ctx(), p.p, m.id, 2, nil, 0); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the outbox is empty", func() bool { return p.outbox() == store.Outbox{} })
	diff(t, "all", []string{house.GameAborted, house.GameClosed, house.GameDealt, house.GameDealt, house.MatchFinished, house.MatchOpened}, types(p.parcels("https://all.test/")))
	diff(t, "some", []string{house.GameClosed, house.MatchFinished}, types(p.parcels("https://some.test/")))
	if len(p.early) > 0 {
		t.Errorf("sent before they were signed: %v", p.early)
	}
	for _, parcel := range p.parcels("https://all.test/") {
		e := parse(parcel.Body)
		s, err := p.Statement(p.ctx(), *e.Data.Index, 0)
		if err != nil {
			t.Fatal(err)
		}
		if e.Data.Log != origin || e.Data.Match != m.id || e.Data.Statement != s.Statements[0].Text {
			t.Errorf("%s: %s", e.Type, parcel.Body)
		}
		if st, err := commitment.Parse([]byte(e.Data.Statement)); err != nil || !strings.HasSuffix(map[string]string{
			house.GameAborted: "abort", house.GameClosed: "close", house.GameDealt: "deal", house.MatchFinished: "finish", house.MatchOpened: "open"}[e.Type], string(st.Type())) {
			t.Errorf("%s tells of %v, %v", e.Type, st, err)
		}
	}
}

// TestWeekDown: a receiver that is away for a week loses nothing. Its messages go
// through the schedule, are listed as dead, and are all delivered when they are replayed.
func TestWeekDown(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	k := p.endpoint("away")
	p.set(func(house.Parcel) house.Delivery { return house.Delivery{Failure: "no connection"} })
	m := p.open("short", single, nil, nil)
	m.begin(1)
	if _, err := p.AbortGame(p.ctx(), p.p, m.id, 1, "test", 0); err != nil {
		t.Fatal(err)
	}
	const messages = 3
	for attempt := 1; attempt <= house.MaxAttempts; attempt++ {
		eventually(t, "every message was tried", func() bool { return len(p.parcels("https://away.test/")) == attempt*messages })
		eventually(t, "what came of it is written down", func() bool {
			for _, parcel := range p.parcels("https://away.test/")[:messages] {
				if p.message(k, parcel.ID).Attempts != attempt {
					return false
				}
			}
			return true
		})
		p.clock.set(p.clock.Now().Add(house.MaxRetryAfter * 3 / 2)) // the longest pause there is
		if err := p.EnableEndpoint(p.ctx(), k.ID); err != nil {     // has the outbox looked at now
			t.Fatal(err)
		}
	}
	first := p.parcels("https://away.test/")[0]
	p.clock.set(p.clock.Now().Add(7 * 24 * time.Hour))
	dead, err := p.DeadMessages(p.ctx(), 10)
	if err != nil || len(dead) != messages || dead[0].Attempts != house.MaxAttempts || dead[0].Failure != "no connection" {
		t.Fatalf("dead: %+v, %v", dead, err)
	}
	diff(t, "outbox", store.Outbox{Dead: messages}, p.outbox())

	p.restart()
	p.set(nil)
	if n, err := p.Replay(p.ctx(), "", first.ID); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	eventually(t, "the replayed one was told", func() bool { return p.outbox() == store.Outbox{Dead: messages - 1} })
	if n, err := p.ReplaySince(p.ctx(), k.ID, p.clock.Now().Add(-60*24*time.Hour)); n != messages || err != nil {
		t.Fatal(n, err)
	}
	eventually(t, "all were told", func() bool { return p.outbox() == store.Outbox{} })
	bodies := map[string]string{}
	for _, parcel := range p.parcels("https://away.test/") {
		if old, ok := bodies[parcel.ID]; ok && old != string(parcel.Body) {
			t.Errorf("message %s has changed", parcel.ID)
		}
		bodies[parcel.ID] = string(parcel.Body)
	}
	if len(bodies) != messages {
		t.Errorf("%d ids for %d messages", len(bodies), messages)
	}
	if n, err := p.ReplaySince(p.ctx(), "", p.clock.Now()); n != 0 || err != nil {
		t.Error(n, err)
	}
	for _, f := range []func() error{
		func() error { _, err := p.Replay(p.ctx(), "", "msg_none"); return err },
		func() error { _, err := p.ReplaySince(p.ctx(), newID(), time.Time{}); return err },
	} {
		if err := f(); house.CodeOf(err) != house.NotFound {
			t.Error(err)
		}
	}
}

// TestHangingEndpoint: one that hangs keeps nobody else waiting, and has no more
// than its share on the way.
func TestHangingEndpoint(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	p.endpoint("hangs", house.MatchOpened)
	p.endpoint("works", house.MatchOpened)
	p.hang["https://hangs.test/"] = true
	const matches = 3 * house.PerEndpoint
	for range matches {
		p.open("short", single, nil, nil)
	}
	eventually(t, "the other one has all", func() bool { return len(p.parcels("https://works.test/")) == matches })
	if n := len(p.parcels("https://hangs.test/")); n > house.PerEndpoint {
		t.Errorf("%d messages are on their way to it", n)
	}
	p.stop() // must not wait for it either
}

// TestKilledDelivery: what was on its way when the service died is sent again
// under the same id, when the claim of the dead instance has run out, and by one instance.
func TestKilledDelivery(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	p.endpoint("club", house.MatchOpened)
	p.hang["https://club.test/"] = true
	p.open("short", single, nil, nil)
	eventually(t, "it is on its way", func() bool { return len(p.parcels("https://club.test/")) == 1 })
	p.stop() // nothing is written down of the attempt, as after a kill
	p.mailbox.mu.Lock()
	delete(p.hang, "https://club.test/")
	p.mailbox.mu.Unlock()
	p.start()
	second := p.config
	second.HeadFile, second.Shared = "", true
	other, err := house.New(context.Background(), second)
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	diff(t, "outbox", store.Outbox{Waiting: 1}, p.outbox())
	p.clock.set(p.clock.Now().Add(2 * time.Minute))
	eventually(t, "it was sent again", func() bool { return p.outbox() == store.Outbox{} })
	all := p.parcels("https://club.test/")
	if len(all) != 2 || all[0].ID != all[1].ID || string(all[0].Body) != string(all[1].Body) {
		t.Errorf("sent: %+v", all)
	}
}

func TestGone(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	k := p.endpoint("gone", house.MatchOpened)
	p.set(func(house.Parcel) house.Delivery {
		return house.Delivery{Status: 410, Failure: "answered 410", Gone: true}
	})
	p.open("short", single, nil, nil)
	eventually(t, "it is dead", func() bool { return p.outbox() == store.Outbox{Dead: 1} })
	all, err := p.Endpoints(p.ctx())
	if err != nil || all[0].Disabled.IsZero() || all[0].Reason != "answered 410" || all[0].Sealed != nil {
		t.Fatalf("%+v, %v", all, err)
	}
	p.open("short", single, nil, nil) // of which it is not told
	diff(t, "outbox", store.Outbox{Dead: 1}, p.outbox())
	p.set(nil)
	if err := p.EnableEndpoint(p.ctx(), k.ID); err != nil {
		t.Fatal(err)
	}
	p.open("short", single, nil, nil)
	eventually(t, "it is told again", func() bool { return len(p.parcels("https://gone.test/")) == 2 })
}

// TestWarnings: what is about to happen is announced once, however often it is seen.
func TestWarnings(t *testing.T) {
	t.Parallel()
	p := newPost(t, func(c *house.Config) { c.Pool = house.PoolMarks{Low: 8, Full: 8} })
	p.endpoint("club", house.PoolLow, house.GameOverdueSoon)
	start := p.clock.Now()
	for range 3 { // of four; one that is left is below a quarter of the mark
		p.open("short", single, nil, nil).begin(1)
	}
	var last *match
	for range 4 {
		last = p.open("short", single, nil, nil)
		last.begin(1)
	}
	p.clock.set(start.Add(house.AssignedLimit - time.Hour - house.SoonMargin + time.Second))
	for range 3 {
		if _, err := p.Sweep(p.ctx()); err != nil {
			t.Fatal(err)
		}
	}
	eventually(t, "all is told", func() bool { return p.outbox() == store.Outbox{} })
	soon := map[string]bool{}
	for _, parcel := range p.parcels("https://club.test/") {
		switch e := parse(parcel.Body); e.Type {
		case house.GameOverdueSoon:
			if soon[e.Data.Match] || !e.Data.Ends.Equal(start.Add(house.AssignedLimit-time.Hour)) || e.Data.Index != nil {
				t.Errorf("warned: %s", parcel.Body)
			}
			soon[e.Data.Match] = true
		case house.PoolLow:
			if e.Data.Mode != "random" || e.Data.Free == nil || *e.Data.Free >= 2 {
				t.Errorf("warned: %s", parcel.Body)
			}
		}
	}
	if len(soon) != 7 || !soon[last.id] {
		t.Errorf("warned of %d games, want 7", len(soon))
	}
}

func TestRotateEndpoint(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	for _, asymmetric := range []bool{false, true} {
		k, err := p.AddEndpoint(p.ctx(), house.EndpointRequest{Tenant: "default", Address: "https://club.test/", Asymmetric: asymmetric})
		if err != nil {
			t.Fatal(err)
		}
		prefix := map[bool]string{false: "whsec_", true: "whpk_"}[asymmetric]
		signs := func() []string {
			before := len(p.parcels("https://club.test/"))
			if d, err := p.TestEndpoint(p.ctx(), k.ID); err != nil || d.Failure != "" {
				t.Fatal(d, err)
			}
			return p.parcels("https://club.test/")[before].Keys
		}
		old := signs()
		next, err := p.RotateEndpoint(p.ctx(), k.ID, time.Hour)
		if err != nil || !strings.HasPrefix(k.Key, prefix) || !strings.HasPrefix(next.Key, prefix) || next.Key == k.Key {
			t.Fatal(k, next, err)
		}
		both := signs()
		if len(both) != 2 || both[1] != old[0] || both[0] == old[0] {
			t.Errorf("%d keys sign", len(both))
		}
		if _, err := p.RotateEndpoint(p.ctx(), k.ID, time.Hour); house.CodeOf(err) != house.NotDue {
			t.Errorf("a second rotation: %v", err)
		}
		p.clock.set(p.clock.Now().Add(time.Hour))
		diff(t, "after the overlap", both[:1], signs())
		if _, err := p.RotateEndpoint(p.ctx(), k.ID, 0); err != nil {
			t.Fatal(err)
		}
		if at := signs(); len(at) != 1 || at[0] == both[0] {
			t.Errorf("after a rotation without overlap %d keys sign", len(at))
		}
	}
	if _, err := p.RotateEndpoint(p.ctx(), newID(), 0); house.CodeOf(err) != house.NotFound {
		t.Error(err)
	}
	if _, err := p.RotateEndpoint(p.ctx(), newID(), house.MaxOverlap+1); house.CodeOf(err) != house.Malformed {
		t.Error(err)
	}
}

func TestAddEndpoint(t *testing.T) {
	t.Parallel()
	p := newPost(t)
	for _, test := range []struct {
		req  house.EndpointRequest
		want house.Code
	}{
		{house.EndpointRequest{Tenant: "default", Address: "http://club.test/"}, house.Malformed},
		{house.EndpointRequest{Tenant: "default", Address: "https://club.test/", Events: []string{"game.lost"}}, house.Malformed},
		{house.EndpointRequest{Tenant: "default", Address: "https://club.test/", Events: []string{house.PoolLow, house.PoolLow}}, house.Malformed},
		{house.EndpointRequest{Tenant: "nobody", Address: "https://club.test/"}, house.NotFound},
	} {
		if _, err := p.AddEndpoint(p.ctx(), test.req); house.CodeOf(err) != test.want {
			t.Errorf("%+v: %v", test.req, err)
		}
	}
	var k house.EndpointKey
	for range house.MaxEndpoints {
		k = p.endpoint("club")
	}
	if _, err := p.AddEndpoint(p.ctx(), house.EndpointRequest{Tenant: "default", Address: "https://club.test/"}); house.CodeOf(err) != house.Invalid {
		t.Errorf("one too many: %v", err)
	}
	if err := p.RemoveEndpoint(p.ctx(), k.ID); err != nil {
		t.Error(err)
	}
	if err := p.RemoveEndpoint(p.ctx(), k.ID); house.CodeOf(err) != house.NotFound {
		t.Error(err)
	}
	// No key is in the database in clear.
	if err := p.config.Store.View(p.ctx(), func(r store.Reader) error {
		all, err := r.Endpoints()
		for _, e := range all {
			if strings.Contains(string(e.Sealed), "whs") {
				t.Error("a key is not sealed")
			}
		}
		return err
	}); err != nil {
		t.Error(err)
	}
}
