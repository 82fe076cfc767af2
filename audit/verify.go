package audit

import (
	"errors"
	"math"
	"sync"
	"time"

	"fairdice/commitment"
	"fairdice/rules"
	"fairdice/translog"
)

// Trust is what the reader brings along; everything else comes from the bundle.
type Trust struct {
	Key       string            // the pinned log key; empty if a policy names it
	Policy    *translog.Policy  // logs and witnesses that are trusted, or nil
	Witnesses []string          // further witness keys, every one of which must have cosigned
	MyAnchor  *commitment.Hash  // the reader's own anchor
	Rules     map[string][]Hash // hashes of the known rules versions; nil: BuiltInRules
	Now       time.Time         // when deadlines are judged that nothing has met; zero: at the last statement
	// Stop is asked again and again. Once it says why, Verify takes up no more work
	// that is long, a roll tree, a batch of signatures or a game, and its report is
	// not Verified. Nil: never. A file of some hundred kilobytes can ask for
	// seconds, which a service does not give to everybody.
	Stop func() error
}

// Hash is the hash of the protocol, so that callers who build a Trust need no
// other package.
type Hash = commitment.Hash

// pinned reports whether the reader knows whose log to believe.
func (t Trust) pinned() bool {
	return t.Key != "" || t.Policy != nil && len(t.Policy.Logs()) > 0
}

// BuiltInRules returns the rules versions this verifier implements: for each
// version the hashes of all variants.
func BuiltInRules() map[string][]Hash {
	var hashes []Hash
	for _, v := range rules.Variants() {
		hashes = append(hashes, v.Hash())
	}
	return map[string][]Hash{rules.Version: hashes}
}

// builtIn is BuiltInRules for readers that leave it as it is: an archive asks
// for every match.
var builtIn = sync.OnceValue(BuiltInRules)

// Verify carries out every check of PROTOCOL.md §9 on a bundle. It never
// fails itself: whatever is wrong with the bytes is in the report. An error in
// the caller's own trust, an unreadable key for example, is reported as a
// failed log.signature or log.witness.
func Verify(data []byte, t Trust) Report {
	b, err := ParseBundle(data)
	if err != nil {
		return Refuse(err)
	}
	e, err := readEvidence(b)
	if err != nil {
		return Refuse(err)
	}
	f := newFindings()
	f.stop = t.Stop
	f.pass(Format)
	r := Report{Games: []GameSummary{}, Overdue: []string{}, Says: []string{}, Faults: []Fault{}}
	e.checkLog(f, t)
	e.checkBook(f)
	e.checkMatchOrder(f)
	f.skip(AssignLowest, 0, errors.New("a bundle can only show it broken; the whole log shows it kept"))
	if e.open == nil {
		for _, d := range descriptions {
			if !f.passed[d.id] && !f.failed(d.id) {
				f.skip(d.id, 0, errors.New("the open is missing, so nothing says what was agreed"))
			}
		}
		r.Checks, r.Verdict = f.list(), Failed
		r.Sentences = []Sentence{sentence("sentence.no-open")}
		return r
	}
	e.attach()
	checkRefs(f, e.ledger)
	e.checkBundleRefs(f)
	e.checkMatch(f, t, &r)
	r.Overdue = e.overdue(t.Now)
	e.conclude(f, t, &r)
	r.Sentences = e.sentences(f, t, &r)
	return r
}

// checkBook reads a bundle's statements through the book.
func (e *evidence) checkBook(f *findings) {
	e.book = newBook(e.origin, false, func(c Check) {
		c.Match, c.Tenant, c.Mode = "", "", "" // a bundle has one of each
		f.add(c)
	})
	f.pass(StatementsRefs)
	for _, en := range e.ledger.entries {
		e.book.Add(en.index, en.statement)
	}
}

// checkMatch carries out the checks of one match that do not depend on where
// its statements come from.
func (e *evidence) checkMatch(f *findings, t Trust, r *Report) {
	e.checkDeals(f)
	e.checkRolls(f)
	e.checkRecords(f)
	r.Faults = append(r.Faults, e.checkPlay(f, t)...)
	e.checkLaw(f)
	e.checkLevel(f, t, r)
	r.Match, r.Variant, r.Mode = e.open.Match, e.open.Variant, e.open.Mode.String()
	r.Says = e.says()
	for _, g := range e.games {
		r.Games = append(r.Games, g.summary())
	}
}

// conclude lists the findings and gives the verdict.
func (e *evidence) conclude(f *findings, t Trust, r *Report) {
	r.Checks = f.list()
	for _, g := range e.games {
		f.incomplete = f.incomplete || g.log.end() == nil // C17
	}
	switch {
	case len(r.Failed()) > 0:
		r.Verdict = Failed
	case f.incomplete || !t.pinned():
		r.Verdict = Incomplete
	default:
		r.Verdict = Verified
	}
}

// checkDeals carries out the checks of secrets, roots, links, cuts and beacon,
// which a whole log shares.
func (e *evidence) checkDeals(f *findings) {
	b := &rebuilder{findings: f, archives: e.archives, lenient: e.lenient, budget: maxRebuilt}
	if e.bundle == nil {
		b.budget = math.MaxInt // an archive may ask for as much as its log holds
	}
	logs := make([]*gameLog, len(e.games))
	throws := e.throws
	for i, g := range e.games {
		logs[i] = g.log
		g.rebuilt = b.check(g.log)
		g.checkReceiptLinks(f, e.open.Mode == commitment.Live)
		g.log.checkCuts(f)
		if g.absent && g.log.end() != nil {
			throws = nil // the links of its throws are not known
		}
	}
	checkLinks(f, e.open, logs, throws)
	if e.open.Mode == commitment.Live {
		e.checkThrowValues(f)
	}
	rounds := maxRounds
	if e.bundle == nil {
		rounds = math.MaxInt
	}
	checkBeacon(f, e.open, logs, &rounds)
}

// throws returns the links of a seat that the receipts of a game carry, and
// the segments of their throws.
func (e *evidence) throws(game, seat int) (links []commitment.Hash, segments []int) {
	if g, ok := e.game(game); ok {
		return g.throwLinks(seat)
	}
	return nil, nil
}

// attach gives every game of the file what the log says about it.
func (e *evidence) attach() {
	m := e.ledger.match(e.open.Match)
	for _, g := range e.games {
		g.log = m.game(g.number)
	}
}

// Refuse is the report on input that is no bundle, for the reason err. Callers
// use it for what they did not even hand to [Verify], a file that is too large
// for example.
func Refuse(err error) Report {
	f := newFindings()
	f.fail(Format, 0, 0, err)
	for _, d := range descriptions[1:] {
		f.skip(d.id, 0, errors.New("the file is malformed"))
	}
	return Report{
		Verdict: Malformed, Checks: f.list(), Games: []GameSummary{}, Overdue: []string{}, Says: []string{}, Faults: []Fault{},
		Sentences: []Sentence{because("sentence.malformed", err)},
	}
}
