package audit

import (
	"fmt"
	"strings"

	"fairdice/commitment"
)

// ParseRules reads a file of known rules versions, one "VERSION HASH" a line:
// a version has a line for every variant, as the hash is that of a variant's
// profile. Empty lines and lines that begin with # are skipped.
func ParseRules(text string) (map[string][]Hash, error) {
	known := map[string][]Hash{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		version, hex, ok := strings.Cut(line, " ")
		if !ok {
			return nil, fmt.Errorf("parse rules: line %d is not VERSION HASH", n)
		}
		if err := commitment.CheckToken(version); err != nil {
			return nil, fmt.Errorf("parse rules: line %d: version: %w", n, err)
		}
		h, err := commitment.ParseHash(hex)
		if err != nil {
			return nil, fmt.Errorf("parse rules: line %d: %w", n, err)
		}
		known[version] = append(known[version], h)
	}
	if len(known) == 0 {
		return nil, fmt.Errorf("parse rules: the file names no version")
	}
	return known, nil
}
