package commitment_test

import (
	"testing"

	"fairdice/commitment"
	"fairdice/rules"

	"github.com/google/go-cmp/cmp"
)

// The vocabulary of statements is that of the rules, and head55 may be said exactly in the long family: the variants
// without a bar and without pins.
func TestVariantsAreThoseOfTheRules(t *testing.T) {
	var ids []string
	for _, v := range rules.Variants() {
		ids = append(ids, v.ID)
		err := commitment.CheckOptions(v.ID, "raise=none stake=win series=single crawford=off head55=off")
		if long := !v.Rules.HasBar() && !v.Rules.Pins(); (err == nil) != long {
			t.Errorf("head55 in %s: %v, long family: %t", v.ID, err, long)
		}
	}
	if d := cmp.Diff(ids, commitment.Variants()); d != "" {
		t.Errorf("variants: -rules +commitment\n%s", d)
	}
}
