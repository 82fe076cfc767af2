package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"golang.org/x/mod/sumdb/note"

	"fairdice/audit"
	"fairdice/client"
	"fairdice/commitment"
	"fairdice/translog"
)

// sampleOf is how many matches to audit: -1 for all.
func sampleOf(verify string) (int, error) {
	switch verify {
	case "all":
		return -1, nil
	case "none":
		return 0, nil
	}
	text, ok := strings.CutPrefix(verify, "sample:")
	n, err := strconv.Atoi(text)
	if !ok || err != nil || n < 1 {
		return 0, fmt.Errorf("matches to audit %q are neither all, none nor sample:N", verify)
	}
	return n, nil
}

// loadAudit audits what a service has published of the matches that were
// played. Nothing is believed but the key.
type loadAudit struct {
	load *loadRun
	key  string
	log  note.Verifier

	mu    sync.Mutex
	heads map[int64]commitment.Hash // of every checkpoint seen, by size
	found auditReport
}

// newLoadAudit remembers where the log stands before the first match.
func (l *loadRun) newLoadAudit(ctx context.Context, key string) (*loadAudit, error) {
	log, err := commitment.ParseVerifier(key)
	if err != nil {
		return nil, fmt.Errorf("read log key: %w", err)
	}
	a := &loadAudit{load: l, key: key, log: log, heads: map[int64]commitment.Hash{}}
	head, err := l.api.Checkpoint(ctx)
	if client.Code(err) == "not-found" { // nothing is signed, or cosigned, yet
		return a, nil
	} else if err != nil {
		return nil, err
	}
	a.found.Before, err = a.see(head)
	return a, err
}

// see checks a checkpoint and remembers it. One size has one root.
func (a *loadAudit) see(signed string) (size int64, err error) {
	c, err := translog.OpenCheckpoint(signed, a.log)
	if err != nil {
		return 0, err
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if root, ok := a.heads[c.Size]; ok && root != c.Root {
		return 0, fmt.Errorf("the log has signed two checkpoints of %d statements with different roots", c.Size)
	}
	a.heads[c.Size] = c.Root
	return c.Size, nil
}

func (a *loadAudit) fail(format string, args ...any) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.found.Failures = append(a.found.Failures, fmt.Sprintf(format, args...))
}

// audit looks at the bundles, a few at the same time, then at the log.
func (a *loadAudit) audit(ctx context.Context) auditReport {
	played := a.load.played
	n, err := sampleOf(a.load.verify)
	if err != nil {
		a.fail("%v", err)
		return a.found
	}
	if n >= 0 && n < len(played) {
		chosen := make([]playedMatch, 0, n)
		for _, i := range rand.Perm(len(played))[:n] {
			chosen = append(chosen, played[i])
		}
		played = chosen
	}
	if n == 0 {
		return a.found
	}
	a.found.Asked = true
	a.load.auditing.Store(int64(len(played)))
	queue := make(chan playedMatch)
	var wg sync.WaitGroup
	for range min(a.load.clients, 2*runtime.GOMAXPROCS(0)) {
		wg.Go(func() {
			for p := range queue {
				err := a.bundle(ctx, p)
				a.load.audited.Add(1)
				if err != nil {
					a.fail("match %s: %v", p.id, err)
					continue
				}
				a.mu.Lock()
				a.found.Bundles++
				a.mu.Unlock()
			}
		})
	}
	for _, p := range played {
		queue <- p
	}
	close(queue)
	wg.Wait()
	if err := a.consistent(ctx); err != nil {
		a.fail("log: %v", err)
	}
	return a.found
}

// bundle audits one match: everything verifies, at the level that was played,
// and the record is the one that the client has seen.
func (a *loadAudit) bundle(ctx context.Context, p playedMatch) error {
	data, err := a.load.api.Bundle(ctx, p.id)
	if err != nil {
		return err
	}
	report := audit.Verify(data, audit.Trust{Key: a.key, MyAnchor: p.anchor})
	switch {
	case report.Verdict != audit.Verified:
		return fmt.Errorf("the bundle is %s: %v", report.Verdict, report.Failed())
	case report.Match != p.id:
		return fmt.Errorf("the bundle is that of match %s", report.Match)
	case report.Level != a.load.terms.level:
		return fmt.Errorf("the bundle proves level %s, played was %s", report.Level, a.load.terms.level)
	}
	b, err := audit.ParseBundle(data)
	if err != nil {
		return err
	}
	if len(b.Games) != 1 || sha256.Sum256([]byte(b.Games[0].Record)) != p.record {
		return errors.New("the bundle tells another game than was played")
	}
	_, err = a.see(b.Log.Checkpoint)
	return err
}

// consistent demands that every checkpoint seen is the beginning of the last one.
func (a *loadAudit) consistent(ctx context.Context) error {
	head, err := a.load.api.Checkpoint(ctx)
	if err == nil {
		_, err = a.see(head)
	}
	if err != nil && client.Code(err) != "not-found" {
		return err
	}
	sizes := slices.Sorted(maps.Keys(a.heads))
	if len(sizes) == 0 {
		return errors.New("it has no checkpoint")
	}
	last := sizes[len(sizes)-1]
	a.found.After = last
	for _, size := range sizes[:len(sizes)-1] {
		if size == 0 {
			continue // the beginning of every log
		}
		// The last statement of the last tree comes in that tree.
		answer, err := a.load.api.Statement(ctx, last-1, size)
		if err != nil {
			return err
		}
		if got, err := a.see(answer.Checkpoint); err != nil || got != last {
			return errors.Join(err, fmt.Errorf("a proof to the checkpoint of %d statements was asked for, the answer has %d", last, got))
		}
		proof := make([]commitment.Hash, len(answer.Consistency))
		for i, h := range answer.Consistency {
			if proof[i], err = commitment.ParseHash(h); err != nil {
				return fmt.Errorf("read proof: %w", err)
			}
		}
		if err := translog.VerifyConsistency(size, a.heads[size], last, a.heads[last], proof); err != nil {
			return fmt.Errorf("the checkpoint of %d statements is not the beginning of that of %d: %w", size, last, err)
		}
		a.found.Checkpoints++
	}
	return nil
}
