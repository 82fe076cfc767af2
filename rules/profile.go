package rules

import (
	"crypto/sha256"
	"errors"
	"strings"
)

// ErrUnknownVariant is returned by Lookup for an identifier that is none of the fourteen.
var ErrUnknownVariant = errors.New("unknown variant")

// Profile returns the canonical text of the variant: a first line with the format, then one "field value" a line,
// every line ended by LF. Its hash names the rules in the log, so it never changes inside a version.
func (v Variant) Profile() string {
	var b strings.Builder
	b.WriteString("fairdice/v1/rules\nvariant " + v.ID + "\nversion " + Version + "\n")
	for _, e := range v.Rules.enums() {
		b.WriteString(e.field + " " + e.name + "\n")
	}
	return b.String()
}

// Hash returns the SHA-256 of Profile.
func (v Variant) Hash() [32]byte { return sha256.Sum256([]byte(v.Profile())) }
