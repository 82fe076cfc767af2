package audit

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"golang.org/x/mod/sumdb/note"

	"fairdice/commitment"
	"fairdice/internal/phrase"
	"fairdice/translog"
)

// checkLog carries out log.signature, log.inclusion, log.consistency and
// log.witness, and decides whether every deal's round was witnessed in time.
func (e *evidence) checkLog(f *findings, t Trust) {
	signed := e.checkLogSignature(f, t)
	e.checkInclusion(f)
	consistent := e.checkConsistency(f)
	e.checkWitnesses(f, t, func(i int) bool { return signed(i) && consistent[i] })
}

// all lists the bundle's own checkpoint and then the earlier ones.
func (e *evidence) all() []checkpoint { return append([]checkpoint{e.checkpoint}, e.earlier...) }

// name says which checkpoint of all is meant.
func checkpointName(i int) error {
	if i == 0 {
		return errors.New("the checkpoint")
	}
	return phrase.Errorf("earlier checkpoint %d", i)
}

// checkLogSignature verifies origin and signature of every checkpoint under the
// pinned key (C7). Without one it uses the bundle's own key, which can only
// show that the file contradicts itself. The result tells of each checkpoint
// of all whether its signature is good.
func (e *evidence) checkLogSignature(f *findings, t Trust) func(int) bool {
	const id = LogSignature
	key, err := t.logKey(e.bundle.Log.Key, "the bundle")
	if err != nil {
		f.fail(id, 0, 0, err)
		return func(int) bool { return false }
	}
	good := make([]bool, 1+len(e.earlier))
	for i, c := range e.all() {
		_, err := commitment.OpenNote(c.raw, key)
		switch {
		case c.Origin != key.Name():
			f.fail(id, 0, 0, phrase.Errorf("%s is of log %q, not %q", checkpointName(i), clip(c.Origin), key.Name()))
		case err != nil:
			f.fail(id, 0, 0, phrase.Errorf("%s: %v", checkpointName(i), err))
		default:
			good[i] = true
		}
	}
	if e.bundle.Log.Origin != key.Name() {
		f.fail(id, 0, 0, phrase.Errorf("the bundle names log %q, the key %q", clip(e.bundle.Log.Origin), key.Name()))
	}
	if t.pinned() {
		f.pass(id)
	} else {
		f.skip(id, 0, errors.New("no key was pinned; the bundle agrees with the key inside it, which proves nothing"))
	}
	return func(i int) bool { return good[i] }
}

// logKey returns the key that checkpoints must be signed with. The key that the
// evidence names must be the pinned one or one of the policy's.
func (t Trust) logKey(inside, evidence string) (note.Verifier, error) {
	switch {
	case t.Key != "":
		key, err := commitment.ParseVerifier(t.Key)
		if err == nil && t.Key != inside {
			err = phrase.Errorf("%w names the log key %s, not the pinned one", errors.New(evidence), clip(inside))
		}
		return key, err
	case t.pinned() && !slices.Contains(t.Policy.Logs(), inside):
		return nil, phrase.Errorf("the policy does not list the log key %s", clip(inside))
	}
	return commitment.ParseVerifier(inside)
}

// checkInclusion verifies every statement against the bundle's checkpoint.
func (e *evidence) checkInclusion(f *findings) {
	f.pass(LogInclusion)
	for _, s := range e.bundle.Statements {
		leaf := translog.LeafHash([]byte(s.Text))
		if err := translog.VerifyInclusion(leaf, int64(s.Index), e.checkpoint.Size, s.Path, e.checkpoint.Root); err != nil {
			f.fail(LogInclusion, 0, 0, err)
		}
	}
}

// checkConsistency verifies the proof of every earlier checkpoint (C7). The
// result tells of each checkpoint of all whether it belongs to the same log.
func (e *evidence) checkConsistency(f *findings) []bool {
	if len(e.earlier) == 0 {
		f.skip(LogConsistency, 0, errors.New("the bundle has no earlier checkpoint"))
	}
	good := make([]bool, 1+len(e.earlier))
	good[0] = true
	for i, c := range e.earlier {
		f.pass(LogConsistency)
		err := translog.VerifyConsistency(c.Size, c.Root, e.checkpoint.Size, e.checkpoint.Root, e.bundle.Log.Earlier[i].Consistency)
		if err != nil {
			f.fail(LogConsistency, 0, 0, phrase.Errorf("%s: %v", checkpointName(i+1), err))
		}
		good[i+1] = err == nil
	}
	return good
}

// policies returns what the reader demands of witnesses: his policy, and that
// every single witness he named has cosigned.
func (t Trust) policies(inside string) ([]*translog.Policy, error) {
	var list []*translog.Policy
	if t.Policy != nil && len(t.Policy.Witnesses()) > 0 {
		list = append(list, t.Policy)
	}
	if len(t.Witnesses) > 0 {
		p, err := translog.NewPolicy(inside, t.Witnesses)
		if err != nil {
			return nil, err
		}
		list = append(list, p)
	}
	return list, nil
}

// checkWitnesses carries out log.witness and finds out whether every deal's
// round was witnessed (C8). usable tells of a checkpoint whether its signature
// and its consistency have been proved.
func (e *evidence) checkWitnesses(f *findings, t Trust, usable func(int) bool) {
	policies, err := t.policies(e.bundle.Log.Key)
	switch {
	case err != nil:
		f.fail(LogWitness, 0, 0, err)
		return
	case len(policies) == 0:
		f.skip(LogWitness, 0, errors.New("no policy asks for a witness"))
		return
	}
	times := make([][]map[string]int64, 1+len(e.earlier)) // by checkpoint and policy
	for i, c := range e.all() {
		for _, p := range policies {
			at, err := p.Cosigned(c.raw)
			if err != nil {
				f.fail(LogWitness, 0, 0, phrase.Errorf("%s: %v", checkpointName(i), err))
			}
			times[i] = append(times[i], at)
		}
	}
	cosigned := slices.ContainsFunc(times[0], func(at map[string]int64) bool { return len(at) > 0 })
	switch {
	case !met(policies, times[0], nil):
		f.fail(LogWitness, 0, 0, phrase.Errorf("%w: %w", checkpointName(0), errQuorum))
	case cosigned:
		f.pass(LogWitness)
	default: // a quorum of none, and none
		f.skip(LogWitness, 0, errors.New("no policy asks for a witness"))
	}
	e.witnessed = e.roundsWitnessed(quorums(policies, e.all(), times, usable))
}

var errQuorum = errors.New("the quorum of witnesses is not met")

// met reports whether the cosignatures, dated at or before limit if there is
// one, satisfy every policy. A quorum that asks for nobody is not evidence.
func met(policies []*translog.Policy, times []map[string]int64, limit *int64) bool {
	for i, p := range policies {
		by := map[string]bool{}
		for name, at := range times[i] {
			if limit == nil || at <= *limit {
				by[name] = true
			}
		}
		if !p.Satisfied(by) || limit != nil && len(by) == 0 {
			return false
		}
	}
	return true
}

// quorums lists the usable checkpoints that ever met the policy.
func quorums(policies []*translog.Policy, all []checkpoint, times [][]map[string]int64, usable func(int) bool) Witnessed {
	var list Witnessed
	for i, c := range all {
		if by, ok := moment(policies, times[i]); ok && usable(i) {
			list = append(list, quorum{c.Size, by})
		}
	}
	return list.settle()
}

// moment returns the earliest time by which the cosignatures met the policies.
func moment(policies []*translog.Policy, times []map[string]int64) (by int64, ok bool) {
	var moments []int64
	for _, by := range times {
		moments = slices.AppendSeq(moments, maps.Values(by))
	}
	slices.Sort(moments)
	for _, t := range moments {
		if met(policies, times, &t) {
			return t, true
		}
	}
	return 0, false
}

// roundsWitnessed asks of every deal whether a checkpoint with its assign was
// cosigned before its round came out (C8).
func (e *evidence) roundsWitnessed(list Witnessed) bool {
	if e.open == nil || !e.open.Beacon {
		return false
	}
	deals := 0
	for _, g := range e.ledger.match(e.open.Match).games {
		for _, s := range g.segments {
			if s.deal == nil {
				continue
			}
			deals++
			round, ok := roundTime(s.assign.S)
			first, _ := slices.BinarySearchFunc(list, int64(s.assign.index)+1, func(q quorum, size int64) int { return cmp.Compare(q.size, size) })
			if !ok || first == len(list) || list[first].by > round.Unix() {
				return false
			}
		}
	}
	return deals > 0
}
