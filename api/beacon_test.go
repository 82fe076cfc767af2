package api_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"fairdice/audit"
	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/internal/beacon"
	"fairdice/internal/relay"
	"fairdice/replay"
	"fairdice/translog"
	"fairdice/translog/witness"
)

// recordedRound was signed by the beacon at 2024-10-14T17:13:33Z.
const recordedRound = 12040883

// relays starts one that lies and one that serves recorded rounds once the
// clock says that they are public.
func relays(t *testing.T, now func() time.Time) (urls []string, asked *atomic.Int32) {
	t.Helper()
	data, err := os.ReadFile("../internal/beacon/testdata/drand.json")
	must(t, err)
	var file struct {
		Rounds []struct {
			Round     uint64
			Signature string
		}
	}
	must(t, json.Unmarshal(data, &file))
	asked = new(atomic.Int32)
	serve := func(h http.HandlerFunc) {
		s := httptest.NewServer(h)
		t.Cleanup(s.Close)
		urls = append(urls, s.URL)
	}
	serve(func(w http.ResponseWriter, r *http.Request) {
		asked.Add(1)
		fmt.Fprintf(w, `{"round":%s,"signature":%q}`, r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:], file.Rounds[0].Signature)
	})
	serve(func(w http.ResponseWriter, r *http.Request) {
		for _, round := range file.Rounds {
			if r.URL.Path == fmt.Sprintf("/%s/public/%d", beacon.ChainHash, round.Round) && !now().Before(beacon.Time(round.Round)) {
				fmt.Fprintf(w, `{"round":%d,"randomness":"","signature":%q}`, round.Round, round.Signature)
				return
			}
		}
		http.NotFound(w, r)
	})
	return urls, asked
}

// beside asks a witness that runs in the test.
type beside struct{ *witness.Witness }

func (beside) Name() string { return "w1" }

func (w beside) Cosign(ctx context.Context, old int64, proof []commitment.Hash, signed string) (string, error) {
	lines, err := w.AddCheckpoint(ctx, old, proof, signed)
	var conflict *witness.ConflictError
	if errors.As(err, &conflict) {
		return "", &house.StaleError{Size: conflict.Size}
	}
	return lines, err
}

// newBeaconBench is a service with a beacon, and a witness that has the
// service's clock or one of its own. The service's stands where an assign names
// the recorded round.
func newBeaconBench(t *testing.T, witnessClock ...func() time.Time) (b *bench, policy *translog.Policy, asked *atomic.Int32) {
	t.Helper()
	b = newBenchOf(t, func(b *bench, c *house.Config) {
		b.now = beacon.Time(recordedRound).Add(-house.BeaconLead - time.Second)
		var urls []string
		urls, asked = relays(t, b.clock)
		var err error
		c.Beacon, err = relay.New(urls, nil)
		must(t, err)
		skey, vkey, err := translog.NewWitnessKey("witness.example/w1", rand.NewChaCha8([32]byte{9}))
		must(t, err)
		cosigner, err := translog.NewCosigner(skey, append(witnessClock, b.clock)[0])
		must(t, err)
		w, err := witness.New(cosigner, []note.Verifier{c.LogVerifier}, witness.InMemory())
		must(t, err)
		policy, err = translog.NewPolicy(c.LogKey, []string{vkey})
		must(t, err)
		c.Witnesses, c.Policy = []house.Witness{beside{w}}, policy
	})
	return b, policy, asked
}

func (b *bench) game(id string, n int) client.Game {
	b.t.Helper()
	m, err := b.as("").Match(b.t.Context(), id)
	must(b.t, err)
	return m.Games[n-1]
}

// TestBeaconLevel is level L1 end to end: the assign names a round that is
// still to come, a witness cosigns it in time, the deal waits for the round
// and for nothing else, and the bundle proves it.
func TestBeaconLevel(t *testing.T) {
	b, policy, asked := newBeaconBench(t)
	ctx := t.Context()
	id := newID(t)
	must(t, second(b.client.OpenMatch(ctx, id, client.OpenRequest{
		Variant: "short", Mode: client.ModeRandom, Options: new(single), Beacon: new(client.OpenRequestBeaconQuicknet),
		A: client.Player{Token: "ada"}, B: client.Player{Token: "ben"},
	}, 0)))
	started, err := b.client.NextGame(ctx, id, 1, 0)
	must(t, err)
	if started.State != client.SegmentStateAwaitingBeacon {
		t.Errorf("state %s", started.State)
	}
	if g := b.game(id, 1); g.State != client.GameStateAwaitingBeacon || g.Round != recordedRound {
		t.Errorf("the game is %s for round %d, want %d", g.State, g.Round, recordedRound)
	}
	if _, err := b.client.Draw(ctx, id, 1, 1, client.StreamOpening, 0); client.Code(err) != "awaiting-links" {
		t.Errorf("a roll before the round: %v", err)
	}
	b.pass(house.BeaconLead - time.Second) // two seconds before the round
	time.Sleep(1500 * time.Millisecond)    // more than the house sleeps between two looks
	if g := b.game(id, 1); g.State != client.GameStateAwaitingBeacon || asked.Load() != 0 {
		t.Errorf("before the round the game is %s, the relays were asked %d times", g.State, asked.Load())
	}
	told := make(chan client.Game, 1)
	dealt := make(chan error, 1)
	go func() {
		_, err := b.client.Dealt(ctx, id, 1, func(g client.Game) { told <- g })
		dealt <- err
	}()
	if g := <-told; g.Round != recordedRound {
		t.Errorf("a waiting platform is told round %d", g.Round)
	}
	b.pass(2 * time.Second)
	must(t, <-dealt)
	if asked.Load() == 0 {
		t.Error("the relay that lies was never asked")
	}
	b.resign(id, 1, [2]*player.Player{})
	report := b.verified(id, "L1", audit.Trust{Policy: policy})
	if report.LevelNote != "" {
		t.Errorf("note %q", report.LevelNote)
	}
	// Without a witness's word the house could have waited for the round.
	bundle, err := b.client.Bundle(ctx, id)
	must(t, err)
	if r := audit.Verify(bundle, audit.Trust{Key: b.logKey}); r.Level != "L0" || r.LevelNote != audit.NoteUnwitnessed {
		t.Errorf("without witnesses the bundle is %s, %s", r.Level, r.LevelNote)
	}
}

// resign plays until a roll of a or b is due, then gives up, and closes.
func (b *bench) resign(id string, game int, seats [2]*player.Player) {
	b.t.Helper()
	ctx := b.t.Context()
	_, _, st := b.playOn(id, game, setting(b.t, single), seats, func(st replay.State) bool { return st.Due().Kind == replay.DueRoll })
	line := b.game(id, game).Lines + 1
	must(b.t, second(b.client.Append(ctx, id, game, line, "resign "+st.OnTurn().String()+" 1", "end "+st.OnTurn().Other().String()+" 1")))
	must(b.t, second(b.client.CloseGame(ctx, id, game, 0)))
}

// With players and a beacon the cut has all three; the players see the
// beacon's part in the deal before they believe a roll.
func TestBeaconAndPlayers(t *testing.T) {
	b, policy, _ := newBeaconBench(t)
	ctx := t.Context()
	id := newID(t)
	seats := b.newSeats(id, client.ModeRandom)
	must(t, second(b.client.OpenMatch(ctx, id, client.OpenRequest{
		Variant: "short", Mode: client.ModeRandom, Options: new(single), Beacon: new(client.OpenRequestBeaconQuicknet),
		A: client.Player{Token: "ada", Anchor: &client.Anchor{Hash: seats[0].Anchor().String()}},
		B: client.Player{Token: "ben", Anchor: &client.Anchor{Hash: seats[1].Anchor().String()}},
	}, 0)))
	started, err := b.client.NextGame(ctx, id, 1, 0)
	must(t, err)
	if started.State != client.SegmentStateAwaitingLinks {
		t.Errorf("state %s", started.State)
	}
	patient, err := client.New(b.url) // repeats what is not yet public
	must(t, err)
	for _, p := range seats {
		taken, err := p.Play(ctx, patient, 1, 1)
		must(t, err)
		if taken.State != client.SegmentStateAwaitingBeacon {
			t.Errorf("after a link: %s", taken.State)
		}
	}
	b.pass(house.BeaconLead + time.Second)
	_, err = b.client.Dealt(ctx, id, 1, nil)
	must(t, err)
	b.resign(id, 1, seats)
	r, err := b.client.Draw(ctx, id, 1, 1, client.StreamOpening, 0) // again
	must(t, err)
	for _, p := range seats {
		must(t, p.CheckRoll(r))
	}
	data, err := json.Marshal(r)
	must(t, err)
	if v := audit.VerifyRoll(data, audit.Trust{Key: b.logKey}); v.Verdict != audit.Verified {
		t.Errorf("the roll is %s: %v", v.Verdict, v.Failed())
	}
	own := seats[0].Anchor()
	b.verified(id, "L2", audit.Trust{Policy: policy, MyAnchor: &own})
}

// A round that no relay has is never replaced: the game waits until it is
// aborted, and the abort reveals its secret, so that it can be counted.
func TestBeaconNeverReplaced(t *testing.T) {
	b, _, asked := newBeaconBench(t)
	ctx := t.Context()
	b.pass(time.Minute) // the round that follows is in no recording
	id := newID(t)
	must(t, second(b.client.OpenMatch(ctx, id, client.OpenRequest{
		Variant: "short", Mode: client.ModeRandom, Options: new(single), Beacon: new(client.OpenRequestBeaconQuicknet),
		A: client.Player{Token: "ada"}, B: client.Player{Token: "ben"},
	}, 0)))
	must(t, second(b.client.NextGame(ctx, id, 1, 0)))
	b.pass(time.Hour)
	for range 50 {
		if asked.Load() > 0 {
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	if g := b.game(id, 1); asked.Load() == 0 || g.State != client.GameStateAwaitingBeacon {
		t.Errorf("asked %d times, the game is %s", asked.Load(), g.State)
	}
	aborted, err := b.client.AbortGame(ctx, id, 1, "no-beacon", 0)
	must(t, err)
	s, err := commitment.Parse([]byte(aborted.Published.Statements[0].Text))
	must(t, err)
	if a := s.(commitment.Abort); a.Signature != nil || len(a.Secrets) != 1 {
		t.Errorf("the abort has a signature or not its secret:\n%s", s.Text())
	}
	bundle, err := b.client.Bundle(ctx, id)
	must(t, err)
	if r := audit.Verify(bundle, audit.Trust{Key: b.logKey}); fmt.Sprint(r.Failed()) != "[rolls.order level]" {
		t.Errorf("a match without one roll proves nothing and is no fault of the rest, but it failed %v", r.Failed())
	}
}
