package audit

import (
	"errors"
	"os"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"fairdice/commitment"
	"fairdice/internal/dealer"
)

// hostile are bundles of about that many bytes that ask for as much work as
// they can.
func hostile(t testing.TB, limit int) map[string]*Bundle {
	base := newDealer(t, terms{Variant: "short", Mode: commitment.Random, Options: singleGame, Rolls: commitment.Lengths{4, 24, 24}, Anchored: true, StopAt: 9})
	base.Play()
	good := func() *Bundle { b := *base.bundle(); return &b }
	out := map[string]*Bundle{}

	b := good()
	receipt := b.Games[0].Receipts[3]
	b.Games[0].Receipts = nil
	for range limit / (len(receipt) + 20) {
		b.Games[0].Receipts = append(b.Games[0].Receipts, receipt)
	}
	out["receipts"] = b

	b = good()
	s := b.Statements[len(b.Statements)-1]
	s.Path = make([]commitment.Hash, 65)
	for range limit / (65*67 + len(s.Text)) {
		b.Statements = append(b.Statements, s)
	}
	out["paths"] = b

	b = good()
	s.Path = nil
	for i := range limit / (len(s.Text) + 40) {
		s.Index = uint64(100 + i)
		b.Statements = append(b.Statements, s)
	}
	out["finishes"] = b

	b = good()
	o := b.Games[0].Openings[0]
	for i := range limit / (len(o.Path)*67 + 150) {
		o.Index = i + 100
		b.Games[0].Openings = append(b.Games[0].Openings, o)
	}
	out["openings"] = b

	b = good()
	for g := 2; g < 2+limit>>20; g++ {
		game := b.Games[0]
		game.Game = g
		game.Record += strings.Repeat("move A 24/23*/22*/21*/20* 13/12*/11*/10*/9*\n", (1<<20-len(game.Record))/44)
		b.Games = append(b.Games, game)
	}
	out["records"] = b

	b = good()
	h := dealer.New(t, 4)
	match := base.Statement.Match
	for g := 2; len(b.Statements) < 3*500; g++ {
		var secrets []commitment.RevealedSecret
		for k := 1; k <= 25; k++ {
			id := h.ID()
			add := func(s commitment.Statement) {
				b.Statements = append(b.Statements, BundleStatement{Index: uint64(len(b.Statements) + 100), Text: string(s.Text())})
			}
			add(commitment.Commit{Log: dealer.Origin, Tenant: "club", Mode: commitment.Levelled, Number: uint64(g*100 + k), Sequence: id, Rolls: commitment.Lengths{1, 32767, 32767}, Time: h.Now()})
			add(commitment.Assign{Match: match, Game: g, Segment: k, Sequence: id, Number: uint64(g*100 + k), Time: h.Now()})
			add(commitment.Deal{Match: match, Game: g, Segment: k, Sequence: id, Cut: commitment.Cut(strings.Repeat("a", 64)), Time: h.Now()})
			secrets = append(secrets, commitment.RevealedSecret{Sequence: id})
		}
		c := commitment.Close{Match: match, Game: g, Result: commitment.Result{Seat: 'A', Points: 1}, Secrets: secrets, Time: h.Now()}
		b.Statements = append(b.Statements, BundleStatement{Index: uint64(len(b.Statements) + 100), Text: string(c.Text())})
		game := b.Games[0]
		game.Game = g
		b.Games = append(b.Games, game)
	}
	out["sequences"] = b
	return out
}

// TestHostileBundles demands that no bundle takes the verifier much more memory
// than it is large, nor more than about a tenth of a second a megabyte (with
// FAIRDICE_HOSTILE_MB=60 the log shows what the largest ones take).
func TestHostileBundles(t *testing.T) {
	limit := 4
	if s := os.Getenv("FAIRDICE_HOSTILE_MB"); s != "" {
		var err error
		if limit, err = strconv.Atoi(s); err != nil {
			t.Fatalf("FAIRDICE_HOSTILE_MB: %v", err)
		}
	}
	for name, b := range hostile(t, limit<<20) {
		t.Run(name, func(t *testing.T) {
			data, err := b.Encode()
			if err != nil {
				t.Fatal(err)
			}
			runtime.GC()
			var before runtime.MemStats
			runtime.ReadMemStats(&before)
			stop, peak := make(chan struct{}), make(chan uint64)
			go watchMemory(stop, peak)
			start := time.Now()
			r := Verify(data, Trust{})
			took := time.Since(start)
			close(stop)
			most := int(<-peak) - int(before.HeapAlloc)
			t.Logf("%d bytes: %s in %v, peak %d MB", len(data), r.Verdict, took.Round(time.Millisecond), most>>20)
			if r.Verdict != Failed {
				t.Errorf("verdict %s", r.Verdict)
			}
			if allowed := 10*len(data) + 256<<20; most > allowed {
				t.Errorf("it took %d MB, allowed are %d", most>>20, allowed>>20)
			}
		})
	}
}

// watchMemory sends the largest heap that it saw until it is stopped.
func watchMemory(stop <-chan struct{}, peak chan<- uint64) {
	most := uint64(0)
	for {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		most = max(most, m.HeapAlloc)
		select {
		case <-stop:
			peak <- most
			return
		case <-time.After(20 * time.Millisecond):
		}
	}
}

// A verification that is told to stop takes up nothing long, whatever it is
// asked for, and verifies nothing.
func TestStop(t *testing.T) {
	b := hostile(t, 1<<20)["sequences"]
	data, err := b.Encode()
	if err != nil {
		t.Fatal(err)
	}
	d := newDealer(t, terms{Variant: "short", Mode: commitment.Random, Options: singleGame, Rolls: commitment.Lengths{4, 24, 24}, Anchored: true, StopAt: 9})
	d.Play()
	honest, err := d.bundle().Encode()
	if err != nil {
		t.Fatal(err)
	}
	whole := 0 // times that Verify asks
	count := func() error { whole++; return nil }
	if r := Verify(honest, Trust{Key: d.Key, Stop: count}); r.Verdict != Verified || whole < 3 {
		t.Errorf("asked %d times: %s", whole, r.Verdict)
	}
	for after := range whole {
		asked := 0
		stop := func() error {
			if asked++; asked > after {
				return errors.New("the time is over")
			}
			return nil
		}
		r := Verify(honest, Trust{Key: d.Key, Stop: stop})
		if r.Verdict != Incomplete || len(r.Failed()) > 0 {
			t.Errorf("stopped after %d of %d steps: %s, failed %v", after, whole, r.Verdict, r.Failed())
		}
	}
	trees := 0
	r := Verify(data, Trust{Stop: func() error { trees++; return errors.New("the time is over") }})
	for _, c := range r.Checks {
		if c.ID == SequenceRoot && c.Status == Pass {
			t.Error("a root was rebuilt after the stop")
		}
	}
	if trees == 0 || r.Verdict == Verified {
		t.Errorf("asked %d times: %s", trees, r.Verdict)
	}
}
