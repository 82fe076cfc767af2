package audit_test

import (
	"crypto/rand"
	"os"
	"slices"
	"testing"

	"fairdice/audit"
	"fairdice/translog"
)

// A policy whose quorum asks for nobody leaves log.witness unchecked: what
// nobody has cosigned is not told as cosigned.
func TestQuorumOfNobody(t *testing.T) {
	data, err := os.ReadFile("testdata/bundle-l2.json")
	if err != nil {
		t.Fatal(err)
	}
	b, err := audit.ParseBundle(data)
	if err != nil {
		t.Fatal(err)
	}
	_, witness, err := translog.NewWitnessKey("witness.example/w", rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for quorum, want := range map[string]audit.Status{"none": audit.Unchecked, "w": audit.Fail} {
		policy, err := translog.ParsePolicy("log " + b.Log.Key + "\nwitness w " + witness + "\nquorum " + quorum + "\n")
		if err != nil {
			t.Fatal(err)
		}
		r := audit.Verify(data, audit.Trust{Policy: policy})
		i := slices.IndexFunc(r.Checks, func(c audit.Check) bool { return c.ID == audit.LogWitness })
		if i < 0 || r.Checks[i].Status != want {
			t.Errorf("quorum %s: %+v", quorum, r.Checks)
		}
	}
}
