package audit

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

// TestOneByteChanged changes single bytes of good bundles and demands that the
// change is seen: the bundle no longer proves what it proved, and a check is
// named. Every byte counts but JSON white space and lines of keys that the
// reader does not know.
func TestOneByteChanged(t *testing.T) {
	const perBundle = 60
	v := readVectors(t, "bundles-valid.json.gz")
	for _, c := range v.Cases {
		t.Run(c.Name, func(t *testing.T) {
			t.Parallel()
			trust := v.trust(t, c)
			before := Verify([]byte(c.Bundle), trust)
			step := max(1, len(c.Bundle)/perBundle)
			for i := step / 2; i < len(c.Bundle); i += step {
				if unknownWitness(c, i) {
					continue
				}
				data := []byte(c.Bundle)
				if data[i] = another(data[i]); data[i] == c.Bundle[i] {
					continue
				}
				after := Verify(data, trust)
				if (after.Verdict == Verified || after.Verdict == Incomplete) && after.Level == before.Level && after.LevelNote == before.LevelNote {
					t.Errorf("byte %d changed from %q to %q is not seen: …%s…", i, c.Bundle[i], data[i], c.Bundle[max(0, i-40):min(len(c.Bundle), i+40)])
				}
				if (after.Verdict == Failed || after.Verdict == Malformed) && len(after.Failed()) == 0 {
					t.Errorf("byte %d: verdict %s names no check", i, after.Verdict)
				}
			}
		})
	}
}

// another returns a byte that could stand in the same place: the most
// plausible change is the one hardest to notice.
func another(c byte) byte {
	switch {
	case c == '9':
		return '0'
	case c == 'f':
		return 'a'
	case c == '6':
		return '1'
	case c >= '0' && c < '9', c >= 'a' && c < 'z', c >= 'A' && c < 'Z':
		return c + 1
	case c == 'z', c == 'Z':
		return c - 1
	case c == ' ':
		return '_'
	default:
		return c ^ 1
	}
}

// unknownWitness reports whether byte i of the bundle is in the signature line
// of a witness the reader was not told of, or of a stranger.
func unknownWitness(c vectorCase, i int) bool {
	if len(c.Witnesses) > 0 && c.Name != "l1-stranger-witness" {
		return false
	}
	const mark = `\u2014 witness`
	start := strings.LastIndex(c.Bundle[:min(len(c.Bundle), i+len(mark))], mark)
	return start >= 0 && start <= i && i < start+strings.Index(c.Bundle[start:], `\n`)
}

// TestEncodeParses is the identity of writing and reading.
func TestEncodeParses(t *testing.T) {
	v := readVectors(t, "bundles-valid.json.gz")
	for _, c := range v.Cases {
		b, err := ParseBundle([]byte(c.Bundle))
		if err != nil {
			t.Fatalf("%s: %v", c.Name, err)
		}
		roundTrip(t, b)
		data, err := b.Encode()
		if err != nil {
			t.Fatal(err)
		}
		var have, want any
		if json.Unmarshal(data, &have) != nil || json.Unmarshal([]byte(c.Bundle), &want) != nil {
			t.Fatalf("%s: not JSON", c.Name)
		}
		if !equalJSON(have, want) {
			t.Errorf("%s: another reading of the same bundle differs", c.Name)
		}
	}
}

func roundTrip(t *testing.T, b *Bundle) {
	t.Helper()
	once, err := b.Encode()
	if err != nil {
		t.Fatalf("encode what was parsed: %v", err)
	}
	again, err := ParseBundle(once)
	if err != nil {
		t.Fatalf("parse what was encoded: %v", err)
	}
	twice, err := again.Encode()
	if err != nil {
		t.Fatal(err)
	}
	if string(once) != string(twice) {
		t.Fatal("encoding and parsing again gives another text")
	}
}

func equalJSON(a, b any) bool {
	x, _ := json.Marshal(a)
	y, _ := json.Marshal(b)
	return string(x) == string(y)
}

func TestMalformed(t *testing.T) {
	good := string(readVectors(t, "bundles-valid.json.gz").Cases[0].Bundle)
	tests := []struct{ name, data, want string }{
		{"empty", "", "empty"},
		{"white space", " \n\t", "empty"},
		{"zeros", strings.Repeat("\x00", 1<<20), "not JSON"},
		{"zip", "PK\x03\x04\x14\x00\x00\x00\x08\x00", "not JSON"},
		{"cut off", good[:len(good)/2], "ends too early"},
		{"deep", strings.Repeat("[", 1<<20), "an object belongs"},
		{"deep inside", `{"format":"fairdice/v1/bundle","archives":` + strings.Repeat("[", 1<<20), "a string belongs"},
		{"text after", good + "x", "follows"},
		{"object after", good + "{}", "follows"},
		{"another format", strings.Replace(good, "v1/bundle", "v2/bundle", 1), "is not"},
		{"exponent", strings.Replace(good, `"game": 1`, `"game": 1e0`, 1), "plain integer"},
		{"point", strings.Replace(good, `"game": 1`, `"game":1.0`, 1), "plain integer"},
		{"minus zero", strings.Replace(good, `"game": 1`, `"game":-0`, 1), "plain integer"},
		{"leading zero", strings.Replace(good, `"game": 1`, `"game":01`, 1), "not JSON"},
		{"number as string", strings.Replace(good, `"game": 1`, `"game":"1"`, 1), "a number belongs"},
		{"game 0", strings.Replace(good, `"game": 1`, `"game":0`, 1), "where game 1 belongs"},
		{"huge number", strings.Replace(good, `"game": 1`, `"game":9007199254740992`, 1), "plain integer"},
		{"null text", strings.Replace(good, `"path": [`, `"path": [null,`, 1), "a string belongs"},
		{"bad UTF-8", strings.Replace(good, "fairdice/v1/bundle", "fairdice/v1/bundle\xff", 1), "not JSON"},
		{"unpaired surrogate", strings.Replace(good, "fairdice/v1/bundle", `fairdice/v1/bundle\ud800`, 1), "not JSON"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			if test.data == good {
				t.Fatal("the vector was not changed")
			}
			r := Verify([]byte(test.data), Trust{})
			if r.Verdict != Malformed || !slices.Equal(r.Failed(), []ID{Format}) {
				t.Errorf("verdict %s, failed %v", r.Verdict, r.Failed())
			}
			if !strings.Contains(r.Checks[0].Detail, test.want) {
				t.Errorf("detail %q does not say %q", r.Checks[0].Detail, test.want)
			}
			everyID(t, r)
		})
	}
}

func FuzzParseBundle(f *testing.F) {
	v := readVectors(f, "bundles-tampered.json.gz")
	for _, c := range v.Cases {
		if strings.HasPrefix(c.Name, "json-") {
			f.Add([]byte(c.Bundle))
		}
	}
	f.Add([]byte(readVectors(f, "bundles-valid.json.gz").Cases[0].Bundle))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := ParseBundle(data)
		if err == nil {
			roundTrip(t, b)
		}
	})
}

// FuzzVerify splices bytes into good bundles: no input may crash the verifier
// or make it answer without naming every check.
func FuzzVerify(f *testing.F) {
	v := readVectors(f, "bundles-valid.json.gz")
	f.Add(uint8(0), uint(100), uint(1), []byte("x"))
	f.Add(uint8(15), uint(4000), uint(0), []byte("0"))
	f.Add(uint8(35), uint(5000), uint(30), []byte(""))
	f.Fuzz(func(t *testing.T, which uint8, at, cut uint, insert []byte) {
		c := v.Cases[int(which)%len(v.Cases)]
		from := int(at % uint(len(c.Bundle)))
		to := from + int(cut%64)
		data := c.Bundle[:from] + string(insert) + c.Bundle[min(to, len(c.Bundle)):]
		everyID(t, Verify([]byte(data), v.trust(t, c)))
	})
}
