package house_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"fairdice/house"
)

// keyBench is a bench with a clock that tests may move while the house runs.
func keyBench(t *testing.T) (*bench, *clock) {
	t.Helper()
	c := &clock{now: time.Date(2026, 11, 29, 12, 0, 0, 0, time.UTC)}
	return newBench(t, func(cfg *house.Config) { cfg.Now = c.Now }), c
}

func (b *bench) issue(label string, expires time.Time) string {
	b.t.Helper()
	key, err := b.IssueKeyUntil(b.ctx(), "default", label, []string{house.ScopeDraw, house.ScopeMatch}, expires)
	if err != nil {
		b.t.Fatal(err)
	}
	return key
}

// accepted demands that the key works, or is refused with these words.
func (b *bench) accepted(key, words string) {
	b.t.Helper()
	p, err := b.Authenticate(b.ctx(), key)
	switch {
	case words == "" && (err != nil || p.Tenant != "default"):
		b.t.Errorf("a valid key: %+v, %v", p, err)
	case words != "" && (house.CodeOf(err) != house.Unauthorized || !strings.Contains(err.Error(), words)):
		b.t.Errorf("got error %v, want unauthorized with %q", err, words)
	case err != nil && key != "" && strings.Contains(err.Error(), key):
		b.t.Errorf("the refusal has the key: %v", err)
	}
}

// the key the list shows with that label and state, of which there is one.
func (b *bench) listed(label string, state house.KeyState) house.Key {
	b.t.Helper()
	keys, err := b.Keys(b.ctx())
	if err != nil {
		b.t.Fatal(err)
	}
	var found []house.Key
	for _, k := range keys {
		if k.Label == label && k.State == state {
			found = append(found, k)
		}
	}
	if len(found) != 1 {
		b.t.Fatalf("%d keys %q are %s, want 1, in %+v", len(found), label, state, keys)
	}
	return found[0]
}

// A key works until the second before its end.
func TestKeyExpires(t *testing.T) {
	b, c := keyBench(t)
	end := c.Now().Add(24 * time.Hour)
	key, endless := b.issue("short", end), b.issue("endless", time.Time{})
	p, err := b.Authenticate(b.ctx(), key)
	if err != nil || !p.Ends.Equal(end) {
		t.Errorf("the key ends on %v, %v; want %v", p.Ends, err, end)
	}
	c.set(end.Add(-time.Second))
	b.accepted(key, "")
	b.listed("short", house.KeyValid)
	c.set(end)
	b.accepted(key, "expired on 2026-11-30T12:00:00Z")
	b.listed("short", house.KeyExpired)
	b.accepted(endless, "")
	b.accepted(key+"x", "unknown")
	b.accepted("", "unknown")
	if _, err := b.IssueKeyUntil(b.ctx(), "default", "", house.Scopes(), end); house.CodeOf(err) != house.Malformed {
		t.Errorf("a key that has expired already: %v", err)
	}
	if _, err := b.RotateKey(b.ctx(), b.listed("short", house.KeyExpired).Prefix, 0); house.CodeOf(err) != house.NotFound {
		t.Errorf("an expired key was rotated: %v", err)
	}
}

// Rotation hands over scopes, label and lifetime; both keys work through the
// overlap, and a repetition changes nothing.
func TestKeyRotates(t *testing.T) {
	b, c := keyBench(t)
	start := c.Now()
	first := b.issue("phone", start.Add(90*24*time.Hour))
	prefix := b.listed("phone", house.KeyValid).Prefix
	c.set(start.Add(time.Hour))
	r, err := b.RotateKey(b.ctx(), prefix, 24*time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	diff(t, "ends", []time.Time{start.Add(25 * time.Hour), start.Add(time.Hour + 90*24*time.Hour)}, []time.Time{r.OldEnds, r.Expires})
	b.accepted(first, "")
	b.accepted(r.Key, "")
	p, _ := b.Authenticate(b.ctx(), first)
	q, _ := b.Authenticate(b.ctx(), r.Key)
	diff(t, "scopes", p.Scopes, q.Scopes)
	diff(t, "ends that a cache must keep", []time.Time{r.OldEnds, r.Expires}, []time.Time{p.Ends, q.Ends})
	next := b.listed("phone", house.KeyValid)
	diff(t, "successor", next.Prefix, b.listed("phone", house.KeyEnding).Next)

	_, err = b.RotateKey(b.ctx(), prefix, 24*time.Hour)
	if house.CodeOf(err) != house.OtherContent || !strings.Contains(err.Error(), next.Prefix) {
		t.Errorf("rotated twice: %v", err)
	}
	b.accepted(r.Key, "")
	b.listed("phone", house.KeyValid)

	// The new key got lost: revoke it, and rotate once more. The old one's end stays.
	if n, err := b.RevokeKeys(b.ctx(), next.Prefix); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	b.accepted(r.Key, "revoked on")
	c.set(start.Add(2 * time.Hour))
	again, err := b.RotateKey(b.ctx(), prefix, 48*time.Hour)
	if err != nil || !again.OldEnds.Equal(r.OldEnds) {
		t.Fatalf("the old key ends on %v, %v; want %v", again.OldEnds, err, r.OldEnds)
	}
	c.set(r.OldEnds.Add(-time.Second))
	b.accepted(first, "")
	c.set(r.OldEnds)
	b.accepted(first, "revoked on")
	b.accepted(again.Key, "")

	for _, overlap := range []time.Duration{-1, house.MaxOverlap + 1} {
		if _, err := b.RotateKey(b.ctx(), b.listed("phone", house.KeyValid).Prefix, overlap); house.CodeOf(err) != house.Malformed {
			t.Errorf("overlap %s: %v", overlap, err)
		}
	}
}

// What was revoked stays so, also when the clock is set back to before; what
// was only given an end, by rotation or when it was made, lives by the clock.
func TestRevokedForGood(t *testing.T) {
	b, c := keyBench(t)
	start := c.Now()
	lives := func(label string) (key, prefix string) {
		key = b.issue(label, time.Time{})
		return key, b.listed(label, house.KeyValid).Prefix
	}
	revoke := func(prefix string) {
		if n, err := b.RevokeKeys(b.ctx(), prefix); n != 1 || err != nil {
			t.Fatal(n, err)
		}
	}
	leaked, prefix := lives("leaked")
	c.set(start.Add(time.Hour))
	revoke(prefix)

	replaced, prefix := lives("replaced at once")
	if _, err := b.RotateKey(b.ctx(), prefix, 0); err != nil {
		t.Fatal(err)
	}
	overlapping, prefix := lives("with an overlap")
	if _, err := b.RotateKey(b.ctx(), prefix, time.Hour); err != nil {
		t.Fatal(err)
	}
	both, prefix := lives("leaked in the overlap")
	if _, err := b.RotateKey(b.ctx(), prefix, time.Hour); err != nil {
		t.Fatal(err)
	}
	c.set(start.Add(90 * time.Minute))
	revoke(prefix)

	for _, at := range []time.Duration{3 * time.Hour, 90 * time.Minute, time.Hour, 0, -24 * time.Hour} {
		c.set(start.Add(at))
		for _, key := range []string{leaked, replaced, both} {
			b.accepted(key, "revoked on")
		}
	}
	b.restart()
	b.accepted(leaked, "revoked on")
	b.listed("leaked", house.KeyRevoked)
	b.accepted(overlapping, "")
}

// Of many rotations at once one happens, also of those of two instances.
func TestKeyRotatesOnce(t *testing.T) {
	t.Run("one instance", func(t *testing.T) {
		b, _ := keyBench(t)
		rotatesOnce(t, b, b)
	})
	t.Run("two instances", func(t *testing.T) {
		all := instances(t, 2)
		rotatesOnce(t, all[0], all[1])
	})
}

func rotatesOnce(t *testing.T, b, other *bench) {
	old := b.issue("phone", time.Time{})
	other.accepted(old, "")
	prefix := b.listed("phone", house.KeyValid).Prefix
	var wg sync.WaitGroup
	results := make([]error, 8)
	for i := range results {
		wg.Go(func() { _, results[i] = []*bench{b, other}[i%2].RotateKey(t.Context(), prefix, time.Hour) })
	}
	wg.Wait()
	done := 0
	for _, err := range results {
		if err == nil {
			done++
		} else if house.CodeOf(err) != house.OtherContent {
			t.Error(err)
		}
	}
	if done != 1 {
		t.Errorf("%d rotations were done, want 1", done)
	}
	b.listed("phone", house.KeyValid)
	// A leak does not wait for the end of the overlap.
	if n, err := b.RevokeKeys(b.ctx(), prefix); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	b.accepted(old, "revoked on")
	other.accepted(old, "revoked on")
	if _, err := b.RevokeKeys(b.ctx(), prefix); house.CodeOf(err) != house.NotFound {
		t.Errorf("revoked twice: %v", err)
	}
}

// When a key was last used is known to the minute: nothing is written at the
// time, what could not be written is written later, and a stop writes the rest.
func TestKeyUse(t *testing.T) {
	b, c := keyBench(t)
	key, idle := b.issue("used", time.Time{}), b.issue("idle", time.Time{})
	used := func() time.Time { return b.listed("used", house.KeyValid).Used }
	if !used().IsZero() {
		t.Error("a key that was not used yet was")
	}
	at := c.Now()
	for range 3 {
		at = at.Add(time.Second)
		c.set(at)
		b.accepted(key, "")
	}
	b.accepted(idle+"x", "unknown")
	diff(t, "used", at, used())

	c.set(at.Add(time.Hour))
	b.accepted(key, "")
	ended, cancel := context.WithCancel(b.ctx())
	cancel()
	if err := b.FlushKeyUse(ended); err == nil {
		t.Error("a write that was given no time succeeded")
	}
	b.restart()
	diff(t, "used after a restart", at.Add(time.Hour), used())
	if k := b.listed("idle", house.KeyValid); !k.Used.IsZero() {
		t.Errorf("an idle key was used on %s", k.Used)
	}
}
