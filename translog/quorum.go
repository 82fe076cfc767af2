package translog

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"fairdice/internal/phrase"
)

func sortedNames(groups map[string]group) []string { return slices.Sorted(maps.Keys(groups)) }

// Logs returns the verifier keys of the logs, in file order.
func (p *Policy) Logs() []string {
	var keys []string
	for _, l := range p.logs {
		keys = append(keys, l.vkey)
	}
	return keys
}

// Log returns the verifier of the log with that origin whose key made a line of the signed checkpoint. Several logs of one
// name may be listed while a key is replaced.
func (p *Policy) Log(signed string) (note.Verifier, error) {
	c, err := ReadCheckpoint(signed)
	if err != nil {
		return nil, err
	}
	known := false
	for _, l := range p.logs {
		if l.verifier.Name() != c.Origin {
			continue
		}
		known = true
		if _, err := OpenCheckpoint(signed, l.verifier); err == nil {
			return l.verifier, nil
		}
	}
	if !known {
		return nil, fmt.Errorf("find log: %w: the policy lists no log %s", ErrSignature, c.Origin)
	}
	return nil, fmt.Errorf("find log: %w: no listed key of %s signed it", ErrSignature, c.Origin)
}

// Witnesses returns the witnesses by their names in the policy.
func (p *Policy) Witnesses() map[string]Witness {
	m := make(map[string]Witness, len(p.witnesses))
	for _, w := range p.witnesses {
		m[w.name] = w.witness
	}
	return m
}

// URL returns the address the policy gives for a witness, "" if none.
func (p *Policy) URL(name string) string {
	for _, w := range p.witnesses {
		if w.name == name {
			return w.url
		}
	}
	return ""
}

// Satisfied reports whether the witnesses with these names, having cosigned, meet the quorum.
func (p *Policy) Satisfied(cosigned map[string]bool) bool {
	return p.quorum == quorumNone || p.met(p.quorum, cosigned)
}

// met ends, because a group names only what stands above it.
func (p *Policy) met(name string, cosigned map[string]bool) bool {
	g, ok := p.groups[name]
	if !ok {
		return cosigned[name]
	}
	count := 0
	for _, m := range g.members {
		if p.met(m, cosigned) {
			count++
		}
	}
	return count >= g.threshold
}

// Cosigned returns the times, in seconds since 1970, at which the policy's witnesses cosigned a signed checkpoint, by name.
// Bad lines of known witnesses are reported together in an error that wraps ErrSignature; the good ones are returned
// beside it.
func (p *Policy) Cosigned(signed string) (map[string]int64, error) {
	times := map[string]int64{}
	var bad []error
	for _, w := range p.witnesses {
		at, ok, err := w.witness.Cosigned(signed)
		if err != nil {
			bad = append(bad, err)
		} else if ok {
			times[w.name] = at
		}
	}
	return times, errors.Join(bad...)
}

// Check verifies a checkpoint whose log signature is known to be good: no bad line of a known witness, and the quorum
// met. With by ≥ 0 only cosignatures dated at or before by count (PROTOCOL.md §4, level L1); a negative by counts all.
func (p *Policy) Check(signed string, by int64) error {
	times, err := p.Cosigned(signed)
	if err != nil {
		return phrase.Errorf("check policy: %w", err)
	}
	cosigned := map[string]bool{}
	for name, at := range times {
		cosigned[name] = by < 0 || at <= by
	}
	if !p.Satisfied(cosigned) {
		return phrase.Errorf("check policy: %w: %d cosignatures", ErrQuorum, len(times))
	}
	return nil
}

// ErrQuorum says that too few witnesses have cosigned, or not early enough.
var ErrQuorum = errors.New("the quorum of witnesses is not met")

// NewPolicy makes the policy that one log and all of the given witnesses must be there, as from a list of flags. Without
// witnesses its quorum is none.
func NewPolicy(logKey string, witnesses []string) (*Policy, error) {
	text := "log " + logKey + "\n"
	if len(witnesses) == 0 {
		return ParsePolicy(text + "quorum none\n")
	}
	members := ""
	for i, w := range witnesses {
		text += fmt.Sprintf("witness w%d %s\n", i+1, w)
		members += fmt.Sprintf(" w%d", i+1)
	}
	return ParsePolicy(text + "group witnesses all" + members + "\nquorum witnesses\n")
}

// WithoutURLs is the same policy without the addresses of logs and witnesses,
// which are nobody's business but of those who ask them.
func (p *Policy) WithoutURLs() *Policy {
	bare := *p
	bare.logs, bare.witnesses = slices.Clone(p.logs), slices.Clone(p.witnesses)
	for i := range bare.logs {
		bare.logs[i].url = ""
	}
	for i := range bare.witnesses {
		bare.witnesses[i].url = ""
	}
	return &bare
}
