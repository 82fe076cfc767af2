package audit

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"fairdice/commitment"
)

// TestMatchAgreesWithBundle reads every bundle of the vectors as if its match
// were one of an archive, openings left out, and demands the same answer of
// every check that does not rest on what only a bundle has.
func TestMatchAgreesWithBundle(t *testing.T) {
	elsewhere := map[string]string{
		"house-wrong-match-finish": "in a whole log the finish is a fault of the other match",
		"series-second-game-gone":  "in an archive the log tells the result of a game whose record is gone",
		"segments-gap":             "that a commit does not belong into a bundle is a fault of bundles alone",
	}
	onlyBundle := []ID{LogSignature, LogInclusion, LogConsistency, LogWitness, LevelCheck, RollsOpening}
	for _, file := range []string{"bundles-valid.json.gz", "bundles-tampered.json.gz", "bundles-more.json.gz"} {
		v := readVectors(t, file)
		compared := 0
		for _, c := range v.Cases {
			b, err := ParseBundle([]byte(c.Bundle))
			if err != nil {
				continue
			}
			trust := v.trust(t, c)
			report := Verify([]byte(c.Bundle), trust)
			if report.Verdict == Malformed || report.Match == "" || elsewhere[c.Name] != "" {
				continue
			}
			compared++
			t.Run(c.Name, func(t *testing.T) {
				match, failed := asMatch(t, b, trust, report.Match)
				if report.Verdict != Failed && (match.Level != report.Level || match.LevelNote != report.LevelNote) {
					t.Errorf("level %s %q as a bundle, %s %q as a match of an archive", report.Level, report.LevelNote, match.Level, match.LevelNote)
				}
				want := []ID{}
				for _, id := range report.Failed() {
					if !slices.Contains(onlyBundle, id) {
						want = append(want, id)
					}
				}
				got := slices.DeleteFunc(append([]ID{}, failed...), func(id ID) bool { return slices.Contains(onlyBundle, id) })
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s: as a bundle (-) and as a match of an archive (+):\n%s", c.What, diff)
				}
			})
		}
		if compared == 0 {
			t.Errorf("%s: nothing was compared", file)
		}
	}
}

// asMatch verifies a bundle's match the way an archive does, and lists the
// checks that fail in report order.
func asMatch(t *testing.T, b *Bundle, trust Trust, match string) (MatchReport, []ID) {
	t.Helper()
	f := newFindings()
	in := MatchInput{Match: match, File: &MatchFile{Match: match, Games: slices.Clone(b.Games)}, Archives: map[Hash]*commitment.Archive{}}
	book := newBook(b.Log.Origin, false, f.add)
	for _, text := range b.Archives {
		if a, err := commitment.ParseArchive([]byte(text)); err == nil {
			in.Archives[a.Hash()] = a
		}
	}
	entries := make([]entry, len(b.Statements))
	for i, s := range b.Statements {
		st, err := commitment.Parse([]byte(s.Text))
		if err != nil {
			t.Fatal(err)
		}
		entries[i] = entry{s.Index, i, st}
		in.Entries = append(in.Entries, Entry{s.Index, []byte(s.Text)})
	}
	for _, e := range newLedger(entries).entries {
		book.Add(e.index, e.statement)
	}
	// An archive leaves out what a game in progress has got so far.
	ended := newLedger(entries).match(match)
	in.File.Games = slices.DeleteFunc(in.File.Games, func(g BundleGame) bool { return ended.game(g.Game).end() == nil })
	auditor := &Auditor{Trust: trust, Origin: b.Log.Origin, Signatures: true, Witnessed: witnessed(t, b, trust)}
	report := auditor.Match(in)
	f.merge(report.Checks)
	return report, Report{Checks: f.list()}.Failed()
}

// witnessed reads the bundle's checkpoints as an archive's stored ones.
func witnessed(t *testing.T, b *Bundle, trust Trust) Witnessed {
	t.Helper()
	points, err := trust.Checkpoints(b.Log.Key)
	if err != nil {
		return nil // another key is pinned
	}
	list := []string{b.Log.Checkpoint}
	for _, e := range b.Log.Earlier {
		list = append(list, e.Checkpoint)
	}
	for _, raw := range list {
		if s, _, ok := points.Open("", raw); ok {
			points.Believe(s)
		}
	}
	return points.Witnessed()
}
