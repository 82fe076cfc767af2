package audit

import "errors"

// ID names a check. The set is fixed by PROTOCOL.md §9 and never renamed:
// scripts and other verifiers rely on the words.
type ID string

// The checks in the order in which a report lists them.
const (
	Format            ID = "format"
	LogSignature      ID = "log.signature"
	LogInclusion      ID = "log.inclusion"
	LogConsistency    ID = "log.consistency"
	LogWitness        ID = "log.witness"
	LogOrder          ID = "log.order"
	StatementsRefs    ID = "statements.refs"
	SequenceSecret    ID = "sequence.secret"
	SequenceRoot      ID = "sequence.root"
	DealLinks         ID = "deal.links"
	DealBeacon        ID = "deal.beacon"
	DealCut           ID = "deal.cut"
	DealRoot          ID = "deal.root"
	AssignLowest      ID = "assign.lowest"
	RollsOpening      ID = "rolls.opening"
	RollsOrder        ID = "rolls.order"
	ReceiptsSignature ID = "receipts.signature"
	ReceiptsChain     ID = "receipts.chain"
	RecordHead        ID = "record.head"
	RecordRolls       ID = "record.rolls"
	RulesVersion      ID = "rules.version"
	RulesMoves        ID = "rules.moves"
	RulesForced       ID = "rules.forced"
	CubeCheck         ID = "cube"
	ResultCheck       ID = "result"
	ModeLaw           ID = "mode.law"
	LevelCheck        ID = "level"
)

// description says what a passed check has established; level tells whether
// the proof level rests on it. The dice stay proved when the players' moves
// are wrong: record.head, rules.*, cube and result judge the game, not the
// house.
type description struct {
	id     ID
	level  bool
	kind   Kind
	passed string
}

// Kind says in one word what a fault is, for tables of findings.
type Kind string

// The kinds of faults.
const (
	Broken    Kind = "malformed"    // it cannot be read at all
	Altered   Kind = "altered"      // something is not what was committed, signed or dealt
	Reused    Kind = "reused"       // something was used twice
	Skipped   Kind = "skipped"      // a number or a roll was passed over
	Reordered Kind = "re-ordered"   // something stands in the wrong place
	Dropped   Kind = "dropped"      // something that must be there is missing
	Late      Kind = "overdue"      // a deadline of PROTOCOL.md §7 was missed
	WrongMove Kind = "wrong move"   // the rules refuse a line of a record
	WrongEnd  Kind = "wrong result" // a result, score or header does not follow
	Unproved  Kind = "level"        // the proof level does not hold
	Forked    Kind = "forked"       // two versions of one log
)

var descriptions = [...]description{
	{Format, true, Broken, "the file is a well-formed bundle"},
	{LogSignature, true, Altered, "the log's key signed every checkpoint"},
	{LogInclusion, true, Altered, "every statement is in the signed log"},
	{LogConsistency, true, Forked, "the log grew from every earlier checkpoint without a change"},
	{LogWitness, true, Unproved, "the witnesses cosigned the checkpoint"},
	{LogOrder, true, Reordered, "nothing is missing and everything happened in its order"},
	{StatementsRefs, true, Altered, "the statements agree with one another and nothing is used twice"},
	{SequenceSecret, true, Altered, "every published secret is the committed one"},
	{SequenceRoot, true, Altered, "every committed root follows from its secret"},
	{DealLinks, true, Altered, "the players' links follow from their anchors, none skipped or repeated"},
	{DealBeacon, true, Altered, "the beacon's signatures are genuine and their rounds were still to come"},
	{DealCut, true, Altered, "every cut is the hash of the links and the beacon"},
	{DealRoot, true, Altered, "every dealt root follows from the secret and the cut"},
	{AssignLowest, true, Skipped, "the lowest free sequence was assigned"},
	{RollsOpening, true, Altered, "every roll opens the root that was published before the first roll"},
	{RollsOrder, true, Skipped, "the rolls were taken in order, none skipped"},
	{ReceiptsSignature, true, Altered, "every receipt is signed with the match's receipt key"},
	{ReceiptsChain, true, Altered, "the receipts form one unbroken chain"},
	{RecordHead, false, Altered, "the records are those of this match, and receipts name their places in them"},
	{RecordRolls, true, Altered, "records, receipts and rebuilt dice agree"},
	{RulesVersion, false, WrongMove, "the rules are the published ones"},
	{RulesMoves, false, WrongMove, "every move is legal"},
	{RulesForced, false, WrongMove, "every obligation to move was met"},
	{CubeCheck, false, WrongMove, "the cube was handled by the rules"},
	{ResultCheck, false, WrongEnd, "results and scores follow from the games"},
	{ModeLaw, true, Altered, "the dice keep the law of their mode"},
	{LevelCheck, true, Unproved, "everything the stated level needs has passed"},
}

// IDs lists all checks in report order.
func IDs() []ID {
	ids := make([]ID, len(descriptions))
	for i, d := range descriptions {
		ids[i] = d.id
	}
	return ids
}

func describe(id ID) description {
	for _, d := range descriptions {
		if d.id == id {
			return d
		}
	}
	return description{id: id}
}

// Status is the answer to one check.
type Status string

const (
	Pass      Status = "pass"
	Fail      Status = "fail"
	Unchecked Status = "unchecked"
)

// Check is one line of a report. Game and Line are 0 when the finding belongs
// to no single game or line; Line counts the event lines of the game's record
// from 1. Kind is that of a fault. Match, Tenant and Mode are set in reports on
// many matches.
type Check struct {
	ID     ID     `json:"id"`
	Status Status `json:"status"`
	Kind   Kind   `json:"kind,omitempty"`
	Match  string `json:"match,omitempty"`
	Tenant string `json:"tenant,omitempty"`
	Mode   string `json:"mode,omitempty"`
	Game   int    `json:"game,omitempty"`
	Line   int    `json:"line,omitempty"`
	Detail string `json:"detail,omitempty"`

	Why error `json:"-"` // what Detail is the English text of, nil for a pass and in a report that was read
}

// maxFindings bounds how many findings of one check a report keeps: a hostile
// file of 64 MiB can be wrong in a million places and the first few dozen say
// as much as all of them.
const maxFindings = 50

// findings collects the answers while a bundle is being verified.
type findings struct {
	fails   map[ID][]Check
	dropped map[ID]int
	reasons map[ID][]Check
	passed  map[ID]bool

	incomplete bool // evidence that should be there is not, so no verdict may be "verified"

	stop func() error // Trust.Stop, or nil
}

// errNothing is the reason of last resort.
var errNothing = errors.New("there is nothing to check")

func newFindings() *findings {
	return &findings{fails: map[ID][]Check{}, dropped: map[ID]int{}, reasons: map[ID][]Check{}, passed: map[ID]bool{}}
}

// stopped says why no more long work is taken up, nil while it is.
func (f *findings) stopped() error {
	if f.stop == nil {
		return nil
	}
	err := f.stop()
	f.incomplete = f.incomplete || err != nil
	return err
}

// fail records a fault of the kind that is usual for the check. game and line
// are 0 where they do not apply.
func (f *findings) fail(id ID, game, line int, why error) {
	f.failAs(describe(id).kind, id, game, line, why)
}

// failAs records a fault of another kind.
func (f *findings) failAs(kind Kind, id ID, game, line int, why error) {
	f.add(Check{ID: id, Status: Fail, Kind: kind, Game: game, Line: line, Detail: why.Error(), Why: why})
}

// add records a fault.
func (f *findings) add(c Check) {
	if len(f.fails[c.ID]) >= maxFindings {
		f.dropped[c.ID]++
		return
	}
	f.fails[c.ID] = append(f.fails[c.ID], c)
}

// pass records that some instance of the check was carried out and held.
func (f *findings) pass(id ID) { f.passed[id] = true }

// skip records that some instance of the check could not be carried out.
func (f *findings) skip(id ID, game int, why error) {
	reason := why.Error()
	for _, c := range f.reasons[id] {
		if c.Game == game && c.Detail == reason {
			return
		}
	}
	if len(f.reasons[id]) < maxFindings {
		f.reasons[id] = append(f.reasons[id], Check{ID: id, Status: Unchecked, Game: game, Detail: reason, Why: why})
	}
}

// merge adds the findings of a part. Of what was not checked it keeps the
// reason, but not in which game.
func (f *findings) merge(checks []Check) {
	for _, c := range checks {
		switch {
		case c.Status == Fail:
			f.add(c)
		case c.Status == Pass:
			f.pass(c.ID)
		case c.Detail != errNothing.Error():
			f.skip(c.ID, 0, c.reason())
		}
	}
}

// reason is the detail of a finding as it was made, or of one that was read its English text.
func (c Check) reason() error {
	if c.Why == nil {
		return errors.New(c.Detail)
	}
	return c.Why
}

func (f *findings) failed(id ID) bool { return len(f.fails[id]) > 0 }

// list turns the findings into report lines, every check at least once, in
// the order of PROTOCOL.md §9. A check that failed lists its faults; one that
// passed in part lists what was not checked beside the pass.
func (f *findings) list() []Check {
	var out []Check
	for _, d := range descriptions {
		out = append(out, f.fails[d.id]...)
		if n := f.dropped[d.id]; n > 0 {
			why := number(n, "1 further fault of this kind", "%d further faults of this kind")
			out = append(out, Check{ID: d.id, Status: Fail, Detail: why.Error(), Why: why})
		}
		switch {
		case f.failed(d.id):
		case f.passed[d.id]:
			out = append(out, Check{ID: d.id, Status: Pass, Detail: d.passed})
		case len(f.reasons[d.id]) == 0:
			f.skip(d.id, 0, errNothing)
		}
		out = append(out, f.reasons[d.id]...)
	}
	return out
}
