package archive_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"fairdice/audit"
	"fairdice/audit/archive"
	"fairdice/commitment"
	"fairdice/internal/dealer"
	"fairdice/rules"
)

// files is an archive in memory.
type files map[string][]byte

func (f files) Read(_ context.Context, name string, limit int64) ([]byte, error) {
	data, ok := f[name]
	switch {
	case !ok:
		return nil, archive.ErrMissing
	case int64(len(data)) > limit:
		return nil, fmt.Errorf("more than %d bytes", limit)
	}
	return data, nil
}

func (f files) List(_ context.Context, folder string) (names []string, _ error) {
	for name := range f {
		if rest, ok := strings.CutPrefix(name, folder+"/"); ok && !strings.Contains(rest, "/") {
			names = append(names, rest)
		}
	}
	return names, nil
}

func (f files) Each(ctx context.Context, names iter.Seq[string], limit int64, visit func(string, []byte, error) error) error {
	for name := range names {
		data, err := f.Read(ctx, name, limit)
		if err := visit(name, data, err); err != nil {
			return err
		}
	}
	return nil
}

func (f files) edit(t *testing.T, name string, change func(string) string) {
	t.Helper()
	before, ok := f[name]
	if !ok {
		t.Fatalf("the archive has no %s", name)
	}
	after := change(string(before))
	if after == string(before) {
		t.Fatalf("%s was not changed", name)
	}
	f[name] = []byte(after)
}

// verify audits the archive under the house's key.
func verify(t testing.TB, f files, h *dealer.House, o archive.Options) *archive.Result {
	t.Helper()
	o.Trust.Key = h.Key
	r, err := archive.Verify(context.Background(), f, o)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var short = commitment.Lengths{4, 24, 24}

// honest plays games over all variants and modes, most of them broken off after
// a few throws so that there can be many.
func honest(t testing.TB, seed byte, games int) *dealer.House {
	h := dealer.New(t, seed)
	variants, modes := rules.Variants(), commitment.Modes()
	for i := range games {
		how := dealer.Terms{
			Variant: variants[i%len(variants)].ID, Mode: modes[i%len(modes)], Options: dealer.SingleGame, Rolls: short,
			Tenant: []string{"club", "casino", "home"}[i%3], StopAt: 6 + i%11,
		}
		how.Anchored = how.Mode == commitment.Live || i%2 == 0
		if i%97 == 0 {
			how.StopAt = 0
		}
		if i%50 == 0 {
			h.NewReceiptKey()
		}
		m := h.Open(how)
		switch {
		case i%41 == 7:
			m.Drop = func(*commitment.Sequence) (int, bool) { return 3, true }
		case i%53 == 9:
			h.Retire(how, "unused")
		}
		m.Play()
		m.Finish()
	}
	return h
}

// size is how many games the honest archive has: FAIRDICE_AUDIT_GAMES, else few.
func size(t testing.TB) int {
	if s := os.Getenv("FAIRDICE_AUDIT_GAMES"); s != "" {
		n, err := strconv.Atoi(s)
		if err != nil {
			t.Fatalf("FAIRDICE_AUDIT_GAMES: %v", err)
		}
		return n
	}
	return 250
}

// TestHonest audits an archive of all variants and modes: clean, with one
// worker and with several, with every signature, interrupted and gone on with.
func TestHonest(t *testing.T) {
	n := size(t)
	h := honest(t, 1, n)
	f := files(h.Archive())
	r := verify(t, f, h, archive.Options{})
	if r.Verdict != audit.Verified {
		t.Fatalf("%s", r.Text())
	}
	closed, aborted, running := r.Games()
	if closed+aborted != int64(n) || running != 0 || aborted == 0 {
		t.Errorf("%d closed, %d aborted, %d running of %d games", closed, aborted, running, n)
	}
	if first := time.Date(2026, 11, 29, 21, 0, 1, 0, time.UTC); !r.First.Equal(first) || !r.Last.Equal(h.Clock) {
		t.Errorf("the log is said to be from %v to %v, want %v to %v", r.First, r.Last, first, h.Clock)
	}
	text := r.Text()
	t.Run("workers", func(t *testing.T) {
		for _, workers := range []int{1, 7} {
			if other := verify(t, f, h, archive.Options{Workers: workers}).Text(); other != text {
				t.Errorf("%d workers give another report:\n%s\n%s", workers, other, text)
			}
		}
	})
	t.Run("signatures", func(t *testing.T) {
		if r := verify(t, f, h, archive.Options{Signatures: true}); r.Verdict != audit.Verified {
			t.Error(r.Text())
		}
	})
	t.Run("log", func(t *testing.T) {
		r, err := archive.VerifyLog(t.Context(), f, archive.Options{Trust: audit.Trust{Key: h.Key}})
		if err != nil || r.Verdict != audit.Verified {
			t.Fatalf("%v\n%s", err, r.Text())
		}
	})
	t.Run("unpinned", func(t *testing.T) {
		r, err := archive.Verify(t.Context(), f, archive.Options{})
		if err != nil || r.Verdict != audit.Incomplete {
			t.Fatalf("%v\n%s", err, r.Text())
		}
	})
	t.Run("resumed", func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var state []byte
		_, err := archive.Verify(ctx, f, archive.Options{
			Trust: audit.Trust{Key: h.Key},
			Save:  func(data []byte) error { state = data; return nil },
			Progress: func(stage string, done, total int64) {
				if stage == "matches" && done == total/2 {
					stop()
				}
			},
		})
		if !errors.Is(err, context.Canceled) || len(state) == 0 {
			t.Fatalf("the interrupted audit says %v and leaves %d bytes", err, len(state))
		}
		first := int64(-1)
		o := archive.Options{Resume: state, Progress: func(stage string, done, _ int64) {
			if stage == "matches" && first < 0 {
				first = done
			}
		}}
		if again := verify(t, f, h, o).Text(); again != text {
			t.Errorf("gone on with, the audit says\n%s\nand at once\n%s", again, text)
		}
		if first < int64(n)/2 {
			t.Errorf("it went on from %d matches of %d", first, n)
		}
		f := files(honest(t, 2, 3).Archive())
		if _, err := archive.Verify(t.Context(), f, archive.Options{Resume: state}); err == nil {
			t.Error("the state of another archive was taken")
		}
	})
	t.Run("extract", func(t *testing.T) {
		done := map[commitment.Mode]bool{}
		for id, mode := range h.MatchModes() {
			if done[mode] {
				continue
			}
			done[mode] = true
			b, err := archive.Extract(t.Context(), f, id, archive.Options{Trust: audit.Trust{Key: h.Key}})
			if err != nil {
				t.Fatalf("mode %s: %v", mode, err)
			}
			data, err := b.Encode()
			if err != nil {
				t.Fatal(err)
			}
			if r := audit.Verify(data, audit.Trust{Key: h.Key}); r.Verdict != audit.Verified {
				t.Errorf("mode %s: %s", mode, r.Text(audit.TextStyle{}))
			}
		}
		if len(done) != len(commitment.Modes()) {
			t.Errorf("extracted from %d modes", len(done))
		}
	})
}
