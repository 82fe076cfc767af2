package audit

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestWholeLogs runs the checks that need all statements over the whole logs of
// the vectors.
func TestWholeLogs(t *testing.T) {
	var v struct {
		Origin string `json:"origin"`
		Cases  []struct {
			Name       string           `json:"name"`
			What       string           `json:"what"`
			Statements []string         `json:"statements"`
			MustFail   []ID             `json:"must_fail"`
			Faults     [][2]any         `json:"faults"`
			Sequences  map[string]State `json:"sequences"`
			Now        time.Time        `json:"now"`
			Overdue    []string         `json:"overdue"`
		} `json:"cases"`
	}
	if err := json.Unmarshal(gunzip(t, "logs.json.gz"), &v); err != nil {
		t.Fatal(err)
	}
	if len(v.Cases) == 0 {
		t.Fatal("no vectors")
	}
	for _, c := range v.Cases {
		t.Run(c.Name, func(t *testing.T) {
			r, err := CheckStatements(v.Origin, c.Statements, nil, c.Now)
			if err != nil {
				t.Fatal(err)
			}
			failed := r.Failed()
			for _, id := range c.MustFail {
				if !slices.Contains(failed, id) {
					t.Errorf("%s: check %s did not fail", c.What, id)
				}
			}
			// The lists of all faults are for information. Two differ on purpose: here a
			// statement in the wrong place is one fault and voids nothing that refers to
			// it; and a published secret without a commit fails sequence.secret, as it
			// does in a bundle.
			want := map[ID]bool{}
			for _, f := range c.Faults {
				want[ID(f[0].(string))] = true
			}
			switch c.Name {
			case "assign-before-open":
				delete(want, SequenceSecret)
			case "gap":
				want[SequenceSecret] = true
			}
			got := map[ID]bool{}
			for _, id := range failed {
				got[id] = true
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("%s: failed checks (-want +got):\n%s\n%v", c.What, diff, r.Checks)
			}
			states, overdue := map[string]State{}, []string{}
			for _, q := range r.Sequences {
				states[q.Sequence] = q.State
				if q.Overdue {
					overdue = append(overdue, q.Sequence)
				}
			}
			if diff := cmp.Diff(c.Sequences, states); diff != "" {
				t.Errorf("states (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.Overdue, overdue); diff != "" {
				t.Errorf("overdue (-want +got):\n%s", diff)
			}
		})
	}
}
