package audit_test

import (
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"fairdice/audit"
	"fairdice/commitment"
	"fairdice/translog"
)

// Each line is judged by itself, the quorum as the reader's trust says.
func TestReadCosigned(t *testing.T) {
	ok := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	skey, key, err := commitment.NewKey("dice.example/log", rand.Reader)
	ok(err)
	signer, err := commitment.NewSigner(skey)
	ok(err)
	signed, err := translog.SignCheckpoint(translog.Checkpoint{Origin: "dice.example/log", Size: 7, Root: commitment.Sum(nil)}, signer)
	ok(err)
	bare := signed
	var keys []string
	for _, name := range []string{"one.example", "two.example", "three.example"} {
		skey, vkey, err := translog.NewWitnessKey(name, rand.Reader)
		ok(err)
		c, err := translog.NewCosigner(skey, func() time.Time { return time.Unix(1796000000, 0) })
		ok(err)
		if keys = append(keys, vkey); len(keys) < 3 {
			signed, err = c.Cosign(signed)
			ok(err)
		}
	}
	// The first witness's line under the text of another checkpoint.
	other, err := translog.SignCheckpoint(translog.Checkpoint{Origin: "dice.example/log", Size: 8, Root: commitment.Sum(nil)}, signer)
	ok(err)
	var wrong string
	for line := range strings.Lines(signed) {
		if strings.Contains(line, "one.example") {
			wrong, err = translog.AddLines(other, line)
			ok(err)
		}
	}
	for _, c := range []struct {
		name, note string
		witnesses  []string
		quorum     audit.Status
		status     string
		absent     int
	}{
		{"both", signed, keys[:2], audit.Pass, "pass pass", 0},
		{"one of them trusted", signed, keys[:1], audit.Pass, "pass unchecked", 0},
		{"nobody trusted", signed, nil, audit.Unchecked, "unchecked unchecked", 0},
		{"one is absent", signed, keys, audit.Fail, "pass pass", 1},
		{"no lines", bare, keys, audit.Fail, "", 3},
		{"another checkpoint's line", wrong, keys[:1], audit.Fail, "fail", 0},
		{"another checkpoint's line, of nobody", wrong, keys[1:2], audit.Fail, "unchecked", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := audit.ReadCosigned(c.note, audit.Trust{Key: key, Witnesses: c.witnesses})
			if err != nil {
				t.Fatal(err)
			}
			var status []string
			for _, l := range got.Lines {
				status = append(status, string(l.Status))
				if (l.Time == 1796000000) != (l.Status == audit.Pass) {
					t.Errorf("%s is %s with the time %d", l.Name, l.Status, l.Time)
				}
			}
			if got.Quorum != c.quorum || strings.Join(status, " ") != c.status || len(got.Absent) != c.absent {
				t.Errorf("%+v", got)
			}
		})
	}
	_, stranger, err := commitment.NewKey("dice.example/log", rand.Reader)
	ok(err)
	if _, err := audit.ReadCosigned(signed, audit.Trust{Key: stranger}); err == nil {
		t.Error("a checkpoint under another key was read")
	}
	// A quorum that asks for nobody is no evidence of anybody.
	for note, want := range map[string]audit.Status{bare: audit.Unchecked, signed: audit.Pass, wrong: audit.Fail} {
		nobody, err := translog.ParsePolicy("log " + key + "\nwitness one " + keys[0] + "\nquorum none\n")
		ok(err)
		got, err := audit.ReadCosigned(note, audit.Trust{Key: key, Policy: nobody})
		ok(err)
		if got.Quorum != want {
			t.Errorf("the quorum none of %q is %s, want %s", note, got.Quorum, want)
		}
	}
	policy, err := translog.NewPolicy(stranger, keys)
	ok(err)
	if _, err := audit.ReadCosigned(signed, audit.Trust{Key: key, Policy: policy}); err == nil {
		t.Error("a policy for another log was believed")
	}
}
