package archive

import (
	"cmp"
	"slices"
	"time"

	"fairdice/audit"
	"fairdice/audit/stats"
	"fairdice/commitment"
)

// Result is the report on a log or an archive.
type Result struct {
	Verdict   audit.Verdict          `json:"verdict"`
	Origin    string                 `json:"origin"`
	Key       string                 `json:"key"` // of the log
	Size      int64                  `json:"size"`
	Root      commitment.Hash        `json:"root"`
	First     time.Time              `json:"first,omitzero"` // time of the first statement; none in an empty log
	Last      time.Time              `json:"last,omitzero"`  // time of the last statement
	Now       time.Time              `json:"now"`            // when deadlines were judged that nothing has met
	LogOnly   bool                   `json:"logOnly"`
	Sequences []SequenceCount        `json:"sequences"`
	Overdue   []audit.SequenceReport `json:"overdue"` // the first of them
	OverdueN  int64                  `json:"overdueCount"`
	Stats     stats.Report           `json:"statistics"`
	Sentences []string               `json:"sentences"`
	Counted   *stats.Table           `json:"-"` // what Stats tests; nil if the log alone was verified
	Gathered
}

// Gathered is what is added up match by match.
type Gathered struct {
	Signed      bool                 `json:"signed"`    // the pinned key signed the checkpoint
	Witnessed   bool                 `json:"witnessed"` // the policy's witnesses cosigned it
	Checkpoints int64                `json:"checkpoints"`
	Tiles       int64                `json:"tiles"`
	Matches     int64                `json:"matches"`
	Rolls       int64                `json:"rolls"`
	Counts      []GameCount          `json:"games"`  // by tenant, mode and variant
	Months      []Month              `json:"months"` // in order
	Checks      []CheckCount         `json:"checks"`
	Findings    []Finding            `json:"findings"` // the first of each kind
	Kinds       map[audit.Kind]int64 `json:"kinds"`    // how many there are of each kind
	LeftOut     []string             `json:"notChecked"`
	Table       *stats.Table         `json:"table,omitempty"`
}

// SequenceCount counts the sequences of a tenant and mode by their state.
type SequenceCount struct {
	Tenant  string                `json:"tenant"`
	Mode    string                `json:"mode"`
	States  map[audit.State]int64 `json:"states"`
	Overdue int64                 `json:"overdue"`
}

// GameCount counts games of one tenant, mode and variant.
type GameCount struct {
	Tenant  string           `json:"tenant"`
	Mode    string           `json:"mode"`
	Variant string           `json:"variant"`
	Closed  int64            `json:"closed"`
	Aborted int64            `json:"aborted"`
	Running int64            `json:"running"`
	Levels  map[string]int64 `json:"levels"` // of games, as far as nothing failed
	Faulty  int64            `json:"faulty"` // games of matches in which something failed
}

// Month counts the games that ended in a month.
type Month struct {
	Month   string           `json:"month"` // "2026-11"
	Closed  int64            `json:"closed"`
	Aborted int64            `json:"aborted"`
	Levels  map[string]int64 `json:"levels"`
}

// CheckCount says in how many matches a check passed, failed or was left out.
type CheckCount struct {
	ID        audit.ID `json:"id"`
	Passed    int64    `json:"passed"`
	Failed    int64    `json:"failed"`
	Unchecked int64    `json:"unchecked"` // nothing of it was carried out
	Faults    int64    `json:"faults"`
	Reason    string   `json:"reason,omitempty"` // why it was left out, the first reason
}

// Finding is a fault with its place among the matches.
type Finding struct {
	audit.Check
	Order int `json:"order"` // the match's place in the log, -1 for what is about the log
}

// mostFindings bounds how many findings of one kind are kept; all are counted.
const mostFindings = 200

// find adds a finding. Which ones are kept does not depend on the order in
// which the matches were verified.
func (g *Gathered) find(order int, c audit.Check) {
	g.Kinds[c.Kind]++
	g.Findings = append(g.Findings, Finding{c, order})
	if g.Kinds[c.Kind]%mostFindings == 0 {
		g.trim()
	}
}

// trim sorts the findings and drops those that are too many.
func (g *Gathered) trim() {
	slices.SortStableFunc(g.Findings, func(a, b Finding) int {
		return cmp.Or(cmp.Compare(a.Order, b.Order), cmp.Compare(a.Match, b.Match), cmp.Compare(a.Game, b.Game))
	})
	kept := map[audit.Kind]int{}
	g.Findings = slices.DeleteFunc(g.Findings, func(f Finding) bool {
		kept[f.Kind]++
		return kept[f.Kind] > mostFindings
	})
}

func (g *Gathered) leftOut(what string) {
	if !slices.Contains(g.LeftOut, what) {
		g.LeftOut = append(g.LeftOut, what)
	}
}

func (g *Gathered) check(id audit.ID) *CheckCount {
	i := slices.IndexFunc(g.Checks, func(c CheckCount) bool { return c.ID == id })
	return &g.Checks[i]
}

// games finds the counter of a tenant, mode and variant.
func (g *Gathered) games(tenant, mode, variant string) *GameCount {
	at, ok := slices.BinarySearchFunc(g.Counts, GameCount{Tenant: tenant, Mode: mode, Variant: variant}, func(a, b GameCount) int {
		return cmp.Or(cmp.Compare(a.Tenant, b.Tenant), cmp.Compare(a.Mode, b.Mode), cmp.Compare(a.Variant, b.Variant))
	})
	if !ok {
		g.Counts = slices.Insert(g.Counts, at, GameCount{Tenant: tenant, Mode: mode, Variant: variant, Levels: map[string]int64{}})
	}
	return &g.Counts[at]
}

func (g *Gathered) month(t time.Time) *Month {
	name := t.UTC().Format("2006-01")
	at, ok := slices.BinarySearchFunc(g.Months, name, func(m Month, name string) int { return cmp.Compare(m.Month, name) })
	if !ok {
		g.Months = slices.Insert(g.Months, at, Month{Month: name, Levels: map[string]int64{}})
	}
	return &g.Months[at]
}

// Games returns the number of games that ended, closed and aborted.
func (g *Gathered) Games() (closed, aborted, running int64) {
	for _, c := range g.Counts {
		closed, aborted, running = closed+c.Closed, aborted+c.Aborted, running+c.Running
	}
	return closed, aborted, running
}

// Failed lists the checks that failed somewhere.
func (g *Gathered) Failed() []audit.ID {
	var ids []audit.ID
	for _, c := range g.Checks {
		if c.Faults > 0 {
			ids = append(ids, c.ID)
		}
	}
	return ids
}
