package api_test

import (
	"net/http"
	"slices"
	"testing"

	"fairdice/client"
	"fairdice/client/player"
	"fairdice/commitment"
	"fairdice/house"
	"fairdice/translog"
)

// Pages of every size list each match once, in the order asked for, whatever the filter.
func TestListMatches(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	var ids, decided, aborted []string
	for i := range 5 {
		id := b.openL0([]string{"short", "long-classic"}[i%2])
		ids = append(ids, id)
		switch i {
		case 2:
			b.resign(id, 1, [2]*player.Player{})
			decided = append(decided, id)
		case 1:
			must(t, second(b.client.AbortGame(ctx, id, 1, "crash", 0)))
			must(t, second(b.client.Abandon(ctx, id, 0)))
			aborted = append(aborted, id)
		}
	}
	must(t, b.house.AddTenant(ctx, "other"))
	foreign, err := b.house.IssueKey(ctx, "other", "test", house.Scopes())
	must(t, err)
	walk := func(l client.MatchList) (got []string) {
		for pages := 0; ; pages++ {
			p, err := b.client.Matches(ctx, l)
			must(t, err)
			for _, m := range p.Matches {
				got = append(got, m.Match)
			}
			if l.Cursor = p.Next; l.Cursor == 0 || pages > 10 {
				return got
			}
		}
	}
	newest := slices.Clone(ids)
	slices.Reverse(newest)
	for limit := range 7 {
		if got := walk(client.MatchList{Limit: limit}); !slices.Equal(got, newest) {
			t.Errorf("limit %d: %v, want %v", limit, got, newest)
		}
		if got := walk(client.MatchList{Limit: limit, Order: client.OrderOldest}); !slices.Equal(got, ids) {
			t.Errorf("limit %d, oldest first: %v, want %v", limit, got, ids)
		}
	}
	for name, c := range map[string]struct {
		list client.MatchList
		want []string
	}{
		"abandoned": {client.MatchList{State: client.MatchStateAbandoned}, aborted},
		"decided":   {client.MatchList{State: client.MatchStateDecided}, decided},
		"variant":   {client.MatchList{Variant: "long-classic", Order: client.OrderOldest}, []string{ids[1], ids[3]}},
		"mode":      {client.MatchList{Mode: client.ModeBalanced}, nil},
		"player":    {client.MatchList{Player: "ben", Limit: 2}, newest},
		"nobody":    {client.MatchList{Player: "cleo"}, nil},
	} {
		if got := walk(c.list); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
	if p, err := b.as(foreign).Matches(ctx, client.MatchList{}); err != nil || len(p.Matches) > 0 {
		t.Errorf("another tenant lists %v, %v", p, err)
	}
	if a := b.send(http.MethodGet, "/v1/matches", "", "Authorization", ""); a.code() != "unauthorized" {
		t.Errorf("without a key: %d %s", a.status, a.body)
	}
	for _, q := range []string{"state=over", "mode=x", "order=up", "player=a%20b", "limit=101", "limit=-1", "cursor=-1", "cursor=x"} {
		if a := b.send(http.MethodGet, "/v1/matches?"+q, ""); a.code() != "malformed-request" {
			t.Errorf("%s: %d %s", q, a.status, a.body)
		}
	}
}

// Pages of the log list each statement once, and one checkpoint proves a page.
func TestListStatements(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	id := b.openL0("short")
	key, err := commitment.ParseVerifier(b.logKey)
	must(t, err)
	walk := func(l client.StatementList) (indexes []int64) {
		for pages := 0; pages < 100; pages++ {
			p, err := b.client.LogStatements(ctx, l)
			must(t, err)
			head, err := translog.OpenCheckpoint(p.Published.Checkpoint, key)
			must(t, err)
			for _, s := range p.Published.Statements {
				var path []commitment.Hash
				for _, text := range s.Path {
					h, err := commitment.ParseHash(text)
					must(t, err)
					path = append(path, h)
				}
				must(t, translog.VerifyInclusion(translog.LeafHash([]byte(s.Text)), s.Index, head.Size, path, head.Root))
				indexes = append(indexes, s.Index)
			}
			if l.Cursor = p.Next; l.Cursor == 0 {
				break
			}
		}
		return indexes
	}
	all := walk(client.StatementList{})
	for i, index := range all {
		if index != int64(i) {
			t.Fatalf("statement %d is at place %d", index, i)
		}
	}
	if got := walk(client.StatementList{Limit: 4}); !slices.Equal(got, all) {
		t.Errorf("pages of four: %v", got)
	}
	var ofMatch []int64
	st, err := b.client.Statements(ctx, id, 0)
	must(t, err)
	for _, s := range st.Statements {
		ofMatch = append(ofMatch, s.Index)
	}
	if got := walk(client.StatementList{Match: id, Limit: 1}); !slices.Equal(got, ofMatch) {
		t.Errorf("of the match: %v, want %v", got, ofMatch)
	}
	if got := walk(client.StatementList{Type: "assign"}); len(got) != 1 || !slices.Contains(ofMatch, got[0]) {
		t.Errorf("assigns: %v", got)
	}
	if got := walk(client.StatementList{Type: "finish"}); got != nil {
		t.Errorf("finishes: %v", got)
	}
	if a := b.send(http.MethodGet, "/v1/statements?match="+newID(t), ""); a.code() != "not-found" {
		t.Errorf("of no match: %d %s", a.status, a.body)
	}
	if a := b.send(http.MethodGet, "/v1/statements?type=roll", ""); a.code() != "malformed-request" {
		t.Errorf("of no type: %d %s", a.status, a.body)
	}
}
