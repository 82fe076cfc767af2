package audit

import (
	"cmp"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"fairdice/internal/phrase"
	"fairdice/translog"
)

// Witnessed lists states of the log that have met the reader's policy, from
// the smallest, with the moment by which they had.
type Witnessed []quorum

// quorum is a state of the log and the moment by which it had met the policy.
type quorum struct {
	size int64
	by   int64 // seconds since 1970
}

// settle sorts the list and gives every state the earliest moment of all that
// are at least as large, since a larger log contains what the smaller one did.
func (w Witnessed) settle() Witnessed {
	slices.SortFunc(w, func(a, b quorum) int { return cmp.Compare(a.size, b.size) })
	for i := len(w) - 2; i >= 0; i-- {
		w[i].by = min(w[i].by, w[i+1].by)
	}
	return w
}

// Checkpoints verifies checkpoints of one log, as many as there are, under a
// reader's trust. Whether they agree with one another is for its caller to
// find out, who has the whole log to compare them with.
type Checkpoints struct {
	key      note.Verifier
	policies []*translog.Policy
	pinned   bool
	states   Witnessed
}

// Checkpoints returns the verifier for the log whose key the evidence says is
// inside. Without a pinned key or policy that key is used, which proves
// nothing.
func (t Trust) Checkpoints(inside string) (*Checkpoints, error) {
	key, err := t.logKey(inside, "the archive")
	if err != nil {
		return nil, err
	}
	policies, err := t.policies(inside)
	if err != nil {
		return nil, err
	}
	return &Checkpoints{key: key, policies: policies, pinned: t.pinned()}, nil
}

// Origin returns the name of the log.
func (c *Checkpoints) Origin() string { return c.key.Name() }

// Pinned reports whether the key is one that the reader brought along.
func (c *Checkpoints) Pinned() bool { return c.pinned }

// Witnessing reports whether the reader's trust asks for witnesses.
func (c *Checkpoints) Witnessing() bool { return len(c.policies) > 0 }

// Seen is a checkpoint whose signature is good. By is when it had met the
// policy, 0 if it has not, or if the trust asks for no witness.
type Seen struct {
	translog.Checkpoint
	By int64
}

// Open reads a signed checkpoint. Faults are findings of log.signature and
// log.witness; ok tells whether the log's own signature is good.
func (c *Checkpoints) Open(name, raw string) (s Seen, faults []Check, ok bool) {
	fault := func(id ID, why error) {
		why = phrase.Errorf("%s: %w", name, why)
		faults = append(faults, Check{ID: id, Status: Fail, Kind: describe(id).kind, Detail: why.Error(), Why: why})
	}
	point, err := translog.OpenCheckpoint(raw, c.key)
	if err != nil {
		fault(LogSignature, err)
		return Seen{Checkpoint: point}, faults, false
	}
	s.Checkpoint = point
	if len(c.policies) == 0 {
		return s, nil, true
	}
	var times []map[string]int64
	for _, p := range c.policies {
		at, err := p.Cosigned(raw)
		if err != nil {
			fault(LogWitness, err)
		}
		times = append(times, at)
	}
	if by, met := moment(c.policies, times); met {
		s.By = by
	}
	return s, faults, true
}

// Believe adds a checkpoint that has been found to be a state of the log.
func (c *Checkpoints) Believe(s Seen) {
	if s.By > 0 {
		c.states = append(c.states, quorum{s.Size, s.By})
	}
}

// Witnessed lists the believed states that met the policy.
func (c *Checkpoints) Witnessed() Witnessed { return c.states.settle() }

// LogKey returns the log's verifier key: the pinned one, or else the one that
// the evidence says is inside.
func (t Trust) LogKey(inside string) string {
	if t.Key != "" {
		return t.Key
	}
	return inside
}
