package main

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"

	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
	"fairdice/internal/selfplay"
	"fairdice/replay"
	"fairdice/translog"
)

// spoken is everything that a service has said: answers and log lines.
type spoken struct {
	mu sync.Mutex
	bytes.Buffer
}

func (s *spoken) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.Buffer.Write(p)
}

func (s *spoken) copy() []byte {
	s.mu.Lock()
	defer s.mu.Unlock()
	return bytes.Clone(s.Bytes())
}

// listening records every answer that comes over the wire.
type listening struct{ into io.Writer }

func (l listening) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := http.DefaultTransport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(resp.Body)
	resp.Body.Close()
	for name, values := range resp.Header {
		fmt.Fprintln(l.into, name, values)
	}
	l.into.Write(data)
	resp.Body = io.NopCloser(bytes.NewReader(data))
	return resp, err
}

// Until a secret is published, nothing that leaves the service has it or a
// roll key that was not drawn: no answer, no log line at any level, no file of
// the data directory but the master key's. What the secrets were the test
// learns afterwards, when all of them are published.
func TestSecretsStayInside(t *testing.T) {
	for _, mode := range []string{"random", "real", "live"} {
		t.Run(mode, func(t *testing.T) { t.Parallel(); secretsStayInside(t, mode) })
	}
}

func secretsStayInside(t *testing.T, mode string) {
	ctx := t.Context()
	dir := t.TempDir()
	said := &spoken{}
	cfg := testConfig(filepath.Join(dir, "data"))
	cfg.master, cfg.sealed, cfg.metricsListen = filepath.Join(dir, "master.key"), 4, "127.0.0.1:0"
	s, err := openService(ctx, cfg, slog.New(slog.NewTextHandler(said, &slog.HandlerOptions{Level: slog.LevelDebug})))
	must(t, err)
	defer func() { must(t, s.stop()) }()
	must(t, s.bind())
	key, err := s.prepare(ctx)
	must(t, err)
	if mode == "real" {
		var dice []commitment.Dice
		for i := range 3 * commitment.DefaultLengths().Total() {
			dice = append(dice, commitment.Dice{D1: uint8(i%6 + 1), D2: uint8(i/600 + 1)})
		}
		_, err := s.importThrows(ctx, order{Tenant: cfg.tenant, Throws: throwsText(dice)})
		must(t, err)
	}
	must(t, s.serve())
	c, err := client.New(s.url(), client.WithKey(key), client.WithHTTP(&http.Client{Transport: listening{said}}))
	must(t, err)

	drawn := map[string]bool{} // keys that may be known
	host := openCut(t, c, s, mode, filepath.Join(dir, "players"))
	host.rolled = func(_ int, _ client.DrawDue, r client.Roll, _ time.Duration) { drawn[r.Opening.Key] = true }
	playSome(t, c, host, 6, drawn)
	for address, status := range map[string]int{
		s.url() + "/v1/sequences?tenant=default&mode=" + mode: http.StatusOK,
		s.url() + "/checkpoint":                               http.StatusOK,
		s.url() + "/tile/entries/000.p/12":                    http.StatusOK,
		s.url() + "/version":                                  http.StatusOK,
		s.url() + "/v1/matches/" + host.match:                 http.StatusOK,
		s.metricsURL():                                        http.StatusOK,
		s.url() + "/metrics":                                  http.StatusNotFound, // the public does not see them
		s.metricsURL() + "/../debug/pprof/goroutine?debug=2":  http.StatusNotFound, // nobody has asked for it
	} {
		resp, err := (&http.Client{Transport: listening{said}}).Get(address)
		must(t, err)
		resp.Body.Close()
		if resp.StatusCode != status {
			t.Errorf("%s is answered %s", address, resp.Status)
		}
	}
	before := said.copy()
	files := map[string][]byte{}
	must(t, filepath.WalkDir(cfg.data, func(path string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			files[d.Name()], err = os.ReadFile(path)
		}
		return err
	}))
	if len(files["fairdice.db"])+len(files["fairdice.db-wal"]) == 0 || !bytes.Contains(before, []byte("fairdice_rolls_drawn_total{mode=\""+mode+"\"} 6\n")) {
		t.Fatal("there is nothing to search")
	}

	must(t, second(c.AbortGame(ctx, host.match, 1, "test", 0)))
	needles := published(t, c, s, drawn)
	if len(needles) < 500 {
		t.Fatalf("only %d secrets and keys to look for", len(needles))
	}
	search(t, "an answer or log line", before, needles)
	// What opens doors was told to those who may pass, but is kept nowhere.
	token := regexp.MustCompile(`"viewToken":"([^"]{22})"`).FindSubmatch(before)
	master, err := os.ReadFile(cfg.master)
	must(t, err)
	raw, err := hex.DecodeString(strings.Fields(string(master))[2])
	must(t, err)
	if token == nil || len(raw) != 32 {
		t.Fatal("there is no view token or master key to look for")
	}
	search(t, "an answer or log line", before, map[string][]byte{"master key": raw, "API key": []byte(key)})
	needles["master key"], needles["API key"], needles["view token"] = raw, []byte(key), token[1]
	for name, data := range files {
		search(t, name, data, needles)
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func second[T any](_ T, err error) error { return err }

// openCut opens a match whose seats cut, and deals its first game.
func openCut(t *testing.T, c *client.Client, s *service, mode, dir string) *croupier {
	t.Helper()
	d := demo{level: "L2"}
	seats, err := d.seats(dir, s.keys.log.public)
	must(t, err)
	id := uuid.Must(uuid.NewV7()).String()
	must(t, second(c.OpenMatch(t.Context(), id, client.OpenRequest{
		Variant: "short", Mode: client.Mode(mode), Options: new(demoOptions), A: seats[0].player(), B: seats[1].player(),
	}, 0)))
	host := &croupier{api: c, match: id, moves: selfplay.New(selfplay.Random, 3), live: mode == "live"}
	for _, p := range seats {
		must(t, p.chain.Join(player.Terms{Match: id}))
		host.seats = append(host.seats, p.chain)
	}
	must(t, second(c.NextGame(t.Context(), id, 1, 0)))
	must(t, host.links(t.Context(), 1, 1))
	return host
}

// playSome plays until that many rolls were drawn.
func playSome(t *testing.T, c *client.Client, host *croupier, rolls int, drawn map[string]bool) {
	t.Helper()
	st, err := replay.Start(shortSetting(t))
	must(t, err)
	for line := 1; len(drawn) < rolls; line++ {
		e, ok := host.moves.Next(st)
		if ok {
			_, err = c.Append(t.Context(), host.match, 1, line, e.String())
		} else {
			e, err = host.roll(t.Context(), 1, st)
		}
		must(t, err)
		st, err = st.Apply(&host.gen, e)
		must(t, err)
	}
}

// published retires every free sequence and reads the log. It answers all
// secrets, game keys and archives, and the roll keys that nobody has drawn.
func published(t *testing.T, c *client.Client, s *service, drawn map[string]bool) map[string][]byte {
	t.Helper()
	ctx := t.Context()
	for _, m := range commitment.Modes() {
		page, err := c.Sequences(ctx, s.config.tenant, client.Mode(m.String()), "free", 0)
		must(t, err)
		for _, q := range page.Sequences {
			must(t, second(c.Retire(ctx, q.Sequence, "test", 0)))
		}
	}
	needles := map[string][]byte{}
	commits := map[string]commitment.Commit{}
	cuts := map[string]commitment.Cut{}
	reveal := func(id string, secret commitment.Secret) {
		needles["secret of "+id] = secret[:]
		commit := commits[id]
		var archive *commitment.Archive
		if commit.Archive != nil {
			text, err := c.Archive(ctx, commit.Archive.String())
			must(t, err)
			archive, err = commitment.ParseArchive(text)
			must(t, err)
			needles["salt of "+id], needles["throws of "+id] = text[:64], text[65:465]
		}
		cut, dealt := cuts[id]
		if !dealt {
			return
		}
		game := commitment.GameKey(secret, id, cut)
		needles["game key of "+id] = game[:]
		seq, err := commitment.Build(secret, id, commit.Mode, commit.Rolls, cut, archive)
		must(t, err)
		for st, n := range commit.Rolls {
			for i := range n {
				if k := seq.Key(commitment.Stream(st), i); !drawn[k.String()] {
					needles[fmt.Sprintf("key of %s %d", commitment.Stream(st), i)] = k[:]
				}
			}
		}
	}
	head, err := c.Checkpoint(ctx)
	must(t, err)
	checkpoint, err := translog.ReadCheckpoint(head)
	must(t, err)
	for i := range checkpoint.Size {
		p, err := s.house.Statement(ctx, i, 0)
		must(t, err)
		read, err := commitment.Parse([]byte(p.Statements[0].Text))
		must(t, err)
		switch st := read.(type) {
		case commitment.Commit:
			commits[st.Sequence] = st
		case commitment.Deal:
			cuts[st.Sequence] = st.Cut
		case commitment.Abort:
			for _, r := range st.Secrets {
				reveal(r.Sequence, r.Secret)
			}
		case commitment.Retire:
			reveal(st.Sequence, st.Secret)
		}
	}
	return needles
}

// search looks for every needle as bytes, as hex and as base64 of both alphabets.
func search(t *testing.T, where string, haystack []byte, needles map[string][]byte) {
	t.Helper()
	lower := bytes.ToLower(haystack)
	for what, needle := range needles {
		if bytes.Contains(haystack, needle) || bytes.Contains(lower, []byte(hex.EncodeToString(needle))) ||
			bytes.Contains(haystack, []byte(base64.RawStdEncoding.EncodeToString(needle))) ||
			bytes.Contains(haystack, []byte(base64.RawURLEncoding.EncodeToString(needle))) {
			t.Errorf("%s holds the %s before it was published", where, what)
		}
	}
}
