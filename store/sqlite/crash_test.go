package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"fairdice/store"
)

// kills is how often TestKill kills its child.
const kills = 25

// TestKill kills a process that commits in a loop, with SIGKILL and at any
// moment, opens the database it left, and looks for everything that the
// process had acknowledged by then.
func TestKill(t *testing.T) {
	if path := os.Getenv("FAIRDICE_TEST_DB"); path != "" {
		commitForEver(path)
	}
	path := filepath.Join(t.TempDir(), "test.db")
	var acknowledged []string
	for n := range kills {
		cmd := child(t, "TestKill", path)
		cmd.Stderr = os.Stderr
		out, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		// From the first acknowledgement on, so that every round has some.
		lines := bufio.NewScanner(out)
		for lines.Scan() {
			id, ok := strings.CutPrefix(lines.Text(), "done ")
			if !ok { // a short write to a pipe is never cut
				t.Fatalf("round %d: the child said %q", n, lines.Text())
			}
			if acknowledged = append(acknowledged, id); strings.HasPrefix(id, "first") {
				time.AfterFunc(time.Duration(rand.IntN(20_000))*time.Microsecond, func() { cmd.Process.Kill() })
			}
		}
		if err := cmd.Wait(); err == nil || !strings.Contains(err.Error(), "killed") {
			t.Fatalf("round %d: the child ended by itself: %v", n, err)
		}
		check(t, path, acknowledged)
	}
	t.Logf("%d kills, %d acknowledged updates, none lost", kills, len(acknowledged))
}

// commitForEver prints "done ID" after each update was acknowledged.
func commitForEver(path string) {
	s, err := Open(path, Options{checkpointPages: 50}) // so that kills also meet checkpoints
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	var mu sync.Mutex
	commit := func(id string) {
		err := s.Update(context.Background(), func(tx store.Tx) error {
			head, err := tx.LockLog()
			if err != nil {
				return err
			}
			hashes := make([][32]byte, firstHash(head.Size+1)-firstHash(head.Size))
			if err := tx.AppendEntry(store.Entry{Index: head.Size, Text: []byte(id), Time: time.Now()}, hashes); err != nil {
				return err
			}
			if err := tx.AddMatch(store.Match{ID: id, Open: head.Size}); err != nil {
				return err
			}
			return tx.AddEvents(id, 1, 1, []string{"one", "two", "three"})
		})
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		mu.Lock()
		defer mu.Unlock()
		fmt.Println("done", id)
	}
	commit(fmt.Sprintf("first-%d", os.Getpid()))
	for g := range 8 {
		go func() {
			for i := 0; ; i++ {
				commit(fmt.Sprintf("%d-%d-%d", os.Getpid(), g, i))
			}
		}()
	}
	select {}
}

// check opens the database and looks for the acknowledged ids, each whole, and
// for a log without a gap whose every entry has its match.
func check(t *testing.T, path string, acknowledged []string) {
	t.Helper()
	s, err := Open(path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	err = s.View(context.Background(), func(r store.Reader) error {
		head, err := r.LogHead()
		if err != nil {
			return err
		}
		entries, err := r.Entries(0, head.Size)
		if err != nil {
			return err
		}
		there := make(map[string]bool)
		for i, e := range entries {
			m, err := r.Match(string(e.Text))
			if err != nil || m.Open != e.Index || e.Index != int64(i) {
				return fmt.Errorf("entry %d is %d %s, its match %+v: %w", i, e.Index, e.Text, m, err)
			}
			if lines, err := r.Events(m.ID, 1, 1); err != nil || len(lines) != 3 {
				return fmt.Errorf("update %s is half there: %q, %w", m.ID, lines, err)
			}
			there[m.ID] = true
		}
		if n := firstHash(head.Size); n > 0 {
			if _, err := r.LogHashes([]int64{n - 1}); err != nil {
				return err
			}
		}
		for _, id := range acknowledged {
			if !there[id] {
				return fmt.Errorf("update %s was acknowledged and is not there", id)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
