package main

import (
	"errors"
	"fmt"
	"time"

	"fairdice/audit"
	"fairdice/commitment"
	"fairdice/internal/phrase"
	"fairdice/replay"
	"fairdice/replay/files"
	"fairdice/rules"
	"fairdice/translog"
)

// maxTrustFile bounds policy and rules files.
const maxTrustFile = 256 << 10

var errTooLarge = errors.New("the file is too large")

// fits refuses a file of more bytes than the limit.
func fits(size, limit int64) error {
	if size > limit {
		return phrase.Errorf("%w: %d bytes are more than %d", errTooLarge, size, limit)
	}
	return nil
}

// text is the content of a file with the name that complaints about it end in.
type text struct {
	name, content string
	given         bool
}

// pins are whom the user trusts, as he gave it: the command line and the page
// fill them in.
type pins struct {
	key, anchor   string // empty: not given
	policy, rules text
	witnesses     []string
}

// trust reads what was given; everything that is wrong with it is wrong usage.
func (p pins) trust(now time.Time) (audit.Trust, error) {
	out := audit.Trust{Key: p.key, Witnesses: p.witnesses, Rules: audit.BuiltInRules(), Now: now}
	if p.key != "" {
		if _, err := commitment.ParseVerifier(p.key); err != nil {
			return out, fmt.Errorf("%w: --key", err)
		}
	}
	for _, w := range p.witnesses {
		if _, err := translog.ParseWitness(w); err != nil {
			return out, fmt.Errorf("%w: --witness %s", err, w)
		}
	}
	if p.anchor != "" {
		h, err := commitment.ParseHash(p.anchor)
		if err != nil {
			return out, fmt.Errorf("%w: --my-anchor", err)
		}
		out.MyAnchor = &h
	}
	if p.policy.given {
		policy, err := translog.ParsePolicy(p.policy.content)
		if err != nil {
			return out, fmt.Errorf("%w: %s", err, p.policy.name)
		}
		out.Policy = policy
	}
	if p.rules.given {
		known, err := audit.ParseRules(p.rules.content)
		if err != nil {
			return out, fmt.Errorf("%w: %s", err, p.rules.name)
		}
		for version, hashes := range known {
			out.Rules[version] = append(out.Rules[version], hashes...)
		}
	}
	return out, nil
}

// recordTerms reads what the user says of files that may not say it
// themselves; empty texts say nothing.
func recordTerms(variant, options string, known text) (files.Options, error) {
	var o files.Options
	if variant != "" {
		v, err := rules.Lookup(variant)
		if err != nil {
			return o, fmt.Errorf("%w: --variant", err)
		}
		o.Variant = &v
	}
	if options != "" {
		read, err := replay.ParseOptions(options)
		if err != nil {
			return o, fmt.Errorf("%w: --options", err)
		}
		o.Options = &read
	}
	if known.given {
		if _, err := audit.ParseRules(known.content); err != nil {
			return o, fmt.Errorf("%w: %s", err, known.name)
		}
	}
	return o, nil
}
