package archive

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"fairdice/audit"
	"fairdice/audit/stats"
	"fairdice/commitment"
)

// sentences says in plain words what was found and what was not looked at.
func (r *Result) sentences(pinned, given, signatures bool) []string {
	var out []string
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	closed, aborted, running := r.Games()
	switch {
	case len(r.Failed()) > 0:
		say("The archive does not hold what it claims: %s, listed below.", plural(total(r.Kinds), "fault"))
	case r.LogOnly:
		say("The log is what its checkpoint says, from the first statement to the last, and its statements keep their order.")
	default:
		say("Every game of the archive was rebuilt from the published secrets and replayed; nothing in it was altered, left out or put in another order.")
	}
	if !pinned && given {
		say("The archive is not of the log that was named with a key or a policy: the key inside it is another one.")
	} else if !pinned {
		say("Self-consistent only: no log key or policy was given, and the key inside an archive proves nothing. Whoever made it could have made all of it.")
	} else if r.Key != "" && !r.Signed {
		say("The checkpoint is not signed by the pinned key.")
	}
	if !r.LogOnly {
		say("%s closed, %s aborted, %s in progress.", plural(closed, "game"), plural(aborted, "game"), plural(running, "game"))
		if !signatures {
			say("Receipts were authenticated by their chain up to the one that each close names in the log, not one by one (--signatures all does that).")
		}
	}
	if r.OverdueN > 0 {
		say("%s overdue: not ended within 72 hours of the assign, or not assigned within 90 days of the commit. What was never ended has published no secret, so its dice are not known to anybody but the house.", plural(r.OverdueN, "sequence")+" "+isAre(r.OverdueN))
	}
	if r.LogOnly {
		return out
	}
	if n := len(r.Stats.Alarms(stats.Alarm)); n > 0 {
		say("Statistics: %s at the alarm level. Honest dice do that in one report of a million.", plural(int64(n), "test"))
	} else if n := len(r.Stats.Alarms(stats.Reported)); n > 0 {
		say("Statistics: %s at the report level. Honest dice do that in one report of a hundred; it is to be looked at and proves nothing.", plural(int64(n), "test"))
	} else if len(r.Stats.Tests) > 0 {
		say("Statistics: %s, none of them out of the ordinary.", plural(int64(len(r.Stats.Tests)), "test"))
	}
	say("Statistics are about all games together. One game cannot prove anything: a few dozen rolls look like anything.")
	if slices.ContainsFunc(r.Counts, func(c GameCount) bool { return c.Mode == commitment.Real.String() }) {
		say("Throws of mode real are those of recorded archives. That they were ever thrown is the archive's word; only the order of their use is proved.")
	}
	return out
}

func isAre(n int64) string {
	if n == 1 {
		return "is"
	}
	return "are"
}

func total(kinds map[audit.Kind]int64) (n int64) {
	for _, k := range kinds {
		n += k
	}
	return n
}

func plural(n int64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return fmt.Sprintf("%d %ss", n, what)
}

// mostListed is how many findings of one kind the text lists; JSON has more.
const mostListed = 10

// Text prints the report for people.
func (r *Result) Text() string {
	var b strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&b, format+"\n", args...) }
	line("log %s, %s, root %s", r.Origin, plural(r.Size, "statement"), r.Root)
	if !r.Last.IsZero() {
		line("last statement %s, deadlines judged at %s", r.Last.UTC().Format(time.RFC3339), r.Now.UTC().Format(time.RFC3339))
	}
	line("%s rebuilt, %s compared", plural(r.Tiles, "tile"), plural(r.Checkpoints, "checkpoint"))
	line("")
	for _, c := range r.Checks {
		switch {
		case c.Faults > 0:
			line("FAIL  %-19s %s", c.ID, plural(c.Faults, "fault"))
		case c.Passed > 0 && c.Unchecked > 0:
			line("part  %-19s %d passed, %d not checked: %s", c.ID, c.Passed, c.Unchecked, c.Reason)
		case c.Passed > 0:
			line("pass  %-19s %d", c.ID, c.Passed)
		default:
			line(" -    %-19s not checked: %s", c.ID, c.Reason)
		}
	}
	r.textFindings(line)
	r.textCounts(line)
	if !r.LogOnly {
		r.textStats(line)
	}
	if len(r.LeftOut) > 0 {
		line("")
		line("not checked:")
		for _, s := range r.LeftOut {
			line("  %s", s)
		}
	}
	line("")
	line("%s", strings.ToUpper(string(r.Verdict)))
	for _, s := range r.Sentences {
		line("%s", s)
	}
	return b.String()
}

func (r *Result) textFindings(line func(string, ...any)) {
	if len(r.Findings) == 0 {
		return
	}
	line("")
	var kinds []string
	for _, k := range slices.Sorted(maps.Keys(r.Kinds)) {
		kinds = append(kinds, fmt.Sprintf("%d %s", r.Kinds[k], k))
	}
	line("findings: %s", strings.Join(kinds, ", "))
	listed := map[audit.Kind]int{}
	for _, f := range r.Findings {
		if listed[f.Kind]++; listed[f.Kind] <= mostListed {
			line("  %-12s %-18s %s", f.Kind, f.ID, f.Where()+f.Detail)
		}
	}
}

// Where says which game a finding is about.
func (f Finding) Where() string {
	s := ""
	if f.Match != "" {
		s = "match " + f.Match
	}
	if f.Game > 0 {
		s += fmt.Sprintf(", game %d", f.Game)
	}
	if f.Line > 0 {
		s += fmt.Sprintf(", line %d", f.Line)
	}
	if s != "" {
		s += ": "
	}
	return s
}

func (r *Result) textCounts(line func(string, ...any)) {
	if len(r.Sequences) > 0 {
		line("")
		line("%-16s %-9s %8s %8s %8s %8s %8s %8s", "tenant", "mode", "free", "assigned", "closed", "aborted", "retired", "overdue")
		for _, s := range r.Sequences {
			line("%-16s %-9s %8d %8d %8d %8d %8d %8d", s.Tenant, s.Mode, s.States[audit.Free], s.States[audit.Assigned],
				s.States[audit.Closed], s.States[audit.Aborted], s.States[audit.Retired], s.Overdue)
		}
	}
	for i, q := range r.Overdue {
		if i == mostListed {
			line("  and %d more", r.OverdueN-mostListed)
			break
		}
		line("  overdue: sequence %s, tenant %s, mode %s, number %d, %s", q.Sequence, q.Tenant, q.Mode, q.Number, q.State)
	}
	if len(r.Counts) > 0 {
		line("")
		line("%-16s %-9s %8s %8s %8s %8s  %s", "tenant", "mode", "closed", "aborted", "running", "faulty", "levels")
		for _, c := range pooled(r.Counts) {
			line("%-16s %-9s %8d %8d %8d %8d  %s", c.Tenant, c.Mode, c.Closed, c.Aborted, c.Running, c.Faulty, levels(c.Levels))
		}
	}
}

// pooled adds up the variants of each tenant and mode, which JSON and page keep
// apart. The counts are sorted.
func pooled(counts []GameCount) []GameCount {
	var out []GameCount
	for _, c := range counts {
		if n := len(out); n == 0 || out[n-1].Tenant != c.Tenant || out[n-1].Mode != c.Mode {
			out = append(out, GameCount{Tenant: c.Tenant, Mode: c.Mode, Levels: map[string]int64{}})
		}
		sum := &out[len(out)-1]
		sum.Closed, sum.Aborted, sum.Running, sum.Faulty = sum.Closed+c.Closed, sum.Aborted+c.Aborted, sum.Running+c.Running, sum.Faulty+c.Faulty
		for level, n := range c.Levels {
			sum.Levels[level] += n
		}
	}
	return out
}

// levels prints how many games have which level.
func levels(m map[string]int64) string {
	var names []string
	for name := range m {
		names = append(names, name)
	}
	slices.Sort(names)
	var parts []string
	for _, name := range names {
		parts = append(parts, fmt.Sprintf("%d %s", m[name], name))
	}
	return strings.Join(parts, "; ")
}

func (r *Result) textStats(line func(string, ...any)) {
	line("")
	line("statistics: %s; report level %g, alarm level %g, both after Holm's correction", plural(int64(len(r.Stats.Tests)), "test"), r.Stats.ReportLevel, r.Stats.AlarmLevel)
	group, left := stats.Group{}, int64(0)
	for i, t := range r.Stats.Tests {
		if t.Tenant != "" && t.Verdict != stats.Alarm && t.Verdict != stats.Reported {
			left++ // JSON and page have them
			continue
		}
		if i == 0 || t.Group != group {
			group = t.Group
			line("  %s", group)
		}
		line("    %-8s %-24s p %-9.2g Holm %-9.2g %s, %d %s; %s; found would be: %s", t.Verdict, t.Name, t.P, t.Holm, t.Statistic, t.N, t.Unit, t.Effect, t.Detectable)
	}
	if left > 0 {
		line("  %s of single tenants and receipt keys, none out of the ordinary, not listed here", plural(left, "test"))
	}
	for _, s := range r.Stats.NotTested {
		line("  not tested: %s", s)
	}
}
