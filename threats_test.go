package fairdice_test

import (
	"compress/gzip"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// mounted names a test that mounts an attack: a test function of a package
// and, where it has many, words of the case. A case may also stand in the
// package's testdata, where known-answer vectors are.
type mounted struct{ pkg, test, words string }

// threats has a row for every row of the table in docs/protocol.md §10, in its
// order, with the tests that mount the attack and see it caught, or, where
// nothing can prevent it, see it counted or said.
var threats = [][]mounted{
	{ // changes a roll after the deal; changes S at the reveal
		{"audit", "TestTamperedVectors", "house-served-die"},
		{"audit", "TestTamperedVectors", "house-opening-turned"},
		{"audit", "TestTamperedVectors", "house-secret-hash"},
		{"audit", "TestTamperedVectors", "house-deal-unused"},
		{"api", "TestPlayersCheckRolls", "rolls.opening"},
		{"cmd/verify", "TestRoll", "other key"},
	},
	{ // picks a favourable sequence; assigns out of order
		{"audit", "TestWholeLogs", "number 1 is assigned while 0 is free"},
		{"audit", "TestWholeLogs", "commit number 0 is missing"},
		{"audit", "TestWholeLogs", "number 2 is committed before number 1"},
		{"client/player", "TestDishonestHouse", "commit"},
	},
	{ // chooses S after the links, or links after S
		{"client/player", "TestDishonestHouse", "no open"},
		{"client/player", "TestDishonestLater", "the assign changed"},
		{"client/player", "TestDishonestLater", "another assign shown for the old segment"},
		{"client/player", "TestDishonestThrow", "a deal without his link"},
		{"audit", "TestTamperedVectors", "house-commit-after-assign"},
		{"cmd/verify", "TestAnchorDistrust", ""},
	},
	{ // uses an anchor, link, sequence or secret twice
		{"audit", "TestTamperedVectors", "series-same-sequence"},
		{"audit", "TestTamperedVectors", "series-link-again"},
		{"audit", "TestWholeLogs", "two sequences have the same secret hash"},
		{"audit", "TestWholeLogs", "a second match with the anchors of the first"},
		{"audit", "TestCheatingHouse", "player b's chain begins at player a's first link"},
		{"client/player", "TestDishonestLater", "the sequence replayed in another game"},
		{"client/player", "TestOneMatch", ""},
	},
	{ // drops an unwelcome game, also before its deal
		{"audit", "TestWholeLogs", "assigned, not ended, 72 h and a second later"},
		{"audit", "TestWholeLogs", "two sequences were neither assigned nor retired within 90 days"},
		{"audit", "TestWholeLogs", "abort-without-secret"},
		{"audit", "TestWholeLogs", "the link that an abort carries is used for the next game"},
		{"audit/archive", "TestAttacks", "dropped game"},
		{"api", "TestBeaconNeverReplaced", ""},
	},
	{ // skips or swaps rolls, jumps to the next segment, shortens the record
		{"audit", "TestTamperedVectors", "house-skip"},
		{"audit", "TestTamperedVectors", "segments-left-early"},
		{"audit", "TestTamperedVectors", "house-count"},
		{"audit", "TestTamperedVectors", "house-last-receipt"},
		{"audit", "TestTamperedVectors", "file-receipt-order"},
		{"audit", "TestTamperedVectors", "platform-no-end"},
	},
	{ // shows two people two logs; rolls the log back
		{"client/player", "TestDishonestLater", "a forked log, longer"},
		{"client/player", "TestDishonestLater", "a shorter log"},
		{"audit", "TestTamperedVectors", "house-split-view"},
		{"translog/witness", "TestClient", "a fork"},
		{"house", "TestOldBackup", ""},
	},
	{ // dates an assign back before a known beacon round
		{"api", "TestBackdatedAssign", ""},
		{"audit", "TestTamperedVectors", "beacon-past"},
	},
	{ // deals with links it made itself
		{"client/player", "TestDishonestHouse", "another anchor in the open"},
		{"client/player", "TestDishonestHouse", "the anchor called custodial"},
		{"audit", "TestTamperedVectors", "anchor-not-mine"},
		{"audit", "TestLevels", "custodial"},
	},
	{ // asks again until a roll is good; claims another result; plays illegal moves
		{"api", "TestMatch", "again"},
		{"api", "TestTwoDrawOneRoll", ""},
		{"house", "TestSameAnswerForEver", ""},
		{"audit", "TestTamperedVectors", "platform-close-result"},
		{"audit", "TestTamperedVectors", "platform-illegal-move"},
		{"audit", "TestTamperedVectors", "platform-short-move"},
		{"api", "TestIllegalMove", ""},
	},
	{ // looks ahead, or rewrites legal moves, in dice-only
		{"api", "TestDiceOnly", "the verdict does not say dice-only"},
		{"api", "TestRewrittenMoves", ""},
	},
	{ // claims that a seat resigned, doubled, took, dropped or lost on time
		{"api", "TestPlatformsWord", "claim.raised"},
	},
	{ // chooses his link after the other's; refuses to release it
		{"api", "TestLinks", "a made-up link"},
		{"api", "TestRefusedLink", ""},
		{"api", "TestLive", "releases first"},
		{"house", "TestLiveOrder", ""},
	},
	{ // "my dice were different"
		{"api", "TestPlayersCheckRolls", "receipts.signature"},
		{"audit", "TestTamperedVectors", "platform-record-dice"},
	},
	{ // reads coming dice
		{"cmd/fairdice", "TestSecretsStayInside", ""},
		{"house", "TestSecretsAtRest", ""},
	},
	{ // signs a fork
		{"house", "TestOldBackup", ""},
	},
	{ // malformed, huge, empty, repeated input
		{"audit", "TestMalformed", "zeros"},
		{"audit", "TestMalformedRoll", "too large"},
		{"cmd/verify", "TestHugeFile", ""},
		{"cmd/verify", "TestScripts", ""},
		{"api", "TestBodies", ""},
		{"api", "TestRandomRequests", ""},
	},
}

// Every row of the threat table is a test that exists.
func TestThreats(t *testing.T) {
	page, err := os.ReadFile("docs/protocol.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## 10. Threats\n")
	section, _, _ = strings.Cut(section, "\n## ")
	var rows []string
	for line := range strings.Lines(section) {
		if strings.HasPrefix(line, "|") && !strings.HasPrefix(line, "|--") && !strings.HasPrefix(line, "| who") {
			rows = append(rows, strings.TrimSpace(line))
		}
	}
	if len(rows) != len(threats) {
		t.Fatalf("the table has %d rows, here are %d", len(rows), len(threats))
	}
	packages := map[string]*tests{}
	for i, row := range threats {
		if len(row) == 0 {
			t.Errorf("no test mounts %s", rows[i])
		}
		for _, m := range row {
			p := packages[m.pkg]
			if p == nil {
				p = readTests(t, m.pkg)
				packages[m.pkg] = p
			}
			if !p.names[m.test] {
				t.Errorf("%s: %s has no %s", rows[i], m.pkg, m.test)
			}
			if !strings.Contains(p.bodies[m.test], m.words) && !strings.Contains(p.data, m.words) {
				t.Errorf("%s: %s of %s has no case %q", rows[i], m.test, m.pkg, m.words)
			}
		}
	}
}

// tests is what a package's tests are and say.
type tests struct {
	names  map[string]bool
	bodies map[string]string
	data   string // of testdata
}

func readTests(t *testing.T, pkg string) *tests {
	t.Helper()
	out := &tests{names: map[string]bool{}, bodies: map[string]string{}}
	files, err := filepath.Glob(filepath.Join(pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
		set := token.NewFileSet()
		parsed, err := parser.ParseFile(set, file, text, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range parsed.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && strings.HasPrefix(f.Name.Name, "Test") {
				out.names[f.Name.Name] = true
				out.bodies[f.Name.Name] = string(text[set.Position(f.Pos()).Offset:set.Position(f.End()).Offset])
			}
		}
	}
	// A test may have what it tries, or what it sees, in a function beside it.
	for name := range out.bodies {
		if !strings.Contains(name, "Vectors") {
			out.bodies[name] += all.String()
		}
	}
	vectors, err := filepath.Glob(filepath.Join(pkg, "testdata", "*.gz"))
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range vectors {
		f, err := os.Open(file)
		if err != nil {
			t.Fatal(err)
		}
		z, err := gzip.NewReader(f)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(z)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		out.data += string(text)
	}
	return out
}
