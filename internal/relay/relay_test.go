package relay

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"fairdice/internal/beacon"
)

const round = 12040883 // 2024-10-14T17:13:33Z

// recorded are rounds the beacon has really signed.
func recorded(t testing.TB) map[string]string {
	t.Helper()
	data, err := os.ReadFile("../beacon/testdata/drand.json")
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
	rounds := map[string]string{}
	for _, r := range file.Rounds {
		rounds[fmt.Sprintf("/%s/public/%d", beacon.ChainHash, r.Round)] = fmt.Sprintf(`{"round":%d,"randomness":"00","signature":%q}`, r.Round, r.Signature)
	}
	return rounds
}

// relays of every character; asked counts the requests of each.
type loopback struct {
	url   string
	asked atomic.Int32
}

func start(t *testing.T, h http.HandlerFunc) *loopback {
	l := &loopback{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		l.asked.Add(1)
		h(w, r)
	}))
	t.Cleanup(s.Close)
	l.url = s.URL
	return l
}

func honest(t *testing.T) http.HandlerFunc {
	rounds := recorded(t)
	return func(w http.ResponseWriter, r *http.Request) {
		if text, ok := rounds[r.URL.Path]; ok {
			fmt.Fprint(w, text)
			return
		}
		http.NotFound(w, r)
	}
}

func says(text string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, text) }
}

func silent(t *testing.T) http.HandlerFunc {
	done := make(chan struct{})
	t.Cleanup(func() { close(done) })
	return func(_ http.ResponseWriter, r *http.Request) {
		select {
		case <-r.Context().Done():
		case <-done:
		}
	}
}

func down(t *testing.T) *loopback {
	s := httptest.NewServer(nil)
	s.Close()
	return &loopback{url: s.URL}
}

// One honest relay among bad ones is enough, wherever it stands, and is asked first from then on.
func TestOneHonestRelay(t *testing.T) {
	rounds := recorded(t)
	other := rounds[fmt.Sprintf("/%s/public/42", beacon.ChainHash)]
	genuine := rounds[fmt.Sprintf("/%s/public/%d", beacon.ChainHash, round)]
	for name, bad := range map[string]func(t *testing.T) *loopback{
		"down":  func(t *testing.T) *loopback { return down(t) },
		"hangs": func(t *testing.T) *loopback { return start(t, silent(t)) },
		"lies": func(t *testing.T) *loopback {
			return start(t, says(strings.Replace(other, `"round":42`, fmt.Sprintf(`"round":%d`, round), 1)))
		},
		"another round": func(t *testing.T) *loopback { return start(t, says(other)) },
		"one bit": func(t *testing.T) *loopback {
			return start(t, says(strings.Replace(genuine, `"signature":"92`, `"signature":"93`, 1)))
		},
		"no hex": func(t *testing.T) *loopback {
			return start(t, says(fmt.Sprintf(`{"round":%d,"signature":"zz"}`, round)))
		},
		"no JSON":              func(t *testing.T) *loopback { return start(t, says("<html>")) },
		"endless":              func(t *testing.T) *loopback { return start(t, says(strings.Repeat(" ", maxAnswer+1)+genuine)) },
		"status without round": func(t *testing.T) *loopback { return start(t, http.NotFound) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			good := start(t, honest(t))
			b := bad(t)
			c, err := New([]string{b.url, b.url + "/", good.url + "/"}, nil)
			if err != nil {
				t.Fatal(err)
			}
			for range 2 {
				sig, err := c.Signature(t.Context(), round)
				if err != nil {
					t.Fatal(err)
				}
				if err := beacon.Verify(round, sig); err != nil {
					t.Error(err)
				}
			}
			if good.asked.Load() != 2 {
				t.Errorf("the honest relay was asked %d times", good.asked.Load())
			}
			if n := b.asked.Load(); n > 2 {
				t.Errorf("the bad relay was asked %d times, although another had answered", n)
			}
		})
	}
}

// Without an honest relay there is no round, and the error names each of them.
func TestNoHonestRelay(t *testing.T) {
	early := start(t, http.NotFound)
	dead := down(t)
	c, err := New([]string{early.url, dead.url}, nil)
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Signature(t.Context(), round)
	if err == nil || !strings.Contains(err.Error(), early.url) || !strings.Contains(err.Error(), dead.url) || !strings.Contains(err.Error(), "404") {
		t.Errorf("%v", err)
	}
	if early.asked.Load() != Passes {
		t.Errorf("asked %d times, want %d", early.asked.Load(), Passes)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	began := time.Now()
	hanging := start(t, silent(t))
	if c, err = New([]string{hanging.url}, nil); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Signature(ctx, round); err == nil || time.Since(began) > Timeout {
		t.Errorf("a caller that goes away waits %s: %v", time.Since(began), err)
	}
}

func TestNew(t *testing.T) {
	for _, bad := range [][]string{nil, {""}, {"api.drand.sh"}, {"ftp://api.drand.sh"}, {"https://x?y"}, {"https://x", "https://%zz"}} {
		if _, err := New(bad, nil); err == nil {
			t.Errorf("%q is taken for relays", bad)
		}
	}
	if _, err := New(Public, nil); err != nil {
		t.Error(err)
	}
}

// Whatever a relay sends is refused or verifies.
func FuzzParse(f *testing.F) {
	for _, text := range recorded(f) {
		f.Add([]byte(text), uint64(round))
	}
	f.Add([]byte(`{"round":42,"signature":"`+strings.Repeat("c0", 48)+`"}`), uint64(42))
	f.Add([]byte(`{"round":-1}`), uint64(0))
	f.Fuzz(func(t *testing.T, data []byte, round uint64) {
		sig, err := parse(data, round)
		if err != nil {
			return
		}
		if beacon.Verify(round, sig) != nil || !bytes.Contains(bytes.ToLower(data), []byte(hex.EncodeToString(sig))) {
			t.Errorf("%q gave %x", data, sig)
		}
	})
}
