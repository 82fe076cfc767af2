package audit

import (
	"errors"

	"fairdice/commitment"
	"fairdice/internal/phrase"
)

// maxRebuilt bounds how many rolls the verification of a bundle rebuilds, each
// at about half a microsecond and a hundred bytes. A match of a thousand games
// with default lengths stays below half of it; a forged file of a few
// kilobytes could ask for a minute of work and gigabytes of memory.
const maxRebuilt = 1 << 21

// rebuilder carries out sequence.secret, sequence.root and deal.root.
type rebuilder struct {
	*findings
	archives map[commitment.Hash]*commitment.Archive
	lenient  bool // a missing archive is no fault, it only leaves its sequence unchecked
	budget   int  // rolls that may still be rebuilt
}

// check works through one game and returns its rebuilt sequences, with the cut,
// by segment. Published secrets are found by sequence id, so that secrets in
// the wrong order are one fault and the dice are still compared (C18).
func (b *rebuilder) check(g *gameLog) map[int]*commitment.Sequence {
	if g.end() == nil {
		for _, id := range []ID{SequenceSecret, SequenceRoot, DealRoot} {
			b.skip(id, g.number, errors.New("the game has no end, so its secrets are not published"))
		}
		return nil
	}
	g.checkSecretList(b.findings)
	published := map[string]commitment.Secret{}
	for _, s := range g.secrets() {
		if _, twice := published[s.Sequence]; !twice {
			published[s.Sequence] = s.Secret
		}
	}
	rebuilt := map[int]*commitment.Sequence{}
	for _, s := range g.segments {
		secret, ok := published[s.assign.S.Sequence]
		switch {
		case !ok:
			b.skipRoots(g.number, phrase.Errorf("the secret of segment %d is not published", s.number))
		case s.commit == nil:
			b.fail(SequenceSecret, g.number, 0, phrase.Errorf("the secret of segment %d has no commit to compare it with", s.number))
			b.skipRoots(g.number, phrase.Errorf("the commit of segment %d is missing", s.number))
		default:
			if q := b.segment(g, s, secret); q != nil {
				rebuilt[s.number] = q
			}
		}
	}
	return rebuilt
}

func (b *rebuilder) skipRoots(game int, reason error) {
	b.skip(SequenceRoot, game, reason)
	b.skip(DealRoot, game, reason)
}

// sealed compares a published secret with its commit and rebuilds the sequence
// without a cut. It returns nil if that cannot be done, and has said why.
func (b *rebuilder) sealed(c *filed[commitment.Commit], secret commitment.Secret, game int) (*commitment.Archive, *commitment.Sequence) {
	s := c.S
	if secret.Hash() != s.SecretHash {
		b.fail(SequenceSecret, game, 0, at(c.entry, "the secret published for sequence %s is not the one that was committed", s.Sequence))
	}
	if why := b.stopped(); why != nil {
		b.skipRoots(game, why)
		return nil, nil
	}
	if b.budget -= 2 * s.Rolls.Total(); b.budget < 0 {
		b.incomplete = true
		b.skipRoots(game, phrase.Errorf("the file asks for more than %d rolls to be rebuilt", maxRebuilt))
		return nil, nil
	}
	var archive *commitment.Archive
	if s.Archive != nil {
		if archive = b.archives[*s.Archive]; archive == nil && b.lenient {
			b.skip(SequenceRoot, game, phrase.Errorf("the archive of sequence %s is not at hand", s.Sequence))
			return nil, nil
		} else if archive == nil {
			b.fail(SequenceRoot, game, 0, phrase.Errorf("the archive of sequence %s, %s, is missing or malformed", s.Sequence, short(*s.Archive)))
			return nil, nil
		}
	}
	q, err := commitment.Build(secret, s.Sequence, s.Mode, s.Rolls, commitment.NoCut, archive)
	if err != nil {
		b.fail(SequenceRoot, game, 0, err)
		return nil, nil
	}
	b.pass(SequenceRoot)
	if q.Root() != s.Root {
		b.fail(SequenceRoot, game, 0, at(c.entry, "the root committed for sequence %s does not follow from its secret", s.Sequence))
	}
	return archive, q
}

// segment rebuilds the sequence of a segment twice, without the cut for the
// commit's root and with it for the deal's. It returns the latter.
func (b *rebuilder) segment(g *gameLog, s *segmentLog, secret commitment.Secret) *commitment.Sequence {
	archive, sealed := b.sealed(s.commit, secret, g.number)
	if sealed == nil {
		b.skip(DealRoot, g.number, phrase.Errorf("segment %d cannot be rebuilt", s.number))
		return nil
	}
	if s.deal == nil {
		b.skip(DealRoot, g.number, phrase.Errorf("segment %d was not dealt", s.number))
		return nil
	}
	c, dealt := s.commit.S, sealed
	if cut := s.deal.S.Cut; cut != commitment.NoCut {
		var err error
		if dealt, err = commitment.Build(secret, c.Sequence, c.Mode, c.Rolls, cut, archive); err != nil {
			b.fail(DealRoot, g.number, 0, err)
			return nil
		}
	}
	b.pass(DealRoot)
	if dealt.Root() != s.deal.S.Root {
		b.fail(DealRoot, g.number, 0, at(s.deal.entry, "the root dealt for segment %d does not follow from secret and cut", s.number))
	}
	return dealt
}

// checkSecretList demands one secret per assigned segment, in segment order.
func (g *gameLog) checkSecretList(f *findings) {
	f.pass(SequenceSecret)
	secrets := g.secrets()
	if len(secrets) != len(g.segments) {
		f.fail(SequenceSecret, g.number, 0, phrase.Errorf("%w published for %w", number(len(secrets), "1 secret", "%d secrets"), number(len(g.segments), "1 assigned segment", "%d assigned segments")))
		return
	}
	for i, s := range secrets {
		if want := g.segments[i].assign.S.Sequence; s.Sequence != want {
			f.fail(SequenceSecret, g.number, 0, phrase.Errorf("secret %d is that of sequence %s, segment %d has sequence %s", i+1, s.Sequence, i+1, want))
			return
		}
	}
}
