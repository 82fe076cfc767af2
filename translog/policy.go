package translog

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"

	"fairdice/commitment"
)

// A Policy is a C2SP tlog-policy: which logs are known, which witnesses, and which of them must have cosigned a checkpoint
// before it is believed.
type Policy struct {
	logs      []policyLog
	witnesses []policyWitness
	groups    map[string]group
	quorum    string
}

type policyLog struct {
	vkey, url string
	verifier  note.Verifier
}

type policyWitness struct {
	name, url string
	witness   Witness
}

// A group is met when at least threshold of its members are.
type group struct {
	threshold int
	members   []string
}

// quorumNone is the predefined quorum that nobody has to meet.
const quorumNone = "none"

// Limits of a policy file. C2SP recommends to support 32 of each kind.
const (
	maxPolicy      = 256 << 10 // bytes
	maxPolicyLines = 1024      // logs, witnesses and groups together
)

// ParsePolicy reads a policy file. Names are opaque octets; a name is defined before it is used, once, and is a member of
// at most one group, so that no witness counts twice.
func ParsePolicy(text string) (*Policy, error) {
	if len(text) > maxPolicy {
		return nil, fmt.Errorf("parse policy: %d bytes, at most %d", len(text), maxPolicy)
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		return nil, errors.New("parse policy: the last line does not end with LF")
	}
	r := policyReader{
		Policy: &Policy{groups: map[string]group{}},
		names:  map[string]bool{}, members: map[string]bool{}, keys: map[[32]byte]bool{}, logKeys: map[[32]byte]bool{},
	}
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if err := r.line(line); err != nil {
			return nil, fmt.Errorf("parse policy: line %d: %w", i+1, err)
		}
	}
	if r.quorum == "" {
		return nil, errors.New("parse policy: there is no quorum line")
	}
	return r.Policy, nil
}

// A policyReader collects a policy line by line.
type policyReader struct {
	*Policy
	names   map[string]bool   // witnesses and groups
	members map[string]bool   // names that are in a group
	keys    map[[32]byte]bool // public keys of witnesses
	logKeys map[[32]byte]bool
	defined int
}

func (r *policyReader) line(line string) error {
	for i := 0; i < len(line); i++ {
		if c := line[i]; c != '\t' && (c < ' ' || c == 0x7f) {
			return fmt.Errorf("control character %#02x", c)
		}
	}
	f := strings.FieldsFunc(line, func(c rune) bool { return c == ' ' || c == '\t' })
	if len(f) == 0 || strings.HasPrefix(f[0], "#") {
		return nil
	}
	if f[0] != "quorum" {
		if r.defined++; r.defined > maxPolicyLines {
			return fmt.Errorf("more than %d logs, witnesses and groups", maxPolicyLines)
		}
	}
	switch f[0] {
	case "log":
		return r.log(f[1:])
	case "witness":
		return r.witness(f[1:])
	case "group":
		return r.group(f[1:])
	case "quorum":
		return r.setQuorum(f[1:])
	}
	return fmt.Errorf("unknown word %q", f[0])
}

func (r *policyReader) log(f []string) error {
	if len(f) != 1 && len(f) != 2 {
		return errors.New("want log KEY [URL]")
	}
	v, err := commitment.ParseVerifier(f[0])
	if err != nil {
		return err
	}
	k, err := commitment.ParseVerifierKey(f[0])
	if err != nil {
		return err
	}
	if r.logKeys[k.Public] {
		return fmt.Errorf("the key of log %s is listed twice", k.Name)
	}
	r.logKeys[k.Public] = true
	r.logs = append(r.logs, policyLog{vkey: f[0], url: at(f, 1), verifier: v})
	return nil
}

func (r *policyReader) witness(f []string) error {
	if len(f) != 2 && len(f) != 3 {
		return errors.New("want witness NAME KEY [URL]")
	}
	if err := r.define(f[0]); err != nil {
		return err
	}
	w, err := ParseWitness(f[1])
	if err != nil {
		return err
	}
	if r.keys[w.key.Public] {
		return fmt.Errorf("the key of witness %q is listed twice", f[0])
	}
	r.keys[w.key.Public] = true
	r.witnesses = append(r.witnesses, policyWitness{name: f[0], url: at(f, 2), witness: w})
	return nil
}

func (r *policyReader) group(f []string) error {
	if len(f) < 3 {
		return errors.New("want group NAME all|any|K MEMBER…")
	}
	members := f[2:]
	for _, m := range members {
		switch {
		case !r.names[m]:
			return fmt.Errorf("member %q is not defined above", m)
		case r.members[m]:
			return fmt.Errorf("%q is a member already", m)
		}
		r.members[m] = true
	}
	if err := r.define(f[0]); err != nil {
		return err
	}
	g := group{members: members}
	switch f[1] {
	case "all":
		g.threshold = len(members)
	case "any":
		g.threshold = 1
	default:
		k, err := commitment.ParseInteger(f[1])
		if err != nil || k < 1 || k > uint64(len(members)) {
			return fmt.Errorf("threshold %q is none of all, any, 1…%d", f[1], len(members))
		}
		g.threshold = int(k)
	}
	r.groups[f[0]] = g
	return nil
}

func (r *policyReader) setQuorum(f []string) error {
	switch {
	case len(f) != 1:
		return errors.New("want quorum NAME")
	case r.quorum != "":
		return errors.New("a second quorum")
	case f[0] != quorumNone && !r.names[f[0]]:
		return fmt.Errorf("quorum %q is not defined above", f[0])
	}
	r.quorum = f[0]
	return nil
}

// define reserves a name.
func (r *policyReader) define(name string) error {
	if name == quorumNone {
		return errors.New("the name none is predefined")
	}
	if r.names[name] {
		return fmt.Errorf("the name %q is defined twice", name)
	}
	r.names[name] = true
	return nil
}

func at(f []string, i int) string {
	if i < len(f) {
		return f[i]
	}
	return ""
}

// Text prints the policy, one word a line, in an order that parses back.
func (p *Policy) Text() string {
	var b strings.Builder
	put := func(words ...string) {
		b.WriteString(strings.TrimRight(strings.Join(words, " "), " ") + "\n")
	}
	for _, l := range p.logs {
		put("log", l.vkey, l.url)
	}
	for _, w := range p.witnesses {
		put("witness", w.name, w.witness.String(), w.url)
	}
	done := map[string]bool{}
	var putGroup func(name string)
	putGroup = func(name string) {
		g, ok := p.groups[name]
		if !ok || done[name] {
			return
		}
		done[name] = true
		for _, m := range g.members {
			putGroup(m)
		}
		put(append([]string{"group", name, strconv.Itoa(g.threshold)}, g.members...)...)
	}
	for _, name := range sortedNames(p.groups) {
		putGroup(name)
	}
	put("quorum", p.quorum)
	return b.String()
}
