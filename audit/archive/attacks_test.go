package archive_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"fairdice/audit"
	"fairdice/audit/archive"
	"fairdice/commitment"
	"fairdice/internal/dealer"
)

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
