package audit

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"
)

// rollKey is the log key of testdata/roll.json.
const rollKey = "fairdice/e5ead313+e3a389b1+Aakt34dh1KhSVZOxzViFearVLybyVeJ1txXPKI0Bh38k"

func readRollFile(t testing.TB) []byte {
	t.Helper()
	data, err := os.ReadFile("testdata/roll.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestVerifyRoll(t *testing.T) {
	good := readRollFile(t)
	r := VerifyRoll(good, Trust{Key: rollKey})
	if r.Verdict != Verified {
		t.Errorf("a good roll is %s: %v", r.Verdict, r.Failed())
	}
	everyID(t, r)
	if r := VerifyRoll(good, Trust{}); r.Verdict != Incomplete {
		t.Errorf("without a key it is %s", r.Verdict)
	}
}

// No byte of a roll, of every twenty-ninth, can be another one without a check that fails, but for the
// white space between members and for what says nothing about this roll.
func TestRollOneByteChanged(t *testing.T) {
	good := bytes.TrimSpace(readRollFile(t))
	due := bytes.Index(good, []byte(`"due": "`)) + len(`"due": "`)
	dueEnd := due + bytes.IndexByte(good[due:], '"')
	for i := 0; i < len(good); i += 29 { // a link that leads nowhere costs a walk along the longest chain there is
		if good[i] == ' ' && !insideText(good, i) || good[i] == '\n' || i >= due && i < dueEnd {
			continue
		}
		bad := bytes.Clone(good)
		bad[i] = another(bad[i])
		if r := VerifyRoll(bad, Trust{Key: rollKey}); r.Verdict == Verified {
			t.Errorf("byte %d changed, %q, is verified", i, bad[max(0, i-20):min(len(bad), i+20)])
		}
	}
}

// insideText reports whether a byte stands inside a JSON string.
func insideText(data []byte, i int) bool {
	return bytes.Count(data[:i], []byte(`"`))%2 == 1
}

func TestMalformedRoll(t *testing.T) {
	good := string(readRollFile(t))
	for name, text := range map[string]string{
		"empty": "", "white space": " \n", "a list": "[]", "text after": good + "x", "twice": strings.Replace(good, `"line"`, `"line": 1, "line"`, 1),
		"one die": strings.Replace(good, "\"dice\": [\n  3,", "\"dice\": [", 1), "too large": strings.Repeat(" ", MaxRoll) + good,
	} {
		if r := VerifyRoll([]byte(text), Trust{Key: rollKey}); r.Verdict != Malformed {
			t.Errorf("%s: %s", name, r.Verdict)
		}
	}
}

// FuzzVerifyRoll splices bytes into a good roll: no input may crash the
// verifier, pass under a key that did not sign it, or lack a check.
func FuzzVerifyRoll(f *testing.F) {
	good := readRollFile(f)
	f.Add(uint(100), uint(1), []byte("x"))
	f.Add(uint(4000), uint(0), []byte("0"))
	f.Add(uint(0), uint(1<<20), []byte("{}"))
	f.Fuzz(func(t *testing.T, at, cut uint, insert []byte) {
		from := int(at % uint(len(good)))
		to := from + int(cut%64)
		data := append(append(bytes.Clone(good[:from]), insert...), good[min(to, len(good)):]...)
		everyID(t, VerifyRoll(data, Trust{Key: rollKey}))
	})
}

// Every roll of every known-answer bundle is verified by itself, without the
// commit that would tell where it stands, and with it.
func TestEveryRollOfTheVectors(t *testing.T) {
	rolls := 0
	for _, c := range readVectors(t, "bundles-valid.json.gz").Cases {
		b, err := ParseBundle([]byte(c.Bundle))
		if err != nil {
			t.Fatal(err)
		}
		e, err := readEvidence(b)
		if err != nil {
			t.Fatal(err)
		}
		e.checkBook(newFindings())
		e.attach()
		byIndex := map[uint64]BundleStatement{}
		var open BundleStatement
		for _, s := range b.Statements {
			byIndex[s.Index] = s
			if strings.HasPrefix(s.Text, "fairdice/v1/open\n") {
				open = s
			}
		}
		for _, g := range e.games {
			for i, r := range g.receipts {
				if i%2 != 0 { // half of them are enough
					continue
				}
				seg, ok := g.segment(r.Segment)
				if !ok || seg.deal == nil {
					t.Fatalf("%s: no segment %d", c.Name, r.Segment)
				}
				o := g.openings[element{r.Segment, r.Stream, r.Index}]
				roll := map[string]any{
					"format": RollFormat, "receipt": g.inFile.Receipts[i], "checkpoint": b.Log.Checkpoint,
					"opening": map[string]any{"segment": o.Segment, "stream": o.Stream.String(), "index": o.Index, "key": o.Key, "path": o.Path},
					"open":    asJSON(open), "assign": asJSON(byIndex[seg.assign.index]), "deal": asJSON(byIndex[seg.deal.index]),
				}
				for _, commit := range []bool{false, true} {
					if commit {
						roll["commit"] = asJSON(byIndex[seg.commit.index])
					}
					data, err := json.Marshal(roll)
					if err != nil {
						t.Fatal(err)
					}
					if v := VerifyRoll(data, Trust{Key: b.Log.Key}); v.Verdict != Verified {
						t.Fatalf("%s, game %d, receipt %d: %s %v\n%s", c.Name, g.number, i+1, v.Verdict, v.Failed(), v.Text(TextStyle{}))
					}
				}
				rolls++
			}
		}
	}
	if rolls < 200 {
		t.Errorf("only %d rolls", rolls)
	}
}

func asJSON(s BundleStatement) map[string]any {
	return map[string]any{"index": s.Index, "text": s.Text, "path": s.Path}
}
