package audit

import (
	"bytes"
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
