package audit

import (
	"fmt"

	"fairdice/commitment"
)

// maxRebuilt bounds how many rolls a verification rebuilds. A match of a
// hundred games with full segments stays below a tenth of it; a forged file of
// 64 MiB could ask for hours of work.
const maxRebuilt = 1 << 24

// checkSecrets carries out sequence.secret, sequence.root and deal.root, and
// keeps the rebuilt sequences of every game for the checks of its rolls.
// Published secrets are found by sequence id, so that secrets in the wrong
// order are one fault and the dice are still compared (C18).
func (e *evidence) checkSecrets(f *findings) {
	budget := maxRebuilt
	for _, g := range e.games {
		g.rebuilt = map[int]*commitment.Sequence{}
		if g.log.end() == nil {
			for _, id := range []ID{SequenceSecret, SequenceRoot, DealRoot} {
				f.skip(id, g.number, "the game has no end, so its secrets are not published")
			}
			continue
		}
		g.checkSecretList(f)
		published := map[string]commitment.Secret{}
		for _, s := range g.log.secrets() {
			if _, twice := published[s.Sequence]; !twice {
				published[s.Sequence] = s.Secret
			}
		}
		for _, s := range g.log.segments {
			secret, ok := published[s.assign.S.Sequence]
			if !ok {
				reason := fmt.Sprintf("the secret of segment %d is not published", s.number)
				f.skip(SequenceRoot, g.number, reason)
				f.skip(DealRoot, g.number, reason)
				continue
			}
			if s.commit == nil {
				f.fail(SequenceSecret, g.number, 0, fmt.Sprintf("the secret of segment %d has no commit to compare it with", s.number))
				f.skip(SequenceRoot, g.number, fmt.Sprintf("the commit of segment %d is missing", s.number))
				f.skip(DealRoot, g.number, fmt.Sprintf("the commit of segment %d is missing", s.number))
				continue
			}
			if secret.Hash() != s.commit.S.SecretHash {
				f.fail(SequenceSecret, g.number, 0, fmt.Sprintf("the secret published for segment %d is not the one that was committed", s.number)+at(s.commit.entry))
			}
			budget -= 2 * s.commit.S.Rolls.Total()
			if budget < 0 {
				f.exhausted(g.number)
				continue
			}
			e.rebuild(f, g, s, secret)
		}
	}
}

// exhausted says that a check was left out because the file asks for too much
// work; the verdict is then incomplete.
func (f *findings) exhausted(game int) {
	f.incomplete = true
	reason := fmt.Sprintf("the file asks for more than %d rolls to be rebuilt", maxRebuilt)
	f.skip(SequenceRoot, game, reason)
	f.skip(DealRoot, game, reason)
}

// checkSecretList demands one secret per assigned segment, in segment order.
func (g *game) checkSecretList(f *findings) {
	f.pass(SequenceSecret)
	secrets := g.log.secrets()
	if len(secrets) != len(g.log.segments) {
		f.fail(SequenceSecret, g.number, 0, fmt.Sprintf("%s published for %s", plural(len(secrets), "secret"), plural(len(g.log.segments), "assigned segment")))
		return
	}
	for i, s := range secrets {
		if want := g.log.segments[i].assign.S.Sequence; s.Sequence != want {
			f.fail(SequenceSecret, g.number, 0, fmt.Sprintf("secret %d is that of sequence %s, segment %d has sequence %s", i+1, s.Sequence, i+1, want))
			return
		}
	}
}

// rebuild computes the sequence of a segment twice, without the cut for the
// commit's root and with it for the deal's.
func (e *evidence) rebuild(f *findings, g *game, s *segmentLog, secret commitment.Secret) {
	c := s.commit.S
	var archive *commitment.Archive
	if c.Archive != nil {
		if archive = e.archives[*c.Archive]; archive == nil {
			f.fail(SequenceRoot, g.number, 0, fmt.Sprintf("the archive of segment %d, %s, is missing or malformed", s.number, short(*c.Archive)))
			f.skip(DealRoot, g.number, "the archive is missing")
			return
		}
	}
	sealed, err := commitment.Build(secret, c.Sequence, c.Mode, c.Rolls, commitment.NoCut, archive)
	if err != nil {
		f.fail(SequenceRoot, g.number, 0, fmt.Sprintf("segment %d: %v", s.number, err))
		f.skip(DealRoot, g.number, "the sequence cannot be rebuilt")
		return
	}
	f.pass(SequenceRoot)
	if sealed.Root() != c.Root {
		f.fail(SequenceRoot, g.number, 0, fmt.Sprintf("the root committed for segment %d does not follow from its secret", s.number)+at(s.commit.entry))
	}
	if s.deal == nil {
		f.skip(DealRoot, g.number, fmt.Sprintf("segment %d was not dealt", s.number))
		return
	}
	dealt := sealed
	if cut := s.deal.S.Cut; cut != commitment.NoCut {
		if dealt, err = commitment.Build(secret, c.Sequence, c.Mode, c.Rolls, cut, archive); err != nil {
			f.fail(DealRoot, g.number, 0, fmt.Sprintf("segment %d: %v", s.number, err))
			return
		}
	}
	g.rebuilt[s.number] = dealt
	f.pass(DealRoot)
	if dealt.Root() != s.deal.S.Root {
		f.fail(DealRoot, g.number, 0, fmt.Sprintf("the root dealt for segment %d does not follow from secret and cut", s.number)+at(s.deal.entry))
	}
}
