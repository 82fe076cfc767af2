package api_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"

	"fairdice/client"
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/internal/beacon"
	"fairdice/internal/relay"
	"fairdice/translog"
	"fairdice/translog/witness"
)

// moody is a witness that answers otherwise while it has a mood.
type moody struct {
	beside
	mood atomic.Pointer[func(ctx context.Context) error]
}

func (m *moody) Cosign(ctx context.Context, old int64, proof []commitment.Hash, signed string) (string, error) {
	if mood := m.mood.Load(); mood != nil {
		if err := (*mood)(ctx); err != nil {
			return "", err
		}
	}
	return m.beside.Cosign(ctx, old, proof, signed)
}

// newOutageBench is a service with one witness and one relay, both of which
// may fail. rule takes the place of the relay's answer while it is set.
func newOutageBench(t *testing.T) (b *bench, w *moody, rule *atomic.Pointer[http.HandlerFunc]) {
	t.Helper()
	w, rule = new(moody), new(atomic.Pointer[http.HandlerFunc])
	b = newBenchOf(t, func(b *bench, c *house.Config) {
		b.now = beacon.Time(recordedRound).Add(-house.BeaconLead - time.Second)
		urls, _ := relays(t, b.clock)
		honest, err := url.Parse(urls[1])
		must(t, err)
		proxy := httputil.NewSingleHostReverseProxy(honest)
		s := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
			if f := rule.Load(); f != nil {
				(*f)(out, r)
				return
			}
			proxy.ServeHTTP(out, r)
		}))
		t.Cleanup(s.Close)
		c.Beacon, err = relay.New([]string{s.URL}, nil)
		must(t, err)
		skey, vkey, err := translog.NewWitnessKey("witness.example/w1", rand.NewChaCha8([32]byte{9}))
		must(t, err)
		cosigner, err := translog.NewCosigner(skey, b.clock)
		must(t, err)
		w.Witness, err = witness.New(cosigner, []note.Verifier{c.LogVerifier}, witness.InMemory())
		must(t, err)
		policy, err := translog.NewPolicy(c.LogKey, []string{vkey})
		must(t, err)
		c.Witnesses, c.Policy = []house.Witness{w}, policy
	})
	return b, w, rule
}

// soon waits for what is to happen by itself.
func soon(t *testing.T, what string, done func() bool) {
	t.Helper()
	for range 150 {
		if done() {
			return
		}
		time.Sleep(100 * time.Millisecond)
	}
	t.Fatalf("%s: it never happened", what)
}

// TestBeaconOutage: whatever the relay does instead of telling the round, the
// game waits and says for what, and is dealt when the round is there.
func TestBeaconOutage(t *testing.T) {
	for name, f := range map[string]http.HandlerFunc{
		"hangs": func(_ http.ResponseWriter, r *http.Request) { <-r.Context().Done() },
		"fails": func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "no", http.StatusInternalServerError) },
		"lies": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"round":%d,"signature":"%096x"}`, recordedRound, 7)
		},
		"old round": func(w http.ResponseWriter, _ *http.Request) {
			fmt.Fprintf(w, `{"round":%d,"signature":"%096x"}`, recordedRound-1, 7)
		},
		"talks HTML":   func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "<html>") },
		"is not there": func(w http.ResponseWriter, _ *http.Request) { panic(http.ErrAbortHandler) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, _, rule := newOutageBench(t)
			rule.Store(&f)
			id := newID(t)
			must(t, second(b.client.OpenMatch(t.Context(), id, client.OpenRequest{
				Variant: "short", Mode: client.ModeRandom, Options: new(single), Beacon: new(client.OpenRequestBeaconQuicknet),
				A: client.Player{Token: "ada"}, B: client.Player{Token: "ben"},
			}, 0)))
			must(t, second(b.client.NextGame(t.Context(), id, 1, 0)))
			b.pass(house.BeaconLead + time.Second)
			time.Sleep(300 * time.Millisecond) // for the relay to be asked
			if g := b.game(id, 1); g.State != client.GameStateAwaitingBeacon || g.Round != recordedRound {
				t.Errorf("the game is %s for round %d", g.State, g.Round)
			}
			if a := b.send(http.MethodPut, gamePath(id, 1, "segments/1/rolls/opening/0"), ""); a.status != http.StatusConflict || a.code() != "awaiting-links" {
				t.Errorf("a roll without the round: %d %s", a.status, a.body)
			}
			rule.Store(nil)
			soon(t, "the deal", func() bool { return b.game(id, 1).State == client.GameStatePlaying })
			must(t, second(b.client.Draw(t.Context(), id, 1, 1, client.StreamOpening, 0)))
		})
	}
}

// TestWitnessOutage: while the witness does not cosign, links of a match with a
// beacon are refused for a time and everything else goes on; with the witness
// back they are taken. One that claims another history stops all signing.
func TestWitnessOutage(t *testing.T) {
	for name, mood := range map[string]func(ctx context.Context) error{
		"refuses": func(context.Context) error { return errors.New("403 forbidden") },
		"hangs":   func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
		"slow": func(ctx context.Context) error {
			select {
			case <-time.After(time.Second):
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		},
		"equivocates": func(context.Context) error { return translog.ErrInconsistent },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, w, _ := newOutageBench(t)
			id := newID(t)
			seats := b.newSeats(id, client.ModeRandom)
			must(t, second(b.client.OpenMatch(t.Context(), id, client.OpenRequest{
				Variant: "short", Mode: client.ModeRandom, Options: new(single), Beacon: new(client.OpenRequestBeaconQuicknet),
				A: client.Player{Token: "ada", Anchor: &client.Anchor{Hash: seats[0].Anchor().String()}},
				B: client.Player{Token: "ben"},
			}, 0)))
			w.mood.Store(&mood)
			must(t, second(b.client.NextGame(t.Context(), id, 1, 0)))
			open := `{"variant":"short","mode":"random","a":{"token":"ada"},"b":{"token":"ben"}}`
			once, err := client.New(b.url, client.WithAttempts(1))
			must(t, err)
			_, err = seats[0].Play(t.Context(), once, 1, 1)
			var refusal *client.Refusal
			if !errors.As(err, &refusal) || client.Code(err) != "not-yet-public" || refusal.RetryAfter != time.Second {
				t.Errorf("a link without the witness's word: %v", err)
			}
			if name == "equivocates" {
				soon(t, "the refusal", func() bool {
					a := b.send(http.MethodPut, "/v1/matches/"+newID(t), open)
					return a.status == http.StatusServiceUnavailable && a.header.Get("Retry-After") == "60" && strings.Contains(a.body, "the operator has to look")
				})
				w.mood.Store(nil) // it was wrong
				soon(t, "the next signature", func() bool {
					return b.send(http.MethodPut, "/v1/matches/"+newID(t), open).status == http.StatusOK
				})
				return
			}
			if a := b.send(http.MethodPut, "/v1/matches/"+newID(t), open); a.status != http.StatusOK {
				t.Errorf("another match meanwhile: %d %s", a.status, a.body)
			}
			w.mood.Store(nil)
			soon(t, "the link", func() bool {
				_, err := seats[0].Play(t.Context(), once, 1, 1)
				if err != nil && client.Code(err) != "not-yet-public" {
					t.Fatal(err)
				}
				return err == nil
			})
			b.pass(house.BeaconLead + time.Second)
			soon(t, "the deal", func() bool { return b.game(id, 1).State == client.GameStatePlaying })
		})
	}
}
