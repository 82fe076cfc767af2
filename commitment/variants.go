package commitment

import "slices"

// The variants an `open` may name, by family (RULES.md §2). They are vocabulary here and nothing more: what the ids mean
// is the business of package rules, which this package must not need.
var (
	longFamily = []string{"long-classic", "long-sport", "long-crazy", "gyulbar", "crazy-gyulbar", "khachapuri",
		"tbilisi", "fevga", "crazy-fevga"}
	otherFamilies = []string{"short", "nackgammon", "hyper", "tavla", "plakoto"}
)

// Variants lists the ids of all variants an `open` may name, in the order of RULES.md §2.
func Variants() []string { return slices.Concat(longFamily, otherFamilies) }

func isVariant(id string) bool { return isLong(id) || slices.Contains(otherFamilies, id) }

func isLong(id string) bool { return slices.Contains(longFamily, id) }
