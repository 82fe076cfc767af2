package commitment

import (
	"strings"
	"testing"
)

// Nobody can make a parser of this package work on more than its limit.
func TestLimits(t *testing.T) {
	long := strings.Repeat("x", 1<<20)
	for what, parse := range map[string]func(string) error{
		"statement": func(s string) error { _, err := Parse([]byte(s)); return err },
		"receipt":   func(s string) error { _, err := ParseReceipt([]byte(s)); return err },
		"archive":   func(s string) error { _, err := ParseArchive([]byte(s)); return err },
		"note":      func(s string) error { _, err := ParseNote(s); return err },
		"hash":      func(s string) error { _, err := ParseHash(s); return err },
		"key":       func(s string) error { _, err := ParseVerifierKey(s); return err },
		"signer":    func(s string) error { _, err := ParseSignerKey(s); return err },
		"cut":       func(s string) error { _, err := ParseCut(s); return err },
		"mode":      func(s string) error { _, err := ParseMode(s); return err },
		"stream":    func(s string) error { _, err := ParseStream(s); return err },
		"profile":   func(s string) error { _, err := ParseProfile(s); return err },
		"time":      func(s string) error { _, err := ParseTime(s); return err },
		"integer":   func(s string) error { _, err := ParseInteger(s); return err },
		"secret":    func(s string) error { _, err := ParseSecret(s); return err },
		"id":        CheckID,
		"token":     CheckToken,
		"options":   func(s string) error { return CheckOptions("short", s) },
	} {
		for _, s := range []string{"", long, "\n", "\x00", "é", "fairdice/v1/" + long} {
			err := parse(s)
			if err == nil {
				t.Errorf("%s: %.20q was accepted", what, s)
			} else if len(err.Error()) > 400 {
				t.Errorf("%s: the error for %.20q is %d bytes long", what, s, len(err.Error()))
			}
		}
	}
	if _, err := RestoreChain(Hash{}, MaxChain+1); err == nil {
		t.Error("a chain above MaxChain was computed")
	}
	if _, err := NewTree(make([]Hash, MaxRolls+1), nil); err == nil {
		t.Error("a tree above MaxRolls was built")
	}
}

// The largest sequence builds, and its first and last leaf open.
func TestLargestSequence(t *testing.T) {
	n := Lengths{1, 65_534, 1}
	q, err := Build(Secret{3}, testID, Equal, n, NoCut, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Opening{q.Open(StreamOpening, 0), q.Open(StreamA, 65_533), q.Open(StreamB, 0)} {
		if err := o.Verify(q.Root(), n); err != nil {
			t.Error(err)
		}
	}
}
