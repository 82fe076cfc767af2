package archive_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

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

// attack is one way to cheat, and what it must be called.
type attack struct {
	name  string
	house func(*dealer.House)                     // before the games
	match func(*dealer.House, *dealer.Match, int) // before game i
	files func(*testing.T, *dealer.House, files)
	opts  func(*testing.T, *dealer.House) archive.Options
	want  audit.ID
	kind  audit.Kind
}

// TestAttacks mounts every edit that an archive must not survive.
func TestAttacks(t *testing.T) {
	how := dealer.Terms{Variant: "short", Mode: commitment.Random, Options: dealer.SingleGame, Rolls: short, Anchored: true, StopAt: 8}
	const games = 6
	for _, a := range attacks() {
		t.Run(a.name, func(t *testing.T) {
			t.Parallel()
			h := dealer.New(t, 3)
			if a.house != nil {
				a.house(h)
			}
			for i := range games {
				m := h.Open(how)
				if a.match != nil {
					a.match(h, m, i)
				}
				m.Play()
				m.Finish()
			}
			f := files(h.Archive())
			if a.files != nil {
				a.files(t, h, f)
			}
			var o archive.Options
			if a.opts != nil {
				o = a.opts(t, h)
			}
			r := verify(t, f, h, o)
			if r.Verdict != audit.Failed {
				t.Fatalf("verdict %s\n%s", r.Verdict, r.Text())
			}
			if !slices.ContainsFunc(r.Findings, func(c archive.Finding) bool { return c.ID == a.want && c.Kind == a.kind }) {
				t.Errorf("no finding %s, %s:\n%s", a.want, a.kind, r.Text())
			}
		})
	}
}

// change makes a hook that changes the n-th statement of type S.
func change[S commitment.Statement](h *dealer.House, n int, edit func(S) commitment.Statement) {
	seen := 0
	before := h.Tamper
	h.Tamper = func(s commitment.Statement) commitment.Statement {
		s = before(s)
		if x, ok := s.(S); ok {
			if seen++; seen == n+1 {
				return edit(x)
			}
		}
		return s
	}
}

func attacks() []attack {
	stock := dealer.Terms{Variant: "short", Mode: commitment.Random, Rolls: short}
	third := func(t *testing.T, h *dealer.House) string { t.Helper(); return dealer.MatchPath(h.MatchID(2)) }
	return []attack{
		{name: "dropped game", house: func(h *dealer.House) {
			change(h, 2, func(commitment.Close) commitment.Statement { return nil })
		}, files: func(t *testing.T, h *dealer.House, f files) { delete(f, third(t, h)) }, want: audit.LogOrder, kind: audit.Dropped},
		{name: "dropped file", files: func(t *testing.T, h *dealer.House, f files) { delete(f, third(t, h)) }, want: audit.RecordHead, kind: audit.Dropped},
		{name: "reused sequence", house: func(h *dealer.House) {
			h.Stock(stock, 10)
			first := ""
			change(h, 0, func(a commitment.Assign) commitment.Statement { first = a.Sequence; return a })
			change(h, 3, func(a commitment.Assign) commitment.Statement { a.Sequence, a.Number = first, 0; return a })
		}, want: audit.StatementsRefs, kind: audit.Reused},
		{name: "favourable assignment", house: func(h *dealer.House) {
			h.Stock(stock, 10)
			h.Choose = func(stock []*dealer.Sequence) int { return len(stock) / 2 }
		}, want: audit.AssignLowest, kind: audit.Skipped},
		{name: "skipped number", house: func(h *dealer.House) {
			h.Stock(stock, 3)
			change(h, 0, func(c commitment.Commit) commitment.Statement { c.Number += 5; return c })
		}, want: audit.LogOrder, kind: audit.Skipped},
		{name: "altered secret", house: func(h *dealer.House) {
			change(h, 1, func(c commitment.Close) commitment.Statement { c.Secrets[0].Secret[7] ^= 1; return c })
		}, want: audit.SequenceSecret, kind: audit.Altered},
		{name: "changed roll", files: func(t *testing.T, h *dealer.House, f files) {
			f.edit(t, third(t, h), func(s string) string { return swapDice(s, "roll A ") })
		}, want: audit.RecordRolls, kind: audit.Altered},
		{name: "changed receipt", files: func(t *testing.T, h *dealer.House, f files) {
			f.edit(t, third(t, h), func(s string) string { return swapDice(s, `\ndice `) })
		}, want: audit.ReceiptsChain, kind: audit.Altered},
		{name: "changed move", match: func(_ *dealer.House, m *dealer.Match, i int) {
			if i == 2 {
				m.TamperRecord = func(lines []string) []string {
					for i, line := range lines {
						if strings.HasPrefix(line, "move ") {
							lines[i] = line[:7] + "24/23 24/23"
							break
						}
					}
					return lines
				}
			}
		}, want: audit.RulesMoves, kind: audit.WrongMove},
		{name: "changed result", house: func(h *dealer.House) {
			change(h, 3, func(c commitment.Close) commitment.Statement { c.Result.Points++; return c })
		}, want: audit.ResultCheck, kind: audit.WrongEnd},
		{name: "removed statement", house: func(h *dealer.House) {
			change(h, 3, func(commitment.Deal) commitment.Statement { return nil })
		}, want: audit.LogOrder, kind: audit.Dropped},
		{name: "swapped statements", match: func(h *dealer.House, _ *dealer.Match, i int) {
			if n := len(h.Texts); i == 4 {
				h.Texts[n-3], h.Texts[n-5] = h.Texts[n-5], h.Texts[n-3]
			}
		}, want: audit.LogOrder, kind: audit.Reordered},
		{name: "bit in a tile", files: func(t *testing.T, _ *dealer.House, f files) {
			f.edit(t, tileOf(t, f, "tile/0/"), func(s string) string { return s[:40] + string(s[40]^4) + s[41:] })
		}, want: audit.LogInclusion, kind: audit.Altered},
		{name: "bit in the entries", files: func(t *testing.T, _ *dealer.House, f files) {
			f.edit(t, tileOf(t, f, "tile/entries/"), func(s string) string { return strings.Replace(s, "alice", "alicf", 1) })
		}, want: audit.LogInclusion, kind: audit.Altered},
		{name: "old checkpoint", files: func(t *testing.T, h *dealer.House, f files) {
			old := len(h.Texts) - 8
			f["checkpoint"] = []byte(h.Checkpoint(old))
		}, want: audit.LogConsistency, kind: audit.Forked},
		{name: "older archive than the reader's checkpoint", files: func(t *testing.T, h *dealer.House, f files) {
			delete(f, fmt.Sprintf("checkpoints/%d", len(h.Texts)))
			f["checkpoint"] = []byte(h.Checkpoint(len(h.Texts) - 8))
		}, opts: func(t *testing.T, h *dealer.House) archive.Options {
			return archive.Options{Seen: []string{h.Checkpoint(len(h.Texts))}}
		}, want: audit.LogConsistency, kind: audit.Forked},
		{name: "two logs for two people", opts: func(t *testing.T, h *dealer.House) archive.Options {
			mine := slices.Clone(h.Texts)
			defer func() { h.Texts = mine }()
			h.Texts = slices.Clone(h.Texts[:20])
			h.Texts[10] = []byte(strings.Replace(string(h.Texts[10]), "time 2026", "time 2027", 1))
			return archive.Options{Seen: []string{h.Checkpoint(20)}}
		}, want: audit.LogConsistency, kind: audit.Forked},
		{name: "missing tile", files: func(t *testing.T, _ *dealer.House, f files) { delete(f, tileOf(t, f, "tile/0/")) }, want: audit.LogInclusion, kind: audit.Dropped},
		{name: "missing entries", files: func(t *testing.T, _ *dealer.House, f files) { delete(f, tileOf(t, f, "tile/entries/")) }, want: audit.LogInclusion, kind: audit.Dropped},
		{name: "truncated match", files: func(t *testing.T, h *dealer.House, f files) {
			f.edit(t, third(t, h), func(s string) string { return s[:len(s)/2] })
		}, want: audit.Format, kind: audit.Broken},
		{name: "truncated entries", files: func(t *testing.T, _ *dealer.House, f files) {
			f.edit(t, tileOf(t, f, "tile/entries/"), func(s string) string { return s[:len(s)/2] })
		}, want: audit.LogInclusion, kind: audit.Altered},
		{name: "another match's file", files: func(t *testing.T, h *dealer.House, f files) {
			f[third(t, h)] = f[dealer.MatchPath(h.MatchID(1))]
		}, want: audit.Format, kind: audit.Broken},
		{name: "a statement that is none", match: func(h *dealer.House, _ *dealer.Match, i int) {
			if i == 3 {
				h.Texts = append(h.Texts, []byte("fairdice/v1/gift\nto alice\n"))
			}
		}, want: audit.Format, kind: audit.Broken},
		{name: "a retire that lies", house: func(h *dealer.House) {
			h.Retire(stock, "unused")
			change(h, 0, func(r commitment.Retire) commitment.Statement { r.Secret[0] ^= 1; return r })
			h.Retire(stock, "unused")
		}, want: audit.SequenceSecret, kind: audit.Altered},
	}
}

// swapDice changes the first unequal dice after a mark into another throw.
func swapDice(s, mark string) string {
	for at := 0; ; {
		i := strings.Index(s[at:], mark)
		if i < 0 {
			return s
		}
		at += i + len(mark)
		if a, b := s[at], s[at+2]; a != b {
			return s[:at] + string(b) + s[at+1:at+2] + string(b) + s[at+3:]
		}
	}
}

// tileOf finds the first file of a kind.
func tileOf(t *testing.T, f files, prefix string) string {
	t.Helper()
	var names []string
	for name := range f {
		if strings.HasPrefix(name, prefix) {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		t.Fatalf("no file %s…", prefix)
	}
	return slices.Min(names)
}
