package archive

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"time"

	"fairdice/audit"
	"fairdice/audit/stats"
	"fairdice/commitment"
	"fairdice/translog"
)

// Options say whom the reader trusts, how much is to be checked, and with what
// means.
type Options struct {
	Trust      audit.Trust // Now is when deadlines are judged that nothing has met; zero: at the last statement
	Seen       []string    // signed checkpoints that the reader kept; each must be a state of this log
	Signatures bool        // verify every receipt's signature, not only their chain
	Workers    int         // goroutines that verify; 0: one for each processor
	Scratch    Scratch     // where texts of statements are kept; nil: in memory
	Progress   func(stage string, done, total int64)
	Resume     []byte             // what Save was last given, to go on with
	Save       func([]byte) error // called now and then, and when the audit is interrupted
}

// auditor is one audit.
type auditor struct {
	Options
	files       Files
	logOnly     bool
	exported    bool   // the archive names a key itself, as an export does and a service does not
	inside      string // the key that the archive names
	own         translog.Checkpoint
	raw         string
	checkpoints *audit.Checkpoints
	points      []point
	book        *audit.Book
	scratch     Scratch
	offsets     []int64 // of the statements in the scratch
	gathered    Gathered
	done        []byte // bits of the matches that are done
	before      []byte // of those that were when the second pass began
	saved       time.Time
}

// Verify audits an archive.
func Verify(ctx context.Context, files Files, o Options) (*Result, error) {
	return newAuditor(files, o, false).run(ctx)
}

// VerifyLog audits a log alone: its tiles, roots, checkpoints and statements,
// and what the published secrets rebuild. Records and receipts are not looked
// at.
func VerifyLog(ctx context.Context, files Files, o Options) (*Result, error) {
	return newAuditor(files, o, true).run(ctx)
}

func newAuditor(files Files, o Options, logOnly bool) *auditor {
	a := &auditor{Options: o, files: files, logOnly: logOnly, scratch: o.Scratch}
	if a.scratch == nil {
		a.scratch = &memory{}
	}
	a.gathered = Gathered{Kinds: map[audit.Kind]int64{}, LeftOut: []string{}, Counts: []GameCount{}, Months: []Month{}, Findings: []Finding{}, Table: stats.NewTable()}
	for _, id := range audit.IDs() {
		a.gathered.Checks = append(a.gathered.Checks, CheckCount{ID: id})
	}
	return a
}

func (a *auditor) workers() int {
	if a.Workers > 0 {
		return a.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (a *auditor) progress(stage string, done, total int64) {
	if a.Progress != nil {
		a.Progress(stage, done, total)
	}
}

// fault reports a fault of the log itself.
func (a *auditor) fault(id audit.ID, kind audit.Kind, format string, args ...any) {
	a.add(audit.Check{ID: id, Status: audit.Fail, Kind: kind, Detail: fmt.Sprintf(format, args...)})
}

func (a *auditor) add(faults ...audit.Check) {
	for _, c := range faults {
		a.gathered.check(c.ID).Faults++
		a.gathered.find(-1, c)
	}
}

func (a *auditor) run(ctx context.Context) (*Result, error) {
	if err := a.openLog(ctx); err != nil {
		return nil, err
	}
	switch err := a.readLog(ctx); {
	case errors.Is(err, errBroken):
		a.gathered.leftOut("the matches: " + err.Error())
	case err != nil:
		return nil, err
	default:
		if a.book.Len() == 0 {
			return nil, errors.New("the log is empty")
		}
		if err := a.findMatches(ctx); err != nil {
			return nil, err
		}
		a.retired()
		if err := a.resume(); err != nil {
			return nil, err
		}
		if err := a.verifyMatches(ctx); err != nil {
			return nil, err
		}
	}
	return a.result(), nil
}

// retired rebuilds the sequences whose secrets a retire has published.
func (a *auditor) retired() {
	auditor := &audit.Auditor{Trust: a.Trust, Origin: a.checkpoints.Origin()}
	for commit, retire := range a.book.Retired() {
		c, err := a.text(commit)
		if err != nil {
			a.fault(audit.Format, audit.Broken, "%v", err)
			continue
		}
		r, err := a.text(retire)
		if err != nil {
			a.fault(audit.Format, audit.Broken, "%v", err)
			continue
		}
		throws := a.throws(context.Background(), [][]byte{c})
		q, statement, checks := auditor.Retired(audit.Entry{Index: commit, Text: c}, audit.Entry{Index: retire, Text: r}, throws)
		for _, k := range checks {
			if k.Status == audit.Fail {
				k.Tenant, k.Mode = statement.Tenant, statement.Mode.String()
				a.add(k)
			}
		}
		if q != nil && !a.logOnly {
			a.gathered.Table.Add(statement.Mode, statement.Tenant, "", stats.Measure(stats.Game{Mode: statement.Mode, Lot: stats.Unused, First: q, White: -1}))
		}
	}
}

// throws reads the archives of throws that commits among the texts name. What
// is missing or damaged is left to sequence.root.
func (a *auditor) throws(ctx context.Context, texts [][]byte) map[commitment.Hash]*commitment.Archive {
	var found map[commitment.Hash]*commitment.Archive
	for _, text := range texts {
		_, rest, ok := bytes.Cut(text, []byte("\narchive "))
		if !ok || !bytes.HasPrefix(text, []byte("fairdice/v1/commit\n")) {
			continue
		}
		name, _, _ := bytes.Cut(rest, []byte("\n"))
		hash, err := commitment.ParseHash(string(name))
		if err != nil {
			continue
		}
		data, err := a.files.Read(ctx, ThrowsName(hash), maxThrows)
		if err != nil {
			continue
		}
		if throws, err := commitment.ParseArchive(data); err == nil && throws.Hash() == hash {
			if found == nil {
				found = map[commitment.Hash]*commitment.Archive{}
			}
			found[hash] = throws
		}
	}
	return found
}

// result closes the books.
func (a *auditor) result() *Result {
	a.gathered.trim()
	r := &Result{
		Origin: a.own.Origin, Key: a.Trust.LogKey(a.inside), Size: a.own.Size, Root: a.own.Root, First: a.book.First(), Last: a.book.Last(), Now: a.Trust.Now,
		LogOnly: a.logOnly, Overdue: []audit.SequenceReport{}, Gathered: a.gathered,
	}
	if r.Now.IsZero() {
		r.Now = r.Last
	}
	a.countSequences(r)
	r.Table = nil
	if !a.logOnly {
		r.Counted = a.gathered.Table
		r.Stats = a.gathered.Table.Report()
	}
	a.settleChecks(r)
	switch {
	case len(r.Failed()) > 0 || len(r.Stats.Alarms(stats.Alarm)) > 0:
		r.Verdict = audit.Failed
	case !r.Signed:
		r.Verdict = audit.Incomplete
	default:
		r.Verdict = audit.Verified
	}
	r.Sentences = r.sentences(a.checkpoints.Pinned(), a.Trust.Key != "" || a.Trust.Policy != nil, a.Signatures)
	return r
}

// mostOverdue bounds how many overdue sequences are listed; all are counted.
const mostOverdue = 1000

func (a *auditor) countSequences(r *Result) {
	at := map[[2]string]int{}
	for q := range a.book.Sequences(r.Now) {
		key := [2]string{q.Tenant, q.Mode}
		i, ok := at[key]
		if !ok {
			i = len(r.Sequences)
			at[key] = i
			r.Sequences = append(r.Sequences, SequenceCount{Tenant: q.Tenant, Mode: q.Mode, States: map[audit.State]int64{}})
		}
		r.Sequences[i].States[q.State]++
		if q.Overdue {
			r.Sequences[i].Overdue++
			r.OverdueN++
			if len(r.Overdue) < mostOverdue {
				r.Overdue = append(r.Overdue, q)
			}
		}
	}
}

// settleChecks counts the checks that are about the log as a whole.
func (a *auditor) settleChecks(r *Result) {
	whole := []audit.ID{audit.Format, audit.LogInclusion, audit.LogOrder, audit.StatementsRefs, audit.AssignLowest}
	if a.checkpoints.Pinned() {
		whole = append(whole, audit.LogSignature)
	}
	if a.gathered.Checkpoints > 1 {
		whole = append(whole, audit.LogConsistency)
	}
	if a.checkpoints.Witnessing() {
		whole = append(whole, audit.LogWitness)
	}
	for _, id := range whole {
		if c := r.check(id); c.Faults == 0 && c.Passed == 0 {
			c.Passed, c.Unchecked, c.Reason = 1, 0, ""
		}
	}
	reasons := map[audit.ID]string{
		audit.LogSignature:   "no key was pinned, and the key inside an archive proves nothing",
		audit.LogConsistency: "there is no other checkpoint than the archive's own",
		audit.LogWitness:     "no policy asks for a witness",
	}
	for id, reason := range reasons {
		if c := r.check(id); c.Passed == 0 && c.Faults == 0 {
			c.Reason = reason
		}
	}
}
