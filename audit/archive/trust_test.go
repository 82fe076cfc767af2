package archive_test

import (
	"strings"
	"testing"
	"time"

	"fairdice/audit"
	"fairdice/audit/archive"
	"fairdice/commitment"
	"fairdice/internal/dealer"
	"fairdice/translog"
)

var small = dealer.Terms{Variant: "short", Mode: commitment.Random, Options: dealer.SingleGame, Rolls: short, Anchored: true, StopAt: 6}

// TestWitnesses demands the cosignatures that the reader's trust asks for.
func TestWitnesses(t *testing.T) {
	h := dealer.New(t, 8)
	m := h.Open(small)
	m.Play()
	m.Finish()
	newWitness := func(name string) (*translog.Cosigner, string) {
		skey, vkey, err := translog.NewWitnessKey(name, h.Random)
		if err != nil {
			t.Fatal(err)
		}
		c, err := translog.NewCosigner(skey, func() time.Time { return h.Clock })
		if err != nil {
			t.Fatal(err)
		}
		return c, vkey
	}
	witness, key := newWitness("witness.example/w")
	cosign := func(signed string, edit func(string) string) []byte {
		out, err := witness.Cosign(signed)
		if err != nil {
			t.Fatal(err)
		}
		return []byte(edit(out))
	}
	same := func(s string) string { return s }
	plain := h.Checkpoint(len(h.Texts))
	tests := []struct {
		name       string
		checkpoint []byte
		witnesses  []string
		want       string
		verdict    audit.Verdict
	}{
		{"cosigned", cosign(plain, same), []string{key}, "pass  log.witness", audit.Verified},
		{"not asked for", []byte(plain), nil, "no policy asks for a witness", audit.Verified},
		{"not cosigned", []byte(plain), []string{key}, "has not met the policy's quorum", audit.Failed},
		{"another witness", cosign(plain, same), func() []string { _, k := newWitness("witness.example/x"); return []string{k} }(), "has not met the policy's quorum", audit.Failed},
		{"cosignature of another state", cosign(h.Checkpoint(3), func(s string) string {
			_, lines, _ := strings.Cut(s, "\n\n")
			_, line, _ := strings.Cut(lines, "\n")
			return plain + line
		}), []string{key}, "signature does not verify", audit.Failed},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := files(h.Archive())
			f["checkpoint"] = test.checkpoint
			r, err := archive.Verify(t.Context(), f, archive.Options{Trust: audit.Trust{Key: h.Key, Witnesses: test.witnesses}})
			if err != nil {
				t.Fatal(err)
			}
			if r.Verdict != test.verdict || !strings.Contains(r.Text(), test.want) {
				t.Errorf("%s, want %s and %q:\n%s", r.Verdict, test.verdict, test.want, r.Text())
			}
		})
	}
}

// TestOverdue leaves one game running for four days: that is no fault, and in
// every report.
func TestOverdue(t *testing.T) {
	h := dealer.New(t, 9)
	running := h.Open(small)
	running.Begin()
	h.Clock = h.Clock.Add(96 * time.Hour)
	m := h.Open(small)
	m.Play()
	m.Finish()
	f := files(h.Archive())
	r := verify(t, f, h, archive.Options{})
	if r.Verdict != audit.Verified {
		t.Fatal(r.Text())
	}
	if _, _, n := r.Games(); n != 1 || r.OverdueN != 1 || len(r.Overdue) != 1 || r.Overdue[0].Match != running.Statement.Match {
		t.Errorf("%d running, %d overdue: %+v", n, r.OverdueN, r.Overdue)
	}
	if !strings.Contains(r.Text(), "1 sequence is overdue") {
		t.Error(r.Text())
	}
	if _, err := archive.Extract(t.Context(), f, running.Statement.Match, archive.Options{Trust: audit.Trust{Key: h.Key}}); err == nil {
		t.Error("a match in progress was extracted")
	}
	later := verify(t, f, h, archive.Options{Trust: audit.Trust{Now: h.Clock.Add(100 * 24 * time.Hour)}})
	if later.OverdueN != 1 {
		t.Errorf("%d are overdue later", later.OverdueN)
	}
}

// TestForeign refuses what is no archive at all.
func TestForeign(t *testing.T) {
	h := dealer.New(t, 10)
	m := h.Open(small)
	m.Play()
	m.Finish()
	tests := []struct {
		name string
		edit func(files)
		want string
	}{
		{"nothing", func(f files) { clear(f) }, "missing"},
		{"no checkpoint", func(f files) { delete(f, "checkpoint") }, "read checkpoint: the file is missing"},
		{"no checkpoint, but something", func(f files) { f["checkpoint"] = []byte("hello") }, "read checkpoint"},
		{"an empty log", func(f files) { f["checkpoint"] = []byte(h.Checkpoint(0)) }, "the log is empty"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			f := files(h.Archive())
			test.edit(f)
			_, err := archive.Verify(t.Context(), f, archive.Options{Trust: audit.Trust{Key: h.Key}})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want %q", err, test.want)
			}
		})
	}
}
