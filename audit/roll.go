package audit

import (
	"errors"
	"strings"

	"fairdice/commitment"
	"fairdice/internal/beacon"
	"fairdice/internal/phrase"
	"fairdice/replay"
	"fairdice/rules"
	"fairdice/translog"
)

// rollEvidence is a roll file with its texts read.
type rollEvidence struct {
	file       *Roll
	checkpoint checkpoint
	commit     *filed[commitment.Commit]
	open       filed[commitment.Open]
	assign     filed[commitment.Assign]
	deal       filed[commitment.Deal]
	receipt    commitment.Receipt
}

// VerifyRoll checks one roll by itself while the game is played, from what the
// draw answered: the log's signature, that open, assign and deal are in the
// log and go together, the cut, the receipt, and that the roll opens the dealt
// root. What needs the secret, or the other rolls, is left to [Verify] once the
// game has ended and is listed as not checked.
func VerifyRoll(data []byte, t Trust) Report {
	file, err := ParseRoll(data)
	if err != nil {
		return RefuseRoll(err)
	}
	e, err := readRoll(file)
	if err != nil {
		return RefuseRoll(err)
	}
	f := newFindings()
	f.pass(Format)
	e.checkLog(f, t)
	e.checkOrder(f)
	e.checkRefs(f)
	e.checkRollLinks(f)
	e.checkRollBeacon(f)
	e.checkOpening(f)
	e.checkRollReceipt(f)
	terms := &evidence{open: &e.open.S}
	if v, err := rules.Lookup(e.open.S.Variant); err != nil {
		f.fail(RulesVersion, 0, 0, err)
	} else {
		terms.checkVersion(f, t, v)
	}
	sealed := errors.New("the secret is published when the game has ended")
	for id, reason := range map[ID]error{
		SequenceSecret: sealed,
		SequenceRoot:   sealed,
		DealRoot:       sealed,
		LevelCheck:     errors.New("the level is proved by the match's bundle"),
	} {
		f.skip(id, 0, reason)
	}
	for _, d := range descriptions {
		if !f.passed[d.id] && !f.failed(d.id) && len(f.reasons[d.id]) == 0 {
			f.skip(d.id, 0, errors.New("one roll alone cannot show it"))
		}
	}
	r := Report{
		Match: e.open.S.Match, Variant: e.open.S.Variant, Mode: e.open.S.Mode.String(), Checks: f.list(),
		Games: []GameSummary{}, Overdue: []string{}, Says: terms.says(), Faults: []Fault{},
	}
	r.Checks[0].Detail = "the file is a well-formed roll" // format comes first, and has passed
	switch {
	case len(r.Failed()) > 0:
		r.Verdict = Failed
		r.Sentences = append(r.Sentences, sentence("sentence.failed", plural(len(r.Failed()), "check")))
	case !t.pinned():
		r.Verdict = Incomplete
		r.Sentences = append(r.Sentences, sentence("sentence.unpinned"))
	case f.incomplete:
		r.Verdict = Incomplete
		r.Sentences = append(r.Sentences, sentence("sentence.incomplete"))
	default:
		r.Verdict = Verified
		r.Sentences = append(r.Sentences, sentence("sentence.roll", e.receipt.Dice.String()))
	}
	for _, s := range r.Says {
		r.Sentences = append(r.Sentences, sentence("says."+hyphened(s)))
	}
	return r
}

// RefuseRoll is [Refuse] for rolls.
func RefuseRoll(err error) Report {
	r := Refuse(err)
	r.Sentences = []Sentence{because("sentence.malformed-roll", err)}
	return r
}

func readRoll(file *Roll) (*rollEvidence, error) {
	e := &rollEvidence{file: file}
	var err error
	if e.checkpoint, err = readCheckpoint(file.Checkpoint); err != nil {
		return nil, phrase.Errorf("checkpoint: %w", err)
	}
	if file.Commit != nil {
		e.commit = &filed[commitment.Commit]{}
		err = fileAs("commit", *file.Commit, e.commit)
	}
	if err = errors.Join(err, fileAs("open", file.Open, &e.open), fileAs("assign", file.Assign, &e.assign), fileAs("deal", file.Deal, &e.deal)); err != nil {
		return nil, err
	}
	text, err := noteText(file.Receipt)
	if err != nil {
		return nil, phrase.Errorf("receipt: %w", err)
	}
	if e.receipt, err = commitment.ParseReceipt([]byte(text)); err != nil {
		return nil, phrase.Errorf("receipt: %w", err)
	}
	return e, nil
}

// fileAs reads a statement of a type that is known from where it stands.
func fileAs[S commitment.Statement](member string, s BundleStatement, into *filed[S]) error {
	read, err := commitment.Parse([]byte(s.Text))
	if err != nil {
		return phrase.Errorf("%s: %w", member, err)
	}
	typed, ok := read.(S)
	if !ok {
		return phrase.Errorf("%s: a statement of type %s", member, read.Type())
	}
	*into = filed[S]{S: typed, entry: entry{index: s.Index, statement: read}}
	return nil
}

// checkLog carries out log.signature, log.inclusion and log.witness.
func (e *rollEvidence) checkLog(f *findings, t Trust) {
	if key := t.rollKey(f, e.checkpoint.raw); key != "" {
		verifier, err := commitment.ParseVerifier(key)
		if err == nil {
			_, err = translog.OpenCheckpoint(e.checkpoint.raw, verifier)
		}
		if err != nil {
			f.fail(LogSignature, 0, 0, err)
		} else {
			f.pass(LogSignature)
		}
		e.checkCosigned(f, t, key)
	}
	f.pass(LogInclusion)
	all := []BundleStatement{e.file.Open, e.file.Assign, e.file.Deal}
	if e.file.Commit != nil {
		all = append(all, *e.file.Commit)
	}
	for _, s := range all {
		if err := translog.VerifyInclusion(translog.LeafHash([]byte(s.Text)), int64(s.Index), e.checkpoint.Size, s.Path, e.checkpoint.Root); err != nil {
			f.fail(LogInclusion, 0, 0, err)
		}
	}
}

// rollKey is the log key that the reader trusts for a checkpoint, "" for none:
// a roll names no key of its own.
func (t Trust) rollKey(f *findings, signed string) string {
	if t.Key != "" {
		return t.Key
	}
	if !t.pinned() {
		f.skip(LogSignature, 0, errors.New("no key was pinned"))
		f.skip(LogWitness, 0, errors.New("no key was pinned"))
		return ""
	}
	for _, key := range t.Policy.Logs() {
		if v, err := commitment.ParseVerifier(key); err == nil {
			if _, err := translog.OpenCheckpoint(signed, v); err == nil {
				return key
			}
		}
	}
	f.fail(LogSignature, 0, 0, errors.New("no log of the policy has signed the checkpoint"))
	return ""
}

// checkCosigned carries out log.witness. A roll is answered before the
// witnesses have seen its log, so a missing cosignature is evidence still to
// come and no fault; a wrong one is.
func (e *rollEvidence) checkCosigned(f *findings, t Trust, key string) {
	policies, err := t.policies(key)
	if err != nil {
		f.fail(LogWitness, 0, 0, err)
		return
	}
	if len(policies) == 0 {
		f.skip(LogWitness, 0, errors.New("no policy asks for a witness"))
		return
	}
	var times []map[string]int64
	for _, p := range policies {
		at, err := p.Cosigned(e.checkpoint.raw)
		if err != nil {
			f.fail(LogWitness, 0, 0, err)
		}
		times = append(times, at)
	}
	if met(policies, times, nil) {
		f.pass(LogWitness)
		return
	}
	f.incomplete = true
	f.skip(LogWitness, 0, errQuorum)
}

// checkOrder carries out log.order for the statements that are there.
func (e *rollEvidence) checkOrder(f *findings) {
	f.pass(LogOrder)
	inOrder := func(first, then entry) {
		if first.index >= then.index || then.statement.When().Before(first.statement.When()) {
			f.fail(LogOrder, 0, 0, at(then, "the %s does not come before the %s", first.statement.Type(), then.statement.Type()))
		}
	}
	inOrder(e.open.entry, e.assign.entry)
	inOrder(e.assign.entry, e.deal.entry)
	if e.commit != nil {
		inOrder(e.commit.entry, e.assign.entry)
	}
}

// checkRefs carries out statements.refs: all speak of one match, game, segment
// and sequence of one log.
func (e *rollEvidence) checkRefs(f *findings) {
	f.pass(StatementsRefs)
	o, a, d, r := e.open.S, e.assign.S, e.deal.S, e.receipt
	demand := func(ok bool, what string, values ...any) {
		if !ok {
			f.fail(StatementsRefs, 0, 0, phrase.Errorf(what, values...))
		}
	}
	demand(o.Log == e.checkpoint.Origin, "the open is of log %q, the checkpoint of %q", clip(o.Log), clip(e.checkpoint.Origin))
	demand(a.Match == o.Match, "the assign is of another match than the open")
	demand(d.Match == a.Match && d.Game == a.Game && d.Segment == a.Segment && d.Sequence == a.Sequence, "the deal is not that of the assign")
	demand(r.Match == d.Match && r.Game == d.Game && r.Segment == d.Segment && r.Sequence == d.Sequence, "the receipt is not of the segment that was dealt")
	if e.commit != nil {
		c := e.commit.S
		demand(c.Sequence == a.Sequence && c.Log == o.Log && c.Tenant == o.Tenant && c.Mode == o.Mode && c.Number == a.Number,
			"commit, open and assign disagree on sequence, log, tenant, mode or number")
	}
}

// checkRollLinks carries out deal.links and deal.cut. Which link of a chain it
// must be only the whole match shows; that it is one of that chain, the anchor does.
func (e *rollEvidence) checkRollLinks(f *findings) {
	o, d, r := e.open.S, e.deal.S, e.receipt
	for i, side := range [...]struct {
		anchor *commitment.Anchor
		link   *commitment.Hash
	}{{o.AnchorA, d.LinkA}, {o.AnchorB, d.LinkB}} {
		name := string(rune('a' + i))
		switch {
		case (side.anchor == nil) != (side.link == nil):
			f.fail(DealLinks, d.Game, 0, phrase.Errorf("anchor-%s and link-%s are not both there", name, name))
			continue
		case side.anchor == nil:
			f.skip(DealLinks, 0, phrase.Errorf("player %s takes no part in the cut", name))
			continue
		case !leadsTo(*side.link, side.anchor.Hash):
			f.fail(DealLinks, d.Game, 0, phrase.Errorf("link-%s does not lead back to the anchor", name))
		default:
			f.pass(DealLinks)
		}
		if r.Links != nil && !leadsTo(r.Links[i], *side.link) {
			f.fail(DealLinks, d.Game, 0, phrase.Errorf("the throw's link of player %s does not continue that of the deal", name))
		}
	}
	if want := commitment.NewCut(d.Match, d.Game, d.Segment, d.LinkA, d.LinkB, d.Signature); d.Cut != want {
		f.fail(DealCut, d.Game, 0, phrase.Errorf("the cut is %.16s…, not %.16s…", d.Cut, want))
	} else {
		f.pass(DealCut)
	}
}

// leadsTo reports whether link belongs to a chain behind an earlier value of it.
func leadsTo(link, earlier commitment.Hash) bool {
	for range commitment.MaxChain {
		if link = commitment.LinkHash(link); link == earlier {
			return true
		}
	}
	return false
}

// checkRollBeacon carries out deal.beacon.
func (e *rollEvidence) checkRollBeacon(f *findings) {
	o, a, d := e.open.S, e.assign.S, e.deal.S
	switch {
	case (a.Round != nil) != o.Beacon || (d.Signature != nil) != o.Beacon:
		f.fail(DealBeacon, d.Game, 0, errors.New("round and signature are there exactly in a match with a beacon, and here they are not"))
		return
	case !o.Beacon:
		f.skip(DealBeacon, 0, errors.New("the match has no beacon"))
		return
	}
	f.pass(DealBeacon)
	if err := beacon.CheckAssign(*a.Round, a.Time); err != nil {
		f.fail(DealBeacon, d.Game, 0, at(e.assign.entry, "%w", err))
	}
	if d.Time.Before(beacon.Time(*a.Round)) {
		f.fail(DealBeacon, d.Game, 0, at(e.deal.entry, "the deal is dated before round %d", *a.Round))
	}
	if err := beacon.Verify(*a.Round, d.Signature); err != nil {
		f.fail(DealBeacon, d.Game, 0, at(e.deal.entry, "%w", err))
	}
}

// checkOpening carries out rolls.opening. The place of a roll in the tree
// follows from the lengths in the commit. A roll without its commit must open
// the root for some lengths; that it is not another element of its stream is
// not checked then.
func (e *rollEvidence) checkOpening(f *findings) {
	r, in := e.receipt, e.file.Opening
	if in.Segment != r.Segment || in.Stream != r.Stream || in.Index != r.Index || in.Key != r.Key {
		f.fail(RollsOpening, r.Game, 0, errors.New("opening and receipt are of two rolls"))
	}
	o := commitment.Opening{Stream: in.Stream, Index: in.Index, Dice: r.Dice, Key: in.Key, Path: in.Path}
	live := e.open.S.Mode == commitment.Live
	if live != (r.Links != nil) {
		f.fail(RollsOpening, r.Game, 0, errors.New("a receipt names links in mode live and in no other"))
		return
	}
	if live {
		o.Dice = commitment.Dice{}
		if commitment.LiveDice(r.Key, r.Links[0], r.Links[1]) != r.Dice {
			f.fail(RollsOpening, r.Game, 0, phrase.Errorf("the dice %s do not follow from the key and the links", r.Dice))
		}
	}
	f.pass(RollsOpening)
	switch {
	case e.commit != nil:
		if err := o.Verify(e.deal.S.Root, e.commit.S.Rolls); err != nil {
			f.fail(RollsOpening, r.Game, 0, err)
		}
	case !o.FitsSomeLengths(e.deal.S.Root):
		f.fail(RollsOpening, r.Game, 0, errors.New("key and dice do not open the dealt root as this roll, whatever the lengths of the streams are"))
	default:
		f.skip(RollsOpening, 0, errors.New("key and dice were dealt; without the commit nothing says which element of the stream they are"))
	}
}

// checkRollReceipt carries out receipts.signature, and compares what the
// answer says beside the receipt (record.rolls, record.head).
func (e *rollEvidence) checkRollReceipt(f *findings) {
	r := e.receipt
	f.pass(ReceiptsSignature)
	if _, err := commitment.OpenReceipt(e.file.Receipt, e.open.S.ReceiptKey); err != nil {
		f.fail(ReceiptsSignature, r.Game, 0, err)
	}
	if name, _, _ := strings.Cut(e.open.S.ReceiptKey, "+"); name != e.checkpoint.Origin+"/receipts" {
		f.fail(ReceiptsSignature, 0, 0, phrase.Errorf("the receipt key is named %q, not %q", clip(name), e.checkpoint.Origin+"/receipts"))
	}
	if e.file.Dice != nil {
		f.pass(RecordRolls)
		if e.file.Dice[0] != int(r.Dice.D1) || e.file.Dice[1] != int(r.Dice.D2) {
			f.fail(RecordRolls, r.Game, 0, phrase.Errorf("the dice shown are %v, the receipt says %s", e.file.Dice, r.Dice))
		}
	}
	refereed := e.open.S.Profile == commitment.Refereed
	if e.file.Line != 0 && (!refereed || e.file.Line != r.RecordLines+1) {
		f.fail(RecordHead, r.Game, e.file.Line, phrase.Errorf("the roll is said to be record line %d, the receipt stands behind line %d", e.file.Line, r.RecordLines))
	}
	if e.file.Head == nil {
		return
	}
	f.pass(RecordHead)
	head := replay.Head(r.RecordHead)
	if refereed {
		head = head.Next(rollLine(r))
	}
	if commitment.Hash(head) != *e.file.Head {
		f.fail(RecordHead, r.Game, e.file.Line, errors.New("the head shown does not follow from the receipt's and the roll's own line"))
	}
}

// rollLine is the record line of a roll.
func rollLine(r commitment.Receipt) string {
	e := replay.Event{Kind: replay.Opening, Dice: rules.Dice{A: r.Dice.D1, B: r.Dice.D2}}
	switch r.Stream {
	case commitment.StreamA:
		e.Kind, e.Seat = replay.Roll, replay.A
	case commitment.StreamB:
		e.Kind, e.Seat = replay.Roll, replay.B
	}
	return e.String()
}
