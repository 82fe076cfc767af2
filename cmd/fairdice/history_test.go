package main

import (
	"testing"
	"time"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"

	"fairdice/client"
	"fairdice/commitment"
	"fairdice/translog"
)

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

// repeated sends everything acknowledged again, to the services in turn, and
// says how much that was.
func (l *ledger) repeated(t *testing.T, key string, urls ...string) int {
	t.Helper()
	if _, err := l.take(); err != nil {
		t.Error(err)
	}
	rows := l.everything()
	for i, r := range rows {
		if err := l.again(t.Context(), urls[i%len(urls)], key, r); err != nil {
			t.Error(err)
		}
	}
	return len(rows)
}
