package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	cryptorand "crypto/rand"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/internal/selfplay"
	"fairdice/store/postgres/pgtest"
	"fairdice/translog"
)

// Kills in one run; `make crash` asks for more.
const defaultKills = 20

// The service is killed at random moments while matches are played, half of
// them cut by their players, and started again. Whatever it had acknowledged
// must be there with the same bytes, dice before all; every checkpoint it had
// shown must be the beginning of the next; and in the end the log must hash,
// from its statements alone, to the root that is signed.
func TestKilled(t *testing.T) {
	kills := defaultKills
	if n, err := strconv.Atoi(os.Getenv("FAIRDICE_KILLS")); err == nil {
		kills = n
	}
	t.Run("SQLite", func(t *testing.T) { testKilled(t, kills, 0) })
	t.Run("PostgreSQL", func(t *testing.T) {
		if kills == defaultKills {
			kills = 2
		}
		// Nothing is signed before the end of the lease of the one that was killed.
		testKilled(t, kills, house.DefaultLease, "--database", pgtest.Start(t).Database(t))
	})
}

func testKilled(t *testing.T, kills int, pause time.Duration, more ...string) {
	dir, listen := t.TempDir(), freeAddress(t)
	p := startProcess(t, dir, listen, more...)
	key := p.apiKey
	verifier, err := commitment.ParseVerifier(p.logKey)
	if err != nil {
		t.Fatal(err)
	}
	var seen translog.Checkpoint
	var old []row // a sample of what was acknowledged long ago
	acknowledged, rolls := 0, 0
	for kill := range kills {
		load := startLoad(t, p.url, p.logKey, key, uint64(kill))
		time.Sleep(pause + time.Duration(20+rand.IntN(500))*time.Millisecond)
		load.killing()
		if err := p.end(syscall.SIGKILL); err == nil {
			t.Fatal("the service survived a SIGKILL")
		}
		rows := load.wait()
		p = startProcess(t, dir, listen, more...)
		if p.apiKey != "" {
			t.Error("a start after a crash made a new tenant")
		}
		for _, r := range rows {
			p.repeat(t, key, r)
		}
		for _, r := range old {
			p.repeat(t, key, r)
		}
		if len(rows) > 0 {
			old = append(old, rows[rand.IntN(len(rows))])
		}
		acknowledged += len(rows)
		rolls += load.rolls
		seen = extends(t, p.url, verifier, seen)
		if t.Failed() {
			t.Fatalf("after kill %d", kill+1)
		}
	}
	if rolls < kills {
		t.Errorf("only %d rolls between %d kills: the load is too light to test anything", rolls, kills)
	}
	rehash(t, p.url, verifier)
	t.Logf("%d kills, %d acknowledged requests, %d of them rolls, log of %d statements", kills, acknowledged, rolls, seen.Size)
	if err := p.end(syscall.SIGTERM); err != nil {
		t.Errorf("after SIGTERM: %v", err)
	}
}

// matches are being played by several platforms at once.
type matches struct {
	ledger *ledger
	wg     sync.WaitGroup
	stop   context.CancelFunc
	mu     sync.Mutex
	dying  bool
	rolls  int
}

func startLoad(t *testing.T, url, logKey, key string, seed uint64) *matches {
	l := &matches{ledger: &ledger{base: &http.Transport{MaxIdleConnsPerHost: 8}}}
	c, err := client.New(url, client.WithKey(key), client.WithAttempts(1), client.WithHTTP(&http.Client{Transport: l.ledger}))
	if err != nil {
		t.Fatal(err)
	}
	var ctx context.Context
	ctx, l.stop = context.WithCancel(t.Context())
	dir := t.TempDir()
	for n := range 6 {
		l.wg.Go(func() {
			for match := 0; ctx.Err() == nil; match++ {
				err := l.play(ctx, t, c, logKey, filepath.Join(dir, fmt.Sprintf("%d-%d", n, match)), n%2 == 0, seed<<8+uint64(n))
				l.mu.Lock()
				dying := l.dying
				l.mu.Unlock()
				if dying {
					return
				}
				if err != nil && client.Code(err) != "pool-empty" {
					t.Errorf("while the service lived: %v", err)
					return
				}
			}
		})
	}
	return l
}

func (l *matches) play(ctx context.Context, t *testing.T, c *client.Client, logKey, file string, cut bool, seed uint64) error {
	id, terms := benchID(t), benchTerms
	host := &croupier{api: c, match: id, moves: selfplay.New(selfplay.Random, seed), rolled: func(int, client.DrawDue, client.Roll, time.Duration) {
		l.mu.Lock()
		l.rolls++
		l.mu.Unlock()
	}}
	if cut {
		for i, seat := range []*client.Player{&terms.A, &terms.B} {
			p, err := player.New(fmt.Sprintf("%s-%d", file, i), logKey, 32, cryptorand.Reader)
			if err == nil {
				err = p.Join(player.Terms{Match: id})
			}
			if err != nil {
				return err
			}
			seat.Anchor = &client.Anchor{Hash: p.Anchor().String()}
			host.seats = append(host.seats, p)
		}
	}
	if _, err := c.OpenMatch(ctx, id, terms, 0); err != nil {
		return err
	}
	_, _, err := host.game(ctx, shortSetting(t))
	return err
}

// killing says that errors are to be expected from now on.
func (l *matches) killing() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.dying = true
}

func (l *matches) wait() []row {
	l.stop()
	l.wg.Wait()
	return l.ledger.take()
}

// extends checks that the log of now begins with the log seen before.
func extends(t *testing.T, url string, v note.Verifier, seen translog.Checkpoint) translog.Checkpoint {
	t.Helper()
	c, err := client.New(url)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := c.Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	now, err := translog.OpenCheckpoint(signed, v)
	if err != nil {
		t.Fatal(err)
	}
	if seen.Size == 0 {
		return now
	}
	if now.Size < seen.Size {
		t.Fatalf("the log shrank from %d to %d statements", seen.Size, now.Size)
	}
	answer, err := c.Statement(t.Context(), now.Size-1, seen.Size)
	if err != nil {
		t.Fatal(err)
	}
	head, err := translog.OpenCheckpoint(answer.Checkpoint, v)
	if err != nil {
		t.Fatal(err)
	}
	proof := make([]commitment.Hash, len(answer.Consistency))
	for i, s := range answer.Consistency {
		if proof[i], err = commitment.ParseHash(s); err != nil {
			t.Fatal(err)
		}
	}
	if err := translog.VerifyConsistency(seen.Size, seen.Root, head.Size, head.Root, proof); err != nil {
		t.Fatal(err)
	}
	return head
}

// rehash builds the tree from the statements alone, times and order checked.
func rehash(t *testing.T, url string, v note.Verifier) {
	t.Helper()
	c, err := client.New(url)
	if err != nil {
		t.Fatal(err)
	}
	signed, err := c.Checkpoint(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	head, err := translog.OpenCheckpoint(signed, v)
	if err != nil {
		t.Fatal(err)
	}
	texts := make([]string, head.Size)
	spread(t, len(texts), func(i int) error {
		p, err := c.Statement(t.Context(), int64(i), 0)
		if err == nil {
			texts[i] = p.Statements[0].Text
		}
		return err
	})
	var hashes memory
	var last time.Time
	for i, text := range texts {
		s, err := commitment.Parse([]byte(text))
		if err != nil {
			t.Fatalf("statement %d: %v", i, err)
		}
		if s.When().Before(last) {
			t.Errorf("statement %d is dated before the one in front of it", i)
		}
		last = s.When()
		more, err := tlog.StoredHashes(int64(i), []byte(text), hashes)
		if err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, more...)
	}
	root, err := tlog.TreeHash(head.Size, hashes)
	if err != nil {
		t.Fatal(err)
	}
	if commitment.Hash(root) != head.Root {
		t.Errorf("the statements hash to %x, signed is %s", root, head.Root)
	}
}

// memory holds the stored hashes of a log.
type memory []tlog.Hash

func (m memory) ReadHashes(indexes []int64) ([]tlog.Hash, error) {
	list := make([]tlog.Hash, len(indexes))
	for i, x := range indexes {
		list[i] = m[x]
	}
	return list, nil
}
