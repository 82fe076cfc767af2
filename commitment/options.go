package commitment

import (
	"slices"
	"strings"

	"fairdice/internal/phrase"
)

// optionKeys are the keys every `options` line has, in this order, with the values of RULES.md §7.
var optionKeys = []struct {
	name   string
	values []string
}{
	{"raise", []string{"none", "mars", "cube", "beaver", "jacoby", "auto"}},
	{"stake", []string{"win", "unborne"}},
	{"series", []string{"single", "draw", "reverse"}}, // and combined:N, points:N
	{"crawford", []string{"on", "off"}},
}

// maxSeries is the greatest N of points:N and combined:N.
const maxSeries = 25

// CheckOptions accepts the options of an `open` of the variant: raise, stake, series and crawford in this order, each
// with a value of RULES.md §7, then head55=general or head55=off in the long family; the literal reading of head55 is said
// by leaving the key out. It is a matter of spelling alone: which values go together is decided when a match is
// opened, not by the format (vectors, C3).
func CheckOptions(variant, options string) error {
	fields := strings.Split(options, " ")
	for i, key := range optionKeys {
		if i == len(fields) {
			return phrase.Errorf("check options: %s is missing", key.name)
		}
		name, value, ok := strings.Cut(fields[i], "=")
		if !ok || name != key.name {
			return phrase.Errorf("check options: %q where %s=… is due", clip(fields[i]), key.name)
		}
		if !slices.Contains(key.values, value) && !(key.name == "series" && isPointSeries(value)) {
			return phrase.Errorf("check options: %s has no value %q", key.name, clip(value))
		}
	}
	switch rest := fields[len(optionKeys):]; {
	case len(rest) == 0:
		return nil
	case len(rest) > 1 || rest[0] != "head55=general" && rest[0] != "head55=off":
		return phrase.Errorf("check options: %q after crawford, where only head55=general or head55=off may stand", clip(strings.Join(rest, " ")))
	case !isLong(variant):
		return phrase.Errorf("check options: %s is an option of the long family, not of %s", rest[0], clip(variant))
	}
	return nil
}

// isPointSeries reports whether value is points:N or combined:N with N from 1 to 25.
func isPointSeries(value string) bool {
	kind, number, _ := strings.Cut(value, ":")
	if kind != "points" && kind != "combined" {
		return false
	}
	n, err := ParseInteger(number)
	return err == nil && 1 <= n && n <= maxSeries
}
