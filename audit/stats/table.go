package stats

import (
	"cmp"
	"slices"

	"fairdice/commitment"
)

// Group is whose games are pooled: all of a mode, those of one tenant in it, or
// those under one receipt key. Modes are never pooled with one another.
type Group struct {
	Mode   string `json:"mode"`
	Tenant string `json:"tenant,omitempty"`
	Key    string `json:"key,omitempty"`
}

// maxGroups bounds how many groups are kept apart. A service may change its
// receipt key as often as it likes; games of further groups still count in
// their mode's, and the report says how many there were.
const maxGroups = 2000

// Table holds a tally for every group. It encodes to JSON and back, so that
// an interrupted audit can go on.
type Table struct {
	Rows   []Row `json:"rows"`
	Left   int64 `json:"left"` // games that no group of their own was kept for
	groups map[Group]int
}

// Row is a group with its tally.
type Row struct {
	Group Group `json:"group"`
	Tally Tally `json:"tally"`
}

// NewTable returns an empty table.
func NewTable() *Table { return &Table{groups: map[Group]int{}} }

// Add adds a game's tally to its mode, its tenant in the mode and its key.
func (t *Table) Add(mode commitment.Mode, tenant, key string, game Tally) {
	if t.groups == nil { // decoded from JSON
		t.groups = map[Group]int{}
		for i, r := range t.Rows {
			t.groups[r.Group] = i
		}
	}
	all := Group{Mode: mode.String()}
	t.row(all).Add(&game)
	for _, g := range [...]Group{{all.Mode, tenant, ""}, {all.Mode, tenant, key}} {
		if row := t.row(g); row != nil {
			row.Add(&game)
		} else {
			t.Left++
		}
		if key == "" {
			return
		}
	}
}

// row finds the tally of a group, nil if there are too many.
func (t *Table) row(g Group) *Tally {
	i, ok := t.groups[g]
	if !ok {
		if len(t.Rows) >= maxGroups && g.Tenant != "" {
			return nil
		}
		i = len(t.Rows)
		t.groups[g] = i
		t.Rows = append(t.Rows, Row{Group: g})
	}
	return &t.Rows[i].Tally
}

// sorted returns the rows in the order of the modes, each mode's own first. A
// group that holds the same games as the one above it is left out: testing it
// again would only ask for a stricter level.
func (t *Table) sorted() []Row {
	rows := slices.Clone(t.Rows)
	rank := func(name string) int {
		m, _ := commitment.ParseMode(name)
		return int(m)
	}
	slices.SortFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(rank(a.Group.Mode), rank(b.Group.Mode)), cmp.Compare(a.Group.Tenant, b.Group.Tenant), cmp.Compare(a.Group.Key, b.Group.Key))
	})
	games := map[Group][2]int64{} // with dice that somebody saw
	out := rows[:0]
	for _, r := range rows {
		games[r.Group] = [2]int64(r.Tally.Games[:2])
		above := r.Group
		switch {
		case above.Key != "":
			above.Key = ""
		case above.Tenant != "":
			above.Tenant = ""
		default:
			out = append(out, r)
			continue
		}
		if whole, ok := games[above]; !ok || whole != [2]int64(r.Tally.Games[:2]) {
			out = append(out, r)
		}
	}
	return out
}
